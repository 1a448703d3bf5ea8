//! A question in text form, from command-line options or a JSON object.

use serde::Deserialize;

use crate::error::AskError;
use crate::question::{Measure, Order, Quantile, Question, Samples, moment};

/// A question in text form. Empty fields have no effect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    pub group: Vec<String>,
    /// Count the rows of each group; the default if there are no other measures.
    pub count: bool,
    pub avg: Vec<String>,
    pub sum: Vec<String>,
    pub min: Vec<String>,
    pub max: Vec<String>,
    /// Columns to compute the standard deviation of.
    pub stddev: Vec<String>,
    /// Columns to count the distinct values of.
    pub distinct: Vec<String>,
    /// Columns to compute quantiles of, as `COLUMN` or `COLUMN:p50,p99.9`.
    pub quantiles: Vec<String>,
    /// Columns to count in buckets of equal width.
    pub hist: Vec<String>,
    /// Columns to count between powers of two.
    pub loghist: Vec<String>,
    /// Length of the time buckets to group by, such as `1h`.
    pub time_bucket: Option<String>,
    /// The time column; `time` by default.
    pub time: Option<String>,
    /// Earliest time, inclusive, in the format of [`moment`].
    pub since: Option<String>,
    /// Latest time, exclusive.
    pub until: Option<String>,
    /// Conditions, all of which must hold.
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// A numeric column with the weight of each row.
    pub weight: Option<String>,
    /// Changes of labels, as `COLUMN=/PATTERN/TEXT/`.
    pub replace: Vec<String>,
    /// A column of the answer to sort groups by.
    pub sort: Option<String>,
    pub asc: bool,
    /// Maximum number of groups in the answer.
    pub limit: Option<usize>,
    /// Return this many rows instead of groups.
    pub samples: Option<usize>,
    /// The columns of those rows; all by default.
    pub columns: Vec<String>,
}

impl Request {
    /// Parses the question; durations in times are relative to `now_micros`.
    ///
    /// # Errors
    /// If a time, a duration, a quantile or a replacement is invalid.
    pub fn question(self, now_micros: i64) -> Result<Question, AskError> {
        type Of = fn(String) -> Measure;
        let order = self.order();
        let time = |text: Option<String>| text.map(|text| moment(&text, now_micros)).transpose();
        let mut measures = if self.count { vec![Measure::Count] } else { Vec::new() };
        let each: [(Vec<String>, Of); 8] = [
            (self.avg, Measure::Average),
            (self.sum, Measure::Sum),
            (self.min, Measure::Least),
            (self.max, Measure::Greatest),
            (self.stddev, Measure::Deviation),
            (self.distinct, Measure::Distinct),
            (self.hist, Measure::Histogram),
            (self.loghist, Measure::LogHistogram),
        ];
        for (columns, measure) in each {
            measures.extend(columns.into_iter().map(measure));
        }
        for text in &self.quantiles {
            let (column, list) = quantiles(text)?;
            measures.push(Measure::Quantiles(column, list));
        }
        Ok(Question {
            groups: self.group,
            measures,
            conditions: self.conditions,
            time: self.time.filter(|time| time != "time"),
            bucket: self.time_bucket.map(|text| text.parse().map_err(invalid)).transpose()?,
            weight: self.weight,
            replacements: self.replace.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            since: time(self.since)?,
            until: time(self.until)?,
            order,
            limit: self.limit,
            samples: self.samples.map(|rows| Samples { rows, columns: self.columns }),
        })
    }

    /// The order of the groups, if a column is named.
    pub fn order(&self) -> Option<Order> {
        self.sort.as_ref().map(|by| Order { by: by.clone(), ascending: self.asc })
    }
}

fn invalid(reason: String) -> AskError {
    AskError::Invalid { reason }
}

/// Parses `COLUMN` or `COLUMN:p50,p99.9`. Column names may contain colons; quantiles have none.
fn quantiles(text: &str) -> Result<(String, Vec<Quantile>), AskError> {
    let Some((column, list)) = text.rsplit_once(':') else { return Ok((text.to_owned(), Quantile::USUAL.to_vec())) };
    let parsed = list.split(',').map(|quantile| quantile.parse().map_err(invalid));
    Ok((column.to_owned(), parsed.collect::<Result<_, _>>()?))
}
