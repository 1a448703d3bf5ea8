//! A league, and the generated one: teams, players, ratings and the schedule. All generated names are invented.

use world::{Seed, Stream, World};

use crate::parameters::Settings;
use crate::roster::{PLAYERS, Roster};

/// Teams in the generated league: 2 conferences of 4 divisions of 4.
pub const TEAMS: usize = 32;
/// Weeks of its regular season; each team plays once a week.
pub const WEEKS: usize = 18;
const GAMES_A_WEEK: usize = 16;
/// Games of its regular season.
pub const GAMES: usize = WEEKS * GAMES_A_WEEK;

const DIVISION: usize = 4;
const DIVISIONS: usize = TEAMS / DIVISION;
const DIVISION_WEEKS: usize = 6;
/// Teams of each conference in its play-offs.
pub(crate) const SEEDS: usize = 7;

#[rustfmt::skip]
const NAMES: [&str; TEAMS] = [
    "Alder Bay Herons", "Birchport Badgers", "Cedar Falls Comets", "Dunmere Otters",
    "Eastmoor Millers", "Fallbrook Foxes", "Grey Harbour Gulls", "Hollowell Harriers",
    "Ironbridge Smiths", "Juniper Flats Juncos", "Kestrel Point Kites", "Larkfield Larks",
    "Mill River Mariners", "Northgate Nomads", "Oldcastle Oaks", "Pinecrest Pikes",
    "Quarry Hill Quakes", "Redwater Rapids", "Saltmarsh Stags", "Thornbury Thunder",
    "Upper Vale Uplanders", "Vinton Voyagers", "Westhaven Wolves", "Yarrow Yeomen",
    "Ashford Anchors", "Brackwater Bison", "Coldspring Cranes", "Driftwood Drakes",
    "Elmstead Elks", "Foxglove Falconers", "Glenrock Grizzlies", "Highmoor Hawks",
];
const FIRST: [&str; 24] = [
    "Abel", "Bram", "Cato", "Dario", "Emil", "Ferris", "Galen", "Hale", "Ivo", "Joss", "Kellan", "Leif", "Milo",
    "Nico", "Orrin", "Pax", "Quill", "Rafe", "Silas", "Tavi", "Ulric", "Vance", "Wyatt", "Zane",
];
const SECOND_HEAD: [&str; 20] = [
    "Ash", "Black", "Cor", "Dun", "Ever", "Fair", "Green", "Hart", "Ing", "Kirk", "Lang", "Mar", "Nor", "Ost", "Pen",
    "Ros", "Stan", "Thorn", "Wal", "York",
];
const SECOND_TAIL: [&str; 16] = [
    "ley", "wood", "man", "ford", "ton", "well", "son", "by", "croft", "dale", "field", "gate", "mere", "stead",
    "wick", "worth",
];

/// Purposes of a league's random draws.
#[repr(u32)]
enum Purpose {
    Ratings,
    Schedule,
    Names,
}

/// What the place of a game changes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Site {
    /// Home advantage, in points; `None` for the parameter's.
    pub home_edge: Option<f32>,
    /// Points that both sides together score more than elsewhere.
    pub scoring: f32,
    /// Yards by which field goals are easier than their length.
    pub kick_yards: i32,
    /// Added to the log-odds of dropping back to pass.
    pub passing: f32,
}

impl Site {
    /// The same place for two visitors.
    pub(crate) fn neutral(self) -> Self {
        Self { home_edge: Some(0.0), ..self }
    }
}

/// A game of the schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// Its name, unique among games and teams.
    pub id: String,
    /// Week, from 0.
    pub week: usize,
    /// Teams, home and away.
    pub teams: [usize; 2],
    pub site: Site,
    /// Whether neither side is at home.
    pub neutral: bool,
}

/// A team at the start of the season.
#[derive(Debug, Clone)]
pub struct Team {
    /// Its name in questions, unique among games and teams.
    pub id: String,
    /// Place and nickname.
    pub name: String,
    /// Points by which its offence is better than average.
    pub offence: f32,
    /// Points by which its defence is better than average.
    pub defence: f32,
    /// Players by roster place.
    pub players: Vec<String>,
    pub(crate) roster: Roster,
    /// Where it is at home.
    pub site: Site,
    pub conference: usize,
    /// Index into [`League::divisions`].
    pub division: usize,
}

#[derive(Debug, Clone)]
pub struct League {
    pub teams: Vec<Team>,
    /// The games, week by week.
    pub fixtures: Vec<Fixture>,
    /// The teams of each division.
    pub divisions: Vec<Vec<usize>>,
    /// Weeks from the first to the last game.
    pub weeks: usize,
    /// Number of conferences, 1 or 2.
    pub conferences: usize,
    /// Teams of each conference in its play-offs.
    pub seeds: usize,
    /// Whether plays name kickers and returners.
    pub names_kickers: bool,
}

