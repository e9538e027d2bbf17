#!/usr/bin/env bash
# Runs the official MCP clients, old and new, against a server over stdio.
#
#   run.sh [SERVER_BINARY]
#
# Without an argument the server is built from ../everything. The variables
# CLIENTS, INTEROP_CACHE and SERVER_ARGS are explained in README.md.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cloudg-interop}
bin=$cache/bin
logs=$cache/logs
read -r -a server_args <<<"${SERVER_ARGS:--stdio -more 1200}"

# Seconds that one client may take, and that it has to end after SIGTERM.
limit=90
grace=5

# Every client must report each of these; the runner adds "wire".
steps=(connect tools resources templates prompts call read prompt complete progress cancel close)

# label|command of each client. The last word of a label is the mode it is run
# in, the first one names the SDK with the version that must have been loaded.
clients=(
    "gosdk-1.8.0 legacy|$bin/gosdk"
    "gosdk-1.8.0 modern|$bin/gosdk"
    "mcpgo-1.2.1 legacy|$bin/mcpgo"
    "mcpgo-1.2.1 modern|$bin/mcpgo"
    "typescript-1.32.2 legacy|node $cache/typescript/v1.mjs"
    "typescript-2.4.0 legacy|node $cache/typescript/v2.mjs"
    "typescript-2.4.0 modern|node $cache/typescript/v2.mjs"
    "typescript-2.4.0 pinned|node $cache/typescript/v2.mjs"
    "python-1.30.0 legacy|$cache/python-1.30.0/bin/python $here/python/v1.py"
    "python-2.3.0 legacy|$cache/python-2.3.0/bin/python $here/python/v2.py"
    "python-2.3.0 modern|$cache/python-2.3.0/bin/python $here/python/v2.py"
    "python-2.3.0 pinned|$cache/python-2.3.0/bin/python $here/python/v2.py"
)

die() {
    printf 'interop: %s\n' "$*" >&2
    exit 1
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is needed and not found in PATH"
    done
}

# name LABEL: the label as one word.
name() {
    printf '%s' "${1// /-}"
}

# selected LABEL: whether CLIENTS, which may be empty, has a part of its name.
selected() {
    local word
    [[ -z ${CLIENTS:-} ]] && return 0
    for word in $CLIENTS; do
        [[ $(name "$1") == *"$word"* ]] && return 0
    done
    return 1
}

# any_selected PREFIX: whether a client whose label begins so is to be run.
any_selected() {
    local entry label
    for entry in "${clients[@]}"; do
        label=${entry%%|*}
        if [[ $label == "$1"* ]] && selected "$label"; then return 0; fi
    done
    return 1
}

# fresh FOLDER HASH: whether the folder was completely installed from this
# input. If not, nothing is left of it.
fresh() {
    [[ -f $1/.installed && $(<"$1/.installed") == "$2" ]] && return 0
    rm -rf -- "$1"
    mkdir -p -- "$1"
    return 1
}

install_typescript() {
    local to=$cache/typescript hash
    need node npm
    hash=$(cat "$here"/typescript/package*.json | sha256sum; node --version)
    if ! fresh "$to" "$hash"; then
        cp "$here"/typescript/package*.json "$to"
        (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
        printf '%s' "$hash" >"$to/.installed"
    fi
    cp "$here"/typescript/*.mjs "$to" # modules are found from the folder that a file is in
}

# install_python VERSION
install_python() {
    local to=$cache/python-$1 list=$here/python/requirements-$1.txt hash
    need python3
    hash=$(sha256sum <"$list"; python3 --version)
    fresh "$to" "$hash" && return
    python3 -m venv "$to"
    "$to/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$list" >&2
    printf '%s' "$hash" >"$to/.installed"
}

install() {
    mkdir -p "$bin"
    (cd "$here" && GOWORK=off go build -o "$bin/" ./gosdk ./mcpgo ./wiretap)
    if any_selected typescript; then install_typescript; fi
    if any_selected python-1; then install_python 1.30.0; fi
    if any_selected python-2; then install_python 2.3.0; fi
}

passed=0
failed=0

pass() {
    printf 'ok   %s\n' "$1"
    passed=$((passed + 1))
}

fail() {
    printf 'FAIL %s\n' "$1"
    failed=$((failed + 1))
}

# judge LABEL STATUS LOG: turn what a client printed into one line per step.
judge() {
    local label=$1 status=$2 log=$3 step line
    for step in "${steps[@]}"; do
        line=$(grep -E -m 1 "^(ok  |FAIL) ${label//./\\.}: $step(:|\$)" "$log/stdout" || true)
        case $line in
        'ok   '*) pass "$label: $step" ;;
        'FAIL '*) fail "${line#FAIL }" ;;
        *) fail "$label: $step: not reported, the client exited with status $status" ;;
        esac
    done
    if "$bin/wiretap" check "$log" >"$log/findings" 2>&1; then
        pass "$label: wire"
    else
        fail "$label: wire: $(head -n 1 "$log/findings" | cut -c -300)"
    fi
}

# run_client LABEL COMMAND...
run_client() {
    local label=$1 mode=${1##* } status=0 before=$failed log
    log=$logs/$(name "$label")
    local transport=(--stdio "$bin/wiretap" record "$log" "$server" "${server_args[@]}")
    shift
    mkdir -p "$log"
    timeout --kill-after="$grace" "$limit" "$@" --mode "$mode" "${transport[@]}" \
        </dev/null >"$log/stdout" 2>"$log/stderr" || status=$?
    judge "$label" "$status" "$log"
    if ((failed > before)); then
        printf '     see %s\n' "$log"
    fi
}

main() {
    local entry label command ran=0
    need go timeout flock sha256sum
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock --nonblock 9 || die "another run uses $cache; wait for it or set INTEROP_CACHE"
    install
    rm -rf -- "$logs"
    if (($# > 0)); then
        server=$(realpath -- "$1")
    else
        server=$bin/everything
        (cd "$root" && go build -o "$server" ./integration_test/everything)
    fi
    [[ -x $server ]] || die "$server is not an executable file"

    export PYTHONDONTWRITEBYTECODE=1
    for entry in "${clients[@]}"; do
        label=${entry%%|*}
        selected "$label" || continue
        read -r -a command <<<"${entry#*|}"
        run_client "$label" "${command[@]}" 9>&-
        ran=$((ran + 1))
    done
    ((ran > 0)) || die "CLIENTS=${CLIENTS:-} names no client"
    printf '%d passed, %d failed\n' "$passed" "$failed"
    ((failed == 0))
}

main "$@"
