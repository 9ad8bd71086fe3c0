package status

import (
	"fmt"
	"strings"
	"time"

	"jkd/connector"
	"jkd/connector/jk/balance"
)

// Config is a status worker: the directives of worker.NAME that are its own.
// Texts are as the administrator wrote them.
type Config struct {
	// Name is the worker's, for log lines.
	Name string
	// CSS is the address of a style sheet, "": the page's own style.
	CSS string
	// ReadOnly forbids edit, update, reset and recover (read_only).
	ReadOnly bool
	// Users are those who may see anything (user); none: everybody.
	Users               []string
	UserCaseInsensitive bool
	// Good and Bad are how members are counted. Nil is the default, in which
	// the idle state has either of its letters, i and n.
	Good, Bad []string
	// Prefix begins all keys of prop, "": worker.
	Prefix string
	// NS begins the names of XML elements, "": jk:, "-": nothing does.
	NS string
	// XMLNS is an attribute of the root element, "": one that goes with jk:,
	// "-": none.
	XMLNS string
	// Doctype follows the XML declaration; "" or "-": none.
	Doctype string
	// AllowGetUpdate lets a GET change things without a token, as mod_jk does
	// (allow_get_update, a directive of jkd's own).
	AllowGetUpdate bool
	// Log takes what is to be logged. Nil: nothing is.
	Log func(level Level, text string)
}

// Level is how bad a line of the log is.
type Level uint8

const (
	Info Level = iota // a change
	Warn              // a refusal or a failure
)

// withDefaults is c without absent values.
func (c Config) withDefaults() Config {
	def := func(s *string, absent string) {
		switch *s {
		case "":
			*s = absent
		case "-":
			*s = ""
		}
	}
	def(&c.NS, "jk:")
	def(&c.XMLNS, `xmlns:jk="http://tomcat.apache.org"`)
	def(&c.Doctype, "")
	if c.Prefix == "" {
		c.Prefix = "worker"
	}
	if c.Good == nil {
		c.Good = defaultGood
	}
	if c.Bad == nil {
		c.Bad = defaultBad
	}
	return c
}

// Input is a request to the status worker.
type Input struct {
	Method string // GET, HEAD, POST; others are refused
	Query  []byte // what follows '?'
	// Body is the form of a POST, at most MaxBody bytes and one that tells that
	// there were more. ContentType is its type.
	Body        []byte
	ContentType string
	// Header fields; "" is absent.
	Host, Origin, SecFetchSite string
	RemoteUser                 string // the user as authenticated, "": none
	ServerName                 string
	ServerPort                 int
	Now                        time.Time // in the zone that pages show
	// Token lets a request change things by whatever method, and is in the forms
	// of the pages: hexadecimal digits that nobody can guess. "": there is none.
	Token string
}

// Field is a header field of an answer.
type Field = connector.PageField

// Output is an answer, also for HEAD, where its body must be left out. Its
// status is 200 whatever is wrong with a command, as scripts know it from
// mod_jk; but 403 for what is refused, and 405 or 415 for what is no request to
// this page.
type Output connector.Page

// service is one request on its way.
type service struct {
	in      *Input
	control Control
	config  Config
	query   *Query
	view    View
	target  target // of the commands show and edit
	failure string // what went wrong, for the client
	done    []done
}

// done is a change that was made, for the page.
type done struct {
	target string
	Change
}

// Serve answers a request. It may be called concurrently.
func Serve(in Input, control Control, config Config) Output {
	s := &service{in: &in, control: control, config: config.withDefaults(), query: &Query{}}
	status := s.serve()
	switch {
	case status == 403 && !s.config.admits(in.RemoteUser):
		return s.refusal(status, "Forbidden\n")
	case status == 405:
		out := s.refusal(status, "Method Not Allowed\n")
		out.Fields = append(out.Fields, Field{Name: "Allow", Value: "GET, HEAD, POST"})
		return out
	case status == 415:
		return s.refusal(status, "Unsupported Media Type\n")
	}
	out := Output{Status: status, ContentType: s.query.Mime.ContentType(), Fields: noCache()}
	switch s.query.Mime {
	case XML:
		out.Body = s.xml()
	case Text:
		out.Body = s.text()
	case Prop:
		out.Body = s.prop()
	default:
		out.Fields = append(out.Fields, pageFields(s.config.CSS)...)
		out.Body = s.html()
	}
	return out
}

