//! The expected worlds, played before the siege begins.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::BenchError;
use crate::harness::child::{command, measure_json};

/// The ensemble that stays for questions.
const SEASON: &str = "run football --worlds 40 --name season --format json";
/// The ensemble that is played and dropped repeatedly.
pub(super) const PASSING: &str =
    "run football --worlds 24 --range-worlds 8 --name passing --events replay --format json";

/// Expected results.
pub(super) struct Known {
    /// The hash of [`PASSING`].
    pub(super) hash: Value,
    /// The answer to [`bet`].
    price: Value,
}

/// A bet on the ensemble that stays.
pub(super) fn bet() -> Value {
    json!({"ensemble": "season", "entity": "game-001", "legs": ["home_margin > 2.5", "total_points > 40.5"]})
}

impl Known {
    /// Plays the ensemble that stays into `data`, and the other one into a folder in `scratch`.
    pub(super) fn find_out(program: &[OsString], data: &Path, scratch: &Path) -> Result<Self, BenchError> {
        let run = |words: &[&str], data: &Path| {
            let mut command = command(program, words);
            command.arg("--data").arg(data);
            measure_json::<Value>(command).map(|(printed, _)| printed)
        };
        let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
        run(&words(SEASON), data)?;
        let bet = bet();
        let mut price = vec!["price", "season", "--format", "json", "--entity"];
        price.extend(bet["entity"].as_str());
        let conditions = bet["legs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        price.extend(conditions.flat_map(|condition| ["--condition", condition]));
        let price = run(&price, data)?;
        let hash = run(&words(PASSING), &scratch.join("sound"))?["hash"].clone();
        Ok(Self { hash, price })
    }

    /// The first figure that differs from the expected answer.
    pub(super) fn differs(&self, price: &Value) -> Option<String> {
        // All fields except times.
        let fields = ["probability", "worlds", "hits", "matching", "matched"];
        let mut compared = fields.iter().filter(|field| !self.price[**field].is_null());
        let other = compared.find(|field| self.price[**field] != price[**field]);
        other.map(|field| format!("{field} is {}, where it is {}", price[*field], self.price[*field]))
    }
}
