//! `ensembles`: what is stored, one row an ensemble.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringViewArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use ensemble::StoredEnsemble;

use crate::rows::text;
use crate::snapshot::Snapshot;

/// The table.
pub(crate) fn ensembles(snapshot: &Snapshot) -> Result<MemTable> {
    let number = |name: &str| Field::new(name, DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![
        text("ensemble", false),
        number("version"),
        text("model", false),
        text("parameters", false),
        Field::new("seed", DataType::UInt64, false),
        number("worlds"),
        number("planned"),
        text("events", false),
        text("created", false),
    ]));
    let all = snapshot.ensembles();
    let texts = |of: fn(&StoredEnsemble) -> &str| -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values(all.iter().map(|e| of(e))))
    };
    let numbers = |of: fn(&StoredEnsemble) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(all.iter().map(|e| of(e) as i64)))
    };
    let columns = vec![
        texts(|e| &e.plan.name),
        numbers(|e| e.version as usize),
        texts(|e| &e.plan.model),
        texts(|e| &e.plan.parameters),
        Arc::new(UInt64Array::from_iter_values(all.iter().map(|e| e.plan.seed.0))),
        numbers(StoredEnsemble::worlds),
        numbers(|e| e.plan.worlds.count()),
        texts(|e| e.plan.events.word()),
        texts(|e| &e.created),
    ];
    let rows = RecordBatch::try_new(schema.clone(), columns)?;
    MemTable::try_new(schema, vec![vec![rows]])
}
