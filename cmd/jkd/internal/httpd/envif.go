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
			value = fill(value, text, found)
		}
		if e.Unset {
			env.Unset(e.Name)
		} else {
			env.Set(e.Name, value)
		}
	}
}

// fill replaces $0 to $9 by what was found, "" for what was not. A backslash
// takes the meaning of what follows it.
func fill(value, text string, found []int) string {
	if !strings.ContainsAny(value, `$\`) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch next := i + 1; {
		case next < len(value) && c == '$' && '0' <= value[next] && value[next] <= '9':
			i = next
			if n := 2 * int(value[i]-'0'); n+1 < len(found) && found[n] >= 0 {
				b.WriteString(text[found[n]:found[n+1]])
			}
		case next < len(value) && c == '\\':
			i = next
			b.WriteByte(value[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
