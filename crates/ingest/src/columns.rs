//! The columns of a table as rows bring them: new fields become columns, integers widen to real numbers if none of them
//! changes, and lists of texts become sets. Values that do not fit are refused or go into an overflow column.

mod numbers;
mod overflow;
mod stored;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_empty_array, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use decode::{ColumnNames, OnConflict};
use disk::Disk;
use table::set_of;

pub(crate) use self::numbers::Integers;
use self::numbers::{exact_reals, hold_only_exact};
use self::stored::Stored;

/// Columns of one table; all nullable.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    schema: SchemaRef,
    places: HashMap<String, usize>,
    names: ColumnNames,
    /// The kind of integers in each column.
    integers: Vec<Integers>,
    /// The segments, to look up integers of unknown kind.
    stored: Option<Stored>,
    /// How often the columns changed.
    changes: u64,
}

/// Values that do not fit their column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The column.
    pub field: String,
    /// The column's type and the value's type.
    pub reason: String,
    /// Rows left out because of it.
    pub rows: usize,
    /// Index of the first such row, from 0, among the rows sent for the table.
    pub first: usize,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, reason, rows, .. } = self;
        write!(f, "column {field:?} {reason}: {rows} rows were left out")
    }
}

/// Values that do not fit their column and are stored as text beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow {
    /// The column, which is NULL in those rows.
    pub field: String,
    /// The text column that holds the values.
    pub overflow: String,
    /// The column's type and the values' type.
    pub reason: String,
    /// Rows with such values.
    pub rows: usize,
    /// Index of the first such row, from 0, among the rows that came together.
    pub first: usize,
}

/// A field stored under another name, because a column's name differs from it only in case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renamed {
    /// The field as sent.
    pub field: String,
    /// The column that holds its values.
    pub column: String,
}

/// How to treat rows that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// How to treat values that do not fit their column.
    pub(crate) on_conflict: OnConflict,
    /// Leave out rows that would bring more columns than this.
    pub(crate) columns_max: usize,
}

impl Policy {
    /// Keep every row.
    pub(crate) const KEEP: Self = Self { on_conflict: OnConflict::Overflow, columns_max: usize::MAX };
}

/// Rows that fit, and reports of the rest.
#[derive(Debug)]
pub struct Fitted {
    pub rows: RecordBatch,
    pub conflicts: Vec<Conflict>,
    pub overflows: Vec<Overflow>,
    pub renamed: Vec<Renamed>,
}

impl Fitted {
    fn all(rows: RecordBatch) -> Self {
        Self { rows, conflicts: Vec::new(), overflows: Vec::new(), renamed: Vec::new() }
    }
}

impl Columns {
    /// For a table without rows.
    pub(crate) fn new(schema: &Schema) -> Self {
        // Other writers may declare the texts of a set as nullable; incoming ones are not.
        let ty = |ty: &DataType| stored_as(&new_empty_array(ty)).map_or_else(|| ty.clone(), |(_, ty)| ty);
        let fields: Vec<Field> =
            schema.fields().iter().map(|f| Field::new(f.name(), ty(f.data_type()), true)).collect();
        let integers = vec![Integers::Exact; fields.len()];
        Self::over(fields, integers, None, 0)
    }

    /// For the table in the folder `root`, where the segments may hold any integers.
    pub(crate) fn of_table(schema: &Schema, root: &Path, disk: &Arc<dyn Disk>) -> Self {
        let mut columns = Self::new(schema);
        columns.integers.fill(Integers::Unknown);
        columns.stored = Some(Stored::new(root, disk));
        columns
    }

    /// From the note beside the log of the table in the folder `root`.
    pub(crate) fn noted(columns: Vec<(Field, Integers)>, root: &Path, disk: &Arc<dyn Disk>) -> Self {
        let (fields, integers) = columns.into_iter().unzip();
        Self::over(fields, integers, Some(Stored::new(root, disk)), 0)
    }

