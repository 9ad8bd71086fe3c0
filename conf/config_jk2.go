package conf

// Jk2 is section [connector.jk2] together with the JkUriSet directives of
// locations.
type Jk2 struct {
	Line int // of the section's head
	// File is workers2.properties: the file of directive File or of JkSet
	// config:file, or conf/workers2.properties below ServerRoot if there is
	// neither and that exists. Nil without one.
	File *File
	// Before is how many of Sets stand before the directive that names the
	// file, or all: what the file says counts more than these and less than
	// the others, as it is read where it is named.
	Before int
	// Sets are JkSet and JkSet2, in file order.
	Sets []JkSet
	// URISets are JkUriSet, in file order.
	URISets []JkURISet
}

// JkSet is one JkSet or JkSet2.
type JkSet struct {
	// Object is JkSet2's first argument; with JkSet it is "", and Property is
	// object and property in one word, which the connector takes apart.
	Object, Property, Value string
	Line                    int
}

// JkURISet is one JkUriSet: a property of the uri component of a path.
type JkURISet struct {
	VHost           int    // 0: the main server, else the place in Config.VHosts plus 1
	Path            string // begins with '/'
	Property, Value string
	Line            int
}
