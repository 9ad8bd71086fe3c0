package status

import "strings"

// visible are the pairs of the configuration that may be shown: not those whose
// key is that of a secret, nor those that repeat one, as the macro it was
// written with does.
func visible(all []Pair) []Pair {
	var secrets []string
	for _, p := range all {
		if isSecret(p.Key) && strings.TrimSpace(p.Value) != "" {
			secrets = append(secrets, strings.TrimSpace(p.Value))
		}
	}
	var out []Pair
	for _, p := range all {
		if !isSecret(p.Key) && !repeats(p.Value, secrets) {
			out = append(out, p)
		}
	}
	return out
}

// isSecret tells whether a key is that of a secret.
func isSecret(key string) bool {
	k := strings.ToLower(strings.TrimSpace(key))
	k = k[strings.LastIndexByte(k, '.')+1:]
	return k == "secret" || k == "secretkey"
}

// longSecret is the length of a secret that does not occur in another value by
// chance.
const longSecret = 6

func repeats(value string, secrets []string) bool {
	for _, s := range secrets {
		if strings.TrimSpace(value) == s || len(s) >= longSecret && strings.Contains(value, s) {
			return true
		}
	}
	return false
}
