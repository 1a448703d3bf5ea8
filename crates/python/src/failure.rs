//! Errors as Python's exceptions. `manyworlds/errors.py` defines their classes.

use std::fmt::Display;

use ::ensemble::{BetFileError, EnsembleError, QuestionError, TooFew};
use ask::AskError;
use disk::PlaceError;
use import::ImportError;
use ingest::IngestError;
use model::ParameterError;
use pyo3::prelude::*;
use run::RunError;
use snapshot::SnapshotError;
use sql::QueryError;
use table::{ErrorKind, TableError};

/// An exception to raise.
#[derive(Debug)]
pub(crate) struct Failure {
    class: &'static str,
    message: String,
    /// Numbers for programs, as attributes of the exception.
    fields: Vec<(&'static str, u64)>,
    /// An exception that Python raised, instead of all else.
    raised: Option<Box<PyErr>>,
}

impl Failure {
    fn new(class: &'static str, error: impl Display) -> Self {
        Self { class, message: error.to_string(), fields: Vec::new(), raised: None }
    }

    /// The caller's input is invalid.
    pub(crate) fn invalid(error: impl Display) -> Self {
        Self::new("InvalidError", error)
    }

    /// A name is unknown.
    pub(crate) fn unknown(error: impl Display) -> Self {
        Self::new("UnknownNameError", error)
    }

    /// A model is missing or failed.
    pub(crate) fn model(error: impl Display) -> Self {
        Self::new("ModelError", error)
    }

    /// A disk, a bucket or the system fails.
    pub(crate) fn storage(error: impl Display) -> Self {
        Self::new("StorageError", error)
    }

