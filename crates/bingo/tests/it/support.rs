//! Plays events and gathers what comes of them.

use bingo::{Bingo, PARAMETERS, PLUGIN};
use model::{EventBlock, EventValues, Model as _, OutcomeBlock, Parameters, Sink, Stop, Values, Wanted};
use world::{Seed, World, WorldRange};

/// The event that the tests here are about.
pub(crate) const EVENT: &str = include_str!("event.toml");

pub(crate) fn model(text: &str, switches: &[&str]) -> Bingo {
    let definition = (PLUGIN.definition.as_ref().unwrap().read)(text).unwrap_or_else(|e| panic!("{e}"));
    let given = switches.iter().map(|name| (*name, "1"));
    Bingo::new(&Parameters::parse(PARAMETERS, given).unwrap().defining(definition)).unwrap()
}

/// Numbers of worlds: for each entity, for each of its outcomes, a value a world; and for each entity, for each world, its
/// events as rows of numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Worlds {
    pub(crate) outcomes: Vec<Vec<Vec<i32>>>,
    pub(crate) events: Vec<Vec<Vec<Vec<i32>>>>,
}

impl Sink for Worlds {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let columns = self.outcomes[block.entity].iter_mut().zip(&block.columns);
        for (all, column) in columns {
            let Values::I32(values) = column else { panic!("an outcome that is no I32") };
            all.extend_from_slice(values);
        }
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let cell = |column: &EventValues<'_>, row: usize| match column {
            EventValues::Label(v) => i32::from(v[row]),
            EventValues::I32(v) => v[row],
            _ => panic!("a column that is neither words nor I32"),
        };
        let mut at = 0;
        for rows in block.rows {
            let rows = at..at + *rows as usize;
            at = rows.end;
            self.events[block.entity].push(rows.map(|r| block.columns.iter().map(|c| cell(c, r)).collect()).collect());
        }
        Ok(())
    }
}

impl Worlds {
    pub(crate) fn of(model: &Bingo) -> Self {
        let catalogue = model.catalogue();
        let outcomes = catalogue.kinds[0].outcomes.len();
        Self {
            outcomes: vec![vec![Vec::new(); outcomes]; catalogue.entities.len()],
            events: vec![Vec::new(); catalogue.entities.len()],
        }
    }

    /// An outcome of an entity over all worlds.
    pub(crate) fn outcome(&self, model: &Bingo, entity: usize, name: &str) -> Vec<f64> {
        let place = model.catalogue().kinds[0].outcome(name).unwrap();
        self.outcomes[entity][place].iter().map(|v| f64::from(*v)).collect()
    }
}

pub(crate) fn range(first: u32, count: u32) -> WorldRange {
    WorldRange::new(World(first), count).unwrap()
}

/// Plays ranges one after the other.
pub(crate) fn play(model: &Bingo, seed: u64, ranges: &[WorldRange], wanted: Wanted) -> Worlds {
    let mut worlds = Worlds::of(model);
    ranges.iter().for_each(|range| model.simulate(Seed(seed), *range, wanted, &mut worlds).unwrap());
    worlds
}

/// Outcomes of the first worlds.
pub(crate) fn first(model: &Bingo, seed: u64, worlds: u32) -> Worlds {
    play(model, seed, &[range(0, worlds)], Wanted::default())
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}
