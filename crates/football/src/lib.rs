//! American football, snap by snap: seasons of 32 generated teams.
//!
//! Enters: [`PARAMETERS`], a seed, a range of worlds. Leaves: for each of the season's 288 games, its plays and the 850
//! outcomes counted from them; for each of the 32 teams, the 54 outcomes of its season.
//!
//! A pure function of (parameters, seed, world): no I/O, no clock, and the same arithmetic on every machine. Ratings
//! carry from week to week inside a world, but nothing carries between worlds. Rates and distributions come from 1,280
//! regular-season games of 2015 to 2019; teams and players are invented.

mod blocks;
mod box_score;
mod calibrate;
mod game;
mod identities;
mod league;
mod moment;
mod outcomes;
mod parameters;
mod play;
mod quantiles;
mod season;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use calibrate::{CALIBRATION_GAMES_MIN, Measured, calibrate};
pub use league::{Fixture, GAMES, League, TEAMS, Team, WEEKS};
pub use outcomes::GAME_OUTCOMES;
pub use parameters::PARAMETERS;
pub use play::{Foul, Kind, Outcome, Play, ROSTER};
pub use season::SEASON_OUTCOMES;

use std::sync::{Arc, LazyLock};

use model::{
    Catalogue, Condition, ConditionError, Entity, EntityKind, EntityWorld, EventBlock, Identity, Model, OutOfRange,
    ParameterError, Parameters, Plugin, Sink, Stop, SummaryTable, UnknownName, Wanted,
};
use world::{Seed, Stream, World, WorldRange};

use blocks::{OutcomeColumns, PlayColumns, plays_of};
use box_score::BoxScore;
use game::Game;
use outcomes::Fill;
use parameters::Settings;
use season::{Rules, Season};
use tables::Tables;

/// The model's entry point for a program.
pub static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| Plugin {
    name: "football".into(),
    summary: "seasons of a 32-team American football league, play by play".into(),
    parameters: PARAMETERS.into(),
    definition: None,
    origin: None,
    build: Arc::new(|parameters| Ok(Box::new(Football::new(parameters)?))),
});

const GAME_KIND: usize = 0;
const TEAM_KIND: usize = 1;
const GAME_PURPOSE: u32 = 0;
const SEASON_PURPOSE: u32 = 1;

/// The model with fixed parameters.
pub struct Football {
    settings: Settings,
    league: League,
    tables: Tables,
    rules: Rules,
    catalogue: Catalogue,
}

impl Football {
    /// Generates the league and its tables. Any parameters within their bounds work.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let settings = Settings::new(parameters);
        let league = League::generate(&settings);
        let catalogue = catalogue(&league);
        Ok(Self { settings, tables: Tables::new(), rules: Rules::new(&settings), league, catalogue })
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
        let fixture = self.league.fixtures[game];
        let edges = season.edges(&self.league, &self.settings, fixture.teams);
        let random = Stream::new(seed, world, game as u32, GAME_PURPOSE);
        Game::play(&self.tables, &self.settings, edges, random, plays).map_err(|(column, value)| OutOfRange {
            entity: self.catalogue.entities[game].name.clone(),
            column: column.to_owned(),
            world,
            value: i64::from(value),
            min: i64::from(i8::MIN),
            max: i64::from(i8::MAX),
        })?;
        let score = BoxScore::of(plays);
        season.add(&self.league, &self.rules, fixture.week, fixture.teams, &score);
        Ok(score)
    }

    /// The games that an entity needs: its own, and those that shape its initial ratings.
    fn needed(&self, entity: Option<usize>) -> Vec<bool> {
        let Some(entity) = entity.filter(|&e| e < GAMES) else {
            return vec![true; GAMES];
        };
        let mut teams = [false; TEAMS];
        let mut needed = vec![false; GAMES];
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
            let random = Stream::new(seed, world, GAMES as u32, SEASON_PURPOSE);
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
        let mut seasons = vec![Season::new(); range.count()];
        let mut outcomes = OutcomeColumns::new(GAME_OUTCOMES, range.count());
        let mut events = PlayColumns::new();
        let mut plays = Vec::new();
        for game in (0..GAMES).filter(|&g| needed[g]) {
            for (world, season) in range.worlds().zip(&mut seasons) {
                let score = self.play(seed, world, game, season, &mut plays)?;
                if wants(game) {
                    outcomes::emit(&score, &mut Fill(outcomes.row().iter_mut()));
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
        let mut outcomes = OutcomeColumns::new(SEASON_OUTCOMES, range.count());
        for team in (0..TEAMS).filter(|t| wants(GAMES + t)) {
            for season in &seasons {
                season.teams[team].emit(&mut Fill(outcomes.row().iter_mut()));
            }
            sink.outcomes(outcomes.block(GAMES + team, range))?;
        }
        Ok(())
    }

    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut outcomes = OutcomeColumns::new(GAME_OUTCOMES, events.range.count());
        let mut plays = Vec::new();
        let mut first = 0;
        for &rows in events.rows {
            plays_of(events, first, rows as usize, &mut plays);
            first += rows as usize;
            outcomes::emit(&BoxScore::of(&plays), &mut Fill(outcomes.row().iter_mut()));
        }
        sink.outcomes(outcomes.block(events.entity, events.range))
    }

    fn events_of_player(&self, player: &str) -> Result<String, UnknownName> {
        play::condition_of(player)
    }

    fn condition(&self, catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
        moment::condition(catalogue, text)
    }

    fn summary(&self, world: EntityWorld<'_>) -> Vec<SummaryTable> {
        vec![summary::box_score(world)]
    }

    fn identities(&self) -> Vec<Identity> {
        identities::identities(&self.league)
    }
}

fn catalogue(league: &League) -> Catalogue {
    let games = league.fixtures.iter().enumerate().map(|(i, fixture)| {
        let [home, away] = fixture.teams.map(|t| league.teams[t].name.as_str());
        Entity {
            name: format!("game-{:03}", i + 1),
            kind: GAME_KIND,
            title: format!("week {}: {away} at {home}", fixture.week + 1),
            members: fixture.teams.map(team_name).to_vec(),
        }
    });
    let teams = league.teams.iter().enumerate().map(|(i, team)| Entity {
        name: team_name(i),
        kind: TEAM_KIND,
        title: team.name.clone(),
        members: team.players.clone(),
    });
    Catalogue {
        kinds: vec![
            EntityKind { name: "game".to_owned(), outcomes: outcomes::game_outcomes() },
            EntityKind { name: "team_season".to_owned(), outcomes: season::season_outcomes() },
        ],
        entities: games.chain(teams).collect(),
        events: play::event_columns(),
    }
}

fn team_name(team: usize) -> String {
    format!("team-{:02}", team + 1)
}
