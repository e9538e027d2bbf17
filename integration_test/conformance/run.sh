#!/usr/bin/env bash
# Runs the official conformance suite, pinned in package.json, against a server
# over HTTP.
#
#   run.sh [SERVER_BINARY]
#
# Without an argument the server is built from ../everything. REPEAT=n runs
# everything n times and wants the same results each time; NODE names a Node.js
# of version 22 or newer where no packaged one is to be used;
# CONFORMANCE_CACHE is where things are installed, which is the only thing that
# needs the network.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
cache=${CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cloudg-conformance}
modules=$cache/suite/node_modules

die() {
    printf 'conformance: %s\n' "$*" >&2
    exit 1
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is needed and not found in PATH"
    done
}

# install: the suite and a Node.js for it, unless they are there already.
install() {
    local hash
    hash=$(cat "$here"/package*.json | sha256sum; uname -sm)
    [[ -f $cache/suite/.installed && $(<"$cache/suite/.installed") == "$hash" ]] && return
    need npm
    rm -rf -- "$cache/suite"
    mkdir -p -- "$cache/suite"
    cp "$here"/package*.json "$cache/suite"
    (cd "$cache/suite" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
    printf '%s' "$hash" >"$cache/suite/.installed"
}

# find_node: print the path of a Node.js that can run the suite.
find_node() {
    local candidate
    for candidate in "${NODE:-}" "$modules"/node-*/bin/node node; do
        [[ -n $candidate ]] && command -v "$candidate" >/dev/null || continue
        if "$candidate" -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
        [[ $candidate != "${NODE:-}" ]] || die "NODE=$NODE is not version 22 or newer"
    done
    die "the suite needs Node.js 22 or newer, and there is no package of it for $(uname -sm): set NODE"
}

main() {
    local node server
    need go flock sha256sum
    mkdir -p "$cache/bin"
    exec 9>"$cache/lock"
    flock --nonblock 9 || die "another run uses $cache; wait for it or set CONFORMANCE_CACHE"
    install
    node=$(find_node)
    (cd "$root" && go build -o "$cache/bin/" ./integration_test/everything ./integration_test/conformance)
    server=$cache/bin/everything
    if (($# > 0)); then server=$(realpath -- "$1"); fi
    exec "$cache/bin/conformance" -server "$server" -node "$node" \
        -suite "$modules/@modelcontextprotocol/conformance/dist/index.js" \
        -out "$cache/results" -baseline "$here/baseline.txt" -repeat "${REPEAT:-1}"
}

main "$@"
