# Functions of run.sh: process trees, ports, fronts. Sourced, not run.
# shellcheck shell=bash disable=SC2154

die() { echo "bench: $*" >&2; exit 1; }

# tree PID: the process and all its living descendants, one a line.
tree() {
	# A process that ends while we look is no error.
	{ cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v root="$1" '
		{ pid = $1; sub(/^[0-9]+ \(.*\) /, ""); split($0, f, " "); parent[pid] = f[2] }
		END {
			for (p in parent) {
				a = p; hops = 0
				while (a != root && a in parent && a > 1 && hops++ < 64) a = parent[a]
				if (a == root) print p
			}
		}'
}

# masters PID: the process and those of its descendants that have children
# themselves: jkd has a keeper and a master.
masters() {
	local p
	for p in $(tree "$1"); do
		if [[ $p == "$1" || -n $(cat /proc/"$p"/task/*/children 2>/dev/null) ]]; then echo "$p"; fi
	done
}

# children PID: its other descendants.
children() { tree "$1" | grep -vxF "$(masters "$1")" || true; }

# cpu PID: clock ticks of the tree so far. Each process counts its own user and
# system time and that of the children it has waited for, so a child that ends
# between two looks is not lost.
cpu() {
	local p sum=0 line f
	for p in $(tree "$1"); do
		line=$(cat "/proc/$p/stat" 2>/dev/null) || continue
		read -ra f <<<"${line##*) }"
		sum=$((sum + f[11] + f[12] + f[13] + f[14]))
	done
	echo "$sum"
}

# pss PID...: the sum of the proportional set sizes, KiB.
pss() {
	local p sum=0 v
	for p in "$@"; do
		v=$(awk '/^Pss:/ { print $2; exit }' "/proc/$p/smaps_rollup" 2>/dev/null) || true
		sum=$((sum + ${v:-0}))
	done
	echo "$sum"
}

# free_port NAME: sets the variable to a port nobody listens on. From below the
# range the kernel takes client ports from.
next_port=$((20000 + RANDOM % 5000))
free_port() {
	while :; do
		next_port=$((next_port + 1))
		(exec 9<>"/dev/tcp/127.0.0.1/$next_port") 2>/dev/null || break
	done
	printf -v "$1" %s "$next_port"
}

# wait_http PORT PATH PID: until the page is served, or give up.
wait_http() {
	local i
	for ((i = 0; i < 300; i++)); do
		kill -0 "$3" 2>/dev/null || return 1
		curl -sf -m 2 -o /dev/null "http://127.0.0.1:$1$2" && return 0
		sleep 0.1
	done
	return 1
}

# stop PID...: TERM, and KILL for what is still there after 12 s.
stop() {
	local p i
	for p in "$@"; do
		kill -TERM "$p" 2>/dev/null || continue
		for ((i = 0; i < 120; i++)); do
			kill -0 "$p" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
}

# The same process model on both sides: enough prefork children for every
# connection from the start, so that growing is not measured.
workers_properties() {
	cat <<-END
		worker.list=back
		worker.back.type=ajp13
		worker.back.host=127.0.0.1
		worker.back.port=$back_port
	END
}

# start_apache MPM PORT START DIR: sets front_pid.
start_apache() {
	local mpm=$1 port=$2 start=$3 dir=$4
	mkdir -p "$dir"
	workers_properties >"$dir/workers.properties"
	cat >"$dir/httpd.conf" <<-END
		ServerRoot $dir
		ServerName 127.0.0.1
		Listen 127.0.0.1:$port
		PidFile $dir/httpd.pid
		ErrorLog $dir/error.log
		LogLevel warn
		DefaultRuntimeDir $dir
		Mutex file:$dir default
		LoadModule mpm_${mpm}_module $apache_modules/mod_mpm_$mpm.so
		LoadModule authz_core_module $apache_modules/mod_authz_core.so
		LoadModule jk_module $apache_modules/mod_jk.so
		$( ((EUID == 0)) && printf 'User nobody\nGroup nogroup\n')
		Timeout 60
		KeepAlive On
		KeepAliveTimeout 15
		MaxKeepAliveRequests 0
		<IfModule mpm_prefork_module>
			StartServers $start
			MinSpareServers 1
			MaxSpareServers $start
			ServerLimit 64
			MaxRequestWorkers 64
			MaxConnectionsPerChild 0
		</IfModule>
		<IfModule mpm_worker_module>
			StartServers 2
			ThreadsPerChild 25
			MinSpareThreads 25
			MaxSpareThreads 75
			MaxRequestWorkers 150
			MaxConnectionsPerChild 0
		</IfModule>
		JkWorkersFile $dir/workers.properties
		JkLogFile $dir/mod_jk.log
		JkLogLevel error
		JkShmFile $dir/jk.shm
		JkMount /* back
	END
	# A group of its own: Apache prefork signals its whole process group.
	setsid "$apache" -f "$dir/httpd.conf" -DFOREGROUND >"$dir/out" 2>&1 &
	front_pid=$!
}

# start_jkd MPM PORT START DIR: sets front_pid. jkd_more are more lines of jkd.conf.
start_jkd() {
	local mpm=$1 port=$2 start=$3 dir=$4
	mkdir -p "$dir"
	workers_properties >"$dir/workers.properties"
	cat >"$dir/jkd.conf" <<-END
		[server]
		Listen = 127.0.0.1:$port
		ServerName = 127.0.0.1
		ServerRoot = $dir
		PidFile = $dir/jkd.pid
		ErrorLog = $dir/error.log
		LogLevel = warn
		MPM = $mpm
		$( ((EUID == 0)) && printf 'User = nobody\nGroup = nogroup\n')
		TimeOut = 60
		KeepAlive = On
		KeepAliveTimeout = 15
		MaxKeepAliveRequests = 0

		[mpm.prefork]
		StartServers = $start
		MinSpareServers = 1
		MaxSpareServers = $start
		ServerLimit = 64
		MaxRequestWorkers = 64
		MaxConnectionsPerChild = 0

		[mpm.worker]
		StartServers = 2
		ThreadsPerChild = 25
		MinSpareThreads = 25
		MaxSpareThreads = 75
		MaxRequestWorkers = 150
		MaxConnectionsPerChild = 0

		[connector.jk]
		JkWorkersFile = workers.properties
		JkMount = /* back
		${jkd_more:-}
	END
	setsid "$jkd" -foreground -f "$dir/jkd.conf" >"$dir/out" 2>&1 &
	front_pid=$!
}

# start_front NAME PORT START DIR, NAME being apache-MPM or jkd-MPM.
start_front() {
	"start_${1%%-*}" "${1#*-}" "$2" "$3" "$4"
	pids+=("$front_pid")
	if ! wait_http "$2" "$small" "$front_pid"; then
		tail -n 20 "$4/out" "$4/error.log" >&2 2>/dev/null || true
		die "$1 did not serve $small"
	fi
}
