package conf

import "testing"

func TestErrorLogFormat(t *testing.T) {
	for value, want := range map[string]bool{"text": false, "json": true, `"JSON"`: true} {
		c, warnings := parse(t, "ErrorLogFormat = "+value+"\n")
		if c.Server.ErrorLogJSON != want || len(warnings) > 0 {
			t.Errorf("%s: %t, %q", value, c.Server.ErrorLogJSON, warnings)
		}
	}
}
