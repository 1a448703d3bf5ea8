//! The types of columns.

use arrow::datatypes::{DataType, TimeUnit};

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Unknown yet: NULLs only.
    Nothing,
    Int,
    Float,
    Bool,
    Text,
    Time,
    Set,
}

impl Kind {
    /// Its name in errors.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Nothing => "NULL",
            Self::Int => "integer",
            Self::Float => "float",
            Self::Bool => "boolean",
            Self::Text => "text",
            Self::Time => "timestamp",
            Self::Set => "set of texts",
        }
    }

    /// The kind of an Arrow column; `None` for other types.
    pub(super) fn of(ty: &DataType) -> Option<Self> {
        match ty {
            DataType::Int64 => Some(Self::Int),
            DataType::Float64 => Some(Self::Float),
            DataType::Boolean => Some(Self::Bool),
            DataType::Utf8 => Some(Self::Text),
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => Some(Self::Time),
            DataType::List(of) if *of.data_type() == DataType::Utf8 => Some(Self::Set),
            _ => None,
        }
    }

    /// The kind of a column of both; `None` for a conflict.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::Nothing, kind) | (kind, Self::Nothing) => Some(kind),
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Some(Self::Float),
            _ => None,
        }
    }
}
