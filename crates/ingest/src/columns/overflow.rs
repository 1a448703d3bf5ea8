//! Fits rows to the columns: misfits are left out, or go into the overflow column of text.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{and, cast, filter_record_batch, is_null, not, nullif};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use decode::{ColumnNames, OnConflict, overflow_name};

use super::numbers::Meeting;
use super::{Columns, Conflict, Fitted, Overflow, Policy, stored_as};

/// Rows in progress: the columns that fit.
#[derive(Default)]
struct Fitting {
    fields: Vec<Field>,
    columns: Vec<(String, ArrayRef)>,
    names: ColumnNames,
    columns_max: usize,
}

#[derive(Default)]
struct LeftOut {
    keep: Option<BooleanArray>,
    conflicts: Vec<Conflict>,
}

impl LeftOut {
    /// Leaves out the rows that have a value in a column.
    fn add(&mut self, name: &str, column: &ArrayRef, reason: String) -> Result<(), ArrowError> {
        let fits = is_null(column)?;
        let Some(first) = fits.values().iter().position(|null| !null) else { return Ok(()) };
        self.conflicts.push(Conflict { field: name.to_owned(), reason, rows: fits.false_count(), first });
        self.keep = Some(self.keep.take().map_or(Ok(fits.clone()), |keep| and(&keep, &fits))?);
        Ok(())
    }
}

impl Fitting {
    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name() == name)
    }

    fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, column)| column)
    }

    /// Puts texts into the overflow column of a column: in each row, the first text column of that name pattern that is
    /// free. Returns the overflow columns with the texts each got, and the texts that found no column.
    fn overflow(&mut self, name: &str, mut texts: ArrayRef) -> Result<(Vec<(String, ArrayRef)>, ArrayRef), ArrowError> {
        let mut overflows = Vec::new();
        while texts.null_count() < texts.len() {
            let tried = |overflow: &str| overflows.iter().any(|(t, _)| t == overflow);
            let is_other = |overflow: &str| self.field(overflow).is_some_and(|f| *f.data_type() != DataType::Utf8);
            let overflow =
                overflow_name(name, |overflow| tried(overflow) || is_other(overflow) || !self.names.allows(overflow));
            if self.field(&overflow).is_none() && self.fields.len() >= self.columns_max {
                break;
            }
            let Some(taken) = self.column(&overflow).cloned() else {
                self.put(&overflow, texts.clone());
                let none = new_null_array(texts.data_type(), texts.len());
                overflows.push((overflow, std::mem::replace(&mut texts, none)));
                break;
            };
            let free = is_null(&taken)?;
            let (here, rest) = (nullif(&texts, &not(&free)?)?, nullif(&texts, &free)?);
            self.put(&overflow, zip(&free, &here, &taken)?);
            overflows.push((overflow, here));
            texts = rest;
        }
        overflows.retain(|(_, texts)| texts.null_count() < texts.len());
        Ok((overflows, texts))
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
    /// Fits rows with fields named like columns. Deterministic: the result depends only on the columns and on the rows
    /// of the batch, so another process that fits the same rows in the same order gets the same.
    pub(super) fn fit_named(&mut self, rows: &RecordBatch, policy: Policy) -> Result<Fitted, ArrowError> {
        let mut fitting = Fitting {
            fields: self.schema.fields().iter().map(|f| f.as_ref().clone()).collect(),
            names: self.names.clone(),
            columns_max: policy.columns_max,
            ..Fitting::default()
        };
        let full = format!("the table has {} columns, the maximum", policy.columns_max);
        let mut left_out = LeftOut::default();
        let mut odd = Vec::new();
        for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            let name = field.name();
            // A column without values has no type to fit.
            if column.null_count() == column.len() {
                continue;
            }
            let Some((column, sent)) = stored_as(column) else {
                let reason =
                    "holds lists with something else than text, or NULL, in them: only sets of text are stored";
                odd.push((name, column.clone(), reason.to_owned()));
                continue;
            };
            let Some(&place) = self.places.get(name) else {
                if fitting.fields.len() >= policy.columns_max {
                    left_out.add(name, &column, format!("is new, and {full}"))?;
                    continue;
                }
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
        let mut overflows = Vec::new();
        for (name, column, reason) in odd {
            if policy.on_conflict == OnConflict::Refuse {
                left_out.add(name, &column, reason)?;
                continue;
            }
            let (into, rest) = fitting.overflow(name, as_texts(&column)?)?;
            for (overflow, texts) in into {
                let first = (0..texts.len()).find(|&row| texts.is_valid(row)).unwrap_or(0);
                let rows = texts.len() - texts.null_count();
                overflows.push(Overflow { field: name.clone(), overflow, reason: reason.clone(), rows, first });
            }
            left_out.add(name, &rest, format!("{reason}, and {full}"))?;
        }
        let LeftOut { keep, mut conflicts } = left_out;
        if let Some(keep) = keep {
            // Rows that are left out bring no columns or types.
            let fitted = self.fit_named(&filter_record_batch(rows, &keep)?, policy)?;
            conflicts.extend(fitted.conflicts);
            return Ok(Fitted { conflicts, ..fitted });
        }
        let Fitting { fields, columns, .. } = fitting;
        self.become_those_of(fields);
        let schema: Vec<Field> =
            columns.iter().map(|(name, c)| Field::new(name, c.data_type().clone(), true)).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows = RecordBatch::try_new_with_options(Arc::new(Schema::new(schema)), columns, &count)?;
        Ok(Fitted { conflicts, overflows, ..Fitted::all(rows) })
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
