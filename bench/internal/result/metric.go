package result

// Metric is a kind of value that a sample may have.
type Metric struct {
	Key    string // in JSON
	Title  string // of a column, with the unit
	Digits int    // behind the point
	Spread bool   // reports show the range over the rounds too
	Over   Over   // what reports show of several rounds
}

// Over is how several rounds become one number.
type Over uint8

const (
	Middle   Over = iota // the median
	Sum                  // failures: one in five rounds is one too many
	Greatest             // the slowest request of all
	Least
)

func (o Over) String() string { return [...]string{"median", "sum", "greatest", "least"}[o] }

// Of makes one number of those of the rounds; 0 of none.
func (o Over) Of(values []float64) (v float64) {
	s := SpreadOf(values)
	switch o {
	case Greatest:
		return s.High
	case Least:
		return s.Low
	case Sum:
		for _, x := range values {
			v += x
		}
		return v
	}
	return s.Median
}

// Keys of the metrics.
const (
	Rate      = "rate"
	CPU       = "cpu_us"
	BackCPU   = "back_cpu_us"
	Mean      = "mean_ms"
	P50       = "p50_ms"
	P99       = "p99_ms"
	Max       = "max_ms"
	Min       = "min_ms"
	SD        = "sd_ms"
	Switches  = "switches"
	Syscalls  = "syscalls"
	Memory    = "pss_mb"
	PerChild  = "pss_child_mb"
	UsedChild = "pss_child_used_mb"
	Processes = "processes"
	Speed     = "mb_s"
	CPUPerMB  = "cpu_us_mb"
	Served    = "idle_served"
	Outage    = "outage_ms"
	Scrapes   = "scrapes"
	Failed    = "failed"
)

// Metrics are all, in the order of columns.
var Metrics = []Metric{
	{Rate, "requests/s", 0, false, Middle},
	{CPU, "CPU µs/request", 1, true, Middle},
	{BackCPU, "back end's CPU µs/request", 1, false, Middle},
	{Min, "min ms", 2, false, Least},
	{Mean, "mean ms", 2, false, Middle},
	{SD, "sd ms", 2, false, Middle},
	{P50, "p50 ms", 2, false, Middle},
	{P99, "p99 ms", 2, false, Middle},
	{Max, "max ms", 1, false, Greatest},
	{Switches, "context switches/request", 2, false, Middle},
	{Syscalls, "system calls/request", 2, false, Middle},
	{Speed, "MB/s", 0, false, Middle},
	{CPUPerMB, "CPU µs/MB", 0, true, Middle},
	{Processes, "processes", 0, false, Middle},
	{Memory, "PSS MB", 1, false, Middle},
	{PerChild, "PSS MB/child, idle", 2, false, Middle},
	{UsedChild, "PSS MB/child, after load", 2, false, Middle},
	{Served, "idle connections served", 0, false, Middle},
	{Outage, "longest outage ms", 0, false, Greatest},
	{Scrapes, "scrapes/s", 0, false, Middle},
	{Failed, "failed", 0, false, Sum},
}