    /// The process was forked.
    pub(crate) fn forked() -> Self {
        let what = "this process was forked after manyworlds had started threads, which a fork does not copy";
        Self::new("ForkedError", format!("{what}: start processes with multiprocessing's \"spawn\" or \"forkserver\""))
    }
}

impl From<Failure> for PyErr {
    fn from(Failure { class, message, fields, raised }: Failure) -> Self {
        if let Some(raised) = raised {
            return *raised;
        }
        Python::attach(|py| {
            let raised = || {
                let raised = py.import("manyworlds.errors")?.getattr(class)?.call1((message,))?;
                for (name, value) in fields {
                    raised.setattr(name, value)?;
                }
                Ok(Self::from_value(raised))
            };
            raised().unwrap_or_else(|error| error)
        })
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        match &error {
            PlaceError::Scheme(url) if url.starts_with("http") => {
                Self::invalid(format!("{error}; for a server call manyworlds.connect"))
            }
            PlaceError::Scheme(_) | PlaceError::Address(_) | PlaceError::File(_) => Self::invalid(error),
            PlaceError::NoMirror | PlaceError::Bucket(_) => Self::storage(error),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let class = match error.kind() {
            ErrorKind::Request => "InvalidError",
            ErrorKind::Damaged => "DamagedError",
            ErrorKind::Conflict | ErrorKind::Environment => "StorageError",
        };
        Self::new(class, error)
    }
}

impl From<&EnsembleError> for Failure {
    fn from(error: &EnsembleError) -> Self {
        let class = match error {
            EnsembleError::Table(error) => match error.kind() {
                ErrorKind::Damaged => "DamagedError",
                _ => "StorageError",
            },
            EnsembleError::Unknown { .. }
            | EnsembleError::Version { .. }
            | EnsembleError::World { .. }
            | EnsembleError::NoEvents { .. } => "UnknownNameError",
            EnsembleError::Taken { .. } | EnsembleError::Played { .. } => "ExistsError",
            EnsembleError::Memory { .. } => "LimitError",
            EnsembleError::Description { .. } | EnsembleError::Incomplete { .. } | EnsembleError::Extension { .. } => {
                "InvalidError"
            }
            EnsembleError::Replay { .. }
            | EnsembleError::Catalogue { .. }
            | EnsembleError::NotCompact { .. }
            | EnsembleError::NoModel { .. } => "ModelError",
            EnsembleError::Damaged { .. } | EnsembleError::Newer { .. } => "DamagedError",
        };
        Self::new(class, error)
    }
}

impl From<EnsembleError> for Failure {
    fn from(error: EnsembleError) -> Self {
        Self::from(&error)
    }
}

impl From<QuestionError> for Failure {
    fn from(error: QuestionError) -> Self {
        let class = match error {
            QuestionError::Ensemble(error) => return error.into(),
            QuestionError::TooFew(error) => return error.into(),
            QuestionError::Unknown(_) => "UnknownNameError",
            QuestionError::TooMany { .. } | QuestionError::BookMemory { .. } => "LimitError",
            QuestionError::NoModel { .. } => "ModelError",
            QuestionError::NoWorlds { .. } => "TooFewWorldsError",
            QuestionError::Expression(_)
            | QuestionError::GivenUp
            | QuestionError::Words(_)
            | QuestionError::NoLegs
            | QuestionError::NoOutcomes
            | QuestionError::Bet { .. }
            | QuestionError::NoBets
            | QuestionError::Level { .. }
            | QuestionError::BookAmounts
            | QuestionError::NotFinite { .. }
            | QuestionError::NoBins
            | QuestionError::Quantile { .. }
            | QuestionError::NoEntity { .. } => "InvalidError",
        };
        Self::new(class, error)
    }
}

impl From<BetFileError> for Failure {
    fn from(error: BetFileError) -> Self {
        match error {
            BetFileError::Read { .. } => Self::storage(error),
            BetFileError::Invalid { .. } => Self::invalid(error),
        }
    }
}

impl From<TooFew> for Failure {
    fn from(error: TooFew) -> Self {
        let mut fields =
            vec![("matched", error.matched as u64), ("worlds", error.worlds as u64), ("minimum", error.least as u64)];
        fields.extend(error.worlds_needed().map(|needed| ("needed", needed)));
        Self { fields, ..Self::new("TooFewWorldsError", error) }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let class = match error {
            QueryError::Ensemble(error) => return error.into(),
            QueryError::Unreadable(error) => return Self::from(&*error),
            QueryError::Table(error) => return error.into(),
            QueryError::Snapshot(error) => return error.into(),
            QueryError::Unknown(_) => "UnknownNameError",
            QueryError::TooLarge { .. } | QueryError::Memory { .. } => "LimitError",
            QueryError::Syntax { .. }
            | QueryError::Refused { .. }
            | QueryError::Arguments { .. }
            | QueryError::Invalid { .. }
            | QueryError::Condition { .. } => "InvalidError",
        };
        Self::new(class, error)
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Log(error) => error.into(),
            SnapshotError::Table(error) => error.into(),
            SnapshotError::Columns { .. } => Self::new("DamagedError", error),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Table(error) => error.into(),
            error => Self::storage(error),
        }
    }
}

impl From<ParameterError> for Failure {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Unknown(_) => Self::unknown(error),
            error => Self::invalid(error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Ensemble(error) => error.into(),
            RunError::Table(error) => error.into(),
            RunError::Thread(error) => Self::storage(error),
            RunError::Model { .. } => Self::model(error),
            RunError::Elsewhere(error) => match error.downcast::<PyErr>() {
                Ok(raised) => Self { raised: Some(raised), ..Self::model("") },
                Err(error) => Self::storage(error),
            },
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let message = error.to_string();
        let class = match error {
            ImportError::Kept { cause, .. } => return Self { message, ..Self::from(*cause) },
            ImportError::Ensemble(error) => return error.into(),
            ImportError::Table(error) => return error.into(),
            ImportError::Taken { .. } => "ExistsError",
            ImportError::Memory { .. } => "LimitError",
            ImportError::Spill { .. } => "StorageError",
            _ => "InvalidError",
        };
        Self::new(class, message)
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let class = match error {
            AskError::UnknownColumn { .. } => "UnknownNameError",
            AskError::Memory { .. } | AskError::Overflow { .. } => "LimitError",
            AskError::Io { .. } => "StorageError",
            AskError::Damaged { .. } => "DamagedError",
            AskError::Syntax { .. } | AskError::Type { .. } | AskError::Invalid { .. } | AskError::Partial { .. } => {
                "InvalidError"
            }
        };
        Self::new(class, error)
    }
}
