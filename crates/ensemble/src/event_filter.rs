//! Conditions over the events of an entity: `down >= 3 and play_type in ('pass', 'sack')`.

use expr::{Comparison, Error, Expr, Name, Node, Operator};
use model::{Catalogue, EventKind, EventRows, UnknownName};

/// A condition over events. A missing value differs from every value: `foul != 'hold'` is true for plays without a
/// foul, and any other test of a missing value is false.
#[derive(Debug, Clone)]
pub struct EventFilter(Cond);

#[derive(Debug, Clone)]
enum Cond {
    All(Vec<Cond>),
    Any(Vec<Cond>),
    Not(Box<Cond>),
    Constant(bool),
    /// A column, whether each of its words passes, and whether a missing one does.
    Words {
        column: usize,
        passes: Vec<bool>,
        missing: bool,
    },
    Null(usize),
    Compare(Number, Comparison, Number),
    In(Number, Vec<f64>),
}

#[derive(Debug, Clone)]
enum Number {
    Column(usize),
    Constant(f64),
    Negative(Box<Number>),
    Absolute(Box<Number>),
    Chain(Box<Number>, Vec<(Operator, Number)>),
}

type Result<T> = std::result::Result<T, Error>;

impl EventFilter {
    /// Parses `text` for the events of `catalogue`. A word after a comparison needs no quotes: `play_type = run`.
    ///
    /// # Errors
    /// When the text does not follow the grammar of [`expr`], names an unknown column or word, or compares words with
    /// numbers.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Self> {
        Ok(Self(Binder { text, catalogue }.condition(&expr::parse(text)?)?))
    }

    /// Whether the condition holds for a row.
    pub fn holds(&self, events: &EventRows, row: usize) -> bool {
        self.0.holds(events, row)
    }
}

impl Cond {
    fn holds(&self, events: &EventRows, row: usize) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(events, row)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(events, row)),
            Self::Not(inner) => !inner.holds(events, row),
            Self::Constant(truth) => *truth,
            Self::Words { column, passes, missing } => match events.columns[*column].number(row) {
                Some(code) => passes.get(code as usize).copied().unwrap_or_default(),
                None => *missing,
            },
            Self::Null(column) => events.columns[*column].value(row).is_none(),
            Self::Compare(left, comparison, right) => match (left.value(events, row), right.value(events, row)) {
                (Some(left), Some(right)) => comparison.holds(expr::order(left, right)),
                _ => *comparison == Comparison::NotEqual,
            },
            Self::In(number, list) => number.value(events, row).is_some_and(|value| list.contains(&value)),
        }
    }
}

impl Number {
    fn value(&self, events: &EventRows, row: usize) -> Option<f64> {
        Some(match self {
            Self::Column(column) => events.columns[*column].value(row)?,
            Self::Constant(value) => *value,
            Self::Negative(inner) => -inner.value(events, row)?,
            Self::Absolute(inner) => inner.value(events, row)?.abs(),
            Self::Chain(first, rest) => {
                let first = first.value(events, row)?;
                rest.iter().try_fold(first, |a, (operator, b)| Some(operator.of(a, b.value(events, row)?)))?
            }
        })
    }
}

struct Binder<'a> {
    text: &'a str,
    catalogue: &'a Catalogue,
}

