#!/usr/bin/env bash
# Measures integration_test/everything against the servers of ../shared/bench in
# one run, and prints the tables that docs/performance.md explains.
#
#   integration_test/bench/run.sh [MODE]     MODE as for ../shared/bench/run.sh
#
# PLAN, ONCE, SERVERS, REPS and DUR are passed on; OUT is where results go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
bench=$root/../shared/bench
if [[ ! -d $bench ]]; then
	echo 'the folder ../shared is not here; the load generator is part of it' >&2
	exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$tmp/everything" ./integration_test/everything
CGO_ENABLED=0 go build -trimpath -tags benchdebug -o "$tmp/everything-debug" ./integration_test/everything

export OUT=${OUT:-$tmp/out} BIN=${BIN:-$tmp/bin}
export PRODUCT_NAME=cloudg
export PRODUCT_STDIO="$tmp/everything -stdio -tools {tools}"
export PRODUCT_HTTP="$tmp/everything -http {addr} -tools {tools} -mode {mode} -stateless={stateless}"
export PRODUCT_STDIO_DEBUG="$tmp/everything-debug -stdio -tools {tools} -debug {debug}"
export PRODUCT_HTTP_DEBUG="$tmp/everything-debug -http {addr} -tools {tools} -mode {mode} -stateless={stateless} -debug {debug}"
export PRODUCT_DIR="$root/integration_test/everything"
bash "$bench/run.sh" "${1:-default}"
