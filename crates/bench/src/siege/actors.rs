//! All actors of one life, each a thread.

use world::Stream;

use super::front::Front;
use super::{askers, hostile, messy, upkeep, watch, worlds, writers};
use crate::error::BenchError;

type Act = fn(&Front<'_>, Stream) -> Result<(), BenchError>;

/// What is done at the same time.
const ACTORS: [Act; 14] = [
    writers::send,
    writers::send,
    writers::send,
    writers::send,
    writers::append,
    messy::send,
    messy::send,
    askers::ask,
    askers::ask,
    askers::ask_by_process,
    hostile::attack,
    hostile::attack,
    upkeep::beside,
    worlds::play,
];

/// Lets all of them act while `conduct` goes on; it says when the life is over.
pub(super) fn act(front: &Front<'_>, conduct: impl FnOnce() -> Result<(), BenchError>) -> Result<(), BenchError> {
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch::watch(front));
        let actors = (0_u32..).zip(ACTORS).map(|(number, act)| scope.spawn(move || act(front, front.dice(number))));
        let actors: Vec<_> = actors.chain([watching]).collect();
        let conducted = conduct();
        let panicked = || Err(BenchError::Wrong("a thread of the siege panicked".to_owned()));
        actors.into_iter().try_for_each(|actor| actor.join().unwrap_or_else(|_| panicked()))?;
        conducted
    })
}
