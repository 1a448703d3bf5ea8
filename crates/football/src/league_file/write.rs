//! Writes the generated league as a file.

use std::fmt::Write as _;

use crate::league::League;
use crate::parameters::Settings;
use crate::roster::{ROSTER, Share};
use model::{ParameterError, Parameters};

const CONFERENCES: [&str; 2] = ["Eastern", "Western"];
const DIVISIONS: [&str; 4] = ["North", "East", "South", "West"];

const HEAD: &str = "\
# A league for the model football, in TOML. Played unchanged, it gives the games of the built-in league.

# Teams of each conference in its play-offs. The winners of the divisions come first.
playoff_teams = 7

# Teams. An id names a team in questions, as in 'team-01:wins'. Ratings are points by which the offence, or the defence,
# is better than the average team's, from -30 to 30. A league has 1 or 2 conferences. Leave conference and division out
# for a league with a single table.
teams = [
";
const VENUES: &str = "\
]

# Venues that differ from others. A team plays its home games at its own: add venue = \"mile-high\" to the team.
#   home_edge   home advantage in points; otherwise the parameter home_edge
#   scoring     points that both sides together score more than elsewhere
#   kick_yards  yards by which field goals are easier than their length, as in thin air
#   passing     added to the log-odds of a pass; below 0 for wind
# venues = [
#   { id = \"mile-high\", home_edge = 2.5, scoring = 1.0, kick_yards = 4 },
#   { id = \"harbour\", scoring = -1.5, kick_yards = -2, passing = -0.15 },
# ]

# Games. No team plays twice in a week; a week without a game is a week off. Games are called game-001 and so on, in
# order of weeks, unless they have an id. A game with neutral = true, or with a venue other than the home team's, has no
# home advantage.
schedule = [
";
const PLAYERS_HEAD: &str = "\
]

# Players. A team has one of each position: qb1-2, rb1-4, wr1-6, te1-3, k, p and d1-6 (defenders), or no players at all.
# Shares of a team sum to 1, each from 0 to 1; a team that leaves all of a kind out has those below.
#   starts        games that a quarterback starts
#   carries       designed runs; both quarterbacks' go to the one who plays
#   targets       passes thrown to a player
#   kick_returns  kick-offs returned
#   punt_returns  punts returned or caught fair
players = [
";

/// The generated league with this number as a file, with comments. A run of the file gives the same games.
///
/// # Errors
/// If no league has the number.
pub fn example(number: u32) -> Result<String, ParameterError> {
    let number = number.to_string();
    let parameters = Parameters::parse(crate::PARAMETERS, [("league", number.as_str())])?;
    Ok(written(&League::generate(&Settings::new(&parameters))))
}

fn written(league: &League) -> String {
    let mut text = HEAD.to_owned();
    // Writing to a String cannot fail.
    for team in &league.teams {
        let division = DIVISIONS[team.division % DIVISIONS.len()];
        let (id, name, conference) = (&team.id, &team.name, CONFERENCES[team.conference]);
        let _ = writeln!(
            text,
            "  {{ id = \"{id}\", name = \"{name}\", conference = \"{conference}\", division = \"{division}\", offence = {:?}, \
             defence = {:?} }},",
            team.offence, team.defence
        );
    }
    text.push_str(VENUES);
    for fixture in &league.fixtures {
        let [home, away] = fixture.teams.map(|team| &league.teams[team].id);
        let _ = writeln!(text, "  {{ week = {}, home = \"{home}\", away = \"{away}\" }},", fixture.week + 1);
    }
    text.push_str(PLAYERS_HEAD);
    for team in &league.teams {
        let _ = writeln!(text, "  # {}", team.name);
        for (place, (name, position)) in team.players.iter().zip(ROSTER).enumerate() {
            let id = &team.id;
            let _ = write!(text, "  {{ team = \"{id}\", position = \"{position}\", name = \"{name}\"");
            for share in Share::ALL {
                let value = share.usual()[place];
                if value > 0.0 {
                    let _ = write!(text, ", {} = {value}", share.name());
                }
            }
            text.push_str(" },\n");
        }
    }
    text + "]\n"
}
