//! `manyworlds bingo`: events that the model bingo plays.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use bingo::definition::{BIG, Event, SMALL, advise, online_hours, parse};

use super::simulation::{invalid_definition, text_of};
use crate::args::{BingoTask, Example};
use crate::output::{Table, count, note, print};

pub(crate) fn bingo(task: &BingoTask) -> Result<ExitCode> {
    match task {
        BingoTask::Check { file } => check(file)?,
        BingoTask::Example { which: Example::Small } => print(SMALL)?,
        BingoTask::Example { which: Example::Big } => print(BIG)?,
    }
    Ok(ExitCode::SUCCESS)
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
    let told: Vec<String> = counts.iter().map(|(what, n)| format!("{} {what}", count(*n as u64))).collect();
    note(&format!("{}: {} from {}, {}", event.name, event.duration, event.start, told.join(", ")));
    print(&teams(&event).to_string())?;
    for advice in advise(&event) {
        note(&format!("{}: {}", advice.place, advice.reason));
    }
    Ok(())
}

fn teams(event: &Event) -> Table {
    let mut table = Table::new(["team", "strategy", "players", "hours of play"]);
    for team in &event.teams {
        let hours: f64 =
            event.players.iter().filter(|p| team.players.contains(&p.name)).map(|p| online_hours(event, p)).sum();
        let strategy = team.strategy.key();
        table.push([team.name.clone(), strategy.to_owned(), team.players.len().to_string(), format!("{hours:.1}")]);
    }
    table
}
