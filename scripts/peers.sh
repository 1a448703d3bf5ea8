#!/usr/bin/env bash
# Installs the peers of `manyworlds bench peers` into their own folder, .venv-peers, and prints its path: engines with a
# Python package, QuestDB from Maven, VictoriaMetrics and InfluxDB 1 from Debian's packages. Needs no root, and starts
# nothing. Names and leaves out each peer that cannot be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

folder="$PWD/.venv-peers"
# If one package cannot be fetched, the others are installed one by one.
scripts/venv.sh peers >/dev/null || while read -r package; do
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$package" >&2 || echo "peers: no $package" >&2
done <tests/requirements-peers.txt
mkdir -p "$folder/lib"

# The package starts the program of DuckDB from Python. The link starts it alone.
if cli="$("$folder/bin/python" -c 'import duckdb_cli, os; print(os.path.join(os.path.dirname(duckdb_cli.__file__), "duckdb"))')"; then
    ln -sf "$cli" "$folder/bin/duckdb"
fi

questdb=9.1.0
jar="$folder/lib/questdb-$questdb.jar"
if [ ! -e "$jar" ]; then
    artifact="org.questdb:questdb:$questdb"
    if command -v mvn >/dev/null && mvn -q dependency:copy -Dartifact="$artifact" -DoutputDirectory="$folder/lib" >&2; then
        :
    else
        echo "peers: no QuestDB: Maven is missing or cannot fetch $artifact" >&2
    fi
fi

# Takes a program out of a package of Debian, without installing the package: that would start a service.
debian() {
    local package="$1" program="$2" work
    [ ! -x "$folder/bin/$program" ] || return 0
    work="$(mktemp -d)"
    if (cd "$work" && apt-get download "$package" >&2) && dpkg-deb -x "$work"/*.deb "$work"; then
        install "$work/usr/bin/$program" "$folder/bin/$program"
        dpkg-deb -f "$work"/*.deb Version >"$folder/bin/$program.version"
    else
        echo "peers: no $program: package $package cannot be fetched; try apt-get update" >&2
    fi
    rm -rf "$work"
}
debian victoria-metrics victoria-metrics
debian influxdb influxd

echo "$folder"
