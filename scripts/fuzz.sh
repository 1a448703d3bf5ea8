#!/usr/bin/env bash
# Fuzzes every decoder and the parser of expressions, guided by coverage, for some seconds each (60, or the first
# argument). Checks that none panics, that memory is bounded, and that decoders produce whole tables. Needs cargo-fuzz and
# a C++ compiler (`scripts/install.sh --checks`); stable Rust is enough. The corpus is beside the build, findings are in
# crates/*/fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-60}"
command -v cargo-fuzz >/dev/null || {
    echo "error: cargo-fuzz is missing: run 'scripts/install.sh --checks', then this again" >&2
    exit 2
}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT

# fuzz CRATE TARGET...: fuzzes each target of a crate, from its seeds and the corpus of earlier runs.
fuzz() {
    cd "crates/$1/fuzz"
    shift
    for target in "$@"; do
        corpus="$CARGO_TARGET_DIR/corpus/$target"
        mkdir -p "$corpus"
        # No sanitizer: it needs a nightly compiler, and our code has no unsafe.
        cargo fuzz run --sanitizer none "$target" "$corpus" "seeds/$target" -- -max_total_time="$seconds" \
            -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10 -max_len=4096 -print_final_stats=1 >"$log" 2>&1 || {
            cat "$log" >&2
            exit 1
        }
        echo "fuzz $target: $(grep -o 'number_of_executed_units: .*' "$log" | grep -o '[0-9]*$') inputs"
    done
    cd - >/dev/null
}
fuzz decode messagepack line_protocol json csv arrow_stream expand rows
fuzz expr parse
