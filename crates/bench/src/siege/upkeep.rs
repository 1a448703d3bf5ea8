//! Upkeep of tables by processes, next to the server and between its lives.

use std::time::Duration;

use world::Stream;

use super::counts::ActionCounts;
use super::front::{Campaign, Front, pick};
use super::rows::{self, DATABASE};
use super::shell::{Ended, Shell};
use crate::error::BenchError;

/// Runs upkeep until the life is over; a third of the processes are killed.
pub(super) fn beside(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let campaign = front.campaign;
    while !front.is_over() {
        let place = dice.below(rows::TABLES as u32) as usize;
        let name = format!("{DATABASE}.{}", campaign.tables[place].name);
        let below = campaign.ledger.len() / 2;
        let condition = format!("CAST(time AS BIGINT) < {}", rows::time_of_request(below));
        let words: &[&str] = match dice.below(12) {
            0 | 1 => &["flush", &name],
            2 | 3 => &["table", "compact", &name],
            4 => &["table", "rebuild", &name, "--apply"],
            5 => &["table", "inspect", &name],
            6 => &["info", &name],
            7 => &["table", "list"],
            8 => &["table", "trim", &name, "--keep-bytes", "100000"],
            9 => &["table", "vacuum", &name, "--apply"],
            10 => {
                let codec = *pick(&mut dice, &["zstd", "snappy", "lz4", "none"]);
                &["table", "rewrite", &name, "--codec", codec]
            }
            _ => {
                campaign.ledger.remove_below(place, below);
                &["table", "delete", &name, "--where", &condition, "--apply"]
            }
        };
        let kill = dice.chance(0.33).then(|| Duration::from_millis(u64::from(dice.below(700))));
        count(campaign, &Shell { campaign, life: front.life, actor: "upkeep" }.run(words, None, kill)?);
        front.rest(300 + dice.below(1_200));
    }
    Ok(())
}

fn count(campaign: &Campaign<'_>, ended: &Ended) {
    match ended {
        Ended::Well(_) => ActionCounts::count(&campaign.actions.upkeep),
        Ended::Refused(_) => ActionCounts::count(&campaign.actions.refused_upkeep),
        Ended::Killed => {}
    }
}

/// Runs upkeep while no server runs. Removed rows must not come back, and old files may be deleted.
pub(super) fn between(campaign: &Campaign<'_>, life: u32, dice: &mut Stream) -> Result<(), BenchError> {
    let shell = Shell { campaign, life, actor: "upkeep" };
    let place = dice.below(rows::TABLES as u32) as usize;
    let name = format!("{DATABASE}.{}", campaign.tables[place].name);
    if !matches!(shell.run(&["flush", &name], None, None)?, Ended::Well(_)) {
        // The table does not exist.
        return Ok(());
    }
    if dice.chance(0.3) {
        let below = campaign.ledger.len() * 2 / 3;
        let below = campaign.ledger.first_kept().map_or(below, |kept| below.min(kept));
        campaign.ledger.remove_below(place, below);
        let condition = format!("CAST(time AS BIGINT) < {}", rows::time_of_request(below));
        let deleted = shell.run(&["table", "delete", &name, "--where", &condition, "--apply"], None, None)?;
        if let Ended::Well(_) = &deleted {
            campaign.ledger.gone_below(place, below);
        }
        count(campaign, &deleted);
    }
    let words: &[&str] = match dice.below(4) {
        0 => &["table", "vacuum", &name, "--retain", "0", "--apply"],
        1 => &["table", "vacuum", "sim", "--retain", "0", "--apply"],
        2 => &["table", "compact", &name],
        _ => &["table", "rebuild", &name, "--apply"],
    };
    count(campaign, &shell.run(words, None, None)?);
    Ok(())
}
