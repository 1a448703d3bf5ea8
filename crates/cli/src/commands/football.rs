//! `manyworlds football`: leagues that the model football plays.

use std::path::Path;

use anyhow::Result;
use football::league_file::{LeagueFile, TeamRow, example, parse};

use super::simulation::{invalid_definition, text_of};
use crate::args::FootballTask;
use crate::output::{Table, count, note, print};

pub(crate) fn football(task: &FootballTask) -> Result<()> {
    match task {
        FootballTask::Check { file } => check(file),
        FootballTask::Example { number } => print(&example(*number)?),
    }
}

fn check(file: &Path) -> Result<()> {
    let league = parse(&text_of(file)?).map_err(|faults| invalid_definition(file, "league", &faults))?;
    let counts = [
        ("teams", league.teams.len()),
        ("games", league.schedule.len()),
        ("players", league.players.len()),
        ("venues", league.venues.len()),
    ];
    let counts: Vec<String> = counts.iter().map(|(what, n)| format!("{} {what}", count(*n as u64))).collect();
    note(&counts.join(", "));
    print(&teams(&league).to_string())
}

fn teams(league: &LeagueFile) -> Table {
    let games = |team: &TeamRow, home: bool| {
        let of = |id: &String, at_home: bool| *id == team.id && at_home == home;
        league.schedule.iter().filter(|game| of(&game.home, true) || of(&game.away, false)).count().to_string()
    };
    Table::of(
        &league.teams,
        &[
            ("team", &|team| team.id.clone()),
            ("name", &|team| team.name.clone()),
            ("division", &|team| [&*team.conference, &*team.division].join(" ").trim().to_owned()),
            ("offence", &|team| format!("{:.1}", team.offence)),
            ("defence", &|team| format!("{:.1}", team.defence)),
            ("home", &|team| games(team, true)),
            ("away", &|team| games(team, false)),
        ],
    )
}
