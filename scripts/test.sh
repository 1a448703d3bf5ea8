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
# Tests sync so often that they would wait for disks: where memory has room, their files are there. What is left when the
# power goes is simulated.
room="$(df --output=avail --block-size=G /dev/shm 2>/dev/null | tr -dc '0-9' || true)"
[ "${room:-0}" -lt 8 ] || export TMPDIR=/dev/shm
TMPDIR="$(mktemp -d)"
export TMPDIR
# Services of their own for the tests that follow, gone afterwards however they end. PostgreSQL's user must reach them.
chmod 711 "$TMPDIR"
export MANYWORLDS_SERVICES="$TMPDIR/services"
log="$TMPDIR/beside.log"
trap 'scripts/services.sh stop --wipe; rm -rf "$TMPDIR"' EXIT
environment="$(scripts/services.sh start)"
eval "$environment"
cargo test --workspace --no-fail-fast
# The package's tests mostly wait for processes that start, and the page's for a browser, so they run beside the others.
# All report what fails.
beside() {
    local failed=0
    scripts/python_package.sh || failed=1
    scripts/page_tests.sh || failed=1
    return $failed
}
beside >"$log" 2>&1 &
failed=false
scripts/python_tests.sh || failed=true
wait $! || failed=true
cat "$log"
if $failed; then exit 1; fi
scripts/fuzz.sh 10
