//! Runs all actors of one life in threads.

use world::Stream;

use super::front::Front;
use super::{askers, hostile, messy, upkeep, watch, worlds, writers};
use crate::error::BenchError;

/// An actor that may fail.
type Worker = fn(&Front<'_>, Stream) -> Result<(), BenchError>;

/// Actors that only send requests to the server; their failures are findings.
const SPEAKERS: [fn(&Front<'_>, Stream); 6] =
    [messy::send, messy::send, askers::ask, askers::ask, hostile::attack, hostile::attack];

/// Actors that also use files, which may fail.
const WORKERS: [Worker; 8] = [
    writers::send,
    writers::send,
    writers::send,
    writers::send,
    writers::append,
    askers::ask_by_process,
    upkeep::beside,
    worlds::play,
];

/// Runs all actors while `conduct` runs. `conduct` ends the life.
pub(super) fn act(front: &Front<'_>, conduct: impl FnOnce() -> Result<(), BenchError>) -> Result<(), BenchError> {
    std::thread::scope(|scope| {
        scope.spawn(|| watch::watch(front));
        for (number, speak) in (0..).zip(SPEAKERS) {
            scope.spawn(move || speak(front, front.dice(number)));
        }
        let workers = (SPEAKERS.len() as u32..).zip(WORKERS);
        let workers: Vec<_> =
            workers.map(|(number, work)| scope.spawn(move || work(front, front.dice(number)))).collect();
        let conducted = conduct();
        let panicked = || Err(BenchError::Wrong("a thread of the siege panicked".to_owned()));
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| panicked()))?;
        conducted
    })
}
