//! The columns that a table already has.

use std::collections::HashMap;

use arrow::datatypes::Schema;

use super::kind::Kind;

#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    /// `None` for columns of types that no reader creates.
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

    /// A column's kind: `Nothing` without such a column, `None` for a type that no reader creates.
    pub(super) fn kind(&self, name: &[u8]) -> Option<Kind> {
        self.kinds.get(name).copied().unwrap_or(Some(Kind::Nothing))
    }

    pub(super) fn contains(&self, name: &[u8]) -> bool {
        self.kinds.contains_key(name)
    }

    /// Whether an older version may have named a nested field's column with a dot.
    pub(super) fn has_dots(&self) -> bool {
        self.has_dots
    }
}
