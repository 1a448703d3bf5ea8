//! Values that do not fit their column go into its twin: the column of text beside it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{cast, is_null, not, nullif};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use decode::{ColumnNames, twin_name};

use super::numbers::Meeting;
use super::{Columns, Fitted, Twin, stored_as, word};

/// Rows under way: columns that fit.
#[derive(Default)]
struct Fitting {
    fields: Vec<Field>,
    columns: Vec<(String, ArrayRef)>,
    names: ColumnNames,
}

impl Fitting {
    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name() == name)
    }

    fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, column)| column)
    }

    /// Puts texts into the twin of a column: the column of text of the first such name which is free in the row. Gives the
    /// twins, with the rows that each took.
    fn stray(&mut self, name: &str, mut texts: ArrayRef) -> Result<Vec<(String, ArrayRef)>, ArrowError> {
        let mut twins = Vec::new();
        while texts.null_count() < texts.len() {
            let tried = |twin: &str| twins.iter().any(|(t, _)| t == twin);
            let is_other = |twin: &str| self.field(twin).is_some_and(|f| *f.data_type() != DataType::Utf8);
            let twin = twin_name(name, |twin| tried(twin) || is_other(twin) || !self.names.allows(twin));
            let Some(taken) = self.column(&twin).cloned() else {
                self.put(&twin, texts.clone());
                twins.push((twin, texts));
                break;
            };
            let free = is_null(&taken)?;
            let (here, rest) = (nullif(&texts, &not(&free)?)?, nullif(&texts, &free)?);
            self.put(&twin, zip(&free, &here, &taken)?);
            twins.push((twin, here));
            texts = rest;
        }
        twins.retain(|(_, texts)| texts.null_count() < texts.len());
        Ok(twins)
    }

    fn put(&mut self, name: &str, texts: ArrayRef) {
        if self.field(name).is_none() {
            self.fields.push(Field::new(name, DataType::Utf8, true));
            self.names.insert(name);
        }
        match self.columns.iter_mut().find(|(n, _)| n == name) {
            Some((_, column)) => *column = texts,
            None => self.columns.push((name.to_owned(), texts)),
        }
    }
}

impl Columns {
    /// As [`Columns::fit`] with twins. What becomes of a value depends on the columns there are and on the rows it came
    /// with, and on nothing else: whoever fits the same rows in the same order gets the same.
    pub(super) fn fit_with_twins(&mut self, rows: &RecordBatch) -> Result<Fitted, ArrowError> {
        let mut fitting = Fitting {
            fields: self.schema.fields().iter().map(|f| f.as_ref().clone()).collect(),
            names: self.names.clone(),
            ..Fitting::default()
        };
        let mut odd = Vec::new();
        for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            let (name, sent) = (field.name(), field.data_type());
            // A column without values says nothing of what it holds.
            if column.null_count() == column.len() {
                continue;
            }
            let Some((column, sent)) = stored_as(column) else {
                odd.push((name, column.clone(), format!("cannot hold {}", word(sent))));
                continue;
            };
            let Some(&place) = self.places.get(name) else {
                fitting.fields.push(Field::new(name, sent, true));
                fitting.names.insert(name);
                fitting.columns.push((name.clone(), column));
                continue;
            };
            match self.meet(place, &column, &sent)? {
                Meeting::All(column) => fitting.columns.push((name.clone(), column)),
                Meeting::Widens => {
                    fitting.fields[place] = Field::new(name, DataType::Float64, true);
                    fitting.columns.push((name.clone(), column));
                }
                Meeting::Some { fit, rest, reason } => {
                    odd.push((name, rest, reason));
                    fitting.columns.push((name.clone(), fit));
                }
                Meeting::None(reason) => odd.push((name, column, reason)),
            }
        }
        let mut twins = Vec::with_capacity(odd.len());
        for (name, column, reason) in odd {
            for (twin, texts) in fitting.stray(name, as_texts(&column)?)? {
                let first = (0..texts.len()).find(|&row| texts.is_valid(row)).unwrap_or(0);
                let rows = texts.len() - texts.null_count();
                twins.push(Twin { field: name.clone(), twin, reason: reason.clone(), rows, first });
            }
        }
        let Fitting { fields, columns, .. } = fitting;
        self.become_those_of(fields);
        let schema: Vec<Field> =
            columns.iter().map(|(name, c)| Field::new(name, c.data_type().clone(), true)).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows = RecordBatch::try_new_with_options(Arc::new(Schema::new(schema)), columns, &count)?;
        Ok(Fitted { twins, ..Fitted::all(rows) })
    }
}

/// Values as text; sets as JSON.
fn as_texts(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let DataType::List(of) = column.data_type() else { return cast(column, &DataType::Utf8) };
    if *of.data_type() != DataType::Utf8 {
        return cast(column, &DataType::Utf8);
    }
    let json = |set: Option<ArrayRef>| {
        let texts: Vec<Option<&str>> = set.as_ref()?.as_string::<i32>().iter().collect();
        Some(serde_json::Value::from(texts).to_string())
    };
    Ok(Arc::new(column.as_list::<i32>().iter().map(json).collect::<StringArray>()))
}

#[cfg(test)]
mod tests;
