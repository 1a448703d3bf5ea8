//! A complete model in about a hundred lines: tables of players who roll dice.
//!
//! Every world has `tables` tables with two players who roll `rolls` dice each. A table is an entity. Its outcomes are
//! both totals and the winner, and each roll is an event.

use std::sync::{Arc, LazyLock};

use model::{
    Catalogue, Entity, EntityKind, EventBlock, EventColumn, EventKind, EventValues, Model, Outcome, OutcomeBlock,
    OutcomeKind, ParameterError, ParameterSpec, Parameters, Plugin, Sink, Stop, Values, Wanted,
};
use world::{Seed, Stream, World, WorldRange};

/// The model's inputs.
pub const PARAMETERS: &[ParameterSpec] = &[
    ParameterSpec::number("tables", "tables in a world", 3.0, 1.0, 1000.0),
    ParameterSpec::number("rolls", "dice that each player rolls", 10.0, 1.0, 1000.0),
];

/// Registers the model with a program.
pub static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| Plugin {
    name: "dice".into(),
    summary: "players rolling dice against each other".into(),
    parameters: PARAMETERS.into(),
    definition: None,
    origin: None,
    build: Arc::new(|parameters| Ok(Box::new(Dice::new(parameters)?))),
});

/// The model with fixed parameters.
pub struct Dice {
    rolls: u32,
    catalogue: Catalogue,
}

impl Dice {
    /// Any valid parameters work.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let table = |i| Entity { title: format!("table {i}"), ..Entity::new(format!("table-{i}"), 0) };
        let catalogue = Catalogue {
            kinds: vec![EntityKind {
                name: "table".into(),
                outcomes: vec![
                    Outcome::new("ann", "pips", OutcomeKind::Number),
                    Outcome::new("bob", "pips", OutcomeKind::Number),
                    Outcome::new("ann_wins", "0 or 1", OutcomeKind::Flag),
                ],
            }],
            entities: (1..=parameters.get("tables") as u32).map(table).collect(),
            events: vec![
                EventColumn::new("player", EventKind::Label(vec!["ann".into(), "bob".into()])),
                EventColumn::new("pips", EventKind::I8),
            ],
        };
        Ok(Self { rolls: parameters.get("rolls") as u32, catalogue })
    }

    /// The rolls at one table in one world, Ann's and Bob's alternating; they depend on the arguments alone.
    fn roll(&self, seed: Seed, world: World, table: usize) -> Vec<i8> {
        let mut dice = Stream::new(seed, world, table as u32, 0);
        (0..2 * self.rolls).map(|_| 1 + dice.below(6) as i8).collect()
    }
}

impl Model for Dice {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        for table in (0..self.catalogue.entities.len()).filter(|t| wanted.entity.is_none_or(|w| w == *t)) {
            let pips: Vec<i8> = range.worlds().flat_map(|world| self.roll(seed, world, table)).collect();
            let rows = vec![2 * self.rolls; range.count()];
            let players: Vec<u8> = (0..pips.len()).map(|i| (i % 2) as u8).collect();
            let events = EventBlock {
                entity: table,
                range,
                rows: &rows,
                columns: vec![EventValues::Label(&players), EventValues::I8(&pips)],
            };
            self.recount(&events, sink)?;
            if wanted.events {
                sink.events(events)?;
            }
        }
        Ok(())
    }

    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut totals = [vec![0i32; events.rows.len()], vec![0i32; events.rows.len()]];
        let (EventValues::Label(players), EventValues::I8(pips)) = (events.columns[0], events.columns[1]) else {
            return Ok(());
        };
        let mut row = 0;
        for (world, &count) in events.rows.iter().enumerate() {
            for _ in 0..count {
                totals[usize::from(players[row])][world] += i32::from(pips[row]);
                row += 1;
            }
        }
        let [ann, bob] = totals;
        let wins: Vec<i16> = ann.iter().zip(&bob).map(|(a, b)| i16::from(a > b)).collect();
        let columns = vec![Values::I32(&ann), Values::I32(&bob), Values::I16(&wins)];
        sink.outcomes(OutcomeBlock { entity: events.entity, range: events.range, columns })
    }
}

/// The code on the page about models compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/models.md")]
struct Page;
