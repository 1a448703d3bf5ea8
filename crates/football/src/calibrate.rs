//! Compares the model with the real game: each figure of 1,280 regular-season games of 2015 to 2019 beside the model's
//! figure and its standard error.
//!
//! The real league has strong and weak teams, so the model plays leagues of its own: whole seasons of 32 teams with
//! random ratings, a new league each season. The strength scale is measured separately, on pairs of teams a known
//! number of rating points apart.

/// Figures of like names, each with the real league's number: `figures!("points in quarter ", ""; "1" 8.9, "2" 13.9)`.
macro_rules! figures {
    ($before:literal, $after:literal; $($part:literal $spec:literal),+) => {
        [$((concat!($before, $part, $after), $spec)),+]
    };
}

mod count;
mod ledger;
mod rows;
mod situations;

use model::{OutOfRange, Parameters};
use world::{Seed, Stream, World};

use crate::box_score::{BoxScore, Stat, Window};
use crate::game::{Game, Meeting};
use crate::league::{GAMES, Site, TEAMS};
use crate::parameters::Settings;
use crate::roster::Roster;
use crate::season::Season;
use crate::{Football, GAME_PURPOSE, PARAMETERS};
use count::Count;
use ledger::Ledger;

/// A figure: its name and the real league's number.
type Figure = (&'static str, f64);

/// Minimum number of games for [`calibrate`]: two seasons, because a standard error needs two.
pub const CALIBRATION_GAMES_MIN: usize = 2 * GAMES;

/// Weeks of a real season; a team's season is measured over the same number.
const REAL_WEEKS: usize = 16;

/// One figure of the real league and of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Its group, such as `scoring`.
    pub group: &'static str,
    /// What was measured, with its unit.
    pub what: &'static str,
    /// The real league's figure.
    pub spec: f64,
    pub model: f64,
    /// Standard error of the model's figure (delete-one-season jackknife).
    pub error: f64,
    /// Largest allowed difference of the two; `None` if the figure is for information only.
    pub tolerance: Option<f64>,
}

impl Measured {
    /// Whether the figure is within its tolerance plus `errors` standard errors. A figure without a tolerance always
    /// holds.
    pub fn holds(&self, errors: f64) -> bool {
        self.tolerance.is_none_or(|t| (self.model - self.spec).abs() <= t + errors * self.error)
    }
}

/// Why the model could not be measured.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Measures every figure over at least `games` games of the model (whole seasons, at least [`CALIBRATION_GAMES_MIN`])
/// and as many games of teams of known strength. `parameters` apply, except the league's number.
///
/// # Errors
/// If a parameter is invalid, or a number of a game does not fit its column.
pub fn calibrate(parameters: &Parameters, games: usize, seed: Seed) -> Result<Vec<Measured>, Failure> {
    let seasons = games.max(CALIBRATION_GAMES_MIN).div_ceil(GAMES);
    let mut ledgers = Ledgers::default();
    let mut plays = Vec::new();
    for season in 0..seasons {
        for ledger in [&mut ledgers.games, &mut ledgers.seasons, &mut ledgers.strength] {
            ledger.start_block();
        }
        let number = season.to_string();
        let given: Vec<(&str, String)> = parameters.iter().map(|(name, value)| (name, value.to_string())).collect();
        let given = given.iter().map(|(name, value)| (*name, value.as_str()));
        let made = Parameters::parse(PARAMETERS, given.chain([("league", number.as_str())]));
        let model = made.and_then(|made| Football::new(&made))?;
        play_season(&model, seed, World(season as u32), &mut ledgers, &mut plays)?;
        play_known_strengths(&model, seed, World(season as u32), &mut ledgers.strength, &mut plays)?;
    }
    Ok([ledgers.games, ledgers.seasons, ledgers.strength].iter().flat_map(Ledger::measured).collect())
}

/// Figures by unit of observation: a game, a team's season, a game of teams of known strength.
#[derive(Default)]
struct Ledgers {
    games: Ledger,
    seasons: Ledger,
    strength: Ledger,
}

fn play_season(
    model: &Football,
    seed: Seed,
    world: World,
    ledgers: &mut Ledgers,
    plays: &mut Vec<crate::Play>,
) -> Result<(), OutOfRange> {
    let mut season = Season::new(TEAMS);
    let mut margins = [0.0; TEAMS];
    let mut wins = [0.0; TEAMS];
    for (game, fixture) in model.league.fixtures.iter().enumerate() {
        let score = model.play(seed, world, game, &mut season, plays)?;
        let count = Count { plays, score: &score };
        rows::game(&mut ledgers.games, count);
        situations::enter(&mut ledgers.games, count);
        if fixture.week < REAL_WEEKS {
            let margin = margin(&score);
            for (team, sign) in fixture.teams.into_iter().zip([1.0, -1.0]) {
                margins[team] += sign * margin / REAL_WEEKS as f64;
                wins[team] += 0.5 * (1.0 + (sign * margin).clamp(-1.0, 1.0));
            }
        }
    }
    for (margin, wins) in margins.into_iter().zip(wins) {
        rows::season(&mut ledgers.seasons, margin, wins);
    }
    Ok(())
}

/// Plays pairs of teams 3 and 6 rating points apart. The difference is in the offence, in the defence or in both.
fn play_known_strengths(
    model: &Football,
    seed: Seed,
    world: World,
    ledger: &mut Ledger,
    plays: &mut Vec<crate::Play>,
) -> Result<(), Failure> {
    const PAIRS: u32 = 4 * 72;
    const FIRST_ENTITY: u32 = 1 << 16;
    let settings = Settings { home_edge: 0.0, ..model.settings };
    let usual = Roster::usual();
    for pair in 0..PAIRS {
        let difference = [-6.0_f32, -3.0, 3.0, 6.0][pair as usize % 4];
        let edges = match pair / 4 % 3 {
            0 => [difference, 0.0],
            1 => [0.0, -difference],
            _ => [difference / 2.0, -difference / 2.0],
        };
        let random = Stream::new(seed, world, FIRST_ENTITY + pair, GAME_PURPOSE);
        let meeting = Meeting { edges, rosters: [&usual; 2], site: Site::default(), returns: None };
        Game::play(&model.tables, &settings, meeting, random, plays, |_| ())
            .map_err(|(column, value)| format!("{column} of pair {pair} is {value}, which it cannot hold"))?;
        rows::strength(ledger, f64::from(difference), margin(&BoxScore::of(plays)));
    }
    Ok(())
}

fn margin(score: &BoxScore) -> f64 {
    let [home, away] = [0, 1].map(|side| score.count(side, Stat::Points, Window::Game));
    f64::from(home - away)
}
