#!/usr/bin/env bash
# Tests the page: rebuilds its files and compares them with those in the repository, checks its types, and clicks through
# it in a browser before the real server.
set -euo pipefail
cd "$(dirname "$0")/.."

# `cargo test --workspace` built the program. Building it alone would unify features differently, for minutes.
manyworlds="${CARGO_TARGET_DIR:-$PWD/target}/debug/manyworlds"
[ -x "$manyworlds" ] || {
    echo "error: $manyworlds is missing: run 'cargo test --workspace --no-run' first" >&2
    exit 2
}
for folder in ui tests/page; do
    (cd "$folder" && npm ci --silent --no-audit --no-fund)
done
(cd ui && npm run --silent check)
cd tests/page
MANYWORLDS="$manyworlds" npm test --silent
