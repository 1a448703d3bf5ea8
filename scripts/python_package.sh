#!/usr/bin/env bash
# Tests the Python package: builds its wheel on what `cargo test --workspace` built, installs it with and without other
# packages, runs its tests and the examples of its docstrings, and checks its stubs.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="$(scripts/venv.sh)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
(cd python && "$venv/bin/maturin" build --quiet --profile dev --interpreter "$venv/bin/python" --out "$folder")
wheel=("$folder"/*.whl)
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "${wheel[0]}"
python3 -m venv "$folder/empty"
"$folder/empty/bin/pip" install --quiet --disable-pip-version-check --no-index "${wheel[0]}"
EMPTY_VENV="$folder/empty" "$venv/bin/python" -m pytest --quiet -p no:cacheprovider --doctest-modules \
    --rootdir python/tests python/tests --pyargs manyworlds
"$venv/bin/python" -m mypy.stubtest --concise manyworlds._native
"$venv/bin/python" -m mypy --config-file python/pyproject.toml --no-error-summary --cache-dir "$folder/mypy" \
    python/manyworlds
"$venv/bin/python" -m mypy --strict --config-file python/pyproject.toml --no-error-summary --cache-dir "$folder/mypy" \
    python/tests/typed.py
