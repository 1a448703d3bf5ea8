#!/usr/bin/env bash
# Builds the program, plays a 1,000-world season into ./data, and asks three questions.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh
cargo build --release --package manyworlds
manyworlds="${CARGO_TARGET_DIR:-target}/release/manyworlds"

# Prints a command as typed in a shell, then runs it.
ask() {
    printf '\n$ manyworlds'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_.:=-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    echo
    "$manyworlds" "$@"
}

ask run football --worlds 1000 --seed 1 --name season --replace --data data
ask price season --entity game-017 --condition 'home_margin > 3.5' --condition 'total_points > 44.5' \
    --condition 'home_qb1_pass_yards > 250'
ask outcome season --entity team-01 --outcome wins
ask probability season --condition 'team-01:made_playoffs' --given 'game-017:home_won'
