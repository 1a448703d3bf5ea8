//! Finds the peers on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum as _;
use serde::Serialize;

use super::built::{build_arc, build_sybil};
use super::compared::with_causes;
use super::installed::{Installed, version};
use super::peer::Peer;
use super::work::Work;
use super::workload::PeersWorkload;
use crate::error::BenchError;
use crate::harness::child::{measure, measure_json};

/// A peer that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub peer: Peer,
    pub reason: String,
}

/// The peers on this machine.
pub(super) struct Found {
    pub(super) there: BTreeMap<Peer, Installed>,
    pub(super) missing: Vec<Missing>,
}

impl Found {
    /// Looks for the wanted peers of the wanted works. Builds those that are checkouts in the folder `builds`.
    pub(super) fn look(workload: &PeersWorkload, builds: &Path) -> Self {
        let mut found = Self { there: BTreeMap::new(), missing: Vec::new() };
        let folder = std::path::absolute(&workload.installed).unwrap_or_else(|_| workload.installed.clone());
        let python = program(&folder, "python").or_else(|| program(&folder, "python3"));
        let python = python.ok_or_else(|| not_found("python", &folder));
        let packages =
            python.and_then(|python| Ok((versions_of_packages(&python).map_err(|error| with_causes(&error))?, python)));
        for peer in Peer::value_variants().iter().copied() {
            let is_named = workload.peers.is_empty() || workload.peers.contains(&peer);
            if !is_named || !peer.works().iter().any(|work| workload.is_wanted(*work)) {
                continue;
            }
            let looked = match peer.package() {
                Some(name) => packages.as_ref().map_err(Clone::clone).and_then(|packages| package(name, packages)),
                None => other(peer, workload, &folder, builds),
            };
            match looked {
                Ok(installed) => drop(found.there.insert(peer, installed)),
                Err(reason) => found.missing.push(Missing { peer, reason }),
            }
        }
        found
    }

    /// The peers that can do a work.
    pub(super) fn of(&self, work: Work) -> Vec<Peer> {
        self.there.keys().copied().filter(|peer| peer.works().contains(&work)).collect()
    }

    /// Where a peer is; nowhere if it is not one of [`Self::of`].
    pub(super) fn program(&self, peer: Peer) -> &Path {
        self.there.get(&peer).map_or(Path::new(""), |installed| &installed.program)
    }
}

/// A program in the folder's `bin`, or in PATH.
fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.join("bin")].into_iter().chain(std::env::split_paths(&paths).collect::<Vec<_>>());
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn not_found(name: &str, folder: &Path) -> String {
    format!("no program {name} in {} or PATH", folder.join("bin").display())
}

fn package(name: &str, (packages, python): &(BTreeMap<String, String>, PathBuf)) -> Result<Installed, String> {
    let version = packages.get(name).ok_or_else(|| format!("{} has no package {name}", python.display()))?;
    Ok(Installed { version: version.clone(), program: python.clone() })
}

/// Versions of the packages that peers are; of those that Python has.
fn versions_of_packages(python: &Path) -> Result<BTreeMap<String, String>, BenchError> {
    const CODE: &str = "import importlib.metadata as m, json, sys\n\
                        there = {d.metadata['Name'].lower(): d.version for d in m.distributions()}\n\
                        print(json.dumps({n: there[n] for n in sys.argv[1:] if n in there}))";
    let mut command = Command::new(python);
    command.args(["-c", CODE]).args(Peer::value_variants().iter().filter_map(|peer| peer.package()));
    Ok(measure_json(command)?.0)
}

fn other(peer: Peer, workload: &PeersWorkload, folder: &Path, builds: &Path) -> Result<Installed, String> {
    let named = |name: &str, words: &[&str]| {
        let program = program(folder, name).ok_or_else(|| not_found(name, folder))?;
        let mut command = Command::new(&program);
        command.args(words);
        let printed =
            String::from_utf8_lossy(&measure(command, None).map_err(|error| with_causes(&error))?.0).into_owned();
        // Debian's builds do not all know their version; `scripts/peers.sh` notes the package's.
        let noted = || Some(std::fs::read_to_string(program.with_added_extension("version")).ok()?.trim().to_owned());
        let version = version(&printed).or_else(noted).unwrap_or_else(|| "unknown".to_owned());
        Ok(Installed { version, program })
    };
    match peer {
        Peer::Questdb => questdb(folder),
        Peer::Victoriametrics => named("victoria-metrics", &["--version"]),
        Peer::Influxdb => named("influxd", &["version"]),
        Peer::DuckdbCli => named("duckdb", &["--version"]),
        Peer::Arc => {
            let checkout = workload.arc.as_deref().ok_or_else(|| "no checkout of Arc was named".to_owned())?;
            build_arc(checkout, builds).map_err(|error| with_causes(&error))
        }
        Peer::Sybil => {
            let checkout = workload.sybil.as_deref().ok_or_else(|| "no checkout of Sybil was named".to_owned())?;
            build_sybil(checkout, builds).map_err(|error| with_causes(&error))
        }
        _ => Err("not a program".to_owned()),
    }
}

/// The newest archive of its releases in the folder's `lib`.
fn questdb(folder: &Path) -> Result<Installed, String> {
    let lib = folder.join("lib");
    let named = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("questdb-")?.strip_suffix(".jar")?;
        let numbers: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
        Some((numbers, version.to_owned(), entry.path()))
    };
    let entries = std::fs::read_dir(&lib).map(|entries| entries.flatten().filter_map(named).collect::<Vec<_>>());
    let newest = entries.unwrap_or_default().into_iter().max();
    let (_, version, archive) = newest.ok_or_else(|| format!("no questdb-VERSION.jar in {}", lib.display()))?;
    program(folder, "java").ok_or_else(|| not_found("java", folder))?;
    Ok(Installed { version, program: archive })
}
