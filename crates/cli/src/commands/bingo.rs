//! `manyworlds bingo`: events that the model bingo plays.

use std::path::Path;

use anyhow::Result;
use bingo::definition::{BIG, Event, SMALL, Team, advise, online_hours, parse};

use super::simulation::{invalid_definition, text_of};
use crate::args::{BingoTask, Example};
use crate::output::{Table, count, note, print};

pub(crate) fn bingo(task: &BingoTask) -> Result<()> {
    match task {
        BingoTask::Check { file } => check(file),
        BingoTask::Example { which: Example::Small } => print(SMALL),
        BingoTask::Example { which: Example::Big } => print(BIG),
    }
}

fn check(file: &Path) -> Result<()> {
    let event = parse(&text_of(file)?).map_err(|faults| invalid_definition(file, "event", &faults))?;
    let tiles = || event.rows.iter().flat_map(|row| &row.tiles);
    let rules: usize = tiles().map(|tile| tile.rules.len()).sum();
    let counts = [
        ("rows", event.rows.len()),
        ("tiles", tiles().count()),
        ("rules", rules),
        ("activities", event.activities.len()),
        ("players", event.players.len()),
    ];
    let counts: Vec<String> = counts.iter().map(|(what, n)| format!("{} {what}", count(*n as u64))).collect();
    note(&format!("{}: {} from {}, {}", event.name, event.duration, event.start, counts.join(", ")));
    print(&teams(&event).to_string())?;
    for advice in advise(&event) {
        note(&format!("{}: {}", advice.place, advice.reason));
    }
    Ok(())
}

fn teams(event: &Event) -> Table {
    let hours = |team: &Team| -> f64 {
        event.players.iter().filter(|p| team.players.contains(&p.name)).map(|p| online_hours(event, p)).sum()
    };
    Table::of(
        &event.teams,
        &[
            ("team", &|team| team.name.clone()),
            ("strategy", &|team| team.strategy.into_str().to_owned()),
            ("players", &|team| team.players.len().to_string()),
            ("hours of play", &|team| format!("{:.1}", hours(team))),
        ],
    )
}
