//! Plays, kills, resumes, verifies and drops ensembles; each must have the worlds of its seed.

use std::time::Duration;

use serde_json::Value;
use world::Stream;

use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::Front;
use super::known::PASSING;
use super::shell::{Ended, Shell};
use crate::error::BenchError;

/// Plays until the life is over; half of the runs are killed and resumed.
pub(super) fn play(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let campaign = front.campaign;
    let shell = Shell { campaign, life: front.life, actor: "play" };
    let find = |what: String| {
        if !front.is_disk_full() {
            campaign.findings.add(Kind::Wrong, front.life, 1, what);
        }
    };
    while !front.is_over() {
        // The ensemble of an earlier turn may be complete, partial or missing.
        let mut words: Vec<&str> = PASSING.split(' ').chain(["--resume"]).collect();
        let kill = dice.chance(0.5).then(|| Duration::from_millis(u64::from(dice.below(1_500))));
        let mut ended = shell.run(&words, None, kill)?;
        if matches!(ended, Ended::Refused(_)) {
            words.pop();
            ended = shell.run(&words, None, kill)?;
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
                ActionCounts::count(&campaign.actions.ensembles);
            }
            Ended::Refused(said) => find(format!("`run`: {said}")),
            Ended::Killed => {}
        }
        front.rest(500 + dice.below(2_000));
    }
    Ok(())
}
