//go:build unix

package main_test

import "strings"

const httpdHead = `# Where jkd differs from Apache on the same httpd.conf

jkd reads httpd.conf as Apache does, and what comes of it is meant to be the
same. A test (` + "`cmd/jkd/httpd_differential_test.go`" + `) starts Apache 2.4 and jkd
on the same small files and sends %d requests to both. It compares the answers
(status, fields, pages that are not the server's own) and what reaches the
containers. These are all the differences it finds, and why they are meant; those
of mod_jk itself are in [mod_jk-differences.md](mod_jk-differences.md).
The document is written by the test; edit the list there.
`

var httpdDifferences = []difference{
	*modJk.difference("raw path"),
	*modJk.difference("host spelling"),
	{
		name: "alias first", fields: elsewhere,
		title:  "A virtual host's own name counts more than an alias of another",
		apache: "gives a request to the first virtual host that has the name, be it by ServerAlias, with or without wildcards.",
		jkd:    "gives it to the virtual host whose ServerName it is; among aliases, names count more than wildcards, and of these the first one.",
		reason: "A virtual host whose name an alias takes away is never reached, which nobody wants. `jkd -t` tells of names that two have.",
	},
	{
		name: "no host", fields: []string{"server_name"},
		title:  "A request without Host is for the main server's name",
		apache: "tells the container the ServerName of the virtual host that serves it, the first one.",
		jkd:    "tells it the main server's ServerName; the virtual host is the same.",
		reason: "The client has named no virtual host.",
	},
	{
		name: "order of attributes", fields: []string{"attribute order"},
		title:  "JkEnvVar of the main server before those of the virtual host",
		apache: "sends those of the virtual host first.",
		jkd:    "sends them as the file has them.",
		reason: "Attributes have names; the container does not see their order.",
	},
	{
		name: "path of variables", fields: append([]string{"content-type", "content-length"}, elsewhere...),
		title:  "SetEnvIf Request_URI looks at the path that rules look at",
		apache: "looks at the path as the client wrote it.",
		jkd:    "looks at it decoded and resolved.",
		reason: "What keeps `/app/static/` from the container must not be got round by `/app//static/` or `/app/%73tatic/`.",
	},
	{
		name: "path parameter of Redirect", fields: []string{"location", "status"},
		title:  "A path parameter is none of the name that Redirect looks at",
		apache: "takes `/plain;v=1` for another name than `/plain`.",
		jkd:    "redirects it, with the parameter, as ProxyPass and mounts look at paths too.",
		reason: "To a container it is the same name; a session's id stands there.",
	},
	{
		name: "UnsetEnv", fields: []string{"attribute A", "attribute order"},
		title:  "UnsetEnv takes a variable away",
		apache: "forgets the UnsetEnv of a location that others around it set variables in: the main server's value comes back.",
		jkd:    "takes the variable away.",
		reason: "That is what UnsetEnv says.",
	},
	{
		name: "attributes of AJP", fields: []string{"attribute JK_LB_ACTIVATION", "attribute order", "content-length"},
		title:  "ProxyPass to ajp:// speaks AJP as mod_jk does",
		apache: "sends no JK_LB_ACTIVATION, and drops the length of the container's answer.",
		jkd:    "sends the attribute, which Tomcat's filters may look at, and keeps the length.",
		reason: "It is one implementation for both roads; the length is checked against the body.",
	},
	{
		name:   "length of nothing",
		title:  "A request without a body says so to an AJP container",
		apache: "sends no Content-Length through mod_proxy_ajp.",
		jkd:    "sends `Content-Length: 0`, as mod_jk does.",
		reason: "As above.",
		same: func(fields string) string {
			return strings.TrimSuffix(fields, "\ncoded content-length: 0")
		},
	},
	{
		name: "small answers", fields: []string{"content-length"},
		title:  "An answer whose end is known in time has a length",
		apache: "passes chunks of a back end on as chunks.",
		jkd:    "sends Content-Length when all of the answer has arrived before any of it was sent.",
		reason: "It is shorter, and can be told from a broken one.",
	},
	{
		name: "mount or proxy", fields: append([]string{"content-type", "content-length"}, elsewhere...),
		title:  "Of JkMount and ProxyPass the more specific one counts",
		apache: "asks mod_proxy first: below `ProxyPass /` a mount is never reached.",
		jkd:    "compares the paths: `JkMount /jk/*` counts more than `ProxyPass /`, and of equal ones the mount.",
		reason: "So that one path after the other can be moved from one to the other.",
	},
	{
		name: "methods of files", fields: []string{"allow", "status"},
		title:  "What is not there is 404 for every method",
		apache: "answers methods that files have no use for with 405 before it looks for the file.",
		jkd:    "answers 404 if there is no file.",
		reason: "The method is not what is wrong.",
	},
	{
		name: "relative redirect", fields: []string{"location"},
		title:  "The redirect to a directory names no host",
		apache: "sends `Location: http://HOST/path/`.",
		jkd:    "sends `Location: /path/`.",
		reason: "RFC 9110 allows it, and it is right behind whatever changes host, port or scheme on the way.",
		check: func(_ probe, apache, jkd map[string]string) bool {
			return strings.HasPrefix(jkd["location"], "/") && strings.HasSuffix(apache["location"], ":PORT"+jkd["location"])
		},
	},
	{
		name: "unknown type", fields: []string{"content-type"},
		title:  "A file of unknown type has one",
		apache: "sends no Content-Type.",
		jkd:    "sends application/octet-stream; `DefaultType none` sends none.",
		reason: "Browsers that have to guess what a file is guess HTML.",
		check:  func(_ probe, apache, _ map[string]string) bool { return apache["content-type"] == "" },
	},
	{
		name: "list", fields: []string{"content-type", "content-length"},
		title:  "The list of a directory",
		apache: "has its own, in ISO-8859-1 or UTF-8 as IndexOptions says.",
		jkd:    "has another, in UTF-8.",
		reason: "It is made for people.",
	},
	{
		name: "not modified", fields: []string{"accept-ranges", "last-modified"},
		title:  "304 has what a cache needs",
		apache: "sends Last-Modified and Accept-Ranges too.",
		jkd:    "sends ETag.",
		reason: "RFC 9110, 15.4.5: what the client has already is not sent again.",
		check:  func(_ probe, _, jkd map[string]string) bool { return jkd["status"] == "304" },
	},
	{
		name: "web application", fields: []string{"location", "status"},
		title:  "WEB-INF is not there",
		apache: "sends a redirect from `WEB-INF` to `WEB-INF/`, which a `<Location \"/app/WEB-INF/\">` keeps from being shown.",
		jkd:    "answers 404 for whatever is WEB-INF or META-INF or in it, in any case, with or without such a section.",
		reason: "It is never for clients.",
	},
	{
		name: "CGI", fields: []string{"status"},
		title:  "Nobody may ask for CGI programs",
		apache: "runs the programs of a ScriptAlias, or answers 404.",
		jkd:    "answers 403 for all paths below it, and warns at the start.",
		reason: "jkd runs no programs, and must not show them.",
	},
	{
		name: "index", fields: []string{"uri"},
		title:  "An index in the container is asked for by its name",
		apache: "finds out by DirectoryIndex that a JSP is mapped, and sends the path of the directory to the container.",
		jkd:    "sends the path of the JSP.",
		reason: "It is the file that DirectoryIndex names; what the container has as a welcome file may be another.",
		check: func(_ probe, apache, jkd map[string]string) bool {
			return strings.HasSuffix(apache["uri"], "/") && strings.HasPrefix(jkd["uri"], apache["uri"])
		},
	},
	{
		name: "status of a document", fields: []string{"status", "page", "content-type", "content-length"},
		title:  "The page for an error has the error's status",
		apache: "sends the status of the container that serves an ErrorDocument: 200, as a rule.",
		jkd:    "sends the error's, unless the page leads elsewhere (3xx).",
		reason: "What fails must not look as if it had not, to caches, monitors and search engines. Apache does so itself where the page is a file.",
		check:  func(_ probe, _, jkd map[string]string) bool { return jkd["status"] >= "400" },
	},
	{
		name: "fields of a replaced page", fields: []string{"page", "content-type", "content-length"},
		title:  "What a container says beside its page stays",
		apache: "forgets the container's header fields when an ErrorDocument, or a page of its own, is sent instead of the container's page (use_server_errors).",
		jkd:    "forgets those that describe the page, and keeps the others.",
		reason: "A cookie that the container sets is to be kept, whichever page goes with it.",
	},
}
