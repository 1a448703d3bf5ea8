//! All actors of one life, each a thread.

use world::Stream;

use super::front::Front;
use super::{askers, hostile, messy, upkeep, watch, worlds, writers};
use crate::error::BenchError;

/// An actor that may not be able to go on.
type Worker = fn(&Front<'_>, Stream) -> Result<(), BenchError>;

/// What speaks with the server, and calls what goes wrong a finding.
const SPEAKERS: [fn(&Front<'_>, Stream); 6] =
    [messy::send, messy::send, askers::ask, askers::ask, hostile::attack, hostile::attack];

/// What also has files of its own, which may fail.
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

/// Lets all of them act while `conduct` goes on; it says when the life is over.
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
