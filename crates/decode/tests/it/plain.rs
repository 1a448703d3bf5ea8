//! The rules of the decoders, spelt out plainly: rows as maps of values, no speed.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use decode::{Decoded, Limits, OnConflict, Request};

/// The time of rows that have none.
pub(crate) const NOW: i64 = 1_760_000_000_000_000;
/// Refuses what does not fit.
pub(crate) const REFUSING: Request<'_> = Request { now_micros: NOW, on_conflict: OnConflict::Refuse, columns: None };

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Val {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) table: String,
    pub(crate) micros: Option<i64>,
    pub(crate) fields: Vec<(String, Val)>,
}

/// Rows that are taken together or not at all.
pub(crate) type Item = Vec<Row>;

/// Tables by name, columns sorted by name, and the places of what is refused.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) tables: BTreeMap<String, RecordBatch>,
    pub(crate) refused: Vec<usize>,
}

type Kinds = BTreeMap<(String, String), Val>;

/// Whether an integer is below 2^53, where each is a float of its own.
pub(crate) fn is_small(v: i64) -> bool {
    v > -(1 << 53) && v < 1 << 53
}

pub(crate) fn is_whole(v: f64) -> bool {
    v.fract() == 0.0 && is_small(v as i64)
}

/// Adds an item's types to those before; nothing where they conflict. Integers stand for the largest of a column.
fn with_kinds(mut kinds: Kinds, item: &Item) -> Option<Kinds> {
    for row in item {
        for (name, val) in &row.fields {
            let key = (row.table.clone(), name.clone());
            let merged = match (kinds.get(&key), val) {
                (Some(old), Val::Null) => old.clone(),
                (Some(old @ Val::Float(_)), Val::Int(v)) if is_small(*v) => old.clone(),
                (None | Some(Val::Null), val) => val.clone(),
                (Some(Val::Int(most)), Val::Float(_)) if is_small(*most) => val.clone(),
                (Some(old @ Val::Int(_)), Val::Float(v)) if is_whole(*v) => old.clone(),
                (Some(Val::Int(most)), Val::Int(v)) if most.unsigned_abs() < v.unsigned_abs() => val.clone(),
                (Some(old), val) if std::mem::discriminant(old) == std::mem::discriminant(val) => old.clone(),
                _ => return None,
            };
            kinds.insert(key, merged);
        }
    }
    Some(kinds)
}

/// What must come of items; `positions` gives each its place.
pub(crate) fn outcome(items: &[(usize, Item)]) -> Outcome {
    let mut kinds = Kinds::new();
    let mut rows: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    let mut refused = Vec::new();
    for (position, item) in items {
        let nameless = item.is_empty() || item.iter().any(|row| row.fields.is_empty());
        // An item is read by itself before it joins the others.
        let agrees = with_kinds(Kinds::new(), item).and_then(|_| with_kinds(kinds.clone(), item));
        match agrees.filter(|_| !nameless) {
            Some(merged) => {
                kinds = merged;
                item.iter().for_each(|row| rows.entry(row.table.clone()).or_default().push(row));
            }
            None => refused.push(*position),
        }
    }
    let tables = rows.into_iter().map(|(table, rows)| (table.clone(), batch(&table, &rows, &kinds))).collect();
    Outcome { tables, refused }
}

fn batch(table: &str, rows: &[&Row], kinds: &Kinds) -> RecordBatch {
    let times: Vec<i64> = rows.iter().map(|row| row.micros.unwrap_or(NOW)).collect();
    let mut fields = vec![Field::new("time", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false)];
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC"))];
    for ((_, name), kind) in kinds.iter().filter(|((t, _), _)| t == table) {
        let vals = rows.iter().map(|row| row.fields.iter().find(|(n, _)| n == name).map(|(_, val)| val));
        let array: ArrayRef = match kind {
            Val::Null => continue,
            Val::Int(_) => Arc::new(Int64Array::from_iter(vals.map(|v| match v {
                Some(Val::Int(v)) => Some(*v),
                Some(Val::Float(v)) => Some(*v as i64),
                _ => None,
            }))),
            Val::Float(_) => Arc::new(Float64Array::from_iter(vals.map(|v| match v {
                Some(Val::Int(v)) => Some(*v as f64),
                Some(Val::Float(v)) => Some(*v),
                _ => None,
            }))),
            Val::Bool(_) => Arc::new(BooleanArray::from_iter(vals.map(|v| match v {
                Some(Val::Bool(v)) => Some(*v),
                _ => None,
            }))),
            Val::Text(_) => Arc::new(StringArray::from_iter(vals.map(|v| match v {
                Some(Val::Text(v)) => Some(v.clone()),
                _ => None,
            }))),
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// What has come of a body, to be compared.
pub(crate) fn sorted(decoded: &Decoded) -> Outcome {
    let tables = decoded.tables.iter().map(|(table, rows)| {
        let schema = rows.schema();
        assert_eq!(schema.field(0).name(), "time");
        let mut places: Vec<usize> = (1..rows.num_columns()).collect();
        places.sort_by_key(|place| schema.field(*place).name().clone());
        places.insert(0, 0);
        (table.clone(), rows.project(&places).unwrap())
    });
    let tables: BTreeMap<_, _> = tables.collect();
    assert_eq!(tables.len(), decoded.tables.len(), "a table comes twice");
    Outcome { tables, refused: decoded.refused.iter().map(|refused| refused.position).collect() }
}

/// Limits that refuse nothing of what the tests send.
pub(crate) fn wide() -> Limits {
    Limits { refused_max: usize::MAX, ..Limits::default() }
}

/// Tables and refusals as lines: `table time name=value ...`, and `refused position table.field: reason`.
pub(crate) fn shown(decoded: &Decoded) -> Vec<String> {
    let mut lines = Vec::new();
    for (table, rows) in &decoded.tables {
        let schema = rows.schema();
        let times = rows.column(0).as_any().downcast_ref::<TimestampMicrosecondArray>().unwrap();
        for row in 0..rows.num_rows() {
            let mut line = format!("{table} {}", times.value(row));
            for (field, column) in schema.fields().iter().zip(rows.columns()).skip(1) {
                line = line + " " + field.name() + "=" + &cell(column, row);
            }
            lines.push(line);
        }
    }
    for refused in &decoded.refused {
        let table = refused.table.as_deref().unwrap_or("?");
        let field = refused.field.as_ref().map(|field| format!(".{field}")).unwrap_or_default();
        lines.push(format!("refused {} {table}{field}: {}", refused.position, refused.reason));
    }
    lines
}

pub(crate) fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_owned();
    }
    let any = column.as_any();
    match column.data_type() {
        DataType::Int64 => any.downcast_ref::<Int64Array>().unwrap().value(row).to_string(),
        DataType::Float64 => format!("{:?}", any.downcast_ref::<Float64Array>().unwrap().value(row)),
        DataType::Boolean => any.downcast_ref::<BooleanArray>().unwrap().value(row).to_string(),
        DataType::Utf8 => format!("{:?}", any.downcast_ref::<StringArray>().unwrap().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if zone.as_ref() == "UTC" => {
            format!("@{}", any.downcast_ref::<TimestampMicrosecondArray>().unwrap().value(row))
        }
        DataType::List(element) => {
            assert_eq!(**element, Field::new("element", DataType::Utf8, false));
            let members = any.downcast_ref::<ListArray>().unwrap().value(row);
            let texts = members.as_any().downcast_ref::<StringArray>().unwrap().iter();
            format!("{:?}", texts.map(Option::unwrap).collect::<Vec<_>>())
        }
        other => panic!("{other} is no type of ours"),
    }
}
