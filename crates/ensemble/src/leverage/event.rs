//! The events of a quantity: a flag, each label of a code, or a number above its median.

use super::joint::{Count, Joint};
use crate::quantity::Quantity;

/// A condition over one quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// The outcome's index in its kind, and the label's place.
    place: (Option<usize>, usize),
    /// The outcome's name; `None` for an expression.
    outcome: Option<String>,
    /// The outcome as written in a condition, or the expression; and the test that follows it.
    subject: String,
    test: String,
}

impl Event {
    fn new(quantity: &Quantity, label: usize, test: String) -> Self {
        let outcome = quantity.as_outcome();
        Self {
            place: (outcome.map(|outcome| outcome.outcome), label),
            outcome: outcome.map(|_| quantity.name.clone()),
            subject: outcome.map_or_else(|| quantity.name.clone(), |_| expr::written(&quantity.name)),
            test,
        }
    }

    pub(super) fn place(&self) -> (Option<usize>, usize) {
        self.place
    }

    /// The event as a condition about its entity.
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.subject, self.test)
    }

    /// The event as a condition of its own; `None` for an expression about an entity.
    pub(super) fn leg(&self, entity: Option<&str>) -> Option<String> {
        match (entity, &self.outcome) {
            (None, _) => Some(self.text()),
            (Some(entity), Some(outcome)) => {
                Some(format!("{}{}", expr::written(&format!("{entity}:{outcome}")), self.test))
            }
            (Some(_), None) => None,
        }
    }
}

/// The events of a quantity that hold in some counted worlds, but not in all, with their worlds and hits.
pub(super) fn events_of(quantity: &Quantity, joint: &Joint) -> Vec<(Event, usize, usize)> {
    let all = joint.worlds();
    let event = |label, test, worlds, hits| (Event::new(quantity, label, test), worlds, hits);
    if quantity.is_flag {
        let (worlds, hits) = sum(joint.counts.iter().filter(|count| count.value != 0.0));
        return if (1..all).contains(&worlds) { vec![event(0, String::new(), worlds, hits)] } else { Vec::new() };
    }
    if quantity.has_labels() {
        let labelled = joint.counts.iter().filter(|count| count.worlds < all).filter_map(|count| {
            let label = quantity.label(count.value)?;
            let test = format!(" = '{}'", label.replace('\'', "''"));
            Some(event(count.value as usize, test, count.worlds, count.hits))
        });
        return labelled.collect();
    }
    let Some((value, worlds, hits)) = split(joint) else { return Vec::new() };
    vec![event(0, format!(" > {}", written(value)), worlds, hits)]
}

/// The shortest text that reads back as the number: one of 300 digits would hide the event.
fn written(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-6..1e16).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// The value that splits the worlds most evenly, with the worlds above it and their hits. `None` if all values are equal.
fn split(joint: &Joint) -> Option<(f64, usize, usize)> {
    let (all, met) = (joint.worlds(), joint.hits());
    let (mut worlds, mut hits) = (0, 0);
    let mut best: Option<(usize, f64, usize, usize)> = None;
    for Count { value, worlds: n, hits: h } in &joint.counts {
        (worlds, hits) = (worlds + n, hits + h);
        let distance = (2 * worlds).abs_diff(all);
        let is_better = best.is_none_or(|(least, ..)| distance < least);
        if worlds < all && value.is_finite() && is_better {
            best = Some((distance, *value, all - worlds, met - hits));
        }
    }
    best.map(|(_, value, worlds, hits)| (value, worlds, hits))
}

fn sum<'a>(counts: impl Iterator<Item = &'a Count>) -> (usize, usize) {
    counts.fold((0, 0), |(worlds, hits), count| (worlds + count.worlds, hits + count.hits))
}
