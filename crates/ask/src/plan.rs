//! Binds a question to the columns of a table.

use std::borrow::Cow;

use arrow::datatypes::{DataType, Schema};
use regex::Regex;

use crate::column::Kind;
use crate::error::AskError;
use crate::expression::{Binder, Cond, Leaf, Test, parse};
use crate::question::{Bucket, Measure, Question};

/// The default time column.
const TIME: &str = "time";

/// A question bound to a table; columns are indexes into the table's columns.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) names: Vec<String>,
    pub(crate) types: Vec<DataType>,
    pub(crate) kinds: Vec<Kind>,
    /// All of these must hold.
    pub(crate) conditions: Vec<Cond>,
    /// The time bucket, if any, is first.
    pub(crate) groups: Vec<GroupBy>,
    pub(crate) measured: Vec<Measured>,
    pub(crate) weight: Option<usize>,
    /// Whether the question asks for samples, which need all columns.
    shows_all: bool,
}

/// A key column.
#[derive(Debug, Clone)]
pub(crate) struct GroupBy {
    pub(crate) column: usize,
    pub(crate) kind: Kind,
    pub(crate) bucket: Option<Bucket>,
    pub(crate) replacements: Vec<(Regex, String)>,
}

impl GroupBy {
    /// Applies the replacements to a label.
    pub(crate) fn relabel<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let mut label = Cow::Borrowed(word);
        for (pattern, with) in &self.replacements {
            if let Cow::Owned(new) = pattern.replace_all(&label, with) {
                label = Cow::Owned(new);
            }
        }
        label
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) measure: Measure,
    pub(crate) column: Option<usize>,
    pub(crate) kind: Option<Kind>,
}

type Result<T> = std::result::Result<T, AskError>;