impl League {
    pub(crate) fn generate(settings: &Settings) -> Self {
        let stream =
            |purpose: Purpose| Stream::new(Seed(u64::from(settings.league)), World(u32::MAX), u32::MAX, purpose as u32);
        let mut ratings = stream(Purpose::Ratings);
        let mut names = stream(Purpose::Names);
        let team = |(i, name): (usize, &str)| Team {
            id: format!("team-{:02}", i + 1),
            name: name.to_owned(),
            offence: settings.rating_spread * ratings.normal(),
            defence: settings.rating_spread * ratings.normal(),
            players: (0..PLAYERS).map(|_| player_name(&mut names)).collect(),
            roster: Roster::usual(),
            site: Site::default(),
            conference: i / (TEAMS / 2),
            division: i / DIVISION,
        };
        Self {
            teams: NAMES.into_iter().enumerate().map(team).collect(),
            fixtures: schedule(&mut stream(Purpose::Schedule)),
            divisions: (0..DIVISIONS).map(|d| (d * DIVISION..(d + 1) * DIVISION).collect()).collect(),
            weeks: WEEKS,
            conferences: 2,
            seeds: SEEDS,
            names_kickers: false,
        }
    }

    pub(crate) fn same_division(&self, a: usize, b: usize) -> bool {
        self.teams[a].division == self.teams[b].division
    }

    pub(crate) fn same_conference(&self, a: usize, b: usize) -> bool {
        self.teams[a].conference == self.teams[b].conference
    }

    /// The divisions of a conference.
    pub(crate) fn divisions_of(&self, conference: usize) -> impl Iterator<Item = usize> {
        (0..self.divisions.len()).filter(move |d| self.teams[self.divisions[*d][0]].conference == conference)
    }

    /// The games of a team, by index, with the side that it plays on: 0 at home, 1 away.
    pub(crate) fn games_of(&self, team: usize) -> impl Iterator<Item = (usize, usize)> {
        let side = move |fixture: &Fixture| fixture.teams.iter().position(|t| *t == team);
        self.fixtures.iter().enumerate().filter_map(move |(game, fixture)| Some((game, side(fixture)?)))
    }
}

/// The name of a game that its schedule does not name; `place` counts from 0.
pub(crate) fn game_id(place: usize) -> String {
    format!("game-{:03}", place + 1)
}

fn player_name(random: &mut Stream) -> String {
    let mut one_of = |words: &[&'static str]| words[random.below(words.len() as u32) as usize];
    format!("{} {}{}", one_of(&FIRST), one_of(&SECOND_HEAD), one_of(&SECOND_TAIL))
}

/// Six weeks inside the divisions (each opponent home and away), then three times four weeks against another division
/// (two home, two away), in shuffled order. Each team plays once a week, nine times at home.
fn schedule(random: &mut Stream) -> Vec<Fixture> {
    let mut weeks: Vec<Vec<[usize; 2]>> = (0..DIVISION_WEEKS).map(division_week).collect();
    // Distance in divisions to the opponents: the same place in the other conference, the next division, the one after.
    for (block, partner) in [4, 1, 2].into_iter().enumerate() {
        weeks.extend((0..DIVISION).map(|round| rotation_week(partner, round, block)));
    }
    for last in (1..weeks.len()).rev() {
        weeks.swap(last, random.below(last as u32 + 1) as usize);
    }
    weeks
        .into_iter()
        .enumerate()
        .flat_map(|(week, games)| games.into_iter().map(move |teams| (week, teams)))
        .enumerate()
        .map(|(place, (week, teams))| Fixture {
            id: game_id(place),
            week,
            teams,
            site: Site::default(),
            neutral: false,
        })
        .collect()
}

fn division_week(round: usize) -> Vec<[usize; 2]> {
    const PAIRS: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [3, 1]], [[0, 3], [1, 2]]];
    (0..DIVISIONS)
        .flat_map(|division| {
            PAIRS[round % 3].map(|pair| {
                let [a, b] = pair.map(|p| division * DIVISION + p);
                if round < 3 { [a, b] } else { [b, a] }
            })
        })
        .collect()
}

fn rotation_week(partner: usize, round: usize, block: usize) -> Vec<[usize; 2]> {
    (0..DIVISIONS)
        .filter(|division| division & partner == 0)
        .flat_map(|division| {
            (0..DIVISION).map(move |i| {
                let a = division * DIVISION + i;
                let b = (division | partner) * DIVISION + (i + round) % DIVISION;
                if (round + block).is_multiple_of(2) { [a, b] } else { [b, a] }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Parameters;

    fn league(number: &str) -> League {
        let parameters = Parameters::parse(crate::PARAMETERS, [("league", number)]).unwrap();
        League::generate(&Settings::new(&parameters))
    }

    #[test]
    fn everyone_plays_once_a_week_and_nine_times_at_home() {
        let league = league("1");
        assert_eq!(league.fixtures.len(), GAMES);
        for (i, week) in league.fixtures.chunks(GAMES_A_WEEK).enumerate() {
            let mut teams: Vec<usize> = week.iter().flat_map(|f| f.teams).collect();
            teams.sort_unstable();
            assert_eq!(teams, (0..TEAMS).collect::<Vec<_>>(), "week {i}");
            assert!(week.iter().all(|f| f.week == i));
        }
        for team in 0..TEAMS {
            let home = league.fixtures.iter().filter(|f| f.teams[0] == team).count();
            assert_eq!(home, 9, "team {team}");
            let games = league.fixtures.iter().filter(|f| f.teams.contains(&team));
            let division = games.filter(|f| league.same_division(f.teams[0], f.teams[1])).count();
            assert_eq!(division, DIVISION_WEEKS, "team {team}");
        }
    }

    #[test]
    fn a_league_is_a_function_of_its_number() {
        let (a, b, other) = (league("5"), league("5"), league("6"));
        assert_eq!(a.fixtures, b.fixtures);
        assert_eq!(a.teams[3].players, b.teams[3].players);
        assert_ne!(a.fixtures, other.fixtures);
    }
}
