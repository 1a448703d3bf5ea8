#!/usr/bin/env bash
# Other people's programs against ours: readers of the tables that it writes, and clients of the server that it is.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="$(scripts/venv.sh)"
# The program that `cargo test --workspace` has built: building it alone would unify features anew, for minutes.
manyworlds="${CARGO_TARGET_DIR:-$PWD/target}/debug/manyworlds"
[ -x "$manyworlds" ] || {
    echo "error: $manyworlds is missing: run 'cargo test --workspace --no-run' first" >&2
    exit 2
}
# Each Spark has an environment of its own.
MANYWORLDS_SPARKS=""
for spark in spark-3.5 spark-4; do
    MANYWORLDS_SPARKS+="${MANYWORLDS_SPARKS:+:}$(scripts/venv.sh "$spark")/bin/python"
done
export MANYWORLDS_SPARKS
MANYWORLDS="$manyworlds" "$venv/bin/python" -m pytest --quiet -p no:cacheprovider tests/readers tests/clients
