package status

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync/atomic"

	"jkd/connector"
)

// users checks the passwords of requests. Good forms of passwords take long to
// check on purpose, and a program that asks every second sends the same one
// again and again: the last good one is known by a sum.
type users struct {
	check func(user, password string) bool
	salt  [16]byte
	good  atomic.Pointer[[sha256.Size]byte]
}

func newUsers(check func(user, password string) bool) *users {
	u := &users{check: check}
	rand.Read(u.salt[:]) // never fails
	return u
}

// allow tells whether the header fields of a request have a good password, and
// whose.
func (u *users) allow(fields []connector.Field) (user string, ok bool) {
	value := connector.Value(fields, "authorization")
	user, password, ok := basicAuth(value)
	if !ok {
		return "", false
	}
	sum := sha256.Sum256(append(u.salt[:len(u.salt):len(u.salt)], value...))
	if good := u.good.Load(); good != nil && *good == sum {
		return user, true
	}
	if !u.check(user, password) {
		return "", false
	}
	u.good.Store(&sum)
	return user, true
}

// basicAuth reads the value of Authorization (RFC 7617).
func basicAuth(value string) (user, password string, ok bool) {
	scheme, code, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimLeft(code, " "))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}
