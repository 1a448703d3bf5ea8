//! The protocol between a server and the processes that play its runs. Messages are framed as those of query processes.

use std::path::PathBuf;

use axum::http::StatusCode;
use ensemble::EventMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Refusal;

/// What a user asks to play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Wish {
    pub(crate) model: String,
    /// The name of the ensemble. Default: that of the model.
    pub(crate) name: Option<String>,
    pub(crate) worlds: u32,
    pub(crate) seed: Option<Seed>,
    /// A JSON object. Raw, because its numbers must be read to the bit.
    pub(crate) parameters: Option<Box<RawValue>>,
    pub(crate) definition: Option<Definition>,
    pub(crate) events: EventMode,
    pub(crate) replace: bool,
    pub(crate) extend: bool,
    pub(crate) until: Option<Goal>,
    pub(crate) threads: Option<usize>,
}

/// A number of 64 bits. Programs whose numbers have fewer bits send it as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "the seed must be a whole number from 0 to 18446744073709551615, or such a number as text"
)]
pub(crate) enum Seed {
    Number(u64),
    Text(String),
}

/// A text, or the name of a kept definition.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Definition {
    Text(String),
    Kept { name: String, version: Option<u32> },
}

/// The precision that ends a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goal {
    /// As `ENTITY:OUTCOME`.
    pub(crate) outcome: String,
    pub(crate) goal: Width,
}

/// The half width of an interval: `0.5%`, or a number in the outcome's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Width {
    Number(f64),
    Text(String),
}

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) data: PathBuf,
    pub(crate) job: Job,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Registers an ensemble, or extends one. Plays it only if `play` is set.
    Start { wish: Box<Wish>, play: bool },
    /// Continues a version with its stored plan.
    Resume { name: String, version: u64, threads: Option<usize>, until: Option<Goal> },
    /// Submits an ensemble to a fleet.
    Submit { wish: Box<Wish>, ledger: String, broker: String },
}

/// A later message to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Finish the ranges in progress, then end.
    Pause,
    /// Drop the ranges in progress, and end.
    Cancel,
}

/// A message from a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The job is refused; nothing was registered.
    Refused(Refused),
    Begun(Begun),
    Progress(Progress),
    Ended(Ended),
}

/// An error reply, on its way to the client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// The ensemble is registered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) model: String,
    pub(crate) worlds: u64,
    /// Worlds that were stored before.
    pub(crate) done: u64,
}

/// Worlds of this process so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Played, perhaps not stored yet.
    pub(crate) played: u64,
    pub(crate) stored: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    Complete,
    /// The goal is met.
    Enough,
    /// It was asked to stop.
    Stopped,
    Failed(String),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let (status, body) = refusal.into_parts();
        Self { status: status.as_u16(), body }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::from_parts(status, refused.body)
    }
}
