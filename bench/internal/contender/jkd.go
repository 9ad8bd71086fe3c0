package contender

import "fmt"

// jkd is this project's program, before connector "jk", "jk2", or mod_proxy's
// "ajp" or "http".
func jkd(mpm, connector string) *Front {
	title, mount := "jkd "+mpm+" / "+connector, map[string]string{
		"jk":   "[connector.jk]\nJkWorkersFile = workers.properties\nJkMount = /* back\n",
		"jk2":  "[connector.jk2]\nJkSet = config:file ${serverRoot}/workers2.properties\n",
		"ajp":  "[proxy]\nProxyPass = / ajp://127.0.0.1:{{.AJPPort}}/\n",
		"http": "[proxy]\nProxyPass = / http://127.0.0.1:{{.HTTPPort}}/\n",
	}[connector]
	if connector == "ajp" || connector == "http" {
		title = "jkd " + mpm + " / proxy " + connector
	}
	return &Front{
		Name: fmt.Sprintf("jkd-%s-%s", mpm, connector), Title: title, MPM: mpm,
		conf: []text{
			{"jkd.conf", jkdConf + mount},
			{"workers.properties", workersProperties},
			{"workers2.properties", workers2Properties},
		},
		argv: func(v Values) []string { return []string{v.JKD, "-foreground", "-f", v.Dir + "/jkd.conf"} },
	}
}

const jkdConf = `[server]
Listen = 127.0.0.1:{{.Port}}
ServerName = 127.0.0.1
ServerRoot = {{.Dir}}
PidFile = {{.Dir}}/jkd.pid
ErrorLog = {{.Dir}}/error.log
LogLevel = warn
MPM = {{.MPM}}
{{if .Root}}User = nobody
Group = nogroup
{{end}}TimeOut = 60
KeepAlive = On
KeepAliveTimeout = 15
MaxKeepAliveRequests = 0

[mpm.prefork]
StartServers = {{.Workers}}
MinSpareServers = 1
MaxSpareServers = {{.Workers}}
ServerLimit = {{.Workers}}
MaxRequestWorkers = {{.Workers}}
MaxConnectionsPerChild = 0

[mpm.worker]
StartServers = {{.Children}}
ThreadsPerChild = {{.ThreadsPerChild}}
MinSpareThreads = 1
MaxSpareThreads = {{.Workers}}
ServerLimit = {{.Children}}
MaxRequestWorkers = {{.Workers}}
MaxConnectionsPerChild = 0
{{if .Status}}
[status]
Location = /jkd-status
Metrics = /metrics
{{end}}
`

const workersProperties = `worker.list=back
worker.back.type=ajp13
worker.back.host=127.0.0.1
worker.back.port={{.AJPPort}}
`

const workers2Properties = `[channel.socket:127.0.0.1:{{.AJPPort}}]
[uri:/*]
group=ajp13:127.0.0.1:{{.AJPPort}}
`
