//! Runs the same work on this program and on other programs that do such work, in turns.
//!
//! Enters: a program and a [`PeersWorkload`], which says where peers are. Leaves: a [`Peers`] with a ratio for each work
//! and peer, what each promises meanwhile, and the peers that are missing, with the reason.
//!
//! Peers are never part of the product. Servers get their requests from the load of [`crate::ingest`]. Engines without a
//! program of their own are driven by small Python files in `drivers`, which are part of this program.

mod appends;
mod ask;
mod built;
mod calls;
mod compared;
mod found;
mod ingest;
mod installed;
mod joint;
mod peer;
mod report;
mod run;
mod scripts;
mod servers;
mod sybil;
mod work;
mod workload;

pub use compared::{Failure, Row, Spread};
pub use found::Missing;
pub use installed::Installed;
pub use peer::Peer;
pub use run::{Peers, peers};
pub use work::Work;
pub use workload::PeersWorkload;

#[cfg(test)]
mod tests;
