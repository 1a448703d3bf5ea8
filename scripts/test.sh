#!/usr/bin/env bash
# Runs every check: format, dependencies, lints, links of doc comments, the services of a fleet and the tests that use
# them, other programs that read our tables or use our server, the page in a browser, and some seconds of fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh --checks
cargo fmt --all --check
"$(scripts/venv.sh)/bin/python" scripts/dependencies.py
"$(scripts/venv.sh)/bin/python" scripts/structure.py
cargo clippy --workspace --all-targets --quiet -- --deny warnings
RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --quiet
"$(scripts/venv.sh)/bin/python" -m pytest --quiet -p no:cacheprovider tests/scripts tests/services
# Servers answer for longer than by default: the program is hardly optimised here, and other tests run beside.
export MANYWORLDS_QUESTION_SECONDS=600
# Services of their own for the tests that follow, gone afterwards however they end.
MANYWORLDS_SERVICES="$(mktemp -d)"
export MANYWORLDS_SERVICES
package="$(mktemp)"
trap 'scripts/services.sh stop --wipe; rm -f "$package"' EXIT
environment="$(scripts/services.sh start)"
eval "$environment"
cargo test --workspace --no-fail-fast
# The package's tests mostly wait for processes that start, so they run beside the others. All report what fails.
scripts/python_package.sh >"$package" 2>&1 &
failed=false
scripts/python_tests.sh || failed=true
scripts/page_tests.sh || failed=true
wait $! || failed=true
cat "$package"
if $failed; then exit 1; fi
scripts/fuzz.sh 10
