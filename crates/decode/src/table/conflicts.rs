//! Values of a stream's rows that their columns do not hold: they go, as text, to the columns' twins.

use std::collections::HashMap;

use super::column::{Conflict, Effect, Kind, Value};
use super::rules::{Role, twin_name};
use super::table::{Table, Taken, check_text, refuse, refuse_field, shown};
use super::{Limits, TIME_NANOS, Twin};

/// A value of the row under way.
#[derive(Debug)]
pub(super) struct Stray {
    /// Whose it is.
    place: usize,
    text: Box<[u8]>,
    /// Of a row's time that is finer than a microsecond: the nanoseconds past it.
    nanos: Option<i64>,
    /// The column that takes it, once it is known.
    twin: usize,
}

/// What the twins have taken since they were last reported, by column and twin.
#[derive(Debug, Default)]
pub(super) struct Reports {
    reports: Vec<(usize, Twin)>,
    places: HashMap<(usize, usize), usize>,
}

impl Table {
    /// Whether the rows are a stream's.
    #[inline]
    pub(super) fn is_stream(&self) -> bool {
        self.rules.is_some()
    }

    /// Whether an object or field is left out.
    pub(super) fn excludes(&self, name: &[u8]) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.role(name) == Role::Excluded)
    }

    /// Whether a column is left out.
    #[inline]
    pub(super) fn is_excluded(&self, place: usize) -> bool {
        self.columns[place].role == Role::Excluded
    }

    /// Adds a value to a stream's row under way. `written` gives it as the input has it, for where the column does not
    /// hold it.
    #[inline]
    pub(super) fn take(
        &mut self,
        place: usize,
        value: Value<'_>,
        written: impl Fn() -> Vec<u8>,
        limits: &Limits,
    ) -> Taken<()> {
        let rows = self.times.len();
        let named = &mut self.columns[place];
        if named.column.len() > rows {
            return refuse_field(named.name.as_bytes(), "the name stands there twice");
        }
        named.column.pad(rows);
        if named.role == Role::Plain && named.column.kind() != Kind::Nothing {
            check_text(named.name.as_bytes(), value, limits)?;
            if let Ok(effect) = named.column.push(value) {
                self.note(place, effect);
                return Ok(());
            }
        }
        self.take_by_rules(place, value, &written, limits)
    }

    /// As [`Table::take`], where the value is the column's first, or a rule or a conflict has a say.
    #[inline(never)]
    fn take_by_rules(
        &mut self,
        place: usize,
        value: Value<'_>,
        written: &dyn Fn() -> Vec<u8>,
        limits: &Limits,
    ) -> Taken<()> {
        let named = &mut self.columns[place];
        let Some(rules) = &self.rules else {
            return refuse("the rows are no stream's, which is a mistake of manyworlds");
        };
        if named.role != Role::Excluded {
            check_text(named.name.as_bytes(), value, limits)?;
        }
        let time = if named.role == Role::RowTime { rules.row_time(value, written) } else { None };
        let pushed = match rules.fit(named.role, named.column.kind(), value, written) {
            _ if time.is_some_and(|time| time.nanos == 0) => named.column.push(Value::Null),
            Some(value) => named.column.push(value),
            None => Err(Conflict),
        };
        self.row.time = time.map(|time| time.micros).or(self.row.time);
        if let Ok(effect) = pushed {
            self.note(place, effect);
            return Ok(());
        }
        let text = written().into_boxed_slice();
        check_text(named.name.as_bytes(), Value::Text(&text), limits)?;
        named.column.pad(self.times.len() + 1);
        self.row.touched.push(place);
        self.row.strays.push(Stray { place, text, nanos: time.map(|time| time.nanos), twin: 0 });
        Ok(())
    }

    #[inline]
    fn note(&mut self, place: usize, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Typed => self.row.typed.push(place),
            Effect::Widens => self.row.widens.push(place),
        }
        self.row.touched.push(place);
    }

    /// Gives each stray of the row under way to its twin. All of the row must have been taken before.
    #[inline]
    pub(super) fn settle(&mut self, limits: &Limits) -> Taken<()> {
        if self.row.strays.is_empty() { Ok(()) } else { self.settle_strays(limits) }
    }

    #[inline(never)]
    fn settle_strays(&mut self, limits: &Limits) -> Taken<()> {
        let rows = self.times.len();
        for at in 0..self.row.strays.len() {
            let stray = &self.row.strays[at];
            let nanos = stray.nanos.filter(|_| self.takes_nanos());
            let name = match nanos {
                Some(_) => TIME_NANOS.to_owned(),
                None => twin_name(&self.columns[stray.place].name, |name| self.is_taken(name)),
            };
            let place = match self.find(name.as_bytes()) {
                Some(place) => place,
                // Twice as many columns as a stream may name: each of them may need a twin.
                None if self.columns.len() >= 2 * limits.columns_max => {
                    let reason =
                        format!("there are {} columns with those that take what does not fit", self.columns.len());
                    return refuse_field(name.as_bytes(), reason);
                }
                None => self.insert(name.clone(), Role::Plain),
            };
            let column = &mut self.columns[place].column;
            // The row itself may have a NULL there.
            column.truncate(rows);
            column.pad(rows);
            let stray = &mut self.row.strays[at];
            stray.twin = place;
            match column.push(nanos.map_or(Value::Text(&stray.text), Value::Int)) {
                Ok(effect) => self.note(place, effect),
                Err(_) => {
                    return refuse_field(
                        name.as_bytes(),
                        "its twin does not take it, which is a mistake of manyworlds",
                    );
                }
            }
        }
        Ok(())
    }

    /// Whether the row under way can put the nanoseconds of its time into their own column.
    fn takes_nanos(&self) -> bool {
        let is_plain = self.rules.as_ref().is_none_or(|rules| rules.role(TIME_NANOS.as_bytes()) == Role::Plain);
        let is_free = |place: usize| {
            let column = &self.columns[place].column;
            let of_row = column.len() > self.times.len();
            matches!(column.kind(), Kind::Nothing | Kind::Int) && (!of_row || column.ends_null())
        };
        is_plain && self.find(TIME_NANOS.as_bytes()).is_none_or(is_free)
    }

    /// Whether the row under way cannot put a stray's text under this name.
    fn is_taken(&self, name: &str) -> bool {
        if self.rules.as_ref().is_some_and(|rules| rules.role(name.as_bytes()) != Role::Plain) {
            return true;
        }
        let Some(place) = self.find(name.as_bytes()) else { return false };
        let column = &self.columns[place].column;
        let of_row = column.len() > self.times.len();
        !matches!(column.kind(), Kind::Nothing | Kind::Text)
            || (of_row && (!column.ends_null() || self.row.strays.iter().any(|stray| stray.place == place)))
    }

    /// Notes which twins took values of a row that is kept.
    #[inline]
    pub(super) fn report_strays(&mut self, position: impl FnOnce() -> usize) {
        if self.row.strays.is_empty() {
            return;
        }
        let position = position();
        for stray in self.row.strays.drain(..) {
            let Reports { reports, places } = &mut self.reports;
            let at = *places.entry((stray.place, stray.twin)).or_insert_with(|| {
                let twin = Twin {
                    name: self.columns[stray.place].name.to_string(),
                    twin: self.columns[stray.twin].name.to_string(),
                    rows: 0,
                    position,
                    sample: shown(&stray.text),
                    holds: "",
                };
                reports.push((stray.place, twin));
                reports.len() - 1
            });
            reports[at].1.rows += 1;
        }
    }

    /// What the twins have taken since this was last asked, in the order in which they first did.
    pub(super) fn take_reports(&mut self) -> Vec<Twin> {
        let reports = std::mem::take(&mut self.reports).reports;
        let holds = |place: usize| match (self.columns[place].role, self.columns[place].column.kind()) {
            (Role::RowTime | Role::Homeless, _) => "the row's time",
            (Role::Int, _) => Kind::Int.word(),
            (Role::Timestamp(_), _) => Kind::Time.word(),
            (_, Kind::Nothing) => "nothing yet",
            (_, kind) => kind.word(),
        };
        reports.into_iter().map(|(place, twin)| Twin { holds: holds(place), ..twin }).collect()
    }
}