    fn over(fields: Vec<Field>, integers: Vec<Integers>, stored: Option<Stored>, changes: u64) -> Self {
        let places = fields.iter().enumerate().map(|(i, f)| (f.name().clone(), i)).collect();
        let mut names = ColumnNames::default();
        fields.iter().for_each(|field| names.insert(field.name()));
        Self { schema: Arc::new(Schema::new(fields)), places, names, integers, stored, changes }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The kind of integers in each column.
    pub(crate) fn integers(&self) -> &[Integers] {
        &self.integers
    }

    /// A counter: the columns are unchanged while it is.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Adds the columns of rows, and treats misfits by `policy`. Integers become real numbers in a column of reals, and
    /// a column of integers becomes reals when reals come, unless an integer would change.
    pub(crate) fn fit(&mut self, rows: RecordBatch, policy: Policy) -> Result<Fitted, ArrowError> {
        let fits = |f: &Arc<Field>| self.type_of(f.name()) == Some(f.data_type());
        if rows.schema_ref().fields().iter().all(fits) {
            self.note_integers(&rows);
            return Ok(Fitted::all(rows));
        }
        let fields: Vec<&str> = rows.schema_ref().fields().iter().map(|f| f.name().as_str()).collect();
        let columns = self.names.clone().resolve(&fields);
        let renamed = fields.iter().zip(&columns).filter(|(field, column)| **field != column.as_str());
        let renamed: Vec<Renamed> =
            renamed.map(|(field, column)| Renamed { field: (*field).to_owned(), column: column.clone() }).collect();
        let fields = rows.schema_ref().fields().iter().zip(columns);
        let fields: Vec<Field> = fields.map(|(f, name)| f.as_ref().clone().with_name(name)).collect();
        let count = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let named = Arc::new(Schema::new(fields));
        let rows = RecordBatch::try_new_with_options(named, rows.columns().to_vec(), &count)?;
        let fitted = self.fit_named(&rows, policy)?;
        self.note_integers(&fitted.rows);
        Ok(Fitted { renamed, ..fitted })
    }

    fn become_those_of(&mut self, fields: Vec<Field>) {
        let is_same = |(old, new): (&Arc<Field>, &Field)| old.data_type() == new.data_type();
        let old = self.schema.fields();
        if old.len() == fields.len() && old.iter().zip(&fields).all(is_same) {
            return;
        }
        let mut integers = std::mem::take(&mut self.integers);
        integers.resize(fields.len(), Integers::Exact);
        *self = Self::over(fields, integers, self.stored.take(), self.changes + 1);
    }

    fn type_of(&self, name: &str) -> Option<&DataType> {
        self.places.get(name).map(|&place| self.schema.field(place).data_type())
    }

    /// Notes which columns hold integers that real numbers cannot represent.
    fn note_integers(&mut self, rows: &RecordBatch) {
        for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            if *field.data_type() != DataType::Int64 {
                continue;
            }
            if let Some(&place) = self.places.get(field.name())
                && self.integers[place] != Integers::Large
                && !hold_only_exact(column)
            {
                self.integers[place] = Integers::Large;
                self.changes += 1;
            }
        }
    }

    /// These columns plus those only in `others`, with what both know of their integers.
    pub(crate) fn joined(&self, others: &Self) -> Self {
        let mut fields: Vec<Field> = self.schema.fields().iter().map(|f| f.as_ref().clone()).collect();
        let mut integers = self.integers.clone();
        for (field, known) in others.schema.fields().iter().zip(&others.integers) {
            match self.places.get(field.name()) {
                Some(&place) if *known == Integers::Large => integers[place] = Integers::Large,
                None if self.names.allows(field.name()) => {
                    fields.push(field.as_ref().clone());
                    integers.push(*known);
                }
                _ => {}
            }
        }
        Self::over(fields, integers, self.stored.clone(), self.changes)
    }

