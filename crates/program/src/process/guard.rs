//! Ends a program if this process is gone, however it went.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// A process that waits for the end of its input, which this process holds open, and then ends a group.
#[derive(Debug)]
pub(super) struct Guard(Child);

/// The group arrives as the first argument.
const SCRIPT: &str = r#"read -r line; kill -s KILL -- "-$1""#;

impl Guard {
    /// Guards the group of processes that `first` leads.
    pub(super) fn of(first: u32) -> io::Result<Self> {
        let guard = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh", &first.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Ok(Self(guard?))
    }

    /// Ends the guard; the program has ended.
    pub(super) fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
