package conf

import (
	"fmt"
	"strings"
)

// LogLevel is Apache's LogLevel: everything at this level and the graver ones
// before it is logged.
type LogLevel uint8

// The levels from the gravest. Trace stands for trace1 to trace8.
const (
	LogEmerg LogLevel = iota
	LogAlert
	LogCrit
	LogError
	LogWarn
	LogNotice
	LogInfo
	LogDebug
	LogTrace
)

var logLevels = []string{"emerg", "alert", "crit", "error", "warn", "notice", "info", "debug", "trace"}

// String returns the name used in the file.
func (l LogLevel) String() string {
	if int(l) < len(logLevels) {
		return logLevels[l]
	}
	return fmt.Sprintf("LogLevel(%d)", uint8(l))
}

func parseLogLevel(s string) (LogLevel, error) {
	name := strings.ToLower(s)
	if len(name) == 6 && strings.HasPrefix(name, "trace") && name[5] >= '1' && name[5] <= '8' {
		name = "trace"
	}
	for i, l := range logLevels {
		if l == name {
			return LogLevel(i), nil
		}
	}
	return 0, fmt.Errorf("unknown level %q%s (%s)", s, DidYouMean(s, logLevels), strings.Join(logLevels, ", "))
}
