package files

import (
	"path"
	"regexp"
	"strings"

	"jkd/connector"
)

// alias maps the paths of a server to a directory or file: Alias, AliasMatch or,
// with the path "/", DocumentRoot.
type alias struct {
	place
	// path is what its file stands for. Where it ends with a slash it is about
	// what is below only.
	path string
	// match, not nil, takes the place of path: what it finds makes a file of the
	// template to, in or below the place's directory.
	match *regexp.Regexp
	to    string
}

// fixedDir is the part of the template of an AliasMatch that is the same for
// every request: a directory.
func fixedDir(to string) string {
	fixed, _, _ := strings.Cut(to, "$")
	if fixed == to {
		return to
	}
	return path.Clean(fixed[:strings.LastIndexByte(fixed, '/')+1])
}

// maps tells whether a is about the path of r.
func (a *alias) maps(r *connector.Request) bool {
	if a.match != nil {
		return a.match.Match(r.MatchPath)
	}
	n := len(a.path)
	return len(r.MatchPath) >= n && string(r.MatchPath[:n]) == a.path && (len(r.MatchPath) == n || a.path[n-1] == '/' || r.MatchPath[n] == '/')
}

// name is the name of the file that r is for, below the place's directory, with
// a slash at its end if there is one at the end of the path.
func (a *alias) name(r *connector.Request) string {
	if a.match == nil {
		return strings.TrimPrefix(string(r.MatchPath[len(a.path):]), "/")
	}
	p := string(r.MatchPath)
	file := connector.Fill(a.to, p, a.match.FindStringSubmatchIndex(p))
	// Groups could have been put together to "..", or lead to a neighbour.
	name, inside := below(path.Clean(file), a.dir.path)
	switch {
	case !inside:
		return ".." // which nothing is called
	case name != "" && strings.HasSuffix(file, "/"):
		name += "/"
	}
	return name
}

// below is the name of a file in or below a directory.
func below(file, dir string) (name string, ok bool) {
	if file == dir {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}

// Name implements connector.Worker.
func (a *alias) Name() string { return Name }

// Service implements connector.Worker.
func (a *alias) Service(r *connector.Request, w connector.ResponseWriter) error {
	return a.serve(a.name(r), r, w)
}
