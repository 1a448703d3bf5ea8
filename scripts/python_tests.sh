#!/usr/bin/env bash
# Tests other programs against ours, readers of its tables and clients of its server, and counts our instructions.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="$(scripts/venv.sh)"
# `cargo test --workspace` built the program. Building it alone would unify features differently, for minutes.
manyworlds="${CARGO_TARGET_DIR:-$PWD/target}/debug/manyworlds"
[ -x "$manyworlds" ] || {
    echo "error: $manyworlds is missing: run 'cargo test --workspace --no-run' first" >&2
    exit 2
}
# Each Spark version has its own environment.
MANYWORLDS_SPARKS=""
for spark in spark-3.5 spark-4; do
    MANYWORLDS_SPARKS+="${MANYWORLDS_SPARKS:+:}$(scripts/venv.sh "$spark")/bin/python"
done
export MANYWORLDS_SPARKS
MANYWORLDS="$manyworlds" "$venv/bin/python" -m pytest --quiet -p no:cacheprovider tests/readers tests/clients tests/instructions
