#!/usr/bin/env bash
# Runs the services of a fleet on loopback, without an init system, as root or not:
#
#   ledger  PostgreSQL, from Debian's package
#   broker  RabbitMQ, from Debian's package, with its own port mapper (epmd)
#   store   an S3 server for tests, from tests/requirements.txt; stores objects on disk
#
#   start                        start missing services, wait until they answer, print what to export
#   stop [NAME [--kill]]         stop all, or one as in an outage (--kill: by SIGKILL, as in a crash)
#   stop --wipe                  stop all and remove their data
#   restart NAME [--kill]        stop and start one
#   status [--env]               list services and ports; exit 1 if one is not running; --env: print what to export
#
# One folder holds all their data. Ports and passwords are chosen at the first start, so that clones of this repository
# do not collide. MANYWORLDS_SERVICES names the folder. The default is .services; for root it is in /var/tmp, because
# PostgreSQL refuses to run as root and its user often cannot reach a folder below root's home.
# `settings` in the folder defines the ports and secrets, which shellcheck cannot see.
# shellcheck disable=SC2154
set -euo pipefail
if [ -n "${MANYWORLDS_SERVICES:-}" ]; then
    folder="$(realpath -m -- "$MANYWORLDS_SERVICES")"
fi
cd "$(dirname "$0")/.."
if [ -z "${folder:-}" ] && [ "$(id -u)" -eq 0 ]; then
    folder="/var/tmp/manyworlds-services-$(printf %s "$PWD" | cksum | cut -d ' ' -f 1)"
fi
folder="${folder:-$PWD/.services}"
readonly folder services=(ledger broker store)

fail() {
    echo "error: $*" >&2
    exit 2
}

# --- The folder -------------------------------------------------------------------------------------------------------

# Prints a free port below the range of outgoing connections.
free_port() {
    local port
    while port=$((20000 + (RANDOM * 32768 + RANDOM) % 10000)) && listens "$port"; do :; done
    echo "$port"
}

