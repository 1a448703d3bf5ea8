#!/usr/bin/env bash
# Tests other programs against ours: readers of its tables and clients of its server.
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
# The JDBC driver of PostgreSQL. Its tests are left out where it cannot be downloaded.
pgjdbc="$venv/postgresql-42.7.7.jar"
if [ ! -f "$pgjdbc" ]; then
    url="https://repo1.maven.org/maven2/org/postgresql/postgresql/42.7.7/postgresql-42.7.7.jar"
    sum="157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460"
    if curl --silent --fail --max-time 60 --output "$pgjdbc.part" "$url" && echo "$sum  $pgjdbc.part" | sha256sum --check --status; then
        mv "$pgjdbc.part" "$pgjdbc"
    else
        echo "warning: cannot download $url: the tests of JDBC are left out" >&2
    fi
fi
[ ! -f "$pgjdbc" ] || export MANYWORLDS_PGJDBC="$pgjdbc"
MANYWORLDS="$manyworlds" "$venv/bin/python" -m pytest --quiet -p no:cacheprovider tests/readers tests/clients
