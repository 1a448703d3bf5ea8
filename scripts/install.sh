#!/usr/bin/env bash
# Installs what a fresh Debian 12 with Rust lacks: a C compiler for zstd. --checks adds what only the tests need:
# Python, openssl, curl, psql and the JDBC driver for readers and clients, Maven for the JDBC driver of Flight SQL, Java
# for Spark, PostgreSQL and RabbitMQ for the fleet, faketime to step the clock, jq for the model in it, Valgrind to count
# instructions, Node and a browser for the page, a C++ compiler and cargo-fuzz for fuzzing. Does nothing if nothing is
# missing.
set -euo pipefail

checks=false
[ "${1:-}" != --checks ] || checks=true

missing=()
command -v cc >/dev/null || missing+=(build-essential)
command -v cmake >/dev/null || missing+=(cmake)
if $checks; then
    command -v c++ >/dev/null || missing+=(g++)
    python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v openssl >/dev/null || missing+=(openssl)
    command -v curl >/dev/null || missing+=(curl ca-certificates)
    command -v faketime >/dev/null || missing+=(faketime)
    command -v jq >/dev/null || missing+=(jq)
    command -v valgrind >/dev/null || missing+=(valgrind)
    command -v java >/dev/null || missing+=(openjdk-17-jre-headless)
    command -v mvn >/dev/null || missing+=(maven)
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
    command -v npm >/dev/null || missing+=(nodejs npm)
    command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
    command -v psql >/dev/null || missing+=(postgresql-client)
    [ -e /usr/share/java/postgresql.jar ] || missing+=(libpostgresql-jdbc-java)
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing+=(rabbitmq-server)
fi
if [ ${#missing[@]} -gt 0 ]; then
    echo "installing: ${missing[*]}" >&2
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    # Packages start their servers. Debian asks policy-rc.d whether they may now; starting at boot is disabled below.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap '"${as_root[@]}" rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
    for package in postgresql rabbitmq-server; do
        if [[ " ${missing[*]} " == *" $package "* ]] && command -v systemctl >/dev/null; then
            "${as_root[@]}" systemctl disable --quiet "$package" >&2
        fi
    done
fi
command -v cargo >/dev/null || {
    echo "error: cargo is missing: install Rust with rustup, then run this again" >&2
    exit 2
}
if $checks && ! command -v cargo-fuzz >/dev/null; then
    cargo install --quiet --locked cargo-fuzz
fi