listens() {
    (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

secret() {
    od -A n -N 16 -t x1 /dev/urandom | tr -d ' \n'
}

# Creates or opens the folder, and locks it until this script ends.
open_folder() {
    mkdir -p -- "$folder"
    [ -O "$folder" ] || fail "$folder belongs to another user: set MANYWORLDS_SERVICES to your own folder"
    exec 9<"$folder"
    flock 9
    if [ ! -e "$folder/settings" ]; then
        [ -z "$(ls -A -- "$folder")" ] || fail "$folder is not empty: set MANYWORLDS_SERVICES to an empty folder"
        # PostgreSQL's user must traverse the folder, and can read nothing else in it.
        chmod 711 -- "$folder"
        write_settings
    fi
    # shellcheck source=/dev/null
    source "$folder/settings"
}

write_settings() {
    umask 077
    {
        for name in ledger broker distribution mapper store; do
            echo "${name}_port=$(free_port)"
        done
        for name in ledger broker store cookie; do
            echo "${name}_secret=$(secret)"
        done
    } >"$folder/settings.new"
    # shellcheck source=/dev/null
    source "$folder/settings.new"
    cat >"$folder/env" <<END
export MANYWORLDS_SERVICES='$folder'
export MANYWORLDS_BROKER='amqp://manyworlds:$broker_secret@127.0.0.1:$broker_port/%2f'
export MANYWORLDS_LEDGER='postgres://manyworlds:$ledger_secret@127.0.0.1:$ledger_port/manyworlds'
export MANYWORLDS_S3='http://127.0.0.1:$store_port'
export AWS_ENDPOINT_URL='http://127.0.0.1:$store_port'
export AWS_ALLOW_HTTP=true
export AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=manyworlds
export AWS_SECRET_ACCESS_KEY=$store_secret
END
    mv "$folder/settings.new" "$folder/settings"
    umask 022
}

# --- Processes --------------------------------------------------------------------------------------------------------

# Prints the start time of a process in ticks since boot, or nothing if it does not exist. With it a reused process
# number is not mistaken for ours. A zombie with one thread has released everything and counts as gone.
birth() {
    local stat fields
    { stat="$(<"/proc/$1/stat")"; } 2>/dev/null || return 0
    read -ra fields <<<"${stat##*) }"
    [[ ${fields[0]} = Z && ${fields[17]} -le 1 ]] || echo "${fields[19]}"
}

# Sets $pid to the process of a running service.
running() {
    local born
    { read -r pid born <"$folder/$1.pid"; } 2>/dev/null || return 1
    [ "$(birth "$pid")" = "$born" ]
}

# Starts a program that outlives this script, and records its process. It gets a clean environment, so that the caller's
# settings do not affect it.
spawn() {
    local name="$1"
    shift
    setsid env -i PATH="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" LANG=C.UTF-8 "$@" </dev/null >>"$folder/$name.log" 2>&1 9<&- &
    echo "$! $(birth "$!")" >"$folder/$name.pid"
}

# Waits until a service answers.
await() {
    local name="$1" deadline=$((SECONDS + 60))
    until "answers_$name"; do
        if ! running "$name" || [ "$SECONDS" -ge "$deadline" ]; then
            tail -n 20 -- "$folder/$name.log" >&2
            fail "the $name does not answer: see its last log lines above, and $folder/$name.log"
        fi
        sleep 0.1
    done
}

# Signals a service and waits until it is gone. SIGKILL also goes to its children, as in a crash of the machine.
end() {
    local name="$1" signal="$2" deadline=$((SECONDS + 60)) pids
    if running "$name"; then
        pids=("$pid")
        [ "$signal" != KILL ] || read -ra pids <<<"$pid $(children "$pid")"
        kill "-$signal" "${pids[@]}" 2>/dev/null || true
        while [ -n "$(for one in "${pids[@]}"; do birth "$one"; done)" ]; do
            if [ "$SECONDS" -ge "$deadline" ]; then
                [ "$signal" != KILL ] || fail "cannot end the $name: its process is ${pids[0]}"
                echo "warning: the $name did not end within a minute: killing it" >&2
                end "$name" KILL
            fi
            sleep 0.05
        done
    fi
    rm -f -- "$folder/$name.pid"
}

children() {
    awk -v parent="$1" '{ pid = $1; sub(/.*\) /, ""); if ($2 == parent) print pid }' /proc/[0-9]*/stat 2>/dev/null | tr '\n' ' '
}

# --- The services: prepare, start, answer ----------------------------------------------------------------------------

# Root's PostgreSQL runs as its package's user.
as_ledger=()
[ "$(id -u)" -ne 0 ] || as_ledger=(setpriv --reuid=postgres --regid=postgres --init-groups)

find_postgres() {
    local found=(/usr/lib/postgresql/*/bin)
    # The newest, or the version that created the database.
    postgres="${found[-1]}"
    [ ! -e "$folder/ledger" ] || postgres="/usr/lib/postgresql/$(<"$folder/ledger/PG_VERSION")/bin"
    [ -x "$postgres/initdb" ] || fail "PostgreSQL is missing: run 'scripts/install.sh --checks', then this again"
}

# Renamed at the end, so that a half-made database is never used.
prepare_ledger() {
    local new="$folder/ledger.new"
    [ ! -d "$folder/ledger" ] || return 0
    rm -rf -- "$new"
    mkdir -m 700 -- "$new"
    if [ "$(id -u)" -eq 0 ]; then
        chown postgres: -- "$new"
        "${as_ledger[@]}" test -x "$new" ||
            fail "the user postgres cannot reach $folder: set MANYWORLDS_SERVICES to a folder that it can reach"
    fi
    {
        "${as_ledger[@]}" "$postgres/initdb" --pgdata="$new" --username=manyworlds --auth=trust --locale=C.UTF-8 --encoding=UTF8
        printf '%s\n' "ALTER USER manyworlds PASSWORD '$ledger_secret'" 'CREATE DATABASE manyworlds' |
            "${as_ledger[@]}" "$postgres/postgres" --single -D "$new" postgres
    } >>"$folder/ledger.log" 2>&1 || {
        tail -n 20 -- "$folder/ledger.log" >&2
        fail "cannot create the ledger's database: see above"
    }
    # Shared memory in files of the folder is removed with the folder. Durability settings keep their defaults.
    cat >>"$new/postgresql.conf" <<END
listen_addresses = '127.0.0.1'
port = $ledger_port
unix_socket_directories = ''
dynamic_shared_memory_type = mmap
END
    echo 'host all all 127.0.0.1/32 scram-sha-256' >"$new/pg_hba.conf"
    mv -- "$new" "$folder/ledger"
}

# Removes what a killed PostgreSQL leaves: shared memory, and a lock with the number of a process that may not be reaped
# yet, which the next start would take for a live one. The memory is in use until the last child has ended.
clear_ledger() {
    local lock="$folder/ledger/postmaster.pid" key id users deadline=$((SECONDS + 30))
    [ -e "$lock" ] || return 0
    read -r key id < <(sed -n 7p "$lock") || true
    while users="$(awk -v key="$key" -v id="$id" '$1 == key && $2 == id { print $7 }' /proc/sysvipc/shm)" && [ "${users:-0}" -gt 0 ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "processes of a killed PostgreSQL still use shared memory $id: end them"
        sleep 0.05
    done
    [ -z "$users" ] || ipcrm -m "$id"
    rm -- "$lock"
}

start_ledger() {
    prepare_ledger
    clear_ledger
    spawn ledger "${as_ledger[@]}" "$postgres/postgres" -D "$folder/ledger"
}

answers_ledger() {
    "$postgres/pg_isready" --quiet --host=127.0.0.1 --port="$ledger_port" --timeout=5
}

prepare_broker() {
    local home="$folder/broker"
    [ -d "$home" ] || mkdir -m 700 -- "$home"
    [ -e "$home/.erlang.cookie" ] || (umask 377 && echo "$cookie_secret" >"$home/.erlang.cookie")
    : >"$home/enabled_plugins"
    cat >"$home/rabbitmq.conf" <<END
listeners.tcp.1 = 127.0.0.1:$broker_port
default_user = manyworlds
default_pass = $broker_secret
log.file.level = warning
END
}

# This script starts the port mapper, because the broker would leave it running.
start_broker() {
    local home="$folder/broker" program=/usr/lib/rabbitmq/bin/rabbitmq-server
    [ -x "$program" ] || fail "RabbitMQ is missing: run 'scripts/install.sh --checks', then this again"
    prepare_broker
    if ! running mapper; then
        spawn mapper epmd -address 127.0.0.1 -port "$mapper_port"
        until listens "$mapper_port"; do
            running mapper || fail "the broker's port mapper ended: see $folder/mapper.log"
            sleep 0.05
        done
    fi
    # RUNNING_UNDER_SYSTEMD: the script replaces itself by the broker, so that the recorded process is the broker.
    spawn broker HOME="$home" RUNNING_UNDER_SYSTEMD=true ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$mapper_port" \
        RABBITMQ_NODENAME="manyworlds-$broker_port@localhost" RABBITMQ_DIST_PORT="$distribution_port" \
        RABBITMQ_CONF_ENV_FILE="$home/no-environment" RABBITMQ_CONFIG_FILE="$home/rabbitmq.conf" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$home/enabled_plugins" RABBITMQ_MNESIA_BASE="$home/mnesia" RABBITMQ_LOG_BASE="$home/log" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}" \
        "$program"
}

# Whether the broker answers the AMQP 0-9-1 header with the first frame (type 1).
answers_broker() {
    [ "$({
        exec 3<>"/dev/tcp/127.0.0.1/$broker_port"
        printf 'AMQP\0\0\x9\x1' >&3
        timeout 5 head -c 1 <&3 | od -A n -t x1
    } 2>/dev/null)" = ' 01' ]
}

start_store() {
    local home="$folder/store" venv
    venv="$(scripts/venv.sh)"
    [ -d "$home" ] || mkdir -m 700 -- "$home"
    mkdir -p -- "$home/objects" "$home/temporary"
    spawn store HOME="$home" TMPDIR="$home/temporary" SERVICES=s3 BIND_HOST=127.0.0.1 GATEWAY_PORT="$store_port" \
        S3_PERSIST=1 S3_DATA_DIR="$home/objects" AUTH=true AWS_ACCESS_KEY_ID=manyworlds AWS_SECRET_ACCESS_KEY="$store_secret" \
        LOG_LEVEL=WARNING PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" -m ministack
}

# Whether the tests' bucket exists; creates it if missing.
answers_store() {
    ask_store --head || ask_store --request PUT
}

ask_store() {
    curl --silent --fail --output /dev/null --max-time 5 --aws-sigv4 aws:amz:us-east-1:s3 \
        --user "manyworlds:$store_secret" "http://127.0.0.1:$store_port/manyworlds" "$@"
}

# --- Commands ---------------------------------------------------------------------------------------------------------

start_one() {
    local port="${1}_port"
    [ "$1" != ledger ] || find_postgres
    running "$1" || {
        ! listens "${!port}" ||
            fail "port ${!port} of the $1 is taken by another program: end it, or run 'scripts/services.sh stop --wipe'"
        "start_$1"
    }
}

start() {
    open_folder
    for name in "${services[@]}"; do start_one "$name"; done
    for name in "${services[@]}"; do await "$name"; done
    cat "$folder/env"
}

# Stops one service, gracefully or by SIGKILL.
stop_one() {
    local signal=TERM
    # SIGINT: PostgreSQL closes its connections instead of waiting for them.
    [ "$1" != ledger ] || signal=INT
    [ "$2" != --kill ] || signal=KILL
    end "$1" "$signal"
    [ "$1" != ledger ] || clear_ledger
}

stop() {
    [ -e "$folder/settings" ] || return 0
    open_folder
    if [ $# -gt 0 ] && [ "$1" != --wipe ]; then
        stop_one "$1" "${2:-}"
        return
    fi
    for name in "${services[@]}"; do stop_one "$name" '' & done
    wait
    end mapper TERM
    [ "${1:-}" != --wipe ] || rm -rf -- "$folder"
}

restart() {
    stop "$@"
    open_folder
    start_one "$1"
    await "$1"
}

status() {
    local name port all=0
    if [ ! -e "$folder/settings" ]; then
        echo "no services in $folder: run 'scripts/services.sh start'" >&2
        exit 1
    fi
    # shellcheck source=/dev/null
    source "$folder/settings"
    if [ "${1:-}" = --env ]; then
        cat "$folder/env"
        return
    fi
    for name in "${services[@]}"; do
        port="${name}_port"
        if running "$name"; then
            echo "$name: process $pid, port ${!port}"
        else
            echo "$name: not running"
            all=1
        fi
    done
    exit "$all"
}

usage() {
    sed -n '/^#   start/,/^#   status/s/^#   //p' "$0" >&2
    exit 2
}

case "$*" in
    start | stop | 'stop --wipe' | status | 'status --env') ;;
    stop\ ledger | stop\ broker | stop\ store | 'stop ledger --kill' | 'stop broker --kill' | 'stop store --kill') ;;
    restart\ ledger | restart\ broker | restart\ store | 'restart ledger --kill' | 'restart broker --kill' | 'restart store --kill') ;;
    *) usage ;;
esac
"$@"
