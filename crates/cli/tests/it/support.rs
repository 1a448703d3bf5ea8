//! Runs the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program with some arguments.
pub(crate) fn program(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manyworlds"));
    command.args(words).env_remove("MANYWORLDS_DATA").env_remove("MANYWORLDS_LOG");
    command
}

/// Runs the program on a data folder.
pub(crate) fn run(data: &Path, words: &[&str]) -> Output {
    program(words).arg("--data").arg(data).output().unwrap()
}

/// Runs the program, which must succeed, and parses its output as JSON.
pub(crate) fn json(data: &Path, words: &[&str]) -> Value {
    let output = run(data, &[words, &["--format", "json"]].concat());
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs the program, which must fail with `code`; returns its error output.
pub(crate) fn failure(data: &Path, words: &[&str], code: i32) -> String {
    let output = run(data, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(output.stdout.is_empty(), "{words:?} wrote {}", String::from_utf8_lossy(&output.stdout));
    said
}

/// The file that describes a version of an ensemble.
pub(crate) fn description(data: &Path, ensemble: &str, version: u32) -> PathBuf {
    let folder = data.join(format!("sim/ensembles/ensemble={ensemble}/version={version}"));
    let mut files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    files.next().unwrap_or_else(|| panic!("nothing in {}", folder.display()))
}

/// Copies a folder with all that is in it; `to` must not exist.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
