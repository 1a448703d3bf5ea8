//! American football, snap by snap: seasons of 32 generated teams, or of a league that a user wrote.
//!
//! Enters: [`PARAMETERS`], a league file or none, a seed, a range of worlds. Leaves: for each game of the season (288 of
//! the generated league), its plays and the 850 outcomes counted from them; for each team, the 54 outcomes of its season.
//!
//! A pure function of (parameters, seed, world): no I/O, no clock, and the same arithmetic on every machine. Ratings
//! carry from week to week inside a world, but nothing carries between worlds. Rates and distributions come from 1,280
//! regular-season games of 2015 to 2019; generated teams and players are invented.

mod blocks;
mod box_score;
mod calibrate;
mod expected;
mod game;
mod identities;
mod league;
pub mod league_file;
mod moment;
mod outcomes;
mod parameters;
mod play;
mod quantiles;
mod roster;
mod season;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use calibrate::{CALIBRATION_GAMES_MIN, Measured, calibrate};
pub use league::{Fixture, GAMES, League, Site, TEAMS, Team, WEEKS};
pub use outcomes::GAME_OUTCOMES;
pub use parameters::PARAMETERS;
pub use play::{Foul, Kind, Outcome, Play};
pub use roster::ROSTER;
pub use season::SEASON_OUTCOMES;

use std::sync::{Arc, LazyLock};

use model::{
    Catalogue, Condition, ConditionError, DefinitionSpec, Entity, EntityKind, EntityWorld, EventBlock, Identity, Model,
    OutOfRange, ParameterError, Parameters, Plugin, Sink, Stop, SummaryTable, UnknownName, Wanted,
};
use world::{Seed, Stream, World, WorldRange};

use blocks::{OutcomeColumns, PlayColumns, plays_of};
use box_score::BoxScore;
use game::{Game, Meeting};
use outcomes::Fill;
use parameters::Settings;
use play::{BASIC_COLUMNS, COLUMNS, Column};
use season::{Rules, Season};
use tables::Tables;

/// The model's entry point for a program.
pub static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| Plugin {
    name: "football".into(),
    summary: "seasons of a 32-team American football league, play by play".into(),
    parameters: PARAMETERS.into(),
    definition: Some(DefinitionSpec {
        name: LEAGUE.into(),
        doc: "teams, schedule, players and venues, in TOML or JSON".into(),
        required: false,
        read: Arc::new(league_file::read),
        advise: Arc::new(|_| Vec::new()),
        part: None,
    }),
    origin: None,
    build: Arc::new(|parameters| Ok(Box::new(Football::new(parameters)?))),
});

/// The name of the model's definition.
const LEAGUE: &str = "league";

const GAME_KIND: usize = 0;
const TEAM_KIND: usize = 1;
const GAME_PURPOSE: u32 = 0;
const SEASON_PURPOSE: u32 = 1;
const RETURN_PURPOSE: u32 = 2;

/// The model with fixed parameters.
pub struct Football {
    settings: Settings,
    league: League,
    tables: Tables,
    rules: Rules,
    columns: &'static [Column],
    catalogue: Catalogue,
}

impl Football {
    /// Makes the league, generated or defined by a file, and its tables. Any parameters within their bounds work.
    ///
    /// # Errors
    /// If the definition is invalid, or a parameter asks for another league beside it.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let settings = Settings::new(parameters);
        let league = match parameters.given_definition() {
            None => League::generate(&settings),
            Some(text) => {
                parameters::generate_nothing(parameters)?;
                league_file::parse(text)?.league()
            }
        };
        let columns = if league.names_kickers { COLUMNS } else { &COLUMNS[..BASIC_COLUMNS] };
        let catalogue = catalogue(&league, columns);
        Ok(Self { settings, tables: Tables::new(), rules: Rules::new(&settings, &league), league, columns, catalogue })
    }

    pub fn league(&self) -> &League {
        &self.league
    }

    /// Plays one game of a world into `plays` and adds it to the world's season.
    fn play(
        &self,
        seed: Seed,
        world: World,
        game: usize,
        season: &mut Season,
        plays: &mut Vec<Play>,
    ) -> Result<BoxScore, OutOfRange> {
        let fixture = &self.league.fixtures[game];
        let draws = |purpose| Stream::new(seed, world, game as u32, purpose);
        let meeting = Meeting {
            edges: season.edges(&self.league, &self.settings, fixture),
            rosters: fixture.teams.map(|team| &self.league.teams[team].roster),
            site: fixture.site,
            returns: self.league.names_kickers.then(|| draws(RETURN_PURPOSE)),
        };
        let mut score = BoxScore::default();
        // The processor predicts how to count a play from how it came about.
        let count = |play: &Play| score.add(play);
        Game::play(&self.tables, &self.settings, meeting, draws(GAME_PURPOSE), plays, count).map_err(
            |(column, value)| OutOfRange {
                entity: self.catalogue.entities[game].name.clone(),
                column: column.to_owned(),
                world,
                value: i64::from(value),
                min: i64::from(i8::MIN),
                max: i64::from(i8::MAX),
            },
        )?;
        score.finish();
        season.add(&self.league, &self.rules, fixture, &score);
        Ok(score)
    }

    fn games(&self) -> usize {
        self.league.fixtures.len()
    }

    /// The games that an entity needs: its own, and those that shape its initial ratings.
    fn needed(&self, entity: Option<usize>) -> Vec<bool> {
        let games = self.games();
        let Some(entity) = entity.filter(|&e| e < games) else {
            return vec![true; games];
        };
        let mut teams = vec![false; self.league.teams.len()];
        let mut needed = vec![false; games];
        for game in (0..=entity).rev() {
            let [home, away] = self.league.fixtures[game].teams;
            if game == entity
                || (teams[home] || teams[away]) && self.league.fixtures[game].week < self.league.fixtures[entity].week
            {
                needed[game] = true;
                teams[home] = true;
                teams[away] = true;
            }
        }
        needed
    }

    fn finish_season(&self, seed: Seed, range: WorldRange, seasons: &mut [Season]) {
        for (world, season) in range.worlds().zip(seasons) {
            let random = Stream::new(seed, world, self.games() as u32, SEASON_PURPOSE);
            season.finish(&self.league, &self.rules, random, &self.tables.normal);
        }
    }
}