impl Binder<'_> {
    fn condition(&self, expr: &Expr) -> Result<Cond> {
        let not = |negated: bool, cond: Cond| if negated { Cond::Not(cond.into()) } else { cond };
        Ok(match &expr.node {
            Node::All(parts) => Cond::All(self.conditions(parts)?),
            Node::Any(parts) => Cond::Any(self.conditions(parts)?),
            Node::Not(inner) => Cond::Not(self.condition(inner)?.into()),
            Node::Bool(truth) => Cond::Constant(*truth),
            Node::IsNull { name, negated } => not(*negated, Cond::Null(self.column(name)?)),
            Node::Match { name, pattern, pattern_at, negated } => {
                let regex =
                    expr::regex(pattern).map_err(|(at, reason)| Error::new(self.text, pattern_at + at, reason))?;
                let (column, words) = self.words(name)?;
                let passes = words.iter().map(|word| regex.is_match(word)).collect();
                not(*negated, Cond::Words { column, passes, missing: false })
            }
            Node::In { name, values, negated } => not(*negated, self.list(name, values)?),
            Node::Compare(left, comparison, right) => self.compare(left, *comparison, right)?,
            Node::Has { name, .. } => return self.fail(name.at, "events have no sets: use = or IN"),
            _ => return self.fail(expr.at, "expected a comparison after this: = != < <= > >= ~ !~ IN or IS NULL"),
        })
    }

    fn conditions(&self, parts: &[Expr]) -> Result<Vec<Cond>> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    fn compare(&self, left: &Expr, comparison: Comparison, right: &Expr) -> Result<Cond> {
        for (column, comparison, value) in [(left, comparison, right), (right, comparison.exchanged(), left)] {
            if let Some(name) = column.name()
                && let Ok((place, words)) = self.words(&name)
            {
                let word = self.word(&name.text, words, value)?;
                let passes = words.iter().map(|other| comparison.holds(other.as_str().cmp(word)));
                let missing = comparison == Comparison::NotEqual;
                return Ok(Cond::Words { column: place, passes: passes.collect(), missing });
            }
        }
        Ok(Cond::Compare(self.number(left)?, comparison, self.number(right)?))
    }

    fn list(&self, name: &Name, values: &[Expr]) -> Result<Cond> {
        if let Ok((column, words)) = self.words(name) {
            let list = values.iter().map(|value| self.word(&name.text, words, value)).collect::<Result<Vec<_>>>()?;
            let passes = words.iter().map(|word| list.contains(&word.as_str())).collect();
            return Ok(Cond::Words { column, passes, missing: false });
        }
        let list = values.iter().map(|value| self.constant(value)).collect::<Result<_>>()?;
        Ok(Cond::In(Number::Column(self.column(name)?), list))
    }

    fn number(&self, expr: &Expr) -> Result<Number> {
        if let Some(name) = expr.name() {
            let column = self.column(&name)?;
            return match self.catalogue.events[column].kind {
                EventKind::Label(_) => self.fail(expr.at, &format!("expected a number: {} holds words", name.text)),
                _ => Ok(Number::Column(column)),
            };
        }
        Ok(match &expr.node {
            Node::Negative(inner) => Number::Negative(self.number(inner)?.into()),
            Node::Absolute(inner) => Number::Absolute(self.number(inner)?.into()),
            Node::Chain(first, rest) => {
                let rest = rest.iter().map(|(operator, number)| Ok((*operator, self.number(number)?)));
                Number::Chain(self.number(first)?.into(), rest.collect::<Result<_>>()?)
            }
            _ => Number::Constant(self.constant(expr)?),
        })
    }

    fn constant(&self, expr: &Expr) -> Result<f64> {
        match expr.node {
            Node::Int(value) => Ok(value as f64),
            Node::Real(value) => Ok(value),
            Node::Null => self.fail(expr.at, "use IS NULL to ask for missing values"),
            _ if expr.is_condition() => self.fail(expr.at, Expr::NO_NUMBER),
            _ => self.fail(expr.at, "expected a number here"),
        }
    }

    fn column(&self, name: &Name) -> Result<usize> {
        let found = self.catalogue.find_event_column(&name.text);
        found.map_err(|unknown| Error::new(self.text, name.at, unknown.to_string()))
    }

    /// A column of words, with its words.
    fn words(&self, name: &Name) -> Result<(usize, &[String])> {
        let column = self.column(name)?;
        match &self.catalogue.events[column].kind {
            EventKind::Label(words) => Ok((column, words)),
            _ => self.fail(name.at, &format!("{} holds numbers, not words", name.text)),
        }
    }

    fn word<'a>(&self, column: &str, words: &[String], value: &'a Expr) -> Result<&'a str> {
        let word = match &value.node {
            Node::Text(word) | Node::Name(word) => word,
            Node::Null => return self.fail(value.at, "use IS NULL to ask for missing values"),
            _ => return self.fail(value.at, &format!("expected one of the words of {column}")),
        };
        if !words.contains(word) {
            let known = words.iter().map(String::as_str);
            let unknown = UnknownName::new(format!("{column} is never"), word, known);
            return self.fail(value.at, &unknown.to_string());
        }
        Ok(word)
    }

    fn fail<T>(&self, at: usize, reason: &str) -> Result<T> {
        Err(Error::new(self.text, at, reason))
    }
}

