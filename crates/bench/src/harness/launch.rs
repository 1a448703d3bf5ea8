//! Starts the measured program.

use std::path::Path;
use std::process::Command;

/// A command of the program, without this process's `MANYWORLDS_` variables: they would change the measurement.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"MANYWORLDS_") {
            command.env_remove(name);
        }
    }
    command
}