impl Model for Football {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let wants = |entity: usize| wanted.entity.is_none_or(|e| e == entity);
        let needed = self.needed(wanted.entity);
        let games = self.games();
        let mut seasons = vec![Season::new(self.league.teams.len()); range.count()];
        let mut outcomes = OutcomeColumns::<GAME_OUTCOMES>::new(range.count());
        let mut events = PlayColumns::new(self.columns);
        let mut plays = Vec::new();
        for game in (0..games).filter(|&g| needed[g]) {
            for (world, season) in range.worlds().zip(&mut seasons) {
                let score = self.play(seed, world, game, season, &mut plays)?;
                if wants(game) {
                    outcomes::emit(&score, &mut Fill::new(outcomes.row()));
                    if wanted.events {
                        events.push(&plays);
                    }
                }
            }
            if wants(game) {
                if wanted.events {
                    sink.events(events.block(game, range))?;
                    events.clear();
                }
                sink.outcomes(outcomes.block(game, range))?;
            }
            if wanted.entity == Some(game) {
                return Ok(());
            }
        }
        drop((outcomes, events));
        self.finish_season(seed, range, &mut seasons);
        let mut outcomes = OutcomeColumns::<SEASON_OUTCOMES>::new(range.count());
        for team in (0..self.league.teams.len()).filter(|t| wants(games + t)) {
            for season in &seasons {
                season.teams[team].emit(&self.league, team, &mut Fill::new(outcomes.row()));
            }
            sink.outcomes(outcomes.block(games + team, range))?;
        }
        Ok(())
    }

    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut outcomes = OutcomeColumns::<GAME_OUTCOMES>::new(events.range.count());
        let mut plays = Vec::new();
        let mut first = 0;
        for &rows in events.rows {
            plays_of(events, first, rows as usize, &mut plays);
            first += rows as usize;
            outcomes::emit(&BoxScore::of(&plays), &mut Fill::new(outcomes.row()));
        }
        sink.outcomes(outcomes.block(events.entity, events.range))
    }

    fn events_of_player(&self, entity: usize, player: &str) -> Result<String, UnknownName> {
        let teams =
            self.league.fixtures.get(entity).map(|fixture| fixture.teams.map(|team| &*self.league.teams[team].players));
        play::condition_of(player, teams.unwrap_or_default(), self.columns)
    }

    fn condition(&self, catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
        moment::condition(catalogue, text)
    }

    fn summary(&self, world: EntityWorld<'_>) -> Vec<SummaryTable> {
        summary::tables(world)
    }

    fn identities(&self) -> Vec<Identity> {
        identities::identities(&self.league)
    }
}

fn catalogue(league: &League, columns: &[Column]) -> Catalogue {
    let games = league.fixtures.iter().map(|fixture| {
        let [home, away] = fixture.teams.map(|t| league.teams[t].name.as_str());
        let at = if fixture.neutral { "against" } else { "at" };
        Entity {
            name: fixture.id.clone(),
            kind: GAME_KIND,
            title: format!("week {}: {away} {at} {home}", fixture.week + 1),
            members: fixture.teams.map(|t| league.teams[t].id.clone()).to_vec(),
        }
    });
    let teams = league.teams.iter().map(|team| Entity {
        name: team.id.clone(),
        kind: TEAM_KIND,
        title: team.name.clone(),
        members: team.players.clone(),
    });
    Catalogue {
        kinds: vec![
            EntityKind { name: "game".to_owned(), outcomes: outcomes::game_outcomes() },
            EntityKind { name: "team_season".to_owned(), outcomes: season::season_outcomes(league) },
        ],
        entities: games.chain(teams).collect(),
        events: expected::with_expectations(play::event_columns(columns)),
    }
}
