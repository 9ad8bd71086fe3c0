package contender

const nginxProgram = "/usr/sbin/nginx"

// nginx has a worker process for each CPU, and keeps connections to the back
// end, which it does not by default.
func nginx() *Front {
	return &Front{
		Name: "nginx", Title: "nginx (HTTP)",
		Needs: []File{{nginxProgram, "nginx"}},
		conf:  []text{{"nginx.conf", nginxConf}},
		argv: func(v Values) []string {
			return []string{nginxProgram, "-p", v.Dir, "-c", v.Dir + "/nginx.conf", "-e", v.Dir + "/error.log"}
		},
	}
}

const nginxConf = `daemon off;
{{if .Root}}user nobody nogroup;
{{end}}worker_processes {{.CPUs}};
worker_rlimit_nofile 8192;
pid {{.Dir}}/nginx.pid;
error_log {{.Dir}}/error.log warn;
events { worker_connections 4096; }
http {
	access_log off;
	tcp_nodelay on;
	keepalive_timeout 15s;
	keepalive_requests 1000000000;
	client_max_body_size 0;
	client_body_temp_path {{.Dir}}/body;
	proxy_temp_path {{.Dir}}/proxy;
	fastcgi_temp_path {{.Dir}}/fastcgi;
	uwsgi_temp_path {{.Dir}}/uwsgi;
	scgi_temp_path {{.Dir}}/scgi;
	upstream back {
		server 127.0.0.1:{{.HTTPPort}};
		keepalive {{.Workers}};
		keepalive_requests 1000000000;
	}
	server {
		listen 127.0.0.1:{{.Port}} backlog=511;
		location / {
			proxy_pass http://back;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`
