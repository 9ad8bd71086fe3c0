package conf

import "time"

// MPM names.
const (
	Prefork = "prefork"
	Worker  = "worker"
)

// Config is everything jkd knows from its configuration files. It is a value:
// nothing in it refers to an open file or to the process that read it.
type Config struct {
	// Path is the file it was read from, absolute; "" when made in code.
	Path string
	// Included are the other files that Include has named, in Apache's
	// language; see Place.
	Included []string

	Server  ServerConfig
	Prefork PreforkConfig // [mpm.prefork]
	Worker  WorkerConfig  // [mpm.worker]

	// VHosts are the sections [vhost NAME], in file order.
	VHosts []VHost
	// Env is the main server's SetEnv and UnsetEnv.
	Env []EnvSetting
	// Redirects are the main server's, in file order.
	Redirects []Redirect
	// Answers is the main server's.
	Answers
	// Locations are the sections [location PATH], in file order.
	Locations []Location
	// Files is what the directives about files say, nil when there are none.
	Files *FilesConfig
	// LogFormats are the nicknames of LogFormat, the built-in ones not among
	// them; nil when there are none.
	LogFormats map[string]string
	// CustomLogs are all access logs, those of virtual hosts included.
	CustomLogs []CustomLog

	// Jk is [connector.jk], nil when the file has no such section.
	Jk *Jk
	// Jk2 is [connector.jk2], nil when the file has no such section.
	Jk2 *Jk2
	// Proxy is what mod_proxy's directives say, nil when there are none.
	Proxy *ProxyConfig
	// Status is [status], nil when the file has no such section: then the state
	// of the server is not shown.
	Status *Status

	// hosts finds virtual hosts; Parse and Decode make it.
	hosts *hosts
}

// ServerConfig is section [server]. Unless stated otherwise a field is the
// directive of the same name.
type ServerConfig struct {
	// Listen and ListenUnix are what to serve, each in file order, none twice,
	// at least one in both.
	Listen     []Listen
	ListenUnix []ListenUnix

	// ServerName and ServerPort are the two parts of ServerName. An empty
	// name means that none is configured, port 0 that the port of the
	// connection counts.
	ServerName string
	ServerPort int

	// ServerRoot is absolute. Default: the directory of the file. Relative
	// paths elsewhere start from it; those in this struct are absolute
	// already.
	ServerRoot string

	// User and Group are as written, "" when not set. Identity is what they
	// mean on this machine, nil when neither is set.
	User, Group string
	Identity    *Identity
	// AllowRootChildren: a superuser's children may be so too if User is not
	// set. Default off: jkd doesn't start then.
	AllowRootChildren bool
	// ChrootDir is the root directory of the children, absolute; "" (default):
	// the master's. It needs User.
	ChrootDir string
	// CoreDumpDirectory is where children that crash leave core files,
	// absolute and as a child sees it, inside ChrootDir; "" (default): nowhere.
	CoreDumpDirectory string

	// PidFile, default logs/jkd.pid; ErrorLog, default logs/error_log, or
	// what PipedLog takes apart. PidFileSet and ErrorLogSet tell a path somebody asked for from the
	// default.
	PidFile, ErrorLog       string
	PidFileSet, ErrorLogSet bool

	// ControlSocket is where jkd -k and jkd -top find the master: a path,
	// None, or "" for the default; see Control.
	ControlSocket string

	LogLevel LogLevel // default warn
	// ErrorLogJSON makes each line of the error log a JSON object
	// (ErrorLogFormat = json). Default: readable text.
	ErrorLogJSON bool

	// MPM is Prefork or Worker. Default: Prefork.
	MPM string

	// ScoreBoardFile is "" for anonymous shared memory.
	ScoreBoardFile string

	KeepAlive bool // default on
	// MaxKeepAliveRequests is the requests of one connection, 0 = unlimited,
	// default 100.
	MaxKeepAliveRequests int
	// KeepAliveTimeout is the wait for a connection's next request, default
	// 5 s. Never 0 when KeepAlive is true.
	KeepAliveTimeout time.Duration
	// KeepAliveParking lets connections of worker that wait for a request be
	// without a thread, default on. Without effect under prefork.
	KeepAliveParking bool
	// TimeOut bounds each single wait for the network, default 60 s, > 0.
	TimeOut time.Duration
	// GracefulShutdownTimeout bounds a graceful stop and the end of a generation
	// that a reload has replaced, 0 = no bound; default 60 s, where Apache has none.
	GracefulShutdownTimeout time.Duration
	// ListenBacklog is the length of the kernel's queue, default 511, ≥ 1.
	ListenBacklog int
	// AcceptFilter is FilterNone, FilterData, FilterHTTP or, by default, "".
	AcceptFilter string

	LimitRequestLine      int   // bytes, default 8190, ≥ 1
	LimitRequestFields    int   // count, default 100, 0 = unlimited
	LimitRequestFieldSize int   // bytes, default 8190, ≥ 1
	LimitRequestBody      int64 // bytes, default 1 GiB, 0 = unlimited
}

