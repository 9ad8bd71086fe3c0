#!/usr/bin/env bash
# jkd against Apache + mod_jk: see README.md. Loopback only; stops everything
# it has started, by pid.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

rounds=${ROUNDS:-4}
seconds=${SECS:-5}
big_seconds=${BIG_SECS:-2} # for the 113 KB page; 0 leaves it out
conns=${CONNS:-20}
read -ra fronts <<<"${FRONTS:-apache-worker jkd-worker apache-prefork jkd-prefork}"
idle_children=64
small=/examples/servlets/servlet/HelloWorldExample
big=/test/test.jsp

apache=${APACHE:-$(command -v apache2 || command -v httpd || true)}
apache_modules=${APACHE_MODULES:-/usr/lib/apache2/modules}
[[ " ${fronts[*]} " != *" apache-"* ]] || {
	[[ -x $apache ]] || die "no apache2 here (Debian: apt-get install apache2 libapache2-mod-jk)"
	[[ -e $apache_modules/mod_jk.so ]] || die "no mod_jk.so in $apache_modules (Debian: apt-get install libapache2-mod-jk)"
}
for tool in wrk curl awk; do command -v "$tool" >/dev/null || die "no $tool here"; done

work=$(mktemp -d)
chmod 755 "$work" # children run as nobody
pids=()
trap 'stop "${pids[@]}"; if [[ -n ${KEEP:-} ]]; then echo "kept: $work"; else rm -rf "$work"; fi' EXIT
trap 'exit 130' INT TERM

# The binaries are copied so that an unprivileged child can execute them
# wherever the source tree is.
jkd=$work/jkd
if [[ " ${fronts[*]} " == *" jkd-"* ]]; then
	cp "${JKD:-$here/../jkd}" "$jkd" 2>/dev/null || die "no jkd binary: run make first, or set JKD"
	chmod 755 "$jkd"
fi

if [[ -n ${BACK_PORT:-} ]]; then
	back_port=$BACK_PORT
else
	(cd "$here/.." && CGO_ENABLED=0 go build -buildvcs=false -o "$work/ajpback" ./cmd/jkd/internal/demo/ajpback) || die "cannot build the back end"
	free_port back_port
	"$work/ajpback" -listen "127.0.0.1:$back_port" >"$work/ajpback.out" 2>&1 &
	pids+=($!)
fi

ticks=$(getconf CLK_TCK)
results=$work/results # page front round us/request requests/s p99(ms) failed

# load FRONT PID PORT PATH SECONDS ROUND PAGE
load() {
	local out before after
	before=$(cpu "$2")
	out=$(wrk -t1 -c"$conns" -d"$5s" --latency "http://127.0.0.1:$3$4")
	after=$(cpu "$2")
	awk -v ticks=$((after - before)) -v hz="$ticks" -v head="$7 $1 $6" '
		function ms(s,  v) { v = s + 0; if (s ~ /us$/) return v / 1000; if (s ~ /ms$/) return v; if (s ~ /m$/) return v * 60000; return v * 1000 }
		/^ +99%/ { p99 = ms($2) }
		/requests in/ { n = $1 }
		/Socket errors:/ { gsub(",", ""); failed += $4 + $6 + $8 + $10 }
		/Non-2xx/ { failed += $NF }
		/^Requests\/sec:/ { rps = $2 }
		END { printf "%s %.2f %.0f %.2f %d\n", head, n ? ticks / hz * 1e6 / n : 0, rps, p99, failed }' <<<"$out" >>"$results"
}

echo "machine: $(nproc) cores, Linux $(uname -r), $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)"
[[ ! -x $apache ]] || echo "apache:  $("$apache" -v | head -n 1)"
[[ ! -x $jkd ]] || echo "jkd:     $("$jkd" -version 2>&1 | head -n 1)"
echo "load:    wrk -t1 -c$conns, keep-alive; $rounds interleaved rounds of $seconds s (small), $big_seconds s (113 KB)"

declare -A port pid
for f in "${fronts[@]}"; do
	free_port "port[$f]"
	start_front "$f" "${port[$f]}" $((conns + 4)) "$work/$f"
	pid[$f]=$front_pid
	# Caches, heaps and back-end connections to their steady state.
	wrk -t1 -c"$conns" -d1s "http://127.0.0.1:${port[$f]}$small" >/dev/null
