//! Builds peers from checkouts of their source.

use std::path::Path;
use std::process::Command;

use super::installed::{Installed, version};
use crate::error::BenchError;
use crate::harness::child::measure;

/// Builds Arc with the tags of its Makefile. The shipped settings go beside the program, without those of storage in
/// buckets: for a bucket that it does not use, it would download an extension.
pub(super) fn build_arc(checkout: &Path, builds: &Path) -> Result<Installed, BenchError> {
    prepare(checkout, builds)?;
    let program = builds.join("arc");
    go(checkout, &["build", "-tags=duckdb_arrow", "-o", &text(&program), "./cmd/arc"])?;
    let (from, to) = (checkout.join("arc.toml"), builds.join("arc.toml"));
    let settings = std::fs::read_to_string(&from).map_err(BenchError::io("read", &from))?;
    std::fs::write(&to, without_tables(&settings, "tiered_storage")).map_err(BenchError::io("write", &to))?;
    Ok(Installed { version: commit(checkout), program })
}

/// Builds Sybil. Its source is older than Go's modules, so it gets a `go.mod` in a copy.
pub(super) fn build_sybil(checkout: &Path, builds: &Path) -> Result<Installed, BenchError> {
    prepare(checkout, builds)?;
    let (copy, program) = (builds.join("sybil-source"), builds.join("sybil"));
    let mut command = Command::new("cp");
    command.arg("-R").arg(checkout).arg(&copy);
    measure(command, None)?;
    if !copy.join("go.mod").exists() {
        go(&copy, &["mod", "init", "github.com/logv/sybil"])?;
        go(&copy, &["mod", "tidy"])?;
    }
    go(&copy, &["build", "-o", &text(&program), "."])?;
    let mut command = Command::new(&program);
    command.arg("version");
    let printed = String::from_utf8_lossy(&measure(command, None)?.0).into_owned();
    Ok(Installed { version: version(&printed).unwrap_or_else(|| commit(checkout)), program })
}

/// Looks for the checkout, and creates the folder for what is built.
fn prepare(checkout: &Path, builds: &Path) -> Result<(), BenchError> {
    checkout.read_dir().map_err(BenchError::io("read the checkout", checkout))?;
    std::fs::create_dir_all(builds).map_err(BenchError::io("create", builds))
}

/// Settings in TOML without the tables whose names begin with `prefix`.
pub(super) fn without_tables(settings: &str, prefix: &str) -> String {
    let mut is_kept = true;
    let keeps = |line: &&str| {
        if let Some(name) = line.strip_prefix('[') {
            is_kept = !name.starts_with(prefix);
        }
        is_kept
    };
    settings.split_inclusive('\n').filter(keeps).collect()
}

fn go(folder: &Path, words: &[&str]) -> Result<(), BenchError> {
    let mut command = Command::new("go");
    // The checkout may be owned by another user, whose repository Go may not look at.
    command.args(words).current_dir(folder).env("GOFLAGS", "-buildvcs=false");
    measure(command, None).map(drop)
}

/// The date and the short name of the checkout's commit.
fn commit(checkout: &Path) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(checkout).args(["log", "-1", "--format=%cs %h"]);
    let printed = measure(command, None).map(|(printed, _)| String::from_utf8_lossy(&printed).trim().to_owned());
    printed.unwrap_or_else(|_| "unknown".to_owned())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