impl Plan {
    pub(crate) fn new(question: &Question, schema: &Schema) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        let types: Vec<DataType> = schema.fields().iter().map(|f| f.data_type().clone()).collect();
        let kinds: Vec<Kind> = types.iter().map(Kind::of).collect();
        let mut plan = Self {
            names,
            types,
            kinds,
            conditions: Vec::new(),
            groups: Vec::new(),
            measured: Vec::new(),
            weight: None,
            shows_all: question.samples.is_some(),
        };
        plan.weight = question.weight.as_ref().map(|name| plan.weight(name)).transpose()?;
        plan.bind_conditions(question)?;
        plan.bind_groups(question)?;
        plan.bind_measures(question)?;
        Ok(plan)
    }

    pub(crate) fn place(&self, name: &str) -> Result<usize> {
        let found = self.names.iter().position(|n| n == name);
        found.ok_or_else(|| AskError::unknown_column(name, self.names.iter().map(String::as_str)))
    }

    fn type_error(&self, what: String, column: usize, needs: &'static str) -> AskError {
        let holds = self.kinds[column].holds().to_owned();
        AskError::Type { what, column: self.names[column].clone(), holds, needs }
    }

    fn weight(&self, name: &str) -> Result<usize> {
        let column = self.place(name)?;
        if self.kinds[column].is_number() {
            return Ok(column);
        }
        Err(self.type_error(format!("weight rows by {name:?}"), column, "numbers"))
    }

    fn time(&self, question: &Question, what: &str) -> Result<usize> {
        let name = question.time.as_deref().unwrap_or(TIME);
        let Some(column) = self.names.iter().position(|n| n == name) else {
            if question.time.is_none() {
                let times: Vec<&str> =
                    self.names.iter().zip(&self.kinds).filter(|(_, k)| **k == Kind::Time).map(|(n, _)| &**n).collect();
                let reason = if times.is_empty() {
                    "the table has no time column".to_owned()
                } else {
                    format!("no column {TIME:?}; name another time column ({})", times.join(", "))
                };
                return Err(AskError::invalid(format!("cannot {what}: {reason}")));
            }
            return self.place(name);
        };
        if self.kinds[column] == Kind::Time {
            return Ok(column);
        }
        Err(self.type_error(format!("{what} by {name:?}"), column, "times"))
    }

    fn bind_conditions(&mut self, question: &Question) -> Result<()> {
        for text in &question.conditions {
            let what = "condition";
            let binder = Binder { names: &self.names, kinds: &self.kinds, text, what };
            let bound = binder.bind(&parse(text, what)?, false)?;
            flatten(bound, &mut self.conditions);
        }
        if question.since.is_some() || question.until.is_some() {
            let column = self.time(question, "limit the time")?;
            let (low, high) =
                (question.since.unwrap_or(i64::MIN), question.until.map_or(Some(i64::MAX), |u| u.checked_sub(1)));
            let range = high.filter(|high| low <= *high).map(|high| (low, high));
            let test = Test::Ints(range.into_iter().collect());
            // The limit on time usually excludes the most segments, so it is tested first.
            self.conditions.insert(0, Cond::Leaf(Leaf { column, test, negated: false }));
        }
        Ok(())
    }

    fn bind_groups(&mut self, question: &Question) -> Result<()> {
        if let Some(bucket) = question.bucket {
            let column = self.time(question, "bucket the time")?;
            self.groups.push(GroupBy { column, kind: Kind::Time, bucket: Some(bucket), replacements: Vec::new() });
        }
        for name in &question.groups {
            let column = self.place(name)?;
            if self.groups.iter().any(|group| group.column == column) {
                return Err(AskError::invalid(format!("duplicate group column {name:?}: name it once")));
            }
            if self.kinds[column] == Kind::Other {
                return Err(self.type_error(
                    format!("group by {name:?}"),
                    column,
                    "numbers, text, times, booleans or sets",
                ));
            }
            let kind = if self.kinds[column] == Kind::Set { Kind::Text } else { self.kinds[column] };
            self.groups.push(GroupBy { column, kind, bucket: None, replacements: Vec::new() });
        }
        if self.groups.len() > GROUPS_MAX {
            return Err(AskError::invalid(format!("too many group columns: name at most {GROUPS_MAX}")));
        }
        for replacement in &question.replacements {
            let column = self.place(&replacement.column)?;
            if !matches!(self.kinds[column], Kind::Text | Kind::Set) {
                return Err(self.type_error(
                    format!("relabel {:?}", replacement.column),
                    column,
                    "text or sets of text",
                ));
            }
            let pattern = expr::regex(&replacement.pattern).map_err(|(at, reason)| AskError::Syntax {
                what: "replacement",
                error: expr::Error::new(&replacement.pattern, at, reason),
            })?;
            let group = self.groups.iter_mut().find(|group| group.column == column).ok_or_else(|| {
                let name = &replacement.column;
                AskError::invalid(format!("cannot relabel {name:?}: group by {name} too"))
            })?;
            group.replacements.push((pattern, replacement.with.clone()));
        }
        Ok(())
    }

    fn bind_measures(&mut self, question: &Question) -> Result<()> {
        let count = [Measure::Count];
        let measures = if question.measures.is_empty() { &count[..] } else { &question.measures };
        for measure in measures {
            let column = measure.column().map(|name| self.place(name)).transpose()?;
            let kind = column.map(|column| self.kinds[column]);
            let needs = match (measure, kind) {
                (Measure::Least(_) | Measure::Greatest(_) | Measure::Distinct(_), Some(Kind::Set | Kind::Other)) => {
                    Some("numbers, text, times or booleans")
                }
                (Measure::Least(_) | Measure::Greatest(_) | Measure::Distinct(_), _)
                | (Measure::Quantiles(..), Some(Kind::Time | Kind::Date)) => None,
                (_, Some(kind)) if !kind.is_number() => Some("numbers"),
                _ => None,
            };
            if let (Some(needs), Some(column)) = (needs, column) {
                let what = format!("compute {}({})", measure.into_str(), self.names[column]);
                return Err(self.type_error(what, column, needs));
            }
            self.measured.push(Measured { measure: measure.clone(), column, kind });
        }
        Ok(())
    }

    pub(crate) fn key_kinds(&self) -> Vec<Kind> {
        self.groups.iter().map(|group| group.kind).collect()
    }

    /// The cache key of the question with the given conditions: equal text means equal answer.
    pub(crate) fn cache_key(&self, conditions: &[usize]) -> String {
        let conditions: Vec<&Cond> = conditions.iter().map(|&condition| &self.conditions[condition]).collect();
        let mut columns = self.answered();
        conditions.iter().for_each(|condition| condition.each_column(&mut |column| columns.push(column)));
        columns.sort_unstable();
        columns.dedup();
        let columns = columns.into_iter().map(|column| (column, &self.names[column], &self.types[column]));
        let columns: Vec<_> = columns.collect();
        format!("{columns:?}\n{conditions:?}\n{:?}\n{:?}\n{:?}", self.groups, self.measured, self.weight)
    }

    /// Columns that groups, measures and weight need, sorted.
    pub(crate) fn answered(&self) -> Vec<usize> {
        let groups = self.groups.iter().map(|group| group.column);
        let measured = self.measured.iter().filter_map(|measured| measured.column);
        let mut columns: Vec<usize> = groups.chain(measured).chain(self.weight).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The bucket of a column of times, if the answer needs nothing else of the column.
    pub(crate) fn only_bucket(&self, column: usize) -> Option<Bucket> {
        let bucket = self.groups.iter().find(|group| group.column == column)?.bucket?;
        let is_measured = self.measured.iter().any(|measured| measured.column == Some(column));
        (!self.shows_all && !is_measured).then_some(bucket)
    }

    /// Whether the answer needs only the bucket of some column.
    pub(crate) fn has_bucketed(&self) -> bool {
        self.groups.iter().any(|group| self.only_bucket(group.column).is_some())
    }

    pub(crate) fn is_used(&self, column: usize) -> bool {
        let mut used = self.shows_all || self.answered().contains(&column);
        self.conditions.iter().for_each(|condition| condition.each_column(&mut |of| used |= of == column));
        used
    }

    /// Whether values are read without rounding. Decimals are read as doubles, so they are rounded.
    pub(crate) fn is_exact(&self, column: usize) -> bool {
        !matches!(self.types[column], DataType::Decimal128(..))
    }
}

/// Maximum number of key columns: each needs a NULL bit in a 64-bit cell.
const GROUPS_MAX: usize = 63;
/// Splits nested conjunctions into separate conditions.
fn flatten(condition: Cond, into: &mut Vec<Cond>) {
    match condition {
        Cond::All(parts) => parts.into_iter().for_each(|part| flatten(part, into)),
        other => into.push(other),
    }
}