// noCache are the header fields of every answer. What has the token in it must
// not be left on a disk either.
func noCache() []Field {
	return []Field{
		{Name: "Cache-Control", Value: "no-cache, no-store"},
		{Name: "Pragma", Value: "no-cache"},
		{Name: "X-Content-Type-Options", Value: "nosniff"},
	}
}

func (s *service) refusal(status int, text string) Output {
	return Output{Status: status, ContentType: Text.ContentType(), Fields: noCache(), Body: []byte(text)}
}

// log writes a line.
func (s *service) log(l Level, text string) {
	if s.config.Log != nil {
		s.config.Log(l, plain(fmt.Sprintf("Status worker '%s' %s", s.config.Name, text)))
	}
}

// fail notes what went wrong.
func (s *service) fail(err error) {
	s.failure = err.Error()
	if s.config.Log != nil {
		s.config.Log(Warn, plain(fmt.Sprintf("Status worker '%s': %s", s.config.Name, s.failure)))
	}
}

// serve does what is asked for and returns the status of the answer.
func (s *service) serve() int {
	if !s.config.admits(s.in.RemoteUser) {
		s.log(Warn, fmt.Sprintf("service denied for user '%s'", s.in.RemoteUser))
		return 403
	}
	var form []byte
	switch s.in.Method {
	case "GET", "HEAD":
	case "POST":
		if len(s.in.Body) > 0 && !isForm(s.in.ContentType) {
			return 415
		}
		form = s.in.Body
	default:
		return 405
	}
	q, err := ParseQuery(s.in.Query, form)
	s.query = q
	if err != nil {
		s.fail(err)
		return 200
	}
	if q.Cmd.Changes() {
		if err := mayChange(&s.config, s.in, q); err != nil {
			s.fail(err)
			return 403
		}
	}
	if q.Cmd == Edit && s.readOnly() {
		s.fail(errReadOnly)
		return 403
	}
	if q.Cmd != Version {
		s.control.Snapshot(&s.view)
	} else {
		var v View
		s.control.Snapshot(&v)
		s.view.Software = v.Software
	}
	if err := s.command(); err != nil {
		s.fail(err)
	}
	return 200
}

// isForm tells whether a body is one of a form; no type at all is taken for
// that.
func isForm(contentType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.TrimSpace(t)
	return t == "" || strings.EqualFold(t, "application/x-www-form-urlencoded")
}

// readOnly tells whether pages must not offer any change.
func (s *service) readOnly() bool {
	return s.config.ReadOnly || s.query.Options&ReadOnly != 0
}

const errRecovery = fault("Marking worker for recovery failed")

// command does what the command is about, and finds what it is to show.
func (s *service) command() (err error) {
	q := s.query
	switch q.Cmd {
	case Show, Edit:
		s.target, err = s.view.find(q.W, q.SW)
		if err == nil && q.Cmd == Edit && q.Att != "" {
			if _, ok := common(q.Att); !ok {
				return errAttribute
			}
			if s.target.balancer == nil {
				return errMembers
			}
		}
	case Update:
		return s.update()
	case Reset:
		t, err := s.view.find(q.W, q.SW)
		if err != nil {
			return err
		}
		w, sw := t.names()
		if err := s.control.Reset(w, sw, s.in.Now); err != nil {
			return fault(fmt.Sprintf("Reset of %s failed: %v", &t, err))
		}
		s.log(Info, fmt.Sprintf("resetting %s", &t))
	case Recover:
		t, err := s.view.find(q.W, q.SW)
		switch {
		case err != nil:
			return err
		case t.member == nil:
			return fault("A member must be given.")
		case t.member.State != balance.Error:
			return errRecovery
		}
		w, sw := t.names()
		if err := s.control.Recover(w, sw); err != nil {
			s.log(Warn, fmt.Sprintf("marking %s for recovery: %v", &t, err))
			return errRecovery
		}
		s.log(Info, fmt.Sprintf("marking %s for recovery", &t))
	}
	return err
}
