#!/usr/bin/env bash
# Runs the official MCP clients, old and new, against a server over stdio and
# HTTP, and a browser and nginx as well.
#
#   run.sh [SERVER_BINARY]
#
# Without an argument the server is built from ../everything. The variables
# CLIENTS, CHROMIUM, INTEROP_CACHE and SERVER_ARGS are explained in README.md.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cloudg-interop}
bin=$cache/bin
logs=$cache/logs
read -r -a server_args <<<"${SERVER_ARGS:--more 1200}"

# Seconds that one client may take, and that it has to end after SIGTERM.
limit=90
grace=5

# Secrets of servers under test, which live as long as this run.
token=token-of-the-interop-run
state_key=state-key-that-all-replicas-share

# Every client must report each of these; the runner adds "wire".
steps=(connect tools resources templates prompts call read prompt complete progress cancel
    elicit-accept elicit-decline elicit-cancel sample roots rounds together close)
browser_steps=(connect call parameter stream errors refused close)
nginx_steps=(progress-1.0 progress-1.1 host)

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

# What each client is run over; see run_client.
transports=(stdio http token replicas)

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

# runs: print all labels, of which the last word is the transport, if any.
runs() {
    local entry label transport
    for entry in "${clients[@]}"; do
        label=${entry%%|*}
        for transport in "${transports[@]}"; do
            # A session is at home in one process.
            [[ $transport == replicas && $label == *legacy ]] || printf '%s %s\n' "$label" "$transport"
        done
    done
    printf '%s\n' 'chromium legacy' 'chromium modern' 'nginx legacy' 'nginx modern'
}

# any_selected PREFIX: whether a run whose label begins so is to be made.
any_selected() {
    local label
    while read -r label; do
        if [[ $label == "$1"* ]] && selected "$label"; then return 0; fi
    done < <(runs)
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

# install_debian PACKAGE COMMAND: a program of the system, unless it is there.
install_debian() {
    command -v "$2" >/dev/null && return
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || die "$2 is needed: install it, or be root on Debian"
    {
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"
    } >&2
}

install() {
    mkdir -p "$bin"
    (cd "$here" && GOWORK=off go build -o "$bin/" ./gosdk ./mcpgo ./wiretap && GOWORK=off go build -o "$bin/behind-nginx" ./nginx)
    if any_selected typescript || any_selected chromium; then install_typescript; fi
    if any_selected chromium; then install_debian chromium "$CHROMIUM"; fi
    if any_selected nginx; then install_debian nginx-light nginx; fi
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

# judge LABEL OWN STATUS LOG STEP...: turn what a client printed, which calls
# itself OWN, into one line per step.
judge() {
    local label=$1 own=$2 status=$3 log=$4 step line
    shift 4
    for step in "$@"; do
        line=$(grep -E -m 1 "^(ok  |FAIL) ${own//./\\.}: ${step//./\\.}(:|\$)" "$log/stdout" || true)
        case $line in
        'ok   '*) pass "$label: $step" ;;
        'FAIL '*) fail "$label: ${line#"FAIL $own: "}" ;;
        *) fail "$label: $step: not reported, the client exited with status $status" ;;
        esac
    done
}

# judge_wire LABEL LOG: add what the transcripts show.
judge_wire() {
    if "$bin/wiretap" check "$2" >"$2/findings" 2>&1; then
        pass "$1: wire"
    else
        fail "$1: wire: $(head -n 1 "$2/findings" | cut -c -300)"
    fi
}

child= # process id of what runs, if anything does

# limited LOG COMMAND...: run a command in the limits, with its output in the
# folder. It runs in the background so that a signal does not have to wait for it.
limited() {
    local log=$1 status=0
    shift
    timeout --kill-after="$grace" "$limit" "$@" </dev/null >"$log/stdout" 2>"$log/stderr" &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

# interrupted STATUS: end what runs, and all that it has started, and exit.
interrupted() {
    trap '' INT TERM
    if [[ -n $child ]]; then
        kill -TERM "$child" 2>/dev/null || true # timeout passes it on
        wait "$child" || true
    fi
    exit "$1"
}

# run_client LABEL TRANSPORT COMMAND...
run_client() {
    local own=$1 transport=$2 label="$1 $2" mode=${1##* } status=0 log
    shift 2
    log=$logs/$(name "$label")
    mkdir -p "$log"
    local client=("$@" --mode "$mode") tap=("$bin/wiretap" serve "$log")
    case $transport in
    stdio) limited "$log" "${client[@]}" --stdio "$bin/wiretap" record "$log" "$server" "${server_args[@]}" -stdio ;;
    http) limited "$log" "${tap[@]}" 1 "$server" "${server_args[@]}" -- "${client[@]}" ;;
    token) INTEROP_TOKEN=$token limited "$log" "${tap[@]}" 1 "$server" "${server_args[@]}" -auth-token env:INTEROP_TOKEN -- "${client[@]}" ;;
    replicas) limited "$log" "${tap[@]}" 2 "$server" "${server_args[@]}" -state-key "$state_key" -- "${client[@]}" ;;
    esac || status=$?
    judge "$label" "$own" "$status" "$log" "${steps[@]}"
    judge_wire "$label" "$log"
}

# run_around LABEL COMMAND...: run something that starts the server itself.
run_around() {
    local label=$1 mode=${1##* } status=0 log around=("${nginx_steps[@]}")
    shift
    log=$logs/$(name "$label")
    mkdir -p "$log"
    [[ $label == nginx* ]] || around=("${browser_steps[@]}")
    limited "$log" "$@" --mode "$mode" --stdio "$server" "${server_args[@]}" || status=$?
    judge "$label" "$label" "$status" "$log" "${around[@]}"
}

# run LABEL: make one run, and say where its logs are when something failed.
run() {
    local before=$failed entry command
    case $1 in
    chromium*) run_around "$1" node "$cache/typescript/browser.mjs" ;;
    nginx*) run_around "$1" "$bin/behind-nginx" ;;
    *)
        for entry in "${clients[@]}"; do
            [[ ${entry%%|*} == "${1% *}" ]] || continue
            read -r -a command <<<"${entry#*|}"
            run_client "${1% *}" "${1##* }" "${command[@]}"
        done
        ;;
    esac
    ((failed == before)) || printf '     see %s\n' "$logs/$(name "$1")"
}

main() {
    local label ran=0 labels
    need go timeout flock sha256sum
    export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
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
    trap 'interrupted 130' INT
    trap 'interrupted 143' TERM
    mapfile -t labels < <(runs)
    for label in "${labels[@]}"; do
        selected "$label" || continue
        run "$label" 9>&-
        ran=$((ran + 1))
    done
    ((ran > 0)) || die "CLIENTS=${CLIENTS:-} names no run"
    printf '%d passed, %d failed\n' "$passed" "$failed"
    ((failed == 0))
}

main "$@"