done
for ((r = 1; r <= rounds; r++)); do
	for f in "${fronts[@]}"; do load "$f" "${pid[$f]}" "${port[$f]}" "$small" "$seconds" "$r" small; done
done
if ((big_seconds > 0)); then
	for ((r = 1; r <= rounds; r++)); do
		for f in "${fronts[@]}"; do load "$f" "${pid[$f]}" "${port[$f]}" "$big" "$big_seconds" "$r" 113K; done
	done
fi
for f in "${fronts[@]}"; do
	stop "${pid[$f]}"
done

# Memory: 64 idle prefork children, just started, then after each could have
# served requests.
for f in "${fronts[@]}"; do
	[[ $f == *-prefork ]] || continue
	free_port p
	start_front "$f" "$p" $idle_children "$work/$f-idle"
	for ((i = 0; i < 100; i++)); do
		mapfile -t kids < <(children "$front_pid")
		((${#kids[@]} >= idle_children)) && break
		sleep 0.1
	done
	sleep 1
	mapfile -t kids < <(children "$front_pid")
	fresh=$(pss "${kids[@]}")
	wrk -t1 -c$idle_children -d2s "http://127.0.0.1:$p$small" >/dev/null
	sleep 1
	mapfile -t used_kids < <(children "$front_pid")
	used=$(pss "${used_kids[@]}")
	mapfile -t front_masters < <(masters "$front_pid")
	master=$(pss "${front_masters[@]}")
	echo "$f ${#kids[@]} $fresh ${#used_kids[@]} $used $master" >>"$work/memory"
	stop "$front_pid"
done

awk -v memory="$work/memory" '
	function median(list,  a, n, i, j, t) {
		n = split(list, a, " ")
		for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j-1] + 0; j--) { t = a[j]; a[j] = a[j-1]; a[j-1] = t }
		return n % 2 ? a[(n+1)/2] : (a[n/2] + a[n/2+1]) / 2
	}
	function ratio(page, mpm,  a, b, i, r, lo, hi) {
		a = "apache-" mpm; b = "jkd-" mpm
		if (!((page, a) in us) || !((page, b) in us)) return
		lo = 1e9; hi = 0
		for (i = 1; (page, a, i) in at && (page, b, i) in at; i++) {
			if (at[page, a, i] <= 0) continue
			r = at[page, b, i] / at[page, a, i]; if (r < lo) lo = r; if (r > hi) hi = r
		}
		if (median(us[page, a]) <= 0) return
		printf "%-6s jkd %s / Apache %s + mod_jk: %.2f of the CPU a request (rounds %.2f to %.2f)\n", page, mpm, mpm, median(us[page, b]) / median(us[page, a]), lo, hi
	}
	{
		k = $1 SUBSEP $2
		if (!(k in us)) order[++n] = k
		us[k] = us[k] " " $4; rps[k] = rps[k] " " $5; p99[k] = p99[k] " " $6; failed[k] += $7
		at[$1, $2, $3] = $4
	}
	END {
		printf "\n%-6s %-15s %14s %12s %9s %7s   %s\n", "page", "front", "CPU us/request", "requests/s", "p99 ms", "failed", "CPU us/request, each round"
		for (i = 1; i <= n; i++) {
			split(order[i], w, SUBSEP); k = order[i]
			printf "%-6s %-15s %14.1f %12.0f %9.2f %7d  %s\n", w[1], w[2], median(us[k]), median(rps[k]), median(p99[k]), failed[k], us[k]
		}
		print ""
		ratio("small", "worker"); ratio("small", "prefork"); ratio("113K", "worker"); ratio("113K", "prefork")
		print ""
		while ((getline line < memory) > 0) {
			split(line, m, " ")
			printf "%-15s PSS a child: %.2f MB idle at %d children, %.2f MB after a load (%d children); master %.2f MB\n", m[1], m[3] / 1024 / m[2], m[2], m[5] / 1024 / m[4], m[4], m[6] / 1024
		}
	}' "$results"
[[ -z ${OUT:-} ]] || cp "$results" "$OUT"
