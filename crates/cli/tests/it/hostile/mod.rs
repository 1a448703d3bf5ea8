//! Hostile input with a structure, from a seed: requests over HTTP, messages of `PostgreSQL`'s protocol, damaged files.
//! The program answers or refuses each; it neither panics nor hangs.
//!
//! `MANYWORLDS_HOSTILE_ROUNDS` says how much of it (200), `MANYWORLDS_HOSTILE_SEED` where it begins (1). A failure
//! prints the seed of its round, which repeats it.

mod dice;
mod files;
mod http;
mod postgres;
mod sql;
mod typed;

pub(crate) use dice::Dice;

/// Calls `round` with fresh dice each time, and tells which seed failed.
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

/// Names the seed where a round does not come to its end.
struct Failing(u64);

impl Drop for Failing {
    #[allow(clippy::print_stderr, reason = "a failing test says how to repeat it")]
    fn drop(&mut self) {
        eprintln!("repeat with MANYWORLDS_HOSTILE_SEED={} MANYWORLDS_HOSTILE_ROUNDS=1", self.0);
    }
}
