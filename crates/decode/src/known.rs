//! The columns that a table has already.

use std::collections::HashMap;

use arrow::datatypes::Schema;

use super::column::Kind;

/// The columns of a table, by name.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// `None` for columns of types that no reader makes.
    kinds: HashMap<Box<[u8]>, Option<Kind>>,
    has_dots: bool,
}

impl Known {
    pub(super) fn of(columns: &Schema) -> Self {
        let fields = columns.fields().iter();
        Self {
            kinds: fields.clone().map(|f| (f.name().as_bytes().into(), Kind::of(f.data_type()))).collect(),
            has_dots: fields.clone().any(|f| f.name().contains('.')),
        }
    }

    /// What a column holds: `Nothing` where there is no such column, `None` where it is of a type that no reader makes.
    pub(super) fn kind(&self, name: &[u8]) -> Option<Kind> {
        self.kinds.get(name).copied().unwrap_or(Some(Kind::Nothing))
    }

    pub(super) fn contains(&self, name: &[u8]) -> bool {
        self.kinds.contains_key(name)
    }

    /// Whether a nested field may have a column that an older version named with a dot.
    pub(super) fn has_dots(&self) -> bool {
        self.has_dots
    }
}
