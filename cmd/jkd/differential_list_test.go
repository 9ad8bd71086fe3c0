//go:build unix

package main_test

import (
	"regexp"
	"slices"
	"strings"
)

// difference is one way in which jkd differs from Apache with mod_jk, and why.
// The document made of them is for people who change from one to the other.
type difference struct {
	name   string   // for the table; the document has it as an anchor
	fields []string // what differs
	title  string
	apache string // what Apache does
	jkd    string // what jkd does
	reason string

	// check, if set, looks whether a request that has the difference differs
	// as described.
	check func(p probe, apache, jkd map[string]string) bool
	// same, if set, brings the header fields of a packet into a form in which
	// the difference is gone. Such a difference covers the header fields.
	same func(fields string) string
	// unsteady: it is up to chance whether a request shows it.
	unsteady bool
}

func (d *difference) covers(field string) bool {
	return slices.Contains(d.fields, field) || d.same != nil && field == "fields"
}

// The answer comes from somebody else.
var elsewhere = []string{"page", "status", "worker"}

var differences = []difference{
	{
		name: "raw path", fields: []string{"uri"},
		title:  "The path reaches the container as the client wrote it",
		apache: "decodes the path, resolves `.`, `..` and `//` in it, and encodes it again in its own way (ForwardURIProxy, the default).",
		jkd:    "forwards the path byte for byte. The decoded and resolved form is used to find the rule and for nothing else.",
		reason: "What is decoded and encoded again is not always what it was: escapes get lost, appear or are decoded twice, and the application sees another resource than the rules did. `JkOptions +ForwardURICompatUnparsed` has the same effect in mod_jk.",
		check: func(p probe, _, jkd map[string]string) bool {
			path, _, _ := strings.Cut(p.target(), "?")
			return jkd["uri"] == path || strings.HasSuffix(path, ".") && jkd["uri"] == path+"/"
		},
	},
	{
		name: "dots at the end", fields: []string{"uri"},
		title:  "A path that ends in `.` or `..` gets a slash",
		apache: "with `JkOptions +ForwardURICompatUnparsed` sends it as it is.",
		jkd:    "adds the slash, whatever the form: `/app/x/.` is sent as `/app/x/./`.",
		reason: "Containers do not agree on what it is. `/app/x/.` is `/app/x/` to the rules, as in RFC 3986, but `/app/x` to Tomcat 10.1.60, past an exception for `/app/x`.",
		check: func(p probe, apache, jkd map[string]string) bool {
			return apache["uri"] == p.target() && jkd["uri"] == p.target()+"/"
		},
	},
	{
		name: "encoded slash", fields: []string{"uri"},
		title:  "An encoded slash stays one",
		apache: "answers `%2F` with 404, or, with `AllowEncodedSlashes NoDecode`, makes `%252F` of it.",
		jkd:    "forwards `%2F` as it is, and does not take it for a separator when it looks for the rule.",
		reason: "The container decides what an encoded slash means (Tomcat refuses it by default); encoded twice it means something else.",
		check: func(p probe, apache, jkd map[string]string) bool {
			return jkd["uri"] == p.target() && strings.Contains(strings.ToUpper(apache["uri"]), "%252F")
		},
	},
	{
		name: "NUL", fields: []string{"status"},
		title:  "`%00` in a path is a bad request",
		apache: "answers 404.",
		jkd:    "answers 400.",
		reason: "Either way nothing reaches the container. No resource can have this name, so it is the request that is wrong.",
	},
	{
		name: "parameters first", fields: elsewhere,
		title:  "Path parameters go before `..` is resolved",
		apache: "resolves `..` first and removes path parameters (`;...`) afterwards: `/app/;/../x` is `/app/x` to its rules.",
		jkd:    "removes path parameters first, as the container does: `/app/;/../x` is `/x`.",
		reason: "A rule must not match what the container would resolve to a path outside of the mount.",
	},
	{
		name: "encoded semicolon", fields: elsewhere,
		title:  "An encoded semicolon begins no path parameter",
		apache: "decodes `%3B` before it removes path parameters, so an exception for `/app/static/*` catches `/app/static%3Bx/y`.",
		jkd:    "takes it for a character of the name, as the container does.",
		reason: "The rules have to see the same path as the container.",
	},
	{
		name: "decoded twice", fields: append([]string{"fault"}, elsewhere...),
		title:  "ForwardURICompat sends nothing that would be decoded twice",
		apache: "sends the decoded path with whatever is in it: `%2541` as `%41`, `%3F` as `?`, `%0A` as a line feed.",
		jkd:    "answers 400 when an escape stands for `%`, `;`, `?`, `#` or a control character.",
		reason: "The container decodes the path again and takes it for another one than the rules did. The other forms send all of these.",
	},
	{
		name: "escaped parameters", fields: elsewhere,
		title:  "ForwardURIEscaped refuses path parameters",
		apache: "sends `;` as `%3B`, so that a path parameter (`;jsessionid=...`) becomes part of the name.",
		jkd:    "answers 400.",
		reason: "The container would look for another resource than the one the rules were asked about, and would not find the session.",
	},
	{
		name: "encoded session", fields: []string{"attribute route", "attribute secret", "page", "uri", "worker"},
		title:  "A session id in the path counts as it was written",
		apache: "looks for `;jsessionid=` in the decoded path.",
		jkd:    "looks for it in the path as it came; `%3Bjsessionid=` and `;%6Asessionid=` are none.",
		reason: "The container does not take them for session ids either.",
	},
	{
		name: "TRACE", fields: []string{"page", "worker"},
		title:  "TRACE is the container's to answer",
		apache: "answers it itself (TraceEnable).",
		jkd:    "forwards it as any other method.",
		reason: "jkd has no resources of its own that could be traced. Tomcat refuses TRACE unless `allowTrace` is set.",
	},
	{
		name: "CONNECT", fields: elsewhere,
		title:  "CONNECT with a path is forwarded",
		apache: "answers 400.",
		jkd:    "forwards it by its name, as every method that AJP has no number for.",
		reason: "What a method means is the container's business; jkd opens no tunnels. CONNECT with `host:port` is refused.",
	},
	{
		name: "host spelling", fields: []string{"fields", "server_name"},
		title:  "The host keeps its spelling",
		apache: "turns the host into lower case and drops a dot at its end before it becomes the packet's server name.",
		jkd:    "compares without regard to case and dot, and forwards what the client sent.",
		reason: "Applications compare it with the Host field, which neither front changes.",
	},
	{
		name: "server port", fields: []string{"server_port"},
		title:  "The port is that of the connection when the client names none",
		apache: "takes the one of the virtual host's ServerName, or 80.",
		jkd:    "takes the port that the client has connected to.",
		reason: "A ServerName without a port, which is most, gives Apache's containers the wrong port on every other than 80.",
	},
	{
		name: "empty port", fields: elsewhere,
		title:  "`Host: name:` is a host without a port",
		apache: "answers 400.",
		jkd:    "takes it as if the colon were not there.",
		reason: "RFC 3986 allows an empty port.",
	},
	{
		name: "fragment", fields: elsewhere,
		title:  "A fragment in the request target is dropped",
		apache: "answers 400 (HttpProtocolOptions Strict).",
		jkd:    "drops `#` and what follows it and serves the rest.",
		reason: "Some old clients send it, and it can be told from the path without doubt.",
	},
	{
		name: "minor version", fields: []string{"protocol"},
		title:  "The protocol is one that both sides know",
		apache: "tells the container whatever minor version the client claims.",
		jkd:    "says HTTP/1.1 for 1.2 and above.",
		reason: "That is what is spoken on the connection.",
	},
	{
		name: "major version", fields: elsewhere,
		title:  "Other major versions are refused",
		apache: "serves `HTTP/2.0` in a request line.",
		jkd:    "answers 505.",
		reason: "A request of this form is not HTTP/2.",
	},
	{
		name: "long path", fields: elsewhere,
		title:  "A path that is too long to be matched is not found",
		apache: "does not match paths of more than 4095 bytes and answers 403 or 404.",
		jkd:    "has the same limit and answers 404, with a line in the log.",
		reason: "403 is what Apache makes of a path that is too long for a file's name; jkd looks for none.",
	},
	{
		name:   "coded names",
		title:  "All names that have a code are sent as codes",
		apache: "sends Accept-Charset, Accept-Encoding and Accept-Language as text.",
		jkd:    "sends the code of every name in the protocol's table.",
		reason: "To the container it is the same; the packet is smaller.",
		same: func(fields string) string {
			lines := strings.Split(fields, "\n")
			for i, l := range lines {
				name, value, _ := strings.Cut(strings.TrimPrefix(l, "coded "), ": ")
				if strings.HasPrefix(strings.ToLower(name), "accept-") {
					lines[i] = strings.ToLower(name) + ": " + value
				}
			}
			return strings.Join(lines, "\n")
		},
	},
	{
		name:   "repeated fields",
		title:  "Repeated header fields stay apart",
		apache: "joins fields of one name with commas, even Cookie.",
		jkd:    "forwards each as it came, in its place.",
		reason: "A comma is no separator of cookies, nor of fields whose values may contain one. The container's `getHeaders` returns the same values for true lists.",
		same:   joined,
	},
	{
		name:   "hop-by-hop",
		title:  "Fields that concern the client's connection are not forwarded",
		apache: "forwards Connection, the fields it names, Keep-Alive, TE, Trailer, Upgrade, Transfer-Encoding, Expect and Proxy-* fields.",
		jkd:    "keeps them: they are between the client and the front. Host can't be named in Connection.",
		reason: "The connection to the container is another one. A forwarded Transfer-Encoding or Expect is answered twice, or believed by the wrong side.",
		same:   withoutHop,
	},
	{
		name:   "length last",
		title:  "Content-Length is the last header field",
		apache: "sends it where the client had it, or last if it adds one.",
		jkd:    "always sends it last, made anew from the number.",
		reason: "There is one length, and it is the one that the body is read by.",
		same: func(fields string) string {
			lines := strings.Split(fields, "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "coded content-length: ") })
			if i < 0 {
				return fields
			}
			l := lines[i]
			return strings.Join(append(slices.Delete(lines, i, i+1), l), "\n")
		},
	},
	{
		name: "folded", fields: elsewhere,
		title:  "Folded header fields are refused",
		apache: "joins the lines.",
		jkd:    "answers 400.",
		reason: "RFC 9112 lets a server refuse them, and there are no honest clients left that send any; they have been of use to smuggle fields.",
	},
	{
		name: "ranges", fields: []string{"page", "status"},
		title:  "Ranges are the container's to cut",
		apache: "cuts a range out of the container's complete answer and makes it 206.",
		jkd:    "passes on what the container answers.",
		reason: "The container knows whether a range of it makes sense; static files of Tomcat come as 206 already.",
	},
	{
		name: "transfer coding", fields: []string{"status"},
		title:  "An unknown transfer coding is not implemented",
		apache: "answers 400.",
		jkd:    "answers 501.",
		reason: "RFC 9112, 6.1.",
	},
	{
		name: "length and chunking", fields: elsewhere,
		title:  "A length and chunking together are refused",
		apache: "ignores Content-Length.",
		jkd:    "answers 400 and closes the connection.",
		reason: "Who sends both wants two servers to disagree on where the request ends.",
	},
	{
		name: "chunked HTTP/1.0", fields: elsewhere,
		title:  "There is no chunking in HTTP/1.0",
		apache: "serves the request.",
		jkd:    "answers 400 and closes the connection.",
		reason: "As above: others on the way do not read it so (RFC 9112, 6.1).",
	},
	{
		name: "bad chunk", fields: []string{"page", "status"},
		title:  "A body with bad chunks is answered",
		apache: "closes the connection without an answer.",
		jkd:    "answers 400 and closes the connection.",
		reason: "The client can know what was wrong.",
	},
	{
		name: "local address", fields: []string{"attribute AJP_LOCAL_ADDR"},
		title:  "JK_LOCAL_ADDR works in virtual hosts",
		apache: "knows JkLocalAddrIndicator and its default in the main server only.",
		jkd:    "treats it as the other indicators.",
		reason: "It has been forgotten in mod_jk.",
	},
	{
		name: "empty default", fields: []string{"attribute EMPTY", "attribute order"},
		title:  "JkEnvVar may have an empty default",
		apache: "takes `JkEnvVar NAME \"\"` for one without a default and sends nothing.",
		jkd:    "sends the attribute with an empty value.",
		reason: "It is what the line says.",
	},
	{
		name: "unknown status", fields: []string{"status"},
		title:  "use_server_errors keeps the status",
		apache: "answers 500 for statuses that it has no page for.",
		jkd:    "makes a page for any.",
		reason: "The status is the container's.",
	},
	{
		name: "empty error", fields: []string{"page"},
		title:  "An error without a body gets one",
		apache: "passes the answer on as it is.",
		jkd:    "sends its own page in place of an answer of 400 or above without a body, except to HEAD.",
		reason: "Users see a blank page otherwise. mod_jk has code that means to do the same, but has sent the header by then.",
	},
	{
		name: "stale connection", fields: []string{"worker"}, unsteady: true, // which child, and has it a connection
		title:  "A connection lost while idle costs no request",
		apache: "counts a request that fails on an old connection as an attempt: with `retries=1` the user gets an error.",
		jkd:    "sends it once more on a new connection to the same container if nothing of the answer has come, and counts from there.",
		reason: "A container that was restarted has closed all connections, and that is no fault of the request.",
	},
	{
		name: "turn", fields: []string{"attribute route", "attribute secret", "page", "worker"}, unsteady: true,
		title:  "Who is next among equals",
		apache: "goes on from the member that this process has elected last; requests with a session do not count.",
		jkd:    "goes on from the member that any process has chosen last.",
		reason: "Both choose by the same values, and the weights come out the same; it is only ties that fall otherwise.",
	},
	{
		name: "route after failover", fields: []string{"attribute route"},
		title:  "The route sent is that of the member that serves",
		apache: "keeps the route of the member that was tried first.",
		jkd:    "sends the one of the member that gets the request.",
		reason: "Tomcat ignores it; others should not be told a wrong one.",
	},
	{
		name: "domain route", fields: []string{"attribute route"}, unsteady: true,
		title:  "The route of a request that follows its domain",
		apache: "sends bytes of memory that is not the domain's any more.",
		jkd:    "sends the domain.",
		reason: "A fault of mod_jk 1.2.48.",
		check: func(_ probe, _, jkd map[string]string) bool {
			return jkd["attribute route"] == "=east" || jkd["attribute route"] == "=west"
		},
	},
	{
		name: "cookie spelling", fields: []string{"set-cookie"},
		title:  "set_session_cookie",
		apache: "writes `NAME=.route;PATH=/;HttpOnly`.",
		jkd:    "writes `NAME=.route; Path=/; HttpOnly`.",
		reason: "The form of RFC 6265; browsers take both.",
		check: func(_ probe, apache, jkd map[string]string) bool {
			// The routes may differ as the members do.
			a := strings.NewReplacer(";PATH=", "; Path=", ";HttpOnly", "; HttpOnly").Replace(apache["set-cookie"])
			route := regexp.MustCompile(`=\.[a-z][0-9]`)
			return route.ReplaceAllString(a, "=.") == route.ReplaceAllString(jkd["set-cookie"], "=.")
		},
	},
}

// withoutHop removes what stays between the client and the front.
func withoutHop(fields string) string {
	var kept []string
	named := []string{"connection", "keep-alive", "te", "trailer", "upgrade", "proxy-connection", "transfer-encoding", "expect",
		"proxy-authorization", "proxy-authenticate"}
	for l := range strings.SplitSeq(fields, "\n") {
		if v, ok := strings.CutPrefix(l, "coded connection: "); ok {
			for tok := range strings.SplitSeq(v, ",") {
				named = append(named, strings.ToLower(strings.TrimSpace(tok)))
			}
		}
	}
	for l := range strings.SplitSeq(fields, "\n") {
		name, _, _ := strings.Cut(strings.TrimPrefix(l, "coded "), ": ")
		if !slices.Contains(named, strings.ToLower(name)) {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// joined joins fields of one name with commas, in the place of the first.
func joined(fields string) string {
	var names, lines []string
	for l := range strings.SplitSeq(fields, "\n") {
		name, value, _ := strings.Cut(l, ": ")
		if i := slices.Index(names, strings.ToLower(name)); i >= 0 {
			lines[i] += ", " + value
			continue
		}
		names, lines = append(names, strings.ToLower(name)), append(lines, l)
	}
	return strings.Join(lines, "\n")
}