    /// As [`Self::conform`], for several batches.
    pub(crate) fn conform_all(&self, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, ArrowError> {
        batches.iter().map(|rows| self.conform(rows)).collect()
    }

    /// Casts rows fitted earlier to the current columns; missing columns are NULL.
    ///
    /// # Errors
    /// When they were fitted to other columns than these.
    pub(crate) fn conform(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let unfit = |name: &str| ArrowError::SchemaError(format!("column {name:?} is another than when its rows came"));
        if let Some(gone) = rows.schema_ref().fields().iter().find(|f| !self.places.contains_key(f.name())) {
            return Err(unfit(gone.name()));
        }
        let column = |field: &Arc<Field>| match rows.column_by_name(field.name()) {
            Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
            Some(column) if *column.data_type() == DataType::Int64 && *field.data_type() == DataType::Float64 => {
                exact_reals(column, field.name())
            }
            Some(column) if is_same(field.data_type(), column.data_type()) => cast(column, field.data_type()),
            Some(_) => Err(unfit(field.name())),
            None => Ok(new_null_array(field.data_type(), rows.num_rows())),
        };
        let columns = self.schema.fields().iter().map(column).collect::<Result<_, _>>()?;
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

/// Whether two types are one column type. Writers name the members of a set differently.
fn is_same(have: &DataType, sent: &DataType) -> bool {
    match (have, sent) {
        (DataType::List(have), DataType::List(sent)) => have.data_type() == sent.data_type(),
        (have, sent) => have == sent,
    }
}

/// A column in its stored form, with its type: lists of texts are sets. `None` if it cannot be stored.
fn stored_as(column: &ArrayRef) -> Option<(ArrayRef, DataType)> {
    let column = if column.data_type().is_nested() { set_of(column)? } else { column.clone() };
    let ty = column.data_type().clone();
    Some((column, ty))
}

/// The name of a type in messages.
fn word(ty: &DataType) -> String {
    match ty {
        DataType::Int64 => "integers".to_owned(),
        DataType::Float64 => "real numbers".to_owned(),
        DataType::Utf8 => "text".to_owned(),
        DataType::List(item) if *item.data_type() == DataType::Utf8 => "sets of text".to_owned(),
        DataType::Boolean => "true or false".to_owned(),
        DataType::Timestamp(..) => "times".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray, Float64Array, Int64Array, ListBuilder, StringArray, StringBuilder};
    use arrow::datatypes::Float64Type;
    use table::set_type;

    use super::*;

    fn rows(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
    }

    fn ints(values: &[Option<i64>]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    fn refuse(columns_max: usize) -> Policy {
        Policy { on_conflict: OnConflict::Refuse, columns_max }
    }

    #[test]
    fn integers_widen_and_keep_their_digits() {
        let mut columns = Columns::new(&Schema::empty());
        let first = columns.fit(rows(vec![("a", ints(&[Some(1), Some((1 << 53) - 1)]))]), refuse(9)).unwrap().rows;
        let second = columns.fit(rows(vec![("a", Arc::new(Float64Array::from(vec![2.5])))]), refuse(9)).unwrap();
        assert!(second.conflicts.is_empty());
        let third = columns.fit(rows(vec![("a", ints(&[Some(7), None]))]), refuse(9)).unwrap().rows;
        let of = |rows: &RecordBatch| -> Vec<Option<f64>> {
            columns.conform(rows).unwrap().column(0).as_primitive::<Float64Type>().iter().collect()
        };
        assert_eq!(of(&first), [Some(1.0), Some(9_007_199_254_740_991.0)]);
        assert_eq!(of(&third), [Some(7.0), None]);
    }

    #[test]
    fn rows_that_do_not_fit_are_named_and_the_others_kept() {
        let mut columns = Columns::new(&rows(vec![("a", ints(&[])), ("b", ints(&[]))]).schema());
        let texts = Arc::new(StringArray::from(vec![None, Some("x"), None, Some("y")]));
        let sent = rows(vec![("a", texts), ("b", ints(&[Some(1), Some(2), None, Some(4)]))]);
        let fitted = columns.fit(sent, refuse(9)).unwrap();
        let reason = "holds integers, and text came".to_owned();
        assert_eq!(fitted.conflicts, [Conflict { field: "a".into(), reason, rows: 2, first: 1 }]);
        assert_eq!(fitted.rows, rows(vec![("b", ints(&[Some(1), None]))]));
        let whole = columns.conform(&fitted.rows).unwrap();
        assert_eq!(whole, rows(vec![("a", ints(&[None, None])), ("b", ints(&[Some(1), None]))]));
    }

    fn lists(name: &str, texts: &[Option<&str>]) -> ArrayRef {
        let item = Field::new(name, DataType::Utf8, true);
        let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item);
        texts.iter().for_each(|text| lists.append_value([Some("a"), *text]));
        lists.append_null();
        Arc::new(lists.finish())
    }

    #[test]
    fn lists_of_text_are_sets_and_nothing_else_is() {
        let mut columns = Columns::new(&rows(vec![("groups", lists("item", &[])), ("a", ints(&[None]))]).schema());
        assert_eq!(columns.schema().field(0).data_type(), &set_type());
        let sets = set_of(&lists("item", &[Some("b"), Some("")])).unwrap();
        let first = columns.fit(rows(vec![("groups", lists("x", &[Some("b"), Some("")]))]), refuse(9)).unwrap();
        assert_eq!((first.conflicts, &first.rows), (vec![], &rows(vec![("groups", sets.clone())])));
        let second = columns.fit(rows(vec![("new", lists("x", &[Some("b"), Some("")]))]), refuse(9)).unwrap();
        assert_eq!((second.conflicts, second.rows), (vec![], rows(vec![("new", sets.clone())])));
        assert_eq!(columns.conform(&first.rows).unwrap().column(0), &sets);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("c")]));
        for (name, sent, reason, first) in [
            ("groups", texts, "holds sets of text, and text came", 0),
            ("a", lists("element", &[Some("b")]), "holds integers, and sets of text came", 0),
            ("groups", lists("item", &[None]), "holds lists with something else than text, or NULL", 0),
        ] {
            let conflict = columns
                .fit(rows(vec![(name, sent.clone()), ("new", new_null_array(&set_type(), sent.len()))]), refuse(9));
            let conflict = conflict.unwrap().conflicts.remove(0);
            assert!(conflict.reason.contains(reason) && conflict.first == first, "{conflict:?}");
        }
        assert_eq!(columns.schema().fields().len(), 3);
    }

