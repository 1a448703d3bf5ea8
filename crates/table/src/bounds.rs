//! The smallest and the largest integer of a column.

use arrow::array::AsArray;
use arrow::compute::{cast, max, min};
use arrow::datatypes::{DataType, Int64Type};

use crate::error::TableError;
use crate::input::Input;
use crate::job::blocking;
use crate::log::{ColumnStatistics, Segment, Table};

impl Table {
    /// The smallest and the largest value of an integer column; `None` if it has no value or does not exist. Reads the
    /// rows of segments without such statistics.
    pub async fn integer_bounds(&self, column: &str) -> Result<Option<(i64, i64)>, TableError> {
        let schema = self.arrow_schema()?;
        let Ok(place) = schema.index_of(column) else { return Ok(None) };
        let segments = self.segments().await?;
        let (root, column) = (self.root().to_owned(), column.to_owned());
        blocking(move || {
            let mut bounds: Option<(i64, i64)> = None;
            let mut add = |(low, high): (i64, i64)| {
                bounds = Some(bounds.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
            };
            for segment in segments {
                match segment.columns.get(&column).map(|statistics| stored_bounds(statistics, &segment)) {
                    Some(Bounds::Between(low, high)) => add((low, high)),
                    Some(Bounds::NoValue) => {}
                    Some(Bounds::Unknown) | None => {
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

/// The bounds of integers in a segment's statistics.
enum Bounds {
    Between(i64, i64),
    NoValue,
    Unknown,
}

fn stored_bounds(statistics: &ColumnStatistics, segment: &Segment) -> Bounds {
    let bound = |value: &Option<serde_json::Value>| value.as_ref()?.as_i64();
    match (bound(&statistics.min), bound(&statistics.max)) {
        (Some(low), Some(high)) => Bounds::Between(low, high),
        _ if segment.rows > 0 && statistics.nulls == Some(segment.rows) => Bounds::NoValue,
        _ => Bounds::Unknown,
    }
}
