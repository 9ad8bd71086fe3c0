package conf

import (
	"fmt"
	"time"
)

// VHost is a section [vhost NAME]: a name-based virtual host. Requests whose
// host no section names are the main server's.
type VHost struct {
	// Name is the section's, lower case and without a final dot; Aliases are
	// those of ServerAlias, likewise, in which '*' and '?' may stand for any
	// run of characters and for one.
	Name    string
	Aliases []string
	// Port is the port of the section's name (NAME:PORT): the one that the
	// connection came in on, as in Apache; 0 for any.
	Port int
	Line int // of the section's head
	// Env is SetEnv and UnsetEnv, the main server's before its own.
	Env []EnvSetting
	// Redirects are its own and then the main server's: the first that matches
	// counts.
	Redirects []Redirect
	// Answers is the main server's and then its own.
	Answers
}

// Location is a section [location PATH] or [location NAME PATH]: what holds
// for a path and everything below it, as in Apache.
type Location struct {
	// VHost is 0 for the main server, else its place in Config.VHosts plus 1.
	// What the main server's locations set holds in every virtual host too,
	// and there gives way to the virtual host's own; only mounts don't.
	VHost int
	// Path begins with '/'. Where it contains '*' or '?' it is a pattern for
	// the whole path, and neither stands for a '/'. With Match it is a regular
	// expression instead that has to be found in the path.
	Path  string
	Match bool
	Line  int
	Env   []EnvSetting
	// Access is who may ask: of the locations that a request is in, the last one
	// that says something counts.
	Access    Access
	Rules     FileRules
	Redirects []Redirect // the last location's count first
	Answers
	// Handler is SetHandler: "jakarta-servlet" or "".
	Handler string
	// Worker is the argument of JkMount, extensions and all; "" for none. It
	// is among the Mounts of its JkServer already, Path being the pattern.
	Worker string
	// WorkerLine is where it stands.
	WorkerLine int
}

// EnvSetting is one SetEnv or UnsetEnv, or one variable of a SetEnvIf, in the
// order of the file.
type EnvSetting struct {
	Name, Value string
	Unset       bool
	// If is the condition of SetEnvIf, nil for none. With it $0 to $9 in Value
	// are what the expression has found, and a backslash takes the meaning of
	// what follows it.
	If *EnvIf
}

// CustomLog is one access log.
type CustomLog struct {
	Path   string // absolute, or what PipedLog takes apart
	Format string // LogFormat's language, nicknames replaced
	// Env is the name behind env=, "!NAME" for its absence; "" for no
	// condition.
	Env string
	// VHost is whose requests are logged: 0 for those of the main server and
	// of every virtual host without a log of its own.
	VHost int
	Line  int
}

// Jk is section [connector.jk] together with the Jk directives of the virtual
// hosts.
type Jk struct {
	WorkersFile *File // JkWorkersFile, nil when not set
	// Properties are the JkWorkerProperty lines, split at their first '='.
	Properties []Pair

	ShmFile string // JkShmFile, absolute; "" for anonymous memory
	// ShmSize is JkShmSize in bytes, 0 when not set. The size follows from
	// the configuration; a smaller or larger one is only remarked on.
	ShmSize int
	// WatchdogInterval is JkWatchdogInterval, how often mod_jk finds out
	// whether it is time to look after idle connections (worker.maintain). 0
	// and less than that time mean every worker.maintain.
	WatchdogInterval time.Duration

	// Servers are the main server and then the virtual hosts, in the order of
	// Config.VHosts. Nobody has to merge anything: what a virtual host
	// inherits is in its own entry.
	Servers []JkServer
}

// Main is the main server's part.
func (j *Jk) Main() *JkServer { return &j.Servers[0] }

// JkServer is what may differ between the main server and a virtual host
// (scope V in mod_jk's documentation).
type JkServer struct {
	// Mounts and UnMounts are those of the section itself and of its
	// locations. With MountCopy the connector adds the main server's.
	Mounts   []Mount // JkMount
	UnMounts []Mount // JkUnMount
	// MountFile is JkMountFile, nil when not set. A virtual host has the main
	// server's only through MountCopy, and only without one of its own.
	MountFile *File
	// MountFileReload is how often MountFile is looked at for changes; 0 =
	// never, default 60 s.
	MountFileReload time.Duration
	// MountCopy is JkMountCopy; of virtual hosts, On or Off, the main
	// server's All taken into account.
	MountCopy MountCopy

	// AutoAlias is JkAutoAlias, absolute; "" for none.
	AutoAlias string
	// StripSession is JkStripSession, SessionName its second argument,
	// default ;jsessionid.
	StripSession bool
	SessionName  string

	Options JkOptions // JkOptions, defaults included
	// ExtractSSL is JkExtractSSL, default on.
	ExtractSSL bool
	Indicators JkIndicators
	EnvVars    []JkEnvVar // JkEnvVar, in file order, none twice

	// LogFile is JkLogFile, absolute, or what PipedLog takes apart; "" for the
	// error log.
	LogFile string
	// LogLevel is JkLogLevel; LogDebug and so on, LogLevelSet tells whether
	// anything was said. mod_jk's emerg is LogEmerg.
	LogLevel    LogLevel
	LogLevelSet bool
	// LogStampFormat is JkLogStampFormat, default DefaultJkStamp.
	LogStampFormat string
	// RequestLogFormat is JkRequestLogFormat, "" for no request log.
	RequestLogFormat string
	// LogStampLine and RequestLogLine are where the two formats stand, which
	// are judged elsewhere; 0 for the defaults.
	LogStampLine, RequestLogLine int
}

