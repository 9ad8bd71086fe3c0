package users

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tg123/go-htpasswd"
)

// The most work that one check may be. A cost of 12 is about a quarter of a
// second, and so are 100000 rounds.
const (
	MaxCost   = 12
	MaxRounds = 100000
)

// parseHash understands what stands behind a name. The library takes any hash
// with the right beginning; what it would fail on later is refused here.
func parseHash(s string) (htpasswd.EncodedPasswd, error) {
	for _, form := range forms {
		for _, prefix := range form.prefixes {
			rest, ok := strings.CutPrefix(s, prefix)
			if !ok {
				continue
			}
			if err := form.check(prefix, rest); err != nil {
				return nil, fmt.Errorf("%s: %w", form.name, err)
			}
			p, err := form.accept(s)
			if err != nil || p == nil {
				return nil, fmt.Errorf("%s: %w", form.name, errMalformed) // the library's text holds the hash
			}
			return p, nil
		}
	}
	if len(s) == 13 {
		return nil, errors.New("is crypt's old form or plain text, which are not supported: use htpasswd -B")
	}
	return nil, errors.New("is plain text or a form that is not supported: use htpasswd -B")
}

var errMalformed = errors.New("the hash is malformed")

var forms = []struct {
	name     string
	prefixes []string
	check    func(prefix, rest string) error
	accept   htpasswd.PasswdParser
}{
	{"bcrypt", []string{"$2y$", "$2a$", "$2b$"}, checkBcrypt, htpasswd.AcceptBcrypt},
	{"MD5", []string{"$apr1$", "$1$"}, func(_, rest string) error { return checkParts(rest, 8, 22) }, htpasswd.AcceptMd5},
	{"SHA-256", []string{"$5$"}, func(_, rest string) error { return checkRounds(rest, 43) }, htpasswd.AcceptCryptSha},
	{"SHA-512", []string{"$6$"}, func(_, rest string) error { return checkRounds(rest, 86) }, htpasswd.AcceptCryptSha},
	{"SHA-1", []string{"{SHA}"}, func(_, _ string) error { return nil }, htpasswd.AcceptSha},
}

// checkBcrypt wants two digits, the salt in 22 characters and the hash in 31.
func checkBcrypt(_, rest string) error {
	cost, text, _ := strings.Cut(rest, "$")
	n, err := strconv.Atoi(cost)
	if len(cost) != 2 || err != nil || n < 4 || !base64ish(text) || len(text) != 53 {
		return errMalformed
	}
	if n > MaxCost {
		return fmt.Errorf("the cost %d is more than %d: each check would take too long", n, MaxCost)
	}
	return nil
}

// checkRounds wants an optional rounds=N, a salt and a hash.
func checkRounds(rest string, hash int) error {
	if text, ok := strings.CutPrefix(rest, "rounds="); ok {
		number, after, _ := strings.Cut(text, "$")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1000 || strconv.Itoa(n) != number {
			return errMalformed
		}
		if n > MaxRounds {
			return fmt.Errorf("%d rounds are more than %d: each check would take too long", n, MaxRounds)
		}
		rest = after
	}
	return checkParts(rest, 16, hash)
}

// checkParts wants a salt of at most so many characters and a hash of exactly
// so many.
func checkParts(rest string, salt, hash int) error {
	s, h, _ := strings.Cut(rest, "$")
	if s == "" || len(s) > salt || len(h) != hash || !base64ish(s) || !base64ish(h) {
		return errMalformed
	}
	return nil
}

func base64ish(s string) bool {
	return strings.Trim(s, "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}
