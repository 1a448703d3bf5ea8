#!/usr/bin/env bash
# Makes or renews the Python environment of the checks from tests/requirements.txt, and says where it is.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
requirements=tests/requirements.txt
if ! cmp -s "$requirements" "$venv/installed.txt"; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2
    cp "$requirements" "$venv/installed.txt"
fi
echo "$PWD/$venv"