#[cfg(test)]
mod tests {
    use model::{EventColumn, OwnedEventValues};
    use world::{World, WorldRange};

    use super::*;

    fn catalogue() -> Catalogue {
        let column = |name: &str, kind| EventColumn { nullable: true, ..EventColumn::new(name, kind) };
        let words = |words: &[&str]| EventKind::Label(words.iter().map(|word| (*word).to_owned()).collect());
        let events = vec![
            column("down", EventKind::I8),
            column("yards", EventKind::I16),
            column("play_type", words(&["run", "pass", "sack"])),
        ];
        Catalogue { kinds: Vec::new(), entities: Vec::new(), events }
    }

    /// Four plays; every value of the last is missing.
    fn events() -> EventRows {
        EventRows {
            entity: 0,
            range: WorldRange::new(World(0), 1).unwrap(),
            rows: vec![4],
            columns: vec![
                OwnedEventValues::I8(vec![1, 2, 3, model::NULL_I8]),
                OwnedEventValues::I16(vec![-4, 0, 12, model::NULL_I16]),
                OwnedEventValues::Label(vec![2, 0, 1, model::NULL_LABEL]),
            ],
        }
    }

    #[test]
    fn conditions_select_events() {
        for (text, rows) in [
            ("down>=2", vec![1, 2]),
            ("play_type=run", vec![1]),
            ("play_type = 'run' or yards < 0", vec![0, 1]),
            ("'run' != play_type", vec![0, 2, 3]),
            ("not play_type = run", vec![0, 2, 3]),
            ("down != 2", vec![0, 2, 3]),
            ("play_type in ('run', 'pass')", vec![1, 2]),
            ("play_type not in ('run', 'pass')", vec![0, 3]),
            ("play_type ~ 'a' and yards + down > 0", vec![2]),
            ("play_type !~ 's'", vec![1, 3]),
            ("play_type !~ 's' and play_type is not null", vec![1]),
            ("play_type > 'pass'", vec![0, 1]),
            ("yards is null", vec![3]),
            ("yards is not null and abs(yards) < max(down, 5)", vec![0, 1]),
            ("down in (1, 3)", vec![0, 2]),
            ("not (down in (1, 3))", vec![1, 3]),
            ("down > 9 or true", vec![0, 1, 2, 3]),
            ("-yards = 4", vec![0]),
        ] {
            let filter = EventFilter::parse(text, &catalogue()).unwrap();
            assert_eq!((0..4).filter(|&row| filter.holds(&events(), row)).collect::<Vec<_>>(), rows, "{text}");
        }
    }

    #[test]
    fn senseless_conditions_are_refused() {
        for (text, expected) in [
            ("dwn > 1", "events have no column \"dwn\"; did you mean down?"),
            ("play_type = rum", "play_type is never \"rum\"; did you mean run?"),
            ("play_type = 3", "expected one of the words of play_type"),
            ("play_type + 1 > 3", "expected a number: play_type holds words"),
            ("down = run", "events have no column \"run\""),
            ("down = 'run'", "expected a number here"),
            ("(down > 1) + 1 > 1", "expected a number, found a condition: here conditions do not count as 0 and 1"),
            ("down ~ 'a'", "down holds numbers, not words"),
            ("play_type ~ '('", "invalid pattern"),
            ("down has 'a'", "events have no sets"),
            ("down = null", "use IS NULL"),
            ("play_type in ('run', null)", "use IS NULL"),
            ("down", "expected a comparison after this"),
        ] {
            let error = EventFilter::parse(text, &catalogue()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