// DefaultJkStamp is mod_jk's default JkLogStampFormat.
const DefaultJkStamp = "[%a %b %d %H:%M:%S.%Q %Y] "

// MountCopy is JkMountCopy.
type MountCopy uint8

const (
	CopyOff MountCopy = iota
	CopyOn
	CopyAll // on for every virtual host that does not say Off; main server only
)

// String returns the directive's argument.
func (m MountCopy) String() string {
	switch m {
	case CopyOff:
		return "Off"
	case CopyOn:
		return "On"
	case CopyAll:
		return "All"
	}
	return fmt.Sprintf("MountCopy(%d)", uint8(m))
}

// ForwardURI is which form of the path a container gets.
type ForwardURI uint8

const (
	// ForwardURIProxy sends the decoded path, encoded again.
	ForwardURIProxy ForwardURI = iota
	// ForwardURICompatUnparsed sends the path byte for byte as it came.
	ForwardURICompatUnparsed
	// ForwardURICompat sends the decoded path.
	ForwardURICompat
	// ForwardURIEscaped sends the decoded path with Apache's own escaping,
	// which spoils path parameters.
	ForwardURIEscaped
)

var forwardURINames = []string{"ForwardURIProxy", "ForwardURICompatUnparsed", "ForwardURICompat", "ForwardURIEscaped"}

// String returns the option's name.
func (f ForwardURI) String() string {
	if int(f) < len(forwardURINames) {
		return forwardURINames[f]
	}
	return fmt.Sprintf("ForwardURI(%d)", uint8(f))
}

// JkOptions is directive JkOptions, the zero value of a field being off.
type JkOptions struct {
	ForwardURI ForwardURI
	// ForwardURISet tells a form somebody asked for from the default.
	ForwardURISet bool

	RejectUnsafeURI        bool
	ForwardDirectories     bool
	ForwardLocalAddress    bool
	ForwardPhysicalAddress bool
	FlushPackets           bool
	FlushHeader            bool
	DisableReuse           bool
	ForwardKeySize         bool // default on
	ForwardSSLCertChain    bool
}

// JkIndicators are the names of the variables that say what would otherwise
// come from the connection. Each field is the directive Jk…Indicator, or
// JkCERTCHAINPrefix.
type JkIndicators struct {
	Worker                                                   string // JK_WORKER_NAME
	HTTPS, SSLProtocol, Certs, Cipher, CertChainPrefix       string
	Session, KeySize                                         string
	RequestID                                                string // UNIQUE_ID
	RemoteAddr, RemotePort, RemoteHost, RemoteUser, AuthType string
	LocalName, LocalAddr, LocalPort                          string
	IgnoreCL                                                 string
}

// DefaultIndicators returns mod_jk's names.
func DefaultIndicators() JkIndicators {
	return JkIndicators{
		Worker: "JK_WORKER_NAME", HTTPS: "HTTPS", SSLProtocol: "SSL_PROTOCOL", Certs: "SSL_CLIENT_CERT",
		Cipher: "SSL_CIPHER", CertChainPrefix: "SSL_CLIENT_CERT_CHAIN_", Session: "SSL_SESSION_ID",
		KeySize: "SSL_CIPHER_USEKEYSIZE", RequestID: "UNIQUE_ID",
		RemoteAddr: "JK_REMOTE_ADDR", RemotePort: "JK_REMOTE_PORT", RemoteHost: "JK_REMOTE_HOST",
		RemoteUser: "JK_REMOTE_USER", AuthType: "JK_AUTH_TYPE",
		LocalName: "JK_LOCAL_NAME", LocalAddr: "JK_LOCAL_ADDR", LocalPort: "JK_LOCAL_PORT",
		IgnoreCL: "JK_IGNORE_CL",
	}
}

// JkEnvVar is directive JkEnvVar: a variable that is sent to the container as
// a request attribute.
type JkEnvVar struct {
	Name, Default string
	// HasDefault tells that Default is sent when the variable is not set.
	HasDefault bool
}

// DefaultJkServer returns what a server has that says nothing.
func DefaultJkServer() JkServer {
	return JkServer{
		MountFileReload: 60 * time.Second,
		SessionName:     ";jsessionid",
		Options:         JkOptions{ForwardKeySize: true},
		ExtractSSL:      true,
		Indicators:      DefaultIndicators(),
		LogStampFormat:  DefaultJkStamp,
	}
}
