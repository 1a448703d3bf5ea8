//! The contract that every model fulfils.
//!
//! A model plays worlds. Enters: [`Parameters`], checked against the model's own list of [`ParameterSpec`]s and with the
//! definition that it reads where it has one, a seed, and a range of worlds. Leaves: blocks of numbers, entity by entity, pushed into a [`Sink`] as soon as
//! every world of the range has finished with that entity.
//!
//! A model promises that
//! - its [`Catalogue`] names every entity, every outcome and every event column it will ever emit;
//! - a world's numbers depend on (parameters, seed, world) only: not on the range it was played in, the thread,
//!   the clock, or what else was asked for;
//! - one range yields exactly one [`OutcomeBlock`] an entity, dense: a value for every world, zeros included.
//!
//! Two hooks let it speak its own language: [`Model::condition`] selects worlds in its words, [`Model::summary`] shows one
//! world in its tables.
//!
//! A model never does I/O, keeps no state between calls, and knows nothing of storage.
//!
//! The crate `examples/dice` is a whole model in about a hundred lines.

mod block;
mod catalogue;
mod condition;
mod definition;
mod names;
mod out_of_range;
mod parameters;
mod summary;

pub use block::{EventBlock, EventValues, NULL_I8, NULL_I16, NULL_I32, NULL_LABEL, OutcomeBlock, Sink, Stop, Values};
pub use catalogue::{Catalogue, Entity, EntityKind, EventColumn, EventKind, Outcome, OutcomeKind};
pub use condition::{Condition, ConditionError, NEVER, Tolerance};
pub use definition::{DefinitionError, DefinitionSpec, Fault};
pub use names::UnknownName;
pub use out_of_range::OutOfRange;
pub use parameters::{ParameterError, ParameterSpec, Parameters};
pub use summary::{Cell, EntityWorld, SummaryTable};

use world::{Seed, WorldRange};

/// What a caller wants of a range of worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Emit event blocks as well as outcome blocks.
    pub events: bool,
    /// Emit the blocks of this entity (an index into [`Catalogue::entities`]) only. What other entities must be
    /// played for its sake is the model's business; the numbers are those of a full run.
    pub entity: Option<usize>,
}

/// Code that plays worlds, with its parameters fixed.
pub trait Model: Send + Sync {
    /// Everything this model will emit.
    fn catalogue(&self) -> &Catalogue;

    /// Plays the worlds of `range` and pushes what is `wanted` into `sink`.
    ///
    /// # Errors
    /// What `sink` answered, and [`OutOfRange`] where a value does not fit its column: a model that cut it to size would
    /// store another number. A model itself cannot fail once its parameters were accepted.
    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop>;

    /// Counts an entity's outcomes from its events alone and pushes them into `sink`, so that what was stored can be
    /// checked. Columns of outcomes that are not a function of the entity's events are left empty; where none is, nothing
    /// is pushed.
    ///
    /// # Errors
    /// Only what `sink` answered.
    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let _ = (events, sink);
        Ok(())
    }

    /// The condition on events that a player has a part in.
    ///
    /// # Errors
    /// If no player has the name.
    fn events_of_player(&self, player: &str) -> Result<String, UnknownName> {
        let column = self.catalogue().events.iter().find(|column| column.name == "player");
        let words = match column.map(|column| &column.kind) {
            Some(EventKind::Label(words)) => words.as_slice(),
            _ => &[],
        };
        if words.iter().any(|word| word == player) {
            return Ok(format!("player = '{}'", player.replace('\'', "''")));
        }
        Err(UnknownName::new("no player", player, words.iter().map(String::as_str)))
    }

    /// Reads a condition on the events of one entity in the model's own words; `None` where `text` is none of its words.
    /// `catalogue` is that of the stored ensemble, which an older version of the model may have written.
    ///
    /// # Errors
    /// Where the text begins in the model's words and does not go on in them, and where the events lack a column.
    fn condition(&self, catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
        let _ = (catalogue, text);
        None
    }

    /// One world of an entity as tables for people: what a reader of results looks at first.
    fn summary(&self, world: EntityWorld<'_>) -> Vec<SummaryTable> {
        vec![SummaryTable::of_outcomes(world)]
    }

    /// Conditions that hold in every world, for `verify`: the parts of an entity's outcomes sum to the whole, and the
    /// like.
    fn identities(&self) -> Vec<Identity> {
        Vec::new()
    }
}

/// A condition over outcomes that holds in every world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The kind of entity (an index into [`Catalogue::kinds`]) whose outcomes it names; `None` where it names entities
    /// itself, as `entity:outcome`.
    pub kind: Option<usize>,
    /// The condition, as a user would type it.
    pub condition: String,
}

/// A model as a program finds it by name, before its parameters are known.
#[derive(Clone, Copy)]
pub struct Plugin {
    /// The name on the command line and in the tables: lower case, no spaces.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// The parameters, with defaults and bounds.
    pub parameters: &'static [ParameterSpec],
    /// The definition without which it plays nothing, where it needs one.
    pub definition: Option<DefinitionSpec>,
    /// Makes the model.
    pub build: fn(&Parameters) -> Result<Box<dyn Model>, ParameterError>,
}
