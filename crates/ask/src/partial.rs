//! What is known of an answer: by one segment, or by one machine.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::column::Kind;
use crate::error::AskError;
use crate::plan::Plan;
use crate::question::Question;
use crate::reading::Reading;
use crate::state::Groups;

/// What is known of an answer: by one machine of several, say. Partial answers to the same question are merged, in any
/// order, to the answer that all rows together give.
#[derive(Debug, Clone)]
pub struct Partial {
    pub(crate) shape: Shape,
    pub(crate) groups: Groups,
    pub(crate) reading: Reading,
}

/// What an answer looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) question: Question,
    /// Names and kinds of what makes groups.
    pub(crate) groups: Vec<(String, Kind)>,
    /// Kinds of what is measured.
    pub(crate) measured: Vec<Option<Kind>>,
    pub(crate) weight: Option<Kind>,
    pub(crate) notes: Vec<String>,
}

impl Partial {
    pub(crate) fn new(question: Question, plan: &Plan, groups: Groups, reading: Reading) -> Self {
        let mut notes = Vec::new();
        let mut inexact: Vec<&str> = Vec::new();
        for column in plan.answered() {
            if !plan.is_exact(column) {
                inexact.push(&plan.names[column]);
            }
        }
        if !inexact.is_empty() {
            let mut note = String::new();
            let _ = write!(
                note,
                "approximate: decimals ({}) are taken as doubles, each within 1.2e-16 of itself",
                inexact.join(", ")
            );
            notes.push(note);
        }
        let shape = Shape {
            question,
            groups: plan.groups.iter().map(|group| (plan.names[group.column].clone(), group.kind)).collect(),
            measured: plan.measured.iter().map(|measured| measured.kind).collect(),
            weight: plan.weight.map(|column| plan.kinds[column]),
            notes,
        };
        Self { shape, groups, reading }
    }

    /// The question that it answers a part of.
    pub fn question(&self) -> &Question {
        &self.shape.question
    }

    /// Takes over what another knows.
    ///
    /// # Errors
    /// Where it answers another question, or one about columns of other types; of those whatever orders and limits the
    /// answer may differ.
    pub fn merge(&mut self, other: Self) -> Result<(), AskError> {
        let plain = |shape: &Shape| {
            let question = Question { order: None, limit: None, ..shape.question.clone() };
            Shape { question, notes: Vec::new(), ..shape.clone() }
        };
        if plain(&self.shape) != plain(&other.shape) {
            return Err(AskError::invalid("partial answers to different questions, or of columns of other types"));
        }
        for note in other.shape.notes {
            if !self.shape.notes.contains(&note) {
                self.shape.notes.push(note);
            }
        }
        self.reading.add(other.reading);
        self.groups.merge(other.groups)
    }

    /// Orders the groups of the answer otherwise, or limits them.
    pub fn arrange(&mut self, order: Option<crate::question::Order>, limit: Option<usize>) {
        self.shape.question.order = order.or(self.shape.question.order.take());
        self.shape.question.limit = limit.or(self.shape.question.limit);
    }

    /// The answer, of all that is known.
    ///
    /// # Errors
    /// Where it is ordered by what it does not have.
    pub fn answer(self) -> Result<Answer, AskError> {
        Answer::new(self)
    }
}
