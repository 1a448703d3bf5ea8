#!/usr/bin/env bash
# Every check: format, lints, tests, other people's readers and clients, and some seconds of fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh --checks
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- --deny warnings
cargo test --workspace
scripts/python_tests.sh
scripts/fuzz.sh 10
