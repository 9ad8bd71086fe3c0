package connector

import "strings"

// Fill replaces $0 to $9 in value by what an expression has found in text, ""
// for what it has not: found is that of regexp.FindStringSubmatchIndex. A backslash
// takes the meaning of what follows it.
func Fill(value, text string, found []int) string {
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
