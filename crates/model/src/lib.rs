//! The contract of every model.
//!
//! A model plays worlds. Enters: [`Parameters`], checked against the model's [`ParameterSpec`]s and including its
//! definition if it needs one; a seed; a range of worlds. Leaves: blocks of numbers, pushed into a [`Sink`] entity by
//! entity, each once all worlds of the range have finished with the entity.
//!
//! Guarantees of a model
//! - Its [`Catalogue`] names every entity, outcome and event column that it will ever emit.
//! - A world's numbers depend on (parameters, seed, world) alone: not on the range, the thread, the clock or the other
//!   requested outputs.
//! - A range yields exactly one dense [`OutcomeBlock`] per entity: a value for every world, zeros included.
//!
//! [`Models`] holds the models of a program by name.
//!
//! Two hooks use the model's own language: [`Model::condition`] selects worlds, and [`Model::summary`] shows one world
//! as tables.
//!
//! A model never does I/O, keeps no state between calls, and knows nothing about storage.
//!
//! The crate `examples/dice` is a complete model in about a hundred lines.

mod block;
mod catalogue;
mod condition;
mod definition;
mod describe;
mod document;
mod event_rows;
mod expectation;
mod failure;
mod members;
mod names;
mod numbers;
mod out_of_range;
mod parameter_spec;
mod parameters;
mod registry;
mod summary;

pub use block::{EventBlock, EventValues, NULL_I8, NULL_I16, NULL_I32, NULL_LABEL, OutcomeBlock, Sink, Stop, Values};
pub use catalogue::{Catalogue, Entity, EntityKind, EventColumn, EventKind, Outcome, OutcomeKind, fault_of_name};
pub use condition::{Condition, ConditionError, NEVER, Tolerance};
pub use definition::{AdviseDefinition, CheckPart, DefinitionError, DefinitionSpec, Fault, PartSpec, ReadDefinition};
pub use document::read_document;
pub use event_rows::{EventRows, OwnedEventValues};
pub use expectation::{Expectation, Formula, Operand};
pub use failure::Failure;
pub use members::{MemberNames, MembersOf};
pub use names::UnknownName;
pub use numbers::{Misfit, Number, Whole, inexact};
pub use out_of_range::OutOfRange;
pub use parameter_spec::{ParameterError, ParameterItem, ParameterSpec, ParameterValue};
pub use parameters::Parameters;
pub use registry::{FindModel, Models, ModelsError, NO_MODEL};
pub use summary::{Cell, EntityWorld, SummaryTable};

use std::borrow::Cow;
use std::sync::Arc;

use world::{Seed, WorldRange};

/// The blocks to emit for a range of worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Emit event blocks as well as outcome blocks.
    pub events: bool,
    /// Emit only the blocks of this entity (an index into [`Catalogue::entities`]). The model also plays the entities
    /// on which it depends; the numbers equal those of a full run.
    pub entity: Option<usize>,
}

/// A model with fixed parameters.
pub trait Model: Send + Sync {
    /// All entities, outcomes and event columns of this model.
    fn catalogue(&self) -> &Catalogue;

    /// Plays the worlds of `range` and pushes the `wanted` blocks into `sink`.
    ///
    /// # Errors
    /// Errors of `sink`; [`OutOfRange`] if a value does not fit its column, because a truncated value would be wrong; a
    /// [`Failure`] if the model cannot play a world. Nothing of a failed range is stored.
    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop>;

    /// Whether other threads may play a range, such as those of a library, while the thread that called
    /// [`simulate`](Self::simulate) waits for them. A fleet counts their processor time as progress of the range.
    fn has_helpers(&self) -> bool {
        false
    }

    /// Counts an entity's outcomes from its events alone and pushes them into `sink`, to check stored outcomes. Leaves
    /// empty the columns of outcomes that depend on more than the entity's events; pushes nothing if all do.
    ///
    /// # Errors
    /// Errors of `sink`, and a [`Failure`] if the model cannot count these events.
    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let _ = (events, sink);
        Ok(())
    }

    /// The condition for events of an entity in which a player takes part.
    ///
    /// # Errors
    /// If no player has the name.
    fn events_of_player(&self, entity: usize, player: &str) -> Result<String, UnknownName> {
        let _ = entity;
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

    /// Parses a condition on the events of one entity in the model's own language; `None` if `text` does not start like
    /// one. `catalogue` is the stored ensemble's, which an older version of the model may have written.
    ///
    /// # Errors
    /// If the text starts like such a condition but is invalid, or the events lack a column.
    fn condition(&self, catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
        let _ = (catalogue, text);
        None
    }

    /// One world of an entity as tables: the first view of a result.
    fn summary(&self, world: EntityWorld<'_>) -> Vec<SummaryTable> {
        vec![SummaryTable::of_outcomes(world)]
    }

    /// Conditions that hold in every world, for `verify`; for example, the parts of an entity's outcomes sum to the
    /// whole.
    fn identities(&self) -> Vec<Identity> {
        Vec::new()
    }
}

/// A condition over outcomes that holds in every world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The kind of entity (an index into [`Catalogue::kinds`]) whose outcomes the condition names; `None` if the
    /// condition names entities, as `entity:outcome`.
    pub kind: Option<usize>,
    /// The condition, in the form that a user types.
    pub condition: String,
}

/// Builds a model with fixed parameters.
pub type BuildModel = Arc<dyn Fn(&Parameters) -> Result<Box<dyn Model>, ParameterError> + Send + Sync>;

/// A model's entry point, found by name before its parameters are known. A program may describe one at run time.
#[derive(Clone)]
pub struct Plugin {
    /// The name on the command line and in tables: no spaces.
    pub name: String,
    /// A description in one sentence.
    pub summary: String,
    /// The parameters, with defaults and bounds.
    pub parameters: Cow<'static, [ParameterSpec]>,
    /// The definition that it plays; `None` if the model takes none.
    pub definition: Option<DefinitionSpec>,
    /// Where a model that is described at run time is from, as a JSON object: the definition of its parameters. Kept
    /// with its ensembles, so that `build` can refuse to continue those of another source.
    pub origin: Option<String>,
    pub build: BuildModel,
}

impl Plugin {
    /// The name of an ensemble that is given none: the model's, without the place that it was found in.
    pub fn ensemble_name(&self) -> String {
        self.name.rsplit(':').next().unwrap_or_default().to_lowercase()
    }
}
