package conf

import (
	"strings"
	"sync"
)

// noted is a directive of Apache that does nothing in jkd, and what is said of
// it.
type noted struct {
	name     string
	severity Severity
	text     string
}

// unneeded are directives of modules that jkd has something for, that are known
// and not acted upon. Sections have '<' before their names.
var unneeded = []struct {
	severity    Severity
	text, names string
}{
	{Info, "is not needed",
		`AcceptMutex AcceptPathInfo AccessConfig AddModule AllowEncodedSlashes AsyncRequestWorkerFactor AuthzSendForbiddenOnFailure
		BindAddress BufferedLogs CGIMapExtension CGIPassAuth CGIVar ClearModuleList ContentDigest DefaultRuntimeDir EnableExceptionHook
		EnableMMAP EnableSendfile FlushMaxPipelined FlushMaxThreshold GprofDir HttpProtocolOptions ListenTCPDeferAccept LoadFile
		LockFile MaxRangeOverlaps MaxRangeReversals MaxRanges MergeSlashes MergeTrailers Mutex NameVirtualHost Port Protocol
		ProtocolsHonorOrder QualifyRedirectURL ReadBufferSize RegexDefaultOptions RegisterHttpMethod ResourceConfig SeeRequestTail
		ServerAdmin ServerPath ServerSignature ServerTokens ServerType StrictHostCheck TraceEnable UseCanonicalPhysicalPort`},
	{Info, "has no effect: the kernel's and the runtime's defaults are used",
		"ListenCoresBucketsRatio MaxMemFree ReceiveBufferSize SendBufferSize"},
	{Info, "has no effect: .htaccess is never read", "AccessFileName AllowOverrideList"},
	{Info, "has no effect: a request for ws:// that asks for no WebSocket is one of HTTP", "ProxyWebsocketFallbackToProxyHttp"},
	{Info, "has no effect: jkd knows the types of files itself, and sends what the container says of its own",
		`AddLanguage DefaultLanguage FileETag ModMimeUsePathInfo MultiviewsMatch RemoveCharset RemoveEncoding RemoveLanguage RemoveType`},
	{Info, "has no effect on how jkd lists a directory",
		`AddAlt AddAltByEncoding AddAltByType AddDescription AddIcon AddIconByEncoding AddIconByType DefaultIcon DirectoryCheckHandler
		DirectoryIndexRedirect DirectorySlash FancyIndexing HeaderName IndexHeadInsert IndexIgnore IndexIgnoreReset IndexOptions
		IndexOrderDefault IndexStyleSheet ReadmeName`},
	{Info, "has no effect: it is about the forward proxy, or about what jkd does not do",
		`BalancerGrowth BalancerInherit BalancerPersist NoProxy Proxy100Continue ProxyBadHeader ProxyBlock ProxyDomain ProxyMaxForwards
		ProxyReceiveBufferSize ProxyRemote ProxyRemoteMatch ProxySourceAddress ProxyStatus ProxyVia`},
	{Warn, "is not done: what Redirect sends is absolute, and Alias adds what follows its path",
		"AliasPreservePath RedirectRelative"},
	{Warn, "is not done: bodies pass through no filters",
		"AddInputFilter AddOutputFilter RemoveInputFilter RemoveOutputFilter SetInputFilter SetOutputFilter"},
	{Warn, "is not done: there are no CGI programs, scripts and includes", "AddHandler RemoveHandler Suexec"},
	{Warn, "is not done: there are no expressions", "SetEnvIfExpr"},
	{Warn, "is not done: HTTP/1.1 is spoken, without TLS", "Protocols"},
	{Warn, "is not done", "<AuthzProviderAlias FallbackResource GlobalLog LimitInternalRecursion LimitXMLRequestBody RLimitCPU RLimitMEM RLimitNPROC"},
}

// notNeeded are all directives that are known and not acted upon, by their
// names in lower case. The table is made when an httpd.conf is read: each child
// of jkd has this package too, and would keep it to itself.
var notNeeded = sync.OnceValue(func() map[string]noted {
	all := map[string]noted{}
	add := func(severity Severity, text, names string) {
		for name := range strings.FieldsSeq(names) {
			all[strings.ToLower(name)] = noted{name, severity, text}
		}
	}
	for _, a := range absent {
		if a.text == "" {
			add(Info, "is not needed", a.directives)
		} else {
			add(Warn, "is not done: "+a.text, a.directives)
		}
	}
	for _, u := range unneeded {
		add(u.severity, u.text, u.names)
	}
	return all
})

// asIs are directives of which jkd does one value.
var asIs = map[string]struct {
	name, value string
	otherwise   string // what is said of another value; "" refuses it
}{
	"hostnamelookups":         {"HostnameLookups", "off", "has no effect: names of clients are not looked up"},
	"usecanonicalname":        {"UseCanonicalName", "off", "has no effect: the name that clients ask for is the server's, as with Off"},
	"rewriteengine":           {"RewriteEngine", "off", "paths are not rewritten"},
	"sslengine":               {"SSLEngine", "off", "jkd listens without TLS: what is asked for here is served unencrypted; something in front has to speak https"},
	"sslverifyclient":         {"SSLVerifyClient", "none", ""},
	"authmerging":             {"AuthMerging", "off", ""},
	"proxypassinherit":        {"ProxyPassInherit", "on", ""},
	"proxypassinterpolateenv": {"ProxyPassInterpolateEnv", "off", ""},
}

// refused are directives without which the server would not be what it is meant
// to be.
var refused = map[string]string{
	"use":           "macros are not supported; Define and Include can do some of what they do",
	"sslrequire":    noCertificates,
	"sslrequiressl": noCertificates,
}

const noCertificates = "jkd listens without TLS: what this protects would be open; let something in front see to it, and Require its address"
