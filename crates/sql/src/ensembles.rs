//! The table `ensembles`: one row per stored ensemble.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringViewArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use ensemble::StoredEnsemble;

use crate::rows::text;
use crate::stored::EnsembleSnapshot;

/// The table. An unreadable ensemble has only its name and state.
pub(crate) fn table(snapshot: &EnsembleSnapshot) -> Result<MemTable> {
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![
        text("ensemble", false),
        text("state", false),
        number("version"),
        text("model", true),
        text("parameters", true),
        Field::new("seed", DataType::UInt64, true),
        number("worlds"),
        number("planned"),
        text("events", true),
        text("created", true),
    ]));
    let names = snapshot.ensembles().iter().map(|(name, _)| name);
    let all = || snapshot.ensembles().iter().map(|(_, found)| found.as_deref().ok());
    let states = all().map(|e| e.map_or("unreadable", StoredEnsemble::state));
    let texts = |of: fn(&StoredEnsemble) -> &str| -> ArrayRef {
        Arc::new(all().map(|e| e.map(of)).collect::<StringViewArray>())
    };
    let numbers = |of: fn(&StoredEnsemble) -> usize| -> ArrayRef {
        Arc::new(all().map(|e| e.map(|e| of(e) as i64)).collect::<Int64Array>())
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringViewArray::from_iter_values(names)),
        Arc::new(StringViewArray::from_iter_values(states)),
        numbers(|e| e.version as usize),
        texts(|e| &e.plan.model),
        texts(|e| &e.plan.parameters),
        Arc::new(all().map(|e| e.map(|e| e.plan.seed.0)).collect::<UInt64Array>()),
        numbers(StoredEnsemble::worlds),
        numbers(|e| e.plan.worlds.count()),
        texts(|e| e.plan.events.into_str()),
        texts(|e| &e.created),
    ];
    let rows = RecordBatch::try_new(schema.clone(), columns)?;
    MemTable::try_new(schema, vec![vec![rows]])
}
