//! Ensembles that are played, killed, resumed, verified and dropped; every one must have the worlds of its seed.

use std::time::Duration;

use serde_json::{Value, json};
use world::Stream;

use super::findings::Kind;
use super::front::{Campaign, Front, Tallies};
use super::shell::{Ended, Shell};
use crate::child::measure;
use crate::error::BenchError;
use crate::launch;

/// The ensemble that stays, and is asked.
const SEASON: [&str; 8] = ["run", "football", "--worlds", "40", "--name", "season", "--format", "json"];
/// Those that come and go.
const PASSING: [&str; 12] = [
    "run",
    "football",
    "--worlds",
    "24",
    "--range-worlds",
    "8",
    "--name",
    "passing",
    "--events",
    "replay",
    "--format",
    "json",
];

/// What worlds must be.
#[derive(Default)]
pub(super) struct Known {
    /// The hash of an ensemble that comes and goes.
    hash: Value,
    /// The answer to [`bet`].
    price: Value,
}

/// A bet on the ensemble that stays.
pub(super) fn bet() -> Value {
    json!({"ensemble": "season", "entity": "game-001", "legs": ["home_margin > 2.5", "total_points > 40.5"]})
}

impl Known {
    /// Plays the ensemble that stays into the data folder, and finds out, in another, what the others must be.
    pub(super) fn find_out(campaign: &mut Campaign<'_>) -> Result<(), BenchError> {
        let run = |words: &[&str], data: &std::path::Path| {
            let mut command = launch::command(campaign.program);
            command.args(words).arg("--data").arg(data);
            let (printed, _) = measure(command, None)?;
            serde_json::from_slice::<Value>(&printed).map_err(|e| BenchError::Wrong(e.to_string()))
        };
        run(&SEASON, campaign.data)?;
        let bet = bet();
        let mut words = vec!["price", "season", "--format", "json", "--entity"];
        words.extend(bet["entity"].as_str());
        for leg in bet["legs"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            words.extend(["--condition", leg]);
        }
        let price = run(&words, campaign.data)?;
        let hash = run(&PASSING, &campaign.scratch.join("sound"))?["hash"].clone();
        campaign.known = Self { hash, price };
        Ok(())
    }

    /// In which figure a price is another, if it is.
    pub(super) fn differs(&self, price: &Value) -> Option<String> {
        // Times differ from one answer to the next.
        let fields = ["probability", "worlds", "hits", "matching", "matched"];
        let mut compared = fields.iter().filter(|field| !self.price[**field].is_null());
        let other = compared.find(|field| self.price[**field] != price[**field]);
        other.map(|field| format!("{field} is {}, where it is {}", price[*field], self.price[*field]))
    }
}

/// Plays until the life is over; half of the runs are killed, and resumed.
pub(super) fn play(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let campaign = front.campaign;
    let shell = Shell { campaign, life: front.life, actor: "play" };
    let find = |what: String| {
        if !front.is_disk_full() {
            campaign.findings.add(Kind::Wrong, front.life, 1, what);
        }
    };
    while !front.is_over() {
        // One of an earlier life, or of the last turn, is there in whole or in part, or not at all.
        let resumed = [&PASSING[..], &["--resume"]].concat();
        let kill = dice.chance(0.5).then(|| Duration::from_millis(u64::from(dice.below(1_500))));
        let mut ended = shell.run(&resumed, None, kill)?;
        if matches!(ended, Ended::Refused(_)) {
            ended = shell.run(&PASSING, None, kill)?;
        }
        match ended {
            Ended::Well(printed) => {
                let played: Value = serde_json::from_slice(&printed).unwrap_or_default();
                if played["hash"] != campaign.known.hash {
                    find(format!("an ensemble has the hash {}, where it is {}", played["hash"], campaign.known.hash));
                }
                if let Ended::Refused(said) = shell.run(&["verify", "passing"], None, None)? {
                    find(format!("`verify` of an ensemble that was resumed: {said}"));
                }
                shell.run(&["drop", "passing"], None, None)?;
                Tallies::count(&campaign.tallies.ensembles);
            }
            Ended::Refused(said) => find(format!("`run`: {said}")),
            Ended::Killed => {}
        }
        front.rest(500 + dice.below(2_000));
    }
    Ok(())
}
