//! Programs that keep the protocol, and programs that break it in every way: real processes.

mod arrow;
mod ends;
mod events;
mod lines;

use std::path::Path;
use std::time::Duration;

use model::{EventBlock, Model, OutcomeBlock, Parameters, Sink, Stop, Values, Wanted};
use tempfile::TempDir;
use world::{Seed, World, WorldRange};

use crate::{Limits, plugin};

/// A description with two entities of one kind.
const DESCRIPTION: &str = r#"{"name": "pairs", "kinds": {"k": {"x": "number", "y": "flag"}}, "entities": ["a", "b"]}"#;

/// A shell script as a program, in a folder of its own.
struct Script {
    folder: TempDir,
    limit: Duration,
}

impl Script {
    /// A program that describes itself, and then answers each request with the output of `answer`.
    fn answering(answer: &str) -> Self {
        Self::new(&format!("echo '{DESCRIPTION}'; while read -r request; do {answer}\ndone"))
    }

    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sim.sh"), source).unwrap();
        Self { folder, limit: Duration::from_mins(1) }
    }

    fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn model(&self) -> Result<Box<dyn Model>, String> {
        let command = format!("sh '{}' '{}'", self.path().join("sim.sh").display(), self.path().display());
        let plugin = plugin(&command, Limits { range: self.limit }).map_err(|error| error.to_string())?;
        let parameters = Parameters::parse(&plugin.parameters, []).unwrap();
        (plugin.build)(&parameters).map_err(|error| error.to_string())
    }

    fn play(&self, first: u32, count: u32) -> Result<Played, String> {
        play(&*self.model()?, first, count)
    }

    /// The reason why two worlds cannot be played.
    fn failure(&self) -> String {
        self.play(0, 2).unwrap_err()
    }
}

/// All outcomes by entity, as numbers.
type Played = Vec<Vec<Vec<f64>>>;

/// Keeps what a model emits: outcomes, and by entity the events of each world.
#[derive(Default)]
struct Keep(Played, Vec<(usize, Vec<Happened>)>);

/// The events of a world, as the values of their columns.
type Happened = Vec<Vec<Option<f64>>>;

impl Sink for Keep {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        assert_eq!(block.entity, self.0.len(), "entities come in order");
        let column = |values: &Values<'_>| -> Vec<f64> {
            match *values {
                Values::I16(values) => values.iter().map(|value| f64::from(*value)).collect(),
                Values::I32(values) => values.iter().map(|value| f64::from(*value)).collect(),
                Values::F64(values) => values.to_vec(),
            }
        };
        self.0.push(block.columns.iter().map(column).collect());
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        assert_eq!(block.entity, self.0.len(), "events come before the outcomes of their entity");
        let row = |row: usize| block.columns.iter().map(|column| column.value(row)).collect();
        let worlds = block.worlds().map(|(_, rows)| rows.map(row).collect()).collect();
        self.1.push((block.entity, worlds));
        Ok(())
    }
}

fn play(model: &dyn Model, first: u32, count: u32) -> Result<Played, String> {
    let mut kept = Keep::default();
    let range = WorldRange::new(World(first), count).unwrap();
    let played = model.simulate(Seed(1), range, Wanted::default(), &mut kept);
    played.map(|()| kept.0).map_err(|stop| stop.reason("pairs"))
}
