//! A clan's bingo event: teams of players work through a board of tiles, row by row, for a fixed time.
//!
//! Enters: an [`Event`](definition::Event) that a user wrote, [`PARAMETERS`], a seed, a range of worlds. Leaves, for
//! each team: points, tiles, furthest row, share of the win, the opening time of each row and the completion time of
//! each tile; every drop and completion is an event.
//!
//! A pure function of (event, parameters, seed, world): no I/O, no clock, and the same arithmetic on every machine.
//! Draws are keyed by world, team, player and purpose, with team and player by name. So a team has the same luck
//! whatever the other teams are and do, and strategies can be compared world by world.
//!
//! The rules are those of `BingoSim`, except where these would surprise a user; parameters restore its rules.

mod bits;
mod blocks;
mod board;
mod catalogue;
mod chances;
pub mod definition;
mod plan;
mod play;
mod standing;
mod strategy;
mod summary;
mod switches;
mod team_state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use model::{
    Catalogue, Condition, ConditionError, DefinitionSpec, EntityWorld, EventBlock, Identity, Model, ParameterError,
    Parameters, PartSpec, Plugin, Sink, Stop, SummaryTable, Values, Wanted,
};
use world::{Seed, WorldRange};

use blocks::{Completions, EventRows, OutcomeRows};
use board::Board;
use play::Play;
pub use switches::PARAMETERS;
use switches::Switches;
use team_state::TeamState;

/// The name of the model's definition.
const EVENT: &str = "event";

/// The model's entry point for a program.
pub static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| Plugin {
    name: "bingo".into(),
    summary: "teams working through a board of tiles, attempt by attempt".into(),
    parameters: PARAMETERS.into(),
    definition: Some(DefinitionSpec {
        name: EVENT.into(),
        doc: "activities, players, rows of tiles and teams, in TOML or JSON".into(),
        required: true,
        read: Arc::new(definition::read),
        advise: Arc::new(definition::advise_on_text),
        part: Some(PartSpec { lists: &definition::PART_LISTS, check: Arc::new(definition::check_part) }),
    }),
    origin: None,
    build: Arc::new(|parameters| Ok(Box::new(Bingo::new(parameters)?))),
});

/// The model with a fixed event and parameters.
pub struct Bingo {
    board: Arc<Board>,
    catalogue: Catalogue,
}

impl Bingo {
    /// # Errors
    /// If the event is missing or cannot be played.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let event = definition::parse(parameters.definition(EVENT)?)?;
        let board = Arc::new(Board::new(&event, Switches::new(parameters)));
        let catalogue = catalogue::catalogue(&event, &board);
        Ok(Self { board, catalogue })
    }
}

impl Model for Bingo {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let wants = |team: usize| wanted.entity.is_none_or(|entity| entity == team);
        let teams = 0..self.board.teams.len();
        let outcomes = self.catalogue.kinds[0].outcomes.len();
        let whole = catalogue::whole_win(teams.len());
        let mut play = Play::new(&self.board, |team| wanted.events && wants(team));
        let mut rows: Vec<OutcomeRows> =
            teams.clone().map(|team| OutcomeRows::new(outcomes, if wants(team) { range.count() } else { 0 })).collect();
        let mut events: Vec<EventRows> = teams.clone().map(|_| EventRows::default()).collect();
        for world in range.worlds() {
            play.world(seed, world);
            for ((team, state), share) in play.states.iter().enumerate().zip(play.win_shares(whole)) {
                if wants(team) {
                    rows[team].push(catalogue::row(&self.board, state, share));
                }
                if let Some(happenings) = &state.happenings {
                    events[team].push(happenings);
                }
            }
        }
        for team in teams.filter(|team| wants(*team)) {
            if wanted.events {
                sink.events(events[team].block(team, range))?;
            }
            sink.outcomes(rows[team].block(team, range))?;
        }
        Ok(())
    }

    /// Recounts all outcomes except the share of the win, which also depends on other teams, and attempts that won
    /// nothing.
    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let kind = &self.catalogue.kinds[0];
        let mut rows = OutcomeRows::new(kind.outcomes.len(), events.range.count());
        let mut state = TeamState::new(&self.board, events.entity, false);
        let mut completions = Completions::new(events, [0, 1, 6]);
        for (world, count) in events.range.worlds().zip(events.rows) {
            state.reset(Seed(0), world);
            completions.next(*count).for_each(|(second, tile)| state.complete(tile, second));
            rows.push(catalogue::row(&self.board, &state, 0));
        }
        let mut block = rows.block(events.entity, events.range);
        for (outcome, column) in kind.outcomes.iter().zip(&mut block.columns) {
            if ["win_share", "attempts"].contains(&outcome.name.as_str()) {
                *column = Values::I32(&[]);
            }
        }
        sink.outcomes(block)
    }

    fn condition(&self, catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
        standing::condition(&self.board, catalogue, text)
    }

    fn summary(&self, world: EntityWorld<'_>) -> Vec<SummaryTable> {
        summary::tables(&self.board, world)
    }

    fn identities(&self) -> Vec<Identity> {
        let conditions = catalogue::identities(&self.board).into_iter();
        conditions.map(|condition| Identity { kind: Some(0), condition }).collect()
    }
}
