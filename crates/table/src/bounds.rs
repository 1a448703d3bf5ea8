//! The smallest and the largest integer of a column.

use arrow::array::AsArray;
use arrow::compute::{cast, max, min};
use arrow::datatypes::{DataType, Int64Type};

use crate::error::TableError;
use crate::input::Input;
use crate::job::blocking;
use crate::log::Table;

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
                let statistics = segment.columns.get(&column).cloned().unwrap_or_default();
                let bound = |value: Option<serde_json::Value>| value?.as_i64();
                if let (Some(low), Some(high)) = (bound(statistics.min), bound(statistics.max)) {
                    add((low, high));
                    continue;
                }
                if segment.rows > 0 && statistics.nulls == Some(segment.rows) {
                    continue;
                }
                for rows in Input::open(&root, &schema, &segment)?.rows(None, Some(&[place]))? {
                    let values = cast(rows?.column(0), &DataType::Int64).map_err(|e| TableError::damaged(&root, e))?;
                    let values = values.as_primitive::<Int64Type>();
                    min(values).zip(max(values)).into_iter().for_each(&mut add);
                }
            }
            Ok(bounds)
        })
        .await
    }
}
