//! State shared by the actors of a siege.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use world::{Seed, Stream, World};

use super::clock::Clock;
use super::counts::ActionCounts;
use super::findings::{Findings, Kind};
use super::known::Known;
use super::ledger::{Ledger, MessyLedger};
use crate::ingest::records::Measurement;

/// State that lasts over all lives.
pub(super) struct Campaign<'a> {
    pub(super) program: &'a [OsString],
    pub(super) data: &'a Path,
    /// A folder for the siege's files. If the data folder has its own disk, this one is on another.
    pub(super) scratch: &'a Path,
    pub(super) seed: u64,
    pub(super) tables: Vec<Measurement>,
    pub(super) clock: Clock,
    pub(super) ledger: Ledger,
    pub(super) messy: MessyLedger,
    pub(super) findings: Findings,
    pub(super) actions: ActionCounts,
    /// The expected worlds.
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
    /// Whether the disk is full or was until recently.
    pub(super) disk_full: AtomicBool,
}

impl Front<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(super) fn is_disk_full(&self) -> bool {
        self.disk_full.load(Ordering::SeqCst)
    }

    /// The random numbers of an actor in this life.
    pub(super) fn dice(&self, actor: u32) -> Stream {
        Stream::new(Seed(self.campaign.seed), World(self.life), actor, 1)
    }

    /// Waits; returns early when the life ends.
    pub(super) fn rest(&self, ms: u32) {
        for _ in 0..ms.div_ceil(20) {
            if self.is_over() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Adds a finding, unless the life is over: its end cuts off actors.
    pub(super) fn find(&self, kind: Kind, what: String) {
        if !self.is_over() {
            self.campaign.findings.add(kind, self.life, 1, what);
        }
    }
}

/// A random element.
pub(super) fn pick<'t, T>(dice: &mut Stream, of: &'t [T]) -> &'t T {
    &of[dice.below(of.len() as u32) as usize]
}
