package conf

import (
	"fmt"
	"strings"
)

// What AcceptFilter may ask of the kernel; "" leaves it to the system.
const (
	FilterNone = "none"
	FilterData = "dataready"
	FilterHTTP = "httpready"
)

// setAcceptFilter reads protocol and filter. "data" is Apache's word on Linux.
func setAcceptFilter(p *parser, g given) error {
	words := strings.Fields(g.Value)
	if len(words) != 2 {
		return fmt.Errorf("expected a protocol and a filter, such as http %s", FilterHTTP)
	}
	filter := strings.ToLower(words[1])
	if filter == "data" {
		filter = FilterData
	}
	switch filter {
	case FilterNone, FilterData, FilterHTTP:
	default:
		return fmt.Errorf("filter %q: it is %s, %s or %s%s", words[1], FilterHTTP, FilterData, FilterNone,
			DidYouMean(words[1], []string{FilterHTTP, FilterData, FilterNone}))
	}
	switch strings.ToLower(words[0]) {
	case "http":
		p.cfg.Server.AcceptFilter = filter
	case "https":
		p.warnings = append(p.warnings, Warning{Severity: Info, File: p.file, Line: g.Line, Key: g.Key, Msg: "has no effect for https, jkd listens without TLS"})
	default:
		return fmt.Errorf("protocol %q: it is http or https", words[0])
	}
	return nil
}
