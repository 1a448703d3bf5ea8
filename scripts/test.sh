#!/usr/bin/env bash
# Every check: format, lints, tests, and other people's readers on our tables.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- --deny warnings
cargo test --workspace
scripts/readers.sh
