//! Structured hostile input, generated from a seed: HTTP requests, messages of `PostgreSQL`'s protocol, calls of
//! Arrow Flight, and damaged files. The program must answer or reject each, without a panic or a hang.
//!
//! `MANYWORLDS_HOSTILE_ROUNDS` sets the number of rounds (200), `MANYWORLDS_HOSTILE_SEED` the first seed (1). A failure
//! prints the seed of its round, which reproduces it.

mod dice;
mod files;
mod flight;
mod http;
mod postgres;
mod sql;
mod typed;

pub(crate) use dice::Dice;

/// Calls `round` with new dice each time, and prints the seed that failed.
pub(crate) fn rounds(share: u64, mut round: impl FnMut(&mut Dice)) {
    let setting = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap(),
        Err(_) => default,
    };
    let first = setting("MANYWORLDS_HOSTILE_SEED", 1);
    let count = (setting("MANYWORLDS_HOSTILE_ROUNDS", 200) / share).max(1);
    for seed in first..first + count {
        let failing = Failing(seed);
        round(&mut Dice::new(seed));
        std::mem::forget(failing);
    }
}

/// Prints the seed if a round does not complete.
struct Failing(u64);

impl Drop for Failing {
    #[allow(clippy::print_stderr, reason = "a failing test says how to repeat it")]
    fn drop(&mut self) {
        eprintln!("repeat with MANYWORLDS_HOSTILE_SEED={} MANYWORLDS_HOSTILE_ROUNDS=1", self.0);
    }
}
