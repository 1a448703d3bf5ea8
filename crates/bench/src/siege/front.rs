//! What the actors of one life of the server share.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use world::{Seed, Stream, World};

use super::clock::Clock;
use super::findings::{Findings, Kind};
use super::ledger::Ledger;
use super::messy::MessyLedger;
use super::worlds::Known;
use crate::ingest::payload::Measurement;

/// How often what was done.
#[derive(Debug, Default, Serialize)]
pub struct Tallies {
    /// Requests with rows that were acknowledged.
    pub writes: AtomicU64,
    /// Requests with rows that were refused for now: no room, a full disk.
    pub refused_writes: AtomicU64,
    /// Requests that were sent again under their key, after a kill.
    pub repeated_writes: AtomicU64,
    /// Rows of mixed types and names.
    pub messy_rows: AtomicU64,
    /// Appends by processes.
    pub appends: AtomicU64,
    /// Insertions by processes.
    pub inserts: AtomicU64,
    /// Answers that were checked.
    pub answers: AtomicU64,
    /// Questions that found no place in time.
    pub busy: AtomicU64,
    /// Hostile questions, connections and bodies.
    pub hostile: AtomicU64,
    /// Processes of upkeep that ended by themselves.
    pub upkeep: AtomicU64,
    /// Those of them that refused.
    pub refused_upkeep: AtomicU64,
    /// Ensembles played, each killed and resumed or not.
    pub ensembles: AtomicU64,
    /// Processes that were killed beside the server.
    pub killed_processes: AtomicU64,
}

impl Tallies {
    /// Counts one more.
    pub(super) fn count(which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }
}

/// What lasts over all lives.
pub(super) struct Campaign<'a> {
    pub(super) program: &'a Path,
    /// The data folder.
    pub(super) data: &'a Path,
    /// A folder for what the siege itself keeps, on another disk where the data folder has one of its own.
    pub(super) scratch: &'a Path,
    pub(super) seed: u64,
    pub(super) tables: Vec<Measurement>,
    pub(super) clock: Clock,
    pub(super) ledger: Ledger,
    pub(super) messy: MessyLedger,
    pub(super) findings: Findings,
    pub(super) tallies: Tallies,
    /// What the worlds must be.
    pub(super) known: Known,
    /// Peak memory of the server, and of all its question processes together.
    pub(super) peaks: [AtomicU64; 2],
}

/// One life of the server.
pub(super) struct Front<'a> {
    pub(super) campaign: &'a Campaign<'a>,
    pub(super) life: u32,
    pub(super) address: SocketAddr,
    pub(super) postgres: SocketAddr,
    pub(super) server: u32,
    /// Set before the server is killed or stopped.
    pub(super) over: AtomicBool,
    /// Whether the disk is full, or was a moment ago.
    pub(super) disk_full: AtomicBool,
}

impl Front<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(super) fn is_disk_full(&self) -> bool {
        self.disk_full.load(Ordering::SeqCst)
    }

    /// The random draws of an actor of this life.
    pub(super) fn dice(&self, actor: u32) -> Stream {
        Stream::new(Seed(self.campaign.seed), World(self.life), actor, 1)
    }

    /// Waits, unless the life ends.
    pub(super) fn rest(&self, ms: u32) {
        for _ in 0..ms.div_ceil(20) {
            if self.is_over() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Keeps a finding, unless the server is being killed: then whoever spoke with it was cut off.
    pub(super) fn find(&self, kind: Kind, what: String) {
        if !self.is_over() {
            self.campaign.findings.add(kind, self.life, 1, what);
        }
    }
}

/// One of some things.
pub(super) fn pick<'t, T>(dice: &mut Stream, of: &'t [T]) -> &'t T {
    &of[dice.below(of.len() as u32) as usize]
}
