package status

import (
	"crypto/subtle"
	"strings"

	"jkd/connector"
)

const (
	errReadOnly  = fault("This command is not allowed: the status worker or this view of it is read-only.")
	errNotPosted = fault("This command must be sent by POST, or with the token of this page.")
	errCrossSite = fault("This command was sent from another site.")
)

// admits tells whether the directive user lets a user in. Nobody is "".
func (c *Config) admits(user string) bool {
	if len(c.Users) == 0 {
		return true
	}
	if user == "" {
		return false
	}
	for _, u := range c.Users {
		if u == user || c.UserCaseInsensitive && strings.EqualFold(u, user) {
			return true
		}
	}
	return false
}

// mayChange decides whether a request may change anything. Else anybody could
// make an administrator's browser do it, with a link or a picture (GET) or a
// form (POST) on a page of his own. The token is known only to those who can
// read these pages.
func mayChange(c *Config, in *Input, q *Query) error {
	switch {
	case c.ReadOnly || q.Options&ReadOnly != 0:
		return errReadOnly
	case in.Token != "" && subtle.ConstantTimeCompare([]byte(strings.ToLower(q.Token)), []byte(strings.ToLower(in.Token))) == 1:
		return nil
	case in.Method != "POST" && !c.AllowGetUpdate:
		return errNotPosted
	case !connector.SameOrigin(in.SecFetchSite, in.Origin, in.Host):
		return errCrossSite
	}
	return nil
}
