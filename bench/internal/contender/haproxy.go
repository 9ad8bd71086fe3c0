package contender

const haproxyProgram = "/usr/sbin/haproxy"

// haproxy is one process with a thread for each CPU. It shares its connections
// to the back end among all clients, as the others do.
func haproxy() *Front {
	return &Front{
		Name: "haproxy", Title: "HAProxy (HTTP)",
		Needs: []File{{haproxyProgram, "haproxy"}},
		conf:  []text{{"haproxy.cfg", haproxyConf}},
		argv:  func(v Values) []string { return []string{haproxyProgram, "-db", "-f", v.Dir + "/haproxy.cfg"} },
	}
}

const haproxyConf = `global
	nbthread {{.CPUs}}
	maxconn 4096

defaults
	mode http
	timeout connect 60s
	timeout client 60s
	timeout server 60s
	timeout http-keep-alive 15s
	http-reuse always

frontend front
	bind 127.0.0.1:{{.Port}} backlog 511
	default_backend back

backend back
	server s 127.0.0.1:{{.HTTPPort}}
`
