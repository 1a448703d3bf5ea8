//! The least and the greatest integer of a column.

use arrow::array::AsArray;
use arrow::compute::{cast, max, min};
use arrow::datatypes::{DataType, Int64Type};

use crate::aside::aside;
use crate::error::TableError;
use crate::input::Input;
use crate::log::{ColumnStatistics, Segment, Table};

impl Table {
    /// The least and the greatest value of a column of integers; `None` where it has no value, and where the table has no
    /// such column. Segments whose statistics do not say it are read.
    ///
    /// # Errors
    /// Where the log or a segment cannot be read.
    pub async fn integer_bounds(&self, column: &str) -> Result<Option<(i64, i64)>, TableError> {
        let schema = self.arrow_schema()?;
        let Ok(place) = schema.index_of(column) else { return Ok(None) };
        let segments = self.segments().await?;
        let (root, column) = (self.root().to_owned(), column.to_owned());
        aside(move || {
            let mut bounds: Option<(i64, i64)> = None;
            let mut add = |(low, high): (i64, i64)| {
                bounds = Some(bounds.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
            };
            for segment in segments {
                match segment.columns.get(&column).map(|known| known_bounds(known, &segment)) {
                    Some(Known::Between(low, high)) => add((low, high)),
                    Some(Known::NoValue) => {}
                    Some(Known::Nothing) | None => {
                        for rows in Input::open(&root, &schema, &segment)?.rows(None, Some(&[place]))? {
                            let rows = rows?;
                            let values =
                                cast(rows.column(0), &DataType::Int64).map_err(|e| TableError::damaged(&root, e))?;
                            let values = values.as_primitive::<Int64Type>();
                            min(values).zip(max(values)).into_iter().for_each(&mut add);
                        }
                    }
                }
            }
            Ok(bounds)
        })
        .await
    }
}

/// What statistics say of integers.
enum Known {
    Between(i64, i64),
    NoValue,
    Nothing,
}

fn known_bounds(known: &ColumnStatistics, segment: &Segment) -> Known {
    let bound = |value: &Option<serde_json::Value>| value.as_ref()?.as_i64();
    match (bound(&known.min), bound(&known.max)) {
        (Some(low), Some(high)) => Known::Between(low, high),
        _ if segment.rows > 0 && known.nulls == Some(segment.rows) => Known::NoValue,
        _ => Known::Nothing,
    }
}
