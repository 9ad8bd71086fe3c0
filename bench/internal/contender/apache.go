package contender

import "fmt"

const (
	apacheProgram = "/usr/sbin/apache2"
	apacheModules = "/usr/lib/apache2/modules"
)

// apache is Apache httpd with mod_jk ("jk"), mod_proxy_ajp ("ajp") or
// mod_proxy_http ("http").
func apache(mpm, connector string) *Front {
	title, mount := "Apache "+mpm+" + mod_proxy_"+connector, "LoadModule proxy_module {{.Modules}}/mod_proxy.so\n"+
		"LoadModule proxy_"+connector+"_module {{.Modules}}/mod_proxy_"+connector+".so\n"
	module := File{apacheModules + "/mod_proxy_" + connector + ".so", "apache2"}
	switch connector {
	case "jk":
		title, module = "Apache "+mpm+" + mod_jk", File{apacheModules + "/mod_jk.so", "libapache2-mod-jk"}
		mount = "LoadModule jk_module {{.Modules}}/mod_jk.so\nJkWorkersFile {{.Dir}}/workers.properties\nJkLogFile {{.Dir}}/mod_jk.log\n" +
			"JkLogLevel error\nJkShmFile {{.Dir}}/jk.shm\nJkMount /* back\n"
	case "ajp":
		mount += "ProxyPass / ajp://127.0.0.1:{{.AJPPort}}/\n"
	case "http":
		mount += "ProxyPass / http://127.0.0.1:{{.HTTPPort}}/\n"
	}
	return &Front{
		Name: fmt.Sprintf("apache-%s-%s", mpm, connector), Title: title, MPM: mpm,
		Needs: []File{{apacheProgram, "apache2"}, {apacheModules + "/mod_mpm_" + mpm + ".so", "apache2"}, module},
		conf:  []text{{"httpd.conf", apacheConf + mount}, {"workers.properties", workersProperties}},
		argv: func(v Values) []string {
			return []string{apacheProgram, "-d", v.Dir, "-f", v.Dir + "/httpd.conf", "-DFOREGROUND"}
		},
	}
}

const apacheConf = `ServerRoot {{.Dir}}
DefaultRuntimeDir {{.Dir}}
ServerName 127.0.0.1
Listen 127.0.0.1:{{.Port}}
PidFile {{.Dir}}/httpd.pid
ErrorLog {{.Dir}}/error.log
LogLevel warn
LoadModule mpm_{{.MPM}}_module {{.Modules}}/mod_mpm_{{.MPM}}.so
LoadModule authz_core_module {{.Modules}}/mod_authz_core.so
{{if .Root}}User nobody
Group nogroup
{{end}}Timeout 60
KeepAlive On
KeepAliveTimeout 15
MaxKeepAliveRequests 0
{{if eq .MPM "prefork"}}StartServers {{.Workers}}
MinSpareServers 1
MaxSpareServers {{.Workers}}
ServerLimit {{.Workers}}
{{else}}StartServers {{.Children}}
ThreadsPerChild {{.ThreadsPerChild}}
MinSpareThreads 1
MaxSpareThreads {{.Workers}}
ServerLimit {{.Children}}
{{end}}MaxRequestWorkers {{.Workers}}
MaxConnectionsPerChild 0
`