    #[test]
    fn a_table_gets_so_many_columns_and_rows_without_more_are_kept() {
        let mut columns = Columns::new(&rows(vec![("a", ints(&[]))]).schema());
        let sent = rows(vec![("b", ints(&[Some(1), Some(2)])), ("c", ints(&[None, Some(3)]))]);
        let fitted = columns.fit(sent, refuse(2)).unwrap();
        let reason = "is new, and the table has 2 columns, the maximum".to_owned();
        assert_eq!(fitted.conflicts, [Conflict { field: "c".into(), reason, rows: 1, first: 1 }]);
        assert_eq!(fitted.rows, rows(vec![("b", ints(&[Some(1)]))]));
        assert_eq!(columns.schema().fields().len(), 2);
    }

    #[test]
    fn an_overflow_column_is_a_column_that_counts() {
        let mut columns = Columns::new(&rows(vec![("a", ints(&[]))]).schema());
        let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("x")]));
        let full = Policy { columns_max: 1, ..Policy::KEEP };
        let fitted = columns.fit(rows(vec![("a", texts)]), full).unwrap();
        let reason = "holds integers, and text came, and the table has 1 columns, the maximum".to_owned();
        assert_eq!(fitted.conflicts, [Conflict { field: "a".into(), reason, rows: 1, first: 1 }]);
        assert_eq!((fitted.rows.num_rows(), columns.schema().fields().len()), (1, 1));
    }

    #[test]
    fn numbers_of_other_widths_fit_where_they_stay_the_same() {
        let narrow = Schema::new(vec![
            Field::new("a", DataType::Int32, true),
            Field::new("f", DataType::Float32, true),
            Field::new("d", DataType::Date32, true),
        ]);
        let mut columns = Columns::new(&narrow);
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), Some(0.1), None]));
        let dates: ArrayRef = Arc::new(StringArray::from(vec!["2024-01-02", "soon", "2024-01-02T00:00:00"]));
        let sent = rows(vec![("a", ints(&[Some(7), Some(1 << 40), None])), ("f", floats), ("d", dates)]);
        let fitted = columns.fit(sent, Policy::KEEP).unwrap();
        let whole = columns.conform(&fitted.rows).unwrap();
        let texts = |name: &str| -> Vec<Option<String>> {
            let column = cast(whole.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
            column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            (texts("a"), texts("a_text")),
            (vec![some("7"), None, None], vec![None, some("1099511627776"), None])
        );
        assert_eq!((texts("f"), texts("f_text")), (vec![some("0.5"), None, None], vec![None, some("0.1"), None]));
        assert_eq!(texts("d"), [some("2024-01-02"), None, None]);
        assert_eq!(texts("d_text"), [None, some("soon"), some("2024-01-02T00:00:00")]);
    }

    #[test]
    fn new_fields_become_columns() {
        let mut columns = Columns::new(&rows(vec![("a", ints(&[]))]).schema());
        let sent = rows(vec![("c", ints(&[Some(3)]))]);
        let fitted = columns.fit(sent, refuse(9)).unwrap();
        assert_eq!(columns.conform(&fitted.rows).unwrap(), rows(vec![("a", ints(&[None])), ("c", ints(&[Some(3)]))]));
    }
}
