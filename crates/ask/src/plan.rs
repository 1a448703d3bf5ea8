//! What a question means for the columns of a table.

use std::borrow::Cow;

use arrow::datatypes::{DataType, Schema};
use regex::Regex;

use crate::column::Kind;
use crate::error::AskError;
use crate::expression::{Binder, Cond, Leaf, Test, parse};
use crate::question::{Bucket, Measure, Question};

/// The column of times, where none is named.
const TIME: &str = "time";

/// A question with its names found. Columns are told by their places in the table.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) names: Vec<String>,
    pub(crate) types: Vec<DataType>,
    pub(crate) kinds: Vec<Kind>,
    /// All of which must hold.
    pub(crate) conditions: Vec<Cond>,
    /// The bucket of time first.
    pub(crate) groups: Vec<GroupBy>,
    pub(crate) measured: Vec<Measured>,
    pub(crate) weight: Option<usize>,
    /// Whether rows are shown as they are.
    shows_all: bool,
}

/// A column whose values make groups.
#[derive(Debug, Clone)]
pub(crate) struct GroupBy {
    pub(crate) column: usize,
    pub(crate) kind: Kind,
    pub(crate) bucket: Option<Bucket>,
    pub(crate) replacements: Vec<(Regex, String)>,
}

impl GroupBy {
    /// What a label becomes.
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

/// What a measure is of.
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
        plan.weight = question.weight.as_ref().map(|name| plan.number("weight", name)).transpose()?;
        plan.bind_conditions(question)?;
        plan.bind_groups(question)?;
        plan.bind_measures(question)?;
        Ok(plan)
    }

    pub(crate) fn place(&self, name: &str) -> Result<usize> {
        let found = self.names.iter().position(|n| n == name);
        found.ok_or_else(|| AskError::unknown_column(name, self.names.iter().map(String::as_str)))
    }

    fn misfit(&self, what: &str, column: usize, needs: &'static str) -> AskError {
        let holds = self.kinds[column].holds().to_owned();
        AskError::Type { what: what.to_owned(), column: self.names[column].clone(), holds, needs }
    }

    fn number(&self, what: &str, name: &str) -> Result<usize> {
        let column = self.place(name)?;
        if self.kinds[column].is_number() { Ok(column) } else { Err(self.misfit(what, column, "numbers")) }
    }

    fn time(&self, question: &Question, what: &str) -> Result<usize> {
        let name = question.time.as_deref().unwrap_or(TIME);
        let Some(column) = self.names.iter().position(|n| n == name) else {
            if question.time.is_none() {
                let times: Vec<&str> =
                    self.names.iter().zip(&self.kinds).filter(|(_, k)| **k == Kind::Time).map(|(n, _)| &**n).collect();
                let which = if times.is_empty() { "it has no column of times".into() } else { times.join(", ") };
                let reason = format!(
                    "{what} needs a column of times, and there is no column `time`: name another one ({which})"
                );
                return Err(AskError::invalid(reason));
            }
            return self.place(name);
        };
        if self.kinds[column] == Kind::Time { Ok(column) } else { Err(self.misfit(what, column, "times")) }
    }

    fn bind_conditions(&mut self, question: &Question) -> Result<()> {
        for text in &question.conditions {
            let what = "condition";
            let binder = Binder { names: &self.names, kinds: &self.kinds, text, what };
            let bound = binder.bind(&parse(text, what)?, false)?;
            flatten(bound, &mut self.conditions);
        }
        if question.since.is_some() || question.until.is_some() {
            let column = self.time(question, "a limit on time")?;
            let (low, high) =
                (question.since.unwrap_or(i64::MIN), question.until.map_or(Some(i64::MAX), |u| u.checked_sub(1)));
            let range = high.filter(|high| low <= *high).map(|high| (low, high));
            let test = Test::Ints(range.into_iter().collect());
            // What most often leaves segments out comes first.
            self.conditions.insert(0, Cond::Leaf(Leaf { column, test, negated: false }));
        }
        Ok(())
    }

    fn bind_groups(&mut self, question: &Question) -> Result<()> {
        if let Some(bucket) = question.bucket {
            let column = self.time(question, "a time bucket")?;
            self.groups.push(GroupBy { column, kind: Kind::Time, bucket: Some(bucket), replacements: Vec::new() });
        }
        for name in &question.groups {
            let column = self.place(name)?;
            if self.groups.iter().any(|group| group.column == column) {
                return Err(AskError::invalid(format!("{name:?} makes groups twice: name it once")));
            }
            if self.kinds[column] == Kind::Other {
                return Err(self.misfit("group", column, "values that can be told apart"));
            }
            let kind = if self.kinds[column] == Kind::Set { Kind::Text } else { self.kinds[column] };
            self.groups.push(GroupBy { column, kind, bucket: None, replacements: Vec::new() });
        }
        if self.groups.len() > GROUPS_MAX {
            return Err(AskError::invalid(format!("at most {GROUPS_MAX} columns make groups")));
        }
        for replacement in &question.replacements {
            let column = self.place(&replacement.column)?;
            if !matches!(self.kinds[column], Kind::Text | Kind::Set) {
                return Err(self.misfit("replacement", column, "text"));
            }
            let pattern = expr::regex(&replacement.pattern).map_err(|(at, reason)| AskError::Syntax {
                what: "replacement",
                error: expr::Error::new(&replacement.pattern, at, reason),
            })?;
            let group = self.groups.iter_mut().find(|group| group.column == column).ok_or_else(|| {
                let name = &replacement.column;
                AskError::invalid(format!(
                    "a replacement changes labels of groups, and {name:?} makes none: group by {name} too"
                ))
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
                    Some("numbers, text, times or truths")
                }
                (Measure::Least(_) | Measure::Greatest(_) | Measure::Distinct(_), _)
                | (Measure::Quantiles(..), Some(Kind::Time | Kind::Date)) => None,
                (_, Some(kind)) if !kind.is_number() => Some("numbers"),
                _ => None,
            };
            if let (Some(needs), Some(column)) = (needs, column) {
                return Err(self.misfit(measure.word(), column, needs));
            }
            self.measured.push(Measured { measure: measure.clone(), column, kind });
        }
        Ok(())
    }

    /// Kinds of the keys of groups.
    pub(crate) fn key_kinds(&self) -> Vec<Kind> {
        self.groups.iter().map(|group| group.kind).collect()
    }

    /// What is asked of rows that must still meet some of the conditions: the same text means the same answer.
    pub(crate) fn asked(&self, conditions: &[usize]) -> String {
        let conditions: Vec<&Cond> = conditions.iter().map(|&condition| &self.conditions[condition]).collect();
        let mut columns = self.answered();
        conditions.iter().for_each(|condition| condition.each_column(&mut |column| columns.push(column)));
        columns.sort_unstable();
        columns.dedup();
        let columns = columns.into_iter().map(|column| (column, &self.names[column], &self.types[column]));
        let columns: Vec<_> = columns.collect();
        format!("{columns:?}\n{conditions:?}\n{:?}\n{:?}\n{:?}", self.groups, self.measured, self.weight)
    }

    /// Columns that groups and measures need, in order.
    pub(crate) fn answered(&self) -> Vec<usize> {
        let groups = self.groups.iter().map(|group| group.column);
        let measured = self.measured.iter().filter_map(|measured| measured.column);
        let mut columns: Vec<usize> = groups.chain(measured).chain(self.weight).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether the question is about a column.
    pub(crate) fn is_used(&self, column: usize) -> bool {
        let mut used = self.shows_all || self.answered().contains(&column);
        self.conditions.iter().for_each(|condition| condition.each_column(&mut |of| used |= of == column));
        used
    }

    /// Whether a column is stored as what questions take it for.
    pub(crate) fn is_exact(&self, column: usize) -> bool {
        !matches!(self.types[column], DataType::Decimal128(..))
    }
}

/// Columns that make groups, at most.
const GROUPS_MAX: usize = 63;
/// Takes conditions that all must hold apart.
fn flatten(condition: Cond, into: &mut Vec<Cond>) {
    match condition {
        Cond::All(parts) => parts.into_iter().for_each(|part| flatten(part, into)),
        other => into.push(other),
    }
}
