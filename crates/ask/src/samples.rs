//! Samples: single rows that match the conditions.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{cast, concat_batches, take};
use arrow::datatypes::{Schema, SchemaRef};

use snapshot::Snapshot;
use table::Segment;

use crate::answer::Answer;
use crate::column::Kind;
use crate::error::AskError;
use crate::plan::Plan;
use crate::question::{Question, Samples};
use crate::reading::Reading;
use crate::segment::{Opened, match_batch, of_segment, read, rows_of, units_of};

/// The first matching rows, from segments by earliest time, then from unflushed rows.
pub(crate) fn samples(source: &Snapshot, question: &Question) -> Result<Answer, AskError> {
    let Some(Samples { rows: wanted, columns }) = &question.samples else {
        return Err(AskError::invalid("the question asks for no samples"));
    };
    let asks_groups = !question.groups.is_empty() || !question.measures.is_empty() || question.bucket.is_some();
    if asks_groups || question.order.is_some() || question.limit.is_some() {
        return Err(AskError::invalid("samples are single rows: ask for no groups, measures, order or limit"));
    }
    let plan = Plan::new(question, &source.schema)?;
    let places = match columns[..] {
        [] => (0..plan.names.len()).collect(),
        _ => columns.iter().map(|name| plan.place(name)).collect::<Result<Vec<_>, _>>()?,
    };
    let schema = Arc::new(source.schema.project(&places).map_err(|e| AskError::invalid(e.to_string()))?);
    let schema = Arc::new(nullable(&schema));
    let mut reading = Reading { segments: source.segments.len(), ..Reading::default() };
    let mut found = Found { wanted: *wanted, rows: 0, batches: Vec::new(), schema };
    for segment in in_time(source, &plan) {
        if found.is_complete() {
            break;
        }
        let Some(conditions) = of_segment(segment, &plan) else {
            reading.segments_by_log += 1;
            continue;
        };
        let mut opened = Opened::open(&source.root, segment, &plan)?;
        let units = units_of(&mut opened, (&source.root, segment), &plan, &conditions, &mut reading.skipped)?;
        reading.bytes += opened.bytes;
        reading.groups += opened.groups();
        for unit in units {
            if found.is_complete() {
                break;
            }
            reading.groups_read += 1;
            reading.rows += unit.rows() as u64;
            let matching = read(&opened, &unit, &plan, &[], &mut reading)?;
            reading.rows_matching += matching.rows as u64;
            let first: Option<Vec<u32>> = matching.places.map(|places| places.into_iter().take(found.left()).collect());
            let first = first.unwrap_or_else(|| (0..unit.rows().min(found.left()) as u32).collect());
            let arrays = places.iter().map(|&column| rows_of(&opened, &unit, &plan, column, &first, &mut reading));
            found.push(&arrays.collect::<Result<Vec<_>, _>>()?, first.len())?;
        }
    }
    for batch in &source.unflushed {
        let matching = match_batch(batch, &plan, &[])?;
        reading.rows_unflushed += batch.num_rows() as u64;
        reading.rows_matching += matching.rows as u64;
        let first: Vec<u32> = match matching.places {
            Some(places) => places.into_iter().take(found.left()).collect(),
            None => (0..batch.num_rows().min(found.left()) as u32).collect(),
        };
        let rows = UInt32Array::from(first.clone());
        let array = |column: &usize| -> Result<ArrayRef, AskError> {
            match batch.column_by_name(&plan.names[*column]) {
                Some(array) => take(array, &rows, None).map_err(|e| AskError::invalid(e.to_string())),
                None => Ok(new_null_array(&plan.types[*column], first.len())),
            }
        };
        found.push(&places.iter().map(array).collect::<Result<Vec<_>, _>>()?, first.len())?;
    }
    let rows = concat_batches(&found.schema, &found.batches).map_err(|e| AskError::invalid(e.to_string()))?;
    reading.bytes += reading.skipped.bytes;
    Ok(Answer { groups: rows.num_rows(), rows, keys: 0, by_time: false, reading, notes: Vec::new() })
}

/// Orders segments by earliest time, if the log knows it. Their names carry no order.
fn in_time<'a>(source: &'a Snapshot, plan: &Plan) -> Vec<&'a Segment> {
    let time = plan.names.iter().zip(&plan.kinds).find(|(_, kind)| **kind == Kind::Time).map(|(name, _)| name);
    let mut segments: Vec<&Segment> = source.segments.iter().collect();
    segments.sort_by_key(|segment| time.and_then(|time| segment.columns.get(time)?.earliest()));
    segments
}

fn nullable(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>())
}

struct Found {
    wanted: usize,
    rows: usize,
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
}

impl Found {
    fn left(&self) -> usize {
        self.wanted - self.rows
    }

    fn is_complete(&self) -> bool {
        self.left() == 0
    }

    fn push(&mut self, arrays: &[ArrayRef], rows: usize) -> Result<(), AskError> {
        if rows == 0 {
            return Ok(());
        }
        let failed = |e: arrow::error::ArrowError| AskError::invalid(e.to_string());
        let typed = arrays.iter().zip(self.schema.fields()).map(|(array, field)| cast(array, field.data_type()));
        let typed = typed.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.batches.push(RecordBatch::try_new_with_options(self.schema.clone(), typed, &options).map_err(failed)?);
        self.rows += rows;
        Ok(())
    }
}
