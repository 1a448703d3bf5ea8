//! `manyworlds bench siege`: runs every kind of load at once, on a private disk that it can fill.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use ::bench::siege;
use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::BenchContext;
use crate::ExitCode;
use crate::args::BenchSiegeArgs;
use crate::output::note;

pub(super) fn siege(mut args: BenchSiegeArgs) -> Result<ExitCode> {
    if args.disk > 0 && !args.inside {
        if may_mount() {
            return Err(go_inside());
        }
        note("cannot fill the disk: this system allows no private mounts");
    }
    let disk = args.inside.then(|| Mounted::new(args.disk)).transpose()?;
    args.bench.workload.disk = disk.as_ref().map(|disk| disk.folder.path().to_owned());
    let context = BenchContext::new("siege", &args.bench)?;
    let besieged = siege::siege(&context.bench())?;
    let code = context.finish(&besieged)?;
    if !besieged.figures.holds() {
        note(&format!("the data folder is {}", context.keep().display()));
    }
    Ok(code)
}

/// Starts a program with private mounts; they end with it.
fn unshare() -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "--"]);
    unshare
}

/// Whether the system permits private mounts for this user.
fn may_mount() -> bool {
    let tried = unshare().arg("true").stdin(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Replaces this process with the same command with private mounts; returns only on failure.
fn go_inside() -> anyhow::Error {
    match crate::program() {
        Ok(program) => {
            let error = unshare().args(program).args(crate::words()).arg("--inside").exec();
            anyhow::Error::new(error).context("cannot start unshare")
        }
        Err(error) => error,
    }
}

/// A disk in memory, unmounted when dropped.
struct Mounted {
    folder: TempDir,
}

impl Mounted {
    /// Mounts a disk of `megabytes` MB.
    fn new(megabytes: u64) -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("manyworlds-siege-").tempdir().context("cannot create a folder")?;
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "manyworlds-siege"]).arg(folder.path()).output();
        let mounted = mounted.context("cannot start mount")?;
        if !mounted.status.success() {
            bail!(
                "cannot mount a disk at {}: {}",
                folder.path().display(),
                String::from_utf8_lossy(&mounted.stderr).trim()
            );
        }
        Ok(Self { folder })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Unmount first, so that the folder can be removed. A failure leaves an empty folder behind.
        drop(Command::new("umount").arg("--lazy").arg(self.folder.path()).status());
    }
}
