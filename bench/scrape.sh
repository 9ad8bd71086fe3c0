#!/usr/bin/env bash
# What 100 scrapes a second cost under full load: see README.md. Loopback only;
# stops everything it has started, by pid.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

rounds=${ROUNDS:-4}
seconds=${SECS:-3}
conns=${CONNS:-20}
scrapers=4 # connections; each asks every 40 ms
small=/examples/servlets/servlet/HelloWorldExample
read -ra forms <<<"${FORMS:-/metrics /jkd-status?auto}"
for tool in wrk curl awk; do command -v "$tool" >/dev/null || die "no $tool here"; done

work=$(mktemp -d)
chmod 755 "$work" # children run as nobody
pids=()
trap 'stop "${pids[@]}"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
jkd=$work/jkd
cp "${JKD:-$here/../jkd}" "$jkd" 2>/dev/null || die "no jkd binary: run make first, or set JKD"
chmod 755 "$jkd"

(cd "$here/.." && CGO_ENABLED=0 go build -buildvcs=false -o "$work/ajpback" ./cmd/jkd/internal/demo/ajpback) || die "cannot build the back end"
free_port back_port
"$work/ajpback" -listen "127.0.0.1:$back_port" >"$work/ajpback.out" 2>&1 &
pids+=($!)
echo "function delay() return $((1000 * scrapers / 100)) end" >"$work/pace.lua"
hz=$(getconf CLK_TCK)

# load MPM FORM: a round of load, with scrapes of FORM unless it is "none".
load() {
	local before after scrape='' n=0
	before=$(cpu "${pid[$1]}")
	if [[ $2 != none ]]; then
		wrk -t1 -c"$scrapers" -d"${seconds}s" -s "$work/pace.lua" "http://127.0.0.1:${port[$1]}$2" >"$work/scrapes" &
		scrape=$!
	fi
	wrk -t1 -c"$conns" -d"${seconds}s" "http://127.0.0.1:${port[$1]}$small" >"$work/load"
	if [[ -n $scrape ]]; then
		wait "$scrape"
		n=$(awk '/Non-2xx|Socket errors/ { exit 1 } /^Requests\/sec:/ { print $2 }' "$work/scrapes") || die "a scrape failed: $(cat "$work/scrapes")"
	fi
	after=$(cpu "${pid[$1]}")
	awk -v ticks=$((after - before)) -v hz="$hz" -v head="$1 $2" -v scrapes="$n" '
		/requests in/ { n = $1 }
		/^Requests\/sec:/ { rps = $2 }
		/Socket errors|Non-2xx/ { failed = 1 }
		END { if (failed || !n) exit 1; printf "%s %.3f %.0f %.0f\n", head, ticks / hz * 1e6 / n, rps, scrapes }' "$work/load" >>"$work/results" ||
		die "the load failed: $(cat "$work/load")"
}

# alone MPM PATH: microseconds of CPU for each request if there is nothing else.
alone() {
	local before n
	before=$(cpu "${pid[$1]}")
	n=$(wrk -t1 -c"$scrapers" -d"${seconds}s" "http://127.0.0.1:${port[$1]}$2" | awk '/requests in/ { print $1 }')
	awk -v ticks=$(($(cpu "${pid[$1]}") - before)) -v hz="$hz" -v n="$n" 'BEGIN { printf "%.1f", ticks / hz * 1e6 / n }'
}

declare -A port pid
# shellcheck disable=SC2034 # start_jkd's
jkd_more=$'[status]\nLocation = /jkd-status\nMetrics = /metrics'
for mpm in worker prefork; do
	free_port "port[$mpm]"
	start_front "jkd-$mpm" "${port[$mpm]}" $((conns + scrapers + 4)) "$work/$mpm"
	pid[$mpm]=$front_pid
	wrk -t1 -c"$conns" -d1s "http://127.0.0.1:${port[$mpm]}$small" >/dev/null
	curl -sf "http://127.0.0.1:${port[$mpm]}/metrics" | grep -q '^jkd_requests_total' || die "jkd $mpm has no metrics"
done
for mpm in worker prefork; do
	for path in "$small" "${forms[@]}"; do
		echo "$mpm: $(alone "$mpm" "$path") us of CPU for $path, alone"
	done
done
# The load without scrapes comes twice, before and after, so that a machine that
# grows slower does not look like a cost.
for ((r = 1; r <= rounds; r++)); do
	for mpm in worker prefork; do
		load "$mpm" none
		for form in "${forms[@]}"; do load "$mpm" "$form"; done
		load "$mpm" none
	done
done
awk '
	function median(list,  a, n, i, j, t) {
		n = split(list, a, " ")
		for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j-1] + 0; j--) { t = a[j]; a[j] = a[j-1]; a[j-1] = t }
		return n % 2 ? a[(n+1)/2] : (a[n/2] + a[n/2+1]) / 2
	}
	{ k = $1 SUBSEP $2; if (!(k in us)) order[++n] = k; us[k] = us[k] " " $3; rps[k] = rps[k] " " $4; s[k] = s[k] " " $5 }
	END {
		printf "\n%-8s %-18s %10s %16s %10s %12s %8s   %s\n", "MPM", "scraped", "scrapes/s", "CPU us/request", "cost", "requests/s", "cost", "CPU us/request, each round"
		for (i = 1; i <= n; i++) {
			k = order[i]; split(k, w, SUBSEP); base = w[1] SUBSEP "none"
			printf "%-8s %-18s %10.0f %16.2f %9.1f%% %12.0f %7.1f%%  %s\n", w[1], w[2], median(s[k]), median(us[k]), 100 * (median(us[k]) / median(us[base]) - 1), median(rps[k]), 100 * (1 - median(rps[k]) / median(rps[base])), us[k]
		}
	}' "$work/results"
