package httpd

import (
	"regexp"
	"strings"

	"jkd/connector"
)

// EnvIf is the condition of SetEnvIf: a regular expression that has to be found
// in something of the request.
type EnvIf struct {
	// Attribute is one of the words that value knows, or the name of a field or
	// else of a variable.
	Attribute string
	Pattern   *regexp.Regexp
}

// value is what the expression is looked for in.
func (c *EnvIf) value(r *connector.Request) string {
	switch c.Attribute {
	case "Request_URI":
		return string(r.MatchPath)
	case "Request_Method":
		return string(r.Method)
	case "Request_Protocol":
		return string(r.Protocol)
	case "Remote_Addr", "Remote_Host":
		return string(r.RemoteAddr)
	case "Server_Addr":
		return string(r.LocalAddr)
	case "Remote_User":
		return "" // nobody has been asked for a name
	}
	if list := connector.AppendValues(nil, r.Fields, strings.ToLower(c.Attribute)); len(list) > 0 {
		return connector.Value(r.Fields, strings.ToLower(c.Attribute))
	}
	v, _ := r.Env.Get(c.Attribute)
	return v
}

// set applies settings in their order.
func set(r *connector.Request, env *connector.Env, list []EnvSetting) {
	for i := range list {
		e := &list[i]
		value := e.Value
		if e.If != nil {
			text := e.If.value(r)
			found := e.If.Pattern.FindStringSubmatchIndex(text)
			if found == nil {
				continue
			}
			value = connector.Fill(value, text, found)
		}
		if e.Unset {
			env.Unset(e.Name)
		} else {
			env.Set(e.Name, value)
		}
	}
}
