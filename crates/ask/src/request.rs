//! A question as people and programs write it: the options of a command, or a JSON object.

use serde::Deserialize;

use crate::error::AskError;
use crate::question::{Measure, Order, Quantile, Question, Samples, moment};

/// A question in text. What is left out asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Columns that make groups.
    pub group: Vec<String>,
    /// Count the rows of each group; the default if there is no other measure.
    pub count: bool,
    /// Columns to average.
    pub avg: Vec<String>,
    /// Columns to add up.
    pub sum: Vec<String>,
    /// Columns to find the least value of.
    pub min: Vec<String>,
    /// Columns to find the greatest value of.
    pub max: Vec<String>,
    /// Columns to find the standard deviation of.
    pub stddev: Vec<String>,
    /// Columns whose distinct values are counted.
    pub distinct: Vec<String>,
    /// Columns to find quantiles of, as `COLUMN` or `COLUMN:p50,p99.9`.
    pub quantiles: Vec<String>,
    /// Columns to count by buckets of equal width.
    pub hist: Vec<String>,
    /// Columns to count by powers of two.
    pub loghist: Vec<String>,
    /// Spans of time to group by, such as `1h`.
    pub time_bucket: Option<String>,
    /// The column of times; `time` by default.
    pub time: Option<String>,
    /// The first moment, as [`moment`] reads it.
    pub since: Option<String>,
    /// The first moment that is too late.
    pub until: Option<String>,
    /// Conditions, all of which must hold.
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// A column that says how often a row counts.
    pub weight: Option<String>,
    /// Changes of labels, as `COLUMN=/PATTERN/TEXT/`.
    pub replace: Vec<String>,
    /// A column of the answer to order groups by.
    pub sort: Option<String>,
    /// Whether the least comes first.
    pub asc: bool,
    /// Groups of the answer, at most.
    pub limit: Option<usize>,
    /// Ask for so many rows instead of groups.
    pub samples: Option<usize>,
    /// The columns of those rows; all by default.
    pub columns: Vec<String>,
}

impl Request {
    /// The question that this asks at `now_micros`.
    ///
    /// # Errors
    /// If a time, a length of time, a quantile or a change of labels cannot be read.
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

    /// By what groups are ordered, if anything is named.
    pub fn order(&self) -> Option<Order> {
        self.sort.as_ref().map(|by| Order { by: by.clone(), ascending: self.asc })
    }
}

fn invalid(reason: String) -> AskError {
    AskError::Invalid { reason }
}

/// Reads `COLUMN` or `COLUMN:p50,p99.9`. Names of columns may have colons; quantiles have none.
fn quantiles(text: &str) -> Result<(String, Vec<Quantile>), AskError> {
    let Some((column, list)) = text.rsplit_once(':') else { return Ok((text.to_owned(), Quantile::USUAL.to_vec())) };
    let parsed = list.split(',').map(|quantile| quantile.parse().map_err(invalid));
    Ok((column.to_owned(), parsed.collect::<Result<_, _>>()?))
}
