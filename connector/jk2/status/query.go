package status

import (
	"crypto/subtle"
	"errors"
	"net/url"
	"strings"

	"jkd/connector"
)

// MaxQuery is the longest query, and the longest form, in bytes.
const MaxQuery = 16 << 10

// Input is a request to the page.
type Input struct {
	Method string // GET, HEAD, POST
	Query  []byte // what follows '?'
	Form   []byte // the body of a POST
	// Header fields; "" is absent.
	Host, Origin, SecFetchSite string
	ServerName                 string
	CSS                        string // address of a style sheet, "": the page's own style
	// Token lets a request change things by whatever method. "": there is none.
	Token string
}

// action is what a request asks for.
type action uint8

const (
	show action = iota
	cfgOriginal
	cfgParsed
	scoreboard
	endpoints
	list
	dump
	query
	get
	set
	invoke
	reload
	reset
	actions
)

// parameters are the names that ask for it, in the order in which they count.
var parameters = [actions]string{
	"", "cfgOrig", "cfgParsed", "scoreboard", "endpoints", "lst", "dmp", "qry", "get", "set", "inv", "rld", "scoreboard.reset",
}

// String returns the parameter.
func (a action) String() string {
	if a < actions {
		return parameters[a]
	}
	return "action(?)"
}

// changes tells whether the action changes anything.
func (a action) changes() bool { return a >= set }

// asked is a request that was understood.
type asked struct {
	action action
	arg    string
	json   bool
	token  string
}

var (
	errTooLong  = errors.New("the query is too long")
	errEncoding = errors.New("the query is not well encoded")
)

// parse reads query and form.
func parse(in *Input) (asked, error) {
	if len(in.Query) > MaxQuery || len(in.Form) > MaxQuery {
		return asked{}, errTooLong
	}
	text := string(in.Query)
	if len(in.Form) > 0 {
		text += "&" + string(in.Form)
	}
	// mod_jk2's own clients leave ';' as it is.
	values, err := url.ParseQuery(strings.ReplaceAll(text, ";", "%3B"))
	if err != nil {
		return asked{}, errEncoding
	}
	a := asked{json: values.Get("mime") == "json", token: values.Get("token")}
	for i := show + 1; i < actions; i++ {
		if values.Has(i.String()) {
			a.action, a.arg = i, values.Get(i.String())
		}
	}
	return a, nil
}

var (
	errNotPosted = errors.New("a change must be a POST, or name the token that the page shows (token=...)")
	errCrossSite = errors.New("the request comes from a page of another site")
)

// mayChange tells why a request must not change anything.
func mayChange(in *Input, a *asked) error {
	switch {
	case in.Token != "" && subtle.ConstantTimeCompare([]byte(strings.ToLower(a.token)), []byte(strings.ToLower(in.Token))) == 1:
		return nil
	case in.Method != "POST":
		return errNotPosted
	case !connector.SameOrigin(in.SecFetchSite, in.Origin, in.Host):
		return errCrossSite
	}
	return nil
}

// matches tells whether a name is meant by a pattern.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
