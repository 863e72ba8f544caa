#!/usr/bin/env bash
# Compares the ways to one small server: directly, through nginx, through
# haproxy and through Caddy. Arguments go to caddy replay, for example:
#
#	./speedtest.sh -n 200 -c 20
#	./speedtest.sh --rate 1000/s --duration 10s
#
# It needs nginx, haproxy and a Caddy with Rehearsal in it: the one that $CADDY
# names, or caddy.
set -euo pipefail
cd "$(dirname "$0")"
caddy=${CADDY:-caddy}
[ $# -gt 0 ] || set -- --duration 5s -c 20
PATH=$PATH:/usr/sbin

work=$(mktemp -d)
started=()
finish() {
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap finish EXIT

# start runs a server in the background, its output in a log.
start() {
	local name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 &
	started+=($!)
}

# await waits until a port answers.
await() {
	local name=$1 port=$2
	for _ in $(seq 100); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.1
	done
	echo "$name does not listen on port $port:" >&2
	cat "$work/$name.log" >&2
	exit 1
}

start server "$caddy" run --config server/Caddyfile
start nginx nginx -p "$work" -c "$PWD/nginx.conf" -e stderr -g 'daemon off;'
start haproxy haproxy -db -f haproxy.cfg
start caddy "$caddy" run --config Caddyfile
await server 9110
await nginx 9111
await haproxy 9112
await caddy 9113

"$caddy" replay http://127.0.0.1:9110/ "$@" \
	--to direct=http://127.0.0.1:9110 \
	--to nginx=http://127.0.0.1:9111 \
	--to haproxy=http://127.0.0.1:9112 \
	--to caddy=http://127.0.0.1:9113
