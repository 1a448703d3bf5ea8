//! Errors of an import, with the place of the value that caused them.

use std::fmt;

use ensemble::{EnsembleError, NameError};
use table::TableError;

use crate::options::Kind;

/// A value in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The name of the input, such as a file's path.
    pub input: String,
    /// The row in the input, from 1; a header does not count.
    pub row: u64,
    pub column: String,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}, column {:?}", self.input, self.row, self.column)
    }
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("ensemble {name:?} exists already")]
    Taken { name: String },
    /// An import registered the ensemble and stored no worlds.
    #[error("ensemble {name:?} has no worlds: its import was interrupted, or still runs")]
    Interrupted { name: String },
    #[error("cannot append to ensemble {name:?}: {reason}")]
    Append { name: String, reason: String },
    #[error("cannot read {input}: {reason}")]
    Unreadable { input: String, reason: String },
    #[error("{input}: {reason}")]
    Columns { input: String, reason: String },
    #[error("{at}: {reason}")]
    Value { at: Position, reason: String },
    #[error("{at}: world {world} of {lane} is repeated")]
    Repeated { at: Position, world: u32, lane: String },
    #[error("world {world} of {lane} is missing")]
    Missing { world: u32, lane: String },
    /// No row has the first world.
    #[error("the worlds begin at {first}, and must begin at {expected}")]
    Begins { first: u32, expected: u32 },
    /// Rows that name no worlds repeat the last stored ones.
    #[error(
        "the {worlds} worlds of the input equal the last {worlds} of ensemble {name:?}: they seem to be appended already"
    )]
    Again { name: String, worlds: usize },
    #[error("entity {entity:?} has no outcome {outcome:?}")]
    NoOutcome { entity: String, outcome: String },
    #[error("{outcome:?} of entity {entity:?} is {value} in world {world}, and cannot be stored as {kind}")]
    Kind { entity: String, outcome: String, world: u32, value: String, kind: Kind },
    #[error("outcome {outcome:?}: {reason}")]
    Outcome { outcome: String, reason: String },
    /// An entity or an outcome cannot have its name.
    #[error("{0}")]
    BadName(String),
    #[error("the input has no rows")]
    Empty,
    /// The input is not sorted by world, and too large to be sorted in memory.
    #[error(
        "the values do not fit in {} MB of memory, and the rows are not sorted by world ({at}): sort the input by world, \
         or allow more memory",
        limit >> 20
    )]
    Memory { limit: usize, at: Position },
    #[error("the import was stopped")]
    Stopped,
    /// The import failed, and the name of its ensemble could not be freed.
    #[error("{cause}\n(ensemble {name:?} stays registered without worlds, because removing it failed: {kept})")]
    Kept { cause: Box<ImportError>, name: String, kept: Box<EnsembleError> },
    #[error("cannot {doing} the temporary file of the import: {cause}")]
    Spill { doing: &'static str, cause: std::io::Error },
}

pub(crate) type Result<T> = std::result::Result<T, ImportError>;