// PreforkConfig is section [mpm.prefork], with Apache's corrections applied if
// it is the MPM in use.
type PreforkConfig struct {
	StartServers           int // default 5
	MinSpareServers        int // default 5
	MaxSpareServers        int // default 10
	ServerLimit            int // default 256
	MaxRequestWorkers      int // or MaxClients; default 256
	MaxConnectionsPerChild int // or MaxRequestsPerChild; default 0 = never
}

// WorkerConfig is section [mpm.worker], with Apache's corrections applied if
// it is the MPM in use.
type WorkerConfig struct {
	StartServers           int   // default 3
	MinSpareThreads        int   // default 75
	MaxSpareThreads        int   // default 250
	ServerLimit            int   // default 16
	ThreadLimit            int   // default 64
	ThreadsPerChild        int   // default 25
	MaxRequestWorkers      int   // or MaxClients; default 400; a multiple of ThreadsPerChild
	MaxConnectionsPerChild int   // or MaxRequestsPerChild; default 0 = never
	ThreadStackSize        int64 // bytes, default 0; without effect, stacks grow by themselves
}

// File is a file that was read when the configuration was.
type File struct {
	Path string // absolute
	Data []byte
}

// Mount is one JkMount or JkUnMount. Worker is the second argument whole:
// extensions may follow the name after a ';'.
type Mount struct {
	Pattern, Worker string
	Line            int // in Config.Path
}

// Defaults returns the configuration of a file that says nothing: Apache 2.4's
// values. It has no listener and no connector, and its PidFile and ErrorLog
// are empty, because there is no ServerRoot they could start from.
func Defaults() *Config {
	return &Config{
		Server: ServerConfig{
			LogLevel:                LogWarn,
			MPM:                     Prefork,
			KeepAlive:               true,
			MaxKeepAliveRequests:    100,
			KeepAliveTimeout:        5 * time.Second,
			KeepAliveParking:        true,
			GracefulShutdownTimeout: time.Minute,
			TimeOut:                 60 * time.Second,
			ListenBacklog:           511,
			LimitRequestLine:        8190,
			LimitRequestFields:      100,
			LimitRequestFieldSize:   8190,
			LimitRequestBody:        1 << 30,
		},
		Prefork: PreforkConfig{
			StartServers:      5,
			MinSpareServers:   5,
			MaxSpareServers:   10,
			ServerLimit:       256,
			MaxRequestWorkers: 256,
		},
		Worker: WorkerConfig{
			StartServers:      3,
			MinSpareThreads:   75,
			MaxSpareThreads:   250,
			ServerLimit:       16,
			ThreadLimit:       64,
			ThreadsPerChild:   25,
			MaxRequestWorkers: 400,
		},
	}
}
