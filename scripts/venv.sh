#!/usr/bin/env bash
# Creates or updates the tests' Python environment from tests/requirements[-NAME].txt, and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."

suffix="${1:+-$1}"
venv=".venv$suffix"
requirements="tests/requirements$suffix.txt"
if ! cmp -s "$requirements" "$venv/installed.txt"; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2
    cp "$requirements" "$venv/installed.txt"
fi
echo "$PWD/$venv"
