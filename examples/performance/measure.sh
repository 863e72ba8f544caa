#!/usr/bin/env bash
# Measures what each part of the profile is worth, on this machine: the profile
# without express, then that with one thing changed, in rounds, with wrk on
# loopback. With express a connection meets none of these things.
#
#	./measure.sh path/to/caddy [seconds [rounds [connections]]]
set -euo pipefail
caddy=$(realpath "$1")
seconds=${2:-5}
rounds=${3:-3}
connections=${4:-100}
cd "$(dirname "$0")"
port=18080
work=$(mktemp -d)
running=()
finish() {
	[ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT

# variant NAME GLOBAL SITE [WITHOUT] writes the profile with options added, and
# without the lines that match a pattern.
variant() {
	awk -v global="$2" -v site="$3" -v port=$port '
		/^\t# Neither/ { print "\tadmin off"; print global }
		/^\t# No matchers/ { print site }
		{ sub(":8080", ":" port); print }' Caddyfile | grep -v "[[:space:]]${4-nothing}" >"$work/$1"
}

# ticks PID... adds up the processor time that processes have used.
ticks() {
	local sum=0 pid
	for pid in "$@"; do
		read -r -a stat <"/proc/$pid/stat"
		sum=$((sum + stat[13] + stat[14]))
	done
	echo "$sum"
}

# measure NAME VARIANT PROCESSES ENVIRONMENT... appends a line of figures.
measure() {
	local name=$1 config=$work/$2 processes=$3
	shift 3
	running=()
	for _ in $(seq "$processes"); do
		env "$@" "$caddy" run --adapter caddyfile --config "$config" >/dev/null 2>&1 &
		running+=($!)
	done
	until curl -sf -o /dev/null "127.0.0.1:$port/"; do sleep 0.1; done
	wrk -t1 -c"$connections" -d1s "http://127.0.0.1:$port/" >/dev/null
	local before after requests
	before=$(ticks "${running[@]}")
	requests=$(wrk -t1 -c"$connections" -d"${seconds}s" "http://127.0.0.1:$port/" | awk '/requests in/ { print $1 }')
	after=$(ticks "${running[@]}")
	echo "$name;$((requests / seconds));$(((after - before) * 10000 / requests))" >>"$work/figures"
	kill "${running[@]}"
	wait "${running[@]}" || true
	running=()
}

matchers=$(for i in $(seq 20); do printf '\thandle_path /unused%d/* {\n\t\trespond 404\n\t}\n' "$i"; done)
variant profile "" ""
variant plain "" "" "express$"
variant log "" "	log {
		output file $work/access.log
	}" "express$"
variant debug "	debug" "" "express$"
variant metrics "	metrics" "" "express$"
variant matchers "" "$matchers" "express$"
sed -i 's/level WARN/level DEBUG/' "$work/debug"

tuned=(GOGC=400 GOMEMLIMIT=2GiB)
for _ in $(seq "$rounds"); do
	measure "without express" plain 1 "${tuned[@]}"
	measure "with express" profile 1 "${tuned[@]}"
	measure "with an access log" log 1 "${tuned[@]}"
	measure "with debug" debug 1 "${tuned[@]}"
	measure "with metrics" metrics 1 "${tuned[@]}"
	measure "with 20 unused matchers" matchers 1 "${tuned[@]}"
	measure "with the default GOGC" plain 1 GOGC=100
	measure "as two processes" plain 2 "${tuned[@]}"
done

# Medians, and what they are of the first line's.
awk -F';' '!seen[$1]++' "$work/figures" | while IFS=';' read -r name _; do
	median() { awk -F';' -v n="$name" -v f="$1" '$1 == n { print $f }' "$work/figures" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
	rate=$(median 2)
	cpu=$(median 3)
	: "${first:=$rate}" "${cost:=$cpu}"
	awk -v n="$name" -v r="$rate" -v c="$cpu" -v f="$first" -v k="$cost" \
		'BEGIN { printf "%-26s %7d requests/s %5.2f   %4d us processor time %5.2f\n", n, r, r / f, c, c / k }'
done
