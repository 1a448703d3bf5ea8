#!/usr/bin/env bash
# Builds the Python package, optimised, into ./wheels. One wheel serves Python 3.11 and later.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh
python3 -c 'import venv, ensurepip' 2>/dev/null || {
    echo "error: Python's venv module is missing: install it (Debian: python3-venv), then run this again" >&2
    exit 2
}
[ -x .venv-wheel/bin/maturin ] || {
    python3 -m venv .venv-wheel
    .venv-wheel/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
}
cd python
../.venv-wheel/bin/maturin build --release --strip --interpreter python3 --out ../wheels
