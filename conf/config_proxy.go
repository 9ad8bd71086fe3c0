package conf

import "time"

// ProxyConfig is what the directives of mod_proxy say, in [proxy], [vhost] and
// [location]. URLs and parameters are as written; connector/proxy judges them.
type ProxyConfig struct {
	// Servers are the main server and the virtual hosts, in the order of
	// Config.VHosts. A virtual host has what it inherits.
	Servers []ProxyServer
	// Members are all BalancerMember, in file order.
	Members []ProxyMember
	// Sets are all ProxySet, in file order.
	Sets []ProxySet

	Line int // where the first of them stands
}

// ProxyServer is what the main server or a virtual host says.
type ProxyServer struct {
	// Passes are the rules in the order in which they are tried: those of
	// locations, the last one first, then those of the main server, then those
	// of the virtual host.
	Passes   []ProxyPass
	Reverses []ProxyReverse // ProxyPassReverse
	// CookiePaths and CookieDomains are ProxyPassReverseCookiePath and
	// ProxyPassReverseCookieDomain.
	CookiePaths, CookieDomains []ProxyRewrite

	PreserveHost bool          // ProxyPreserveHost, default off
	AddHeaders   bool          // ProxyAddHeaders, default on
	Timeout      time.Duration // ProxyTimeout; 0: TimeOut
	IOBufferSize int           // ProxyIOBufferSize in bytes, default 8192
	// ErrorOverride is ProxyErrorOverride, default off. ErrorStatuses are the
	// statuses that it is for, sorted; none: all of 400 and above.
	ErrorOverride bool
	ErrorStatuses []int
}

// ProxyPass is one ProxyPass or ProxyPassMatch.
type ProxyPass struct {
	Path  string // or, with Match, a regular expression
	Match bool
	// URL is where requests go, "!" for nowhere: they are not proxied.
	URL    string
	Params []ProxyParam
	Line   int
}

// ProxyParam is key=value, or a word alone (nocanon), which has no value.
type ProxyParam struct{ Key, Value string }

// ProxyReverse is one ProxyPassReverse.
type ProxyReverse struct {
	Path, URL string
	Line      int
}

// ProxyRewrite is the two arguments of ProxyPassReverseCookiePath or
// ProxyPassReverseCookieDomain: what a container says, and what the client is to
// get.
type ProxyRewrite struct{ Internal, Public string }

// ProxyMember is one BalancerMember.
type ProxyMember struct {
	Balancer, URL string
	Params        []ProxyParam
	Line          int
}

// ProxySet is one ProxySet: parameters of a balancer or a worker by its URL.
type ProxySet struct {
	URL    string
	Params []ProxyParam
	Line   int
}

// DefaultProxyServer is what a server has that says nothing.
func DefaultProxyServer() ProxyServer {
	return ProxyServer{AddHeaders: true, IOBufferSize: 8192}
}
