//! What is known of an answer: by one segment, or by one machine.

use std::fmt::Write as _;

use twox_hash::XxHash64;

use serde::{Deserialize, Serialize};

use crate::column::Kind;
use crate::error::AskError;
use crate::plan::Plan;
use crate::question::{Measure, Question};
use crate::reading::Reading;
use crate::state::{Accumulator, Bytes, Groups, Input};

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

impl Shape {
    /// What is told of each group.
    pub(crate) fn measures(&self) -> &[Measure] {
        const COUNT: &[Measure] = &[Measure::Count];
        if self.question.measures.is_empty() { COUNT } else { &self.question.measures }
    }
}

/// What files of partial answers begin with.
const MAGIC: &[u8] = b"manyworlds partial answer 1\n";

impl Partial {
    /// As bytes, for another machine.
    ///
    /// # Errors
    /// Where it cannot be compressed.
    pub fn encode(mut self) -> Result<Vec<u8>, AskError> {
        self.groups.settle();
        let failed =
            |e: &dyn std::fmt::Display| AskError::invalid(format!("a partial answer could not be written: {e}"));
        let mut raw = Bytes::default();
        raw.text(&serde_json::to_string(&self.shape).map_err(|e| failed(&e))?);
        raw.number(self.reading.segments as u64);
        raw.number(self.reading.rows_met);
        self.groups.encode(&mut raw);
        let mut bytes = Bytes(MAGIC.to_vec());
        bytes.0.extend_from_slice(&XxHash64::oneshot(0, &raw.0).to_le_bytes());
        bytes.number(raw.0.len() as u64);
        bytes.0.extend(zstd::bulk::compress(&raw.0, 1).map_err(|e| failed(&e))?);
        Ok(bytes.0)
    }

    /// Reads what [`Self::encode`] wrote; `name` is what it is called in errors.
    ///
    /// # Errors
    /// Where it is no partial answer, or damaged.
    pub fn decode(name: &str, bytes: &[u8]) -> Result<Self, AskError> {
        let fail = |reason: &str| AskError::Partial { name: name.to_owned(), reason: reason.to_owned() };
        let damaged = || fail("it is damaged: write it again");
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(fail("it is not a partial answer of this version: write it again"));
        };
        Self::read(rest).ok_or_else(damaged)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        /// How much smaller than itself the compressor makes anything, at most.
        const RATIO_MAX: usize = 1 << 16;
        let mut input = Input(bytes);
        let hash = u64::from_le_bytes(input.take(8)?.try_into().ok()?);
        let size = usize::try_from(input.number()?).ok()?;
        (size / RATIO_MAX <= input.0.len()).then_some(())?;
        let raw = zstd::bulk::decompress(input.0, size).ok()?;
        (XxHash64::oneshot(0, &raw) == hash).then_some(())?;
        let mut input = Input(&raw);
        let shape: Shape = serde_json::from_str(input.text()?).ok()?;
        let segments = usize::try_from(input.number()?).ok()?;
        let reading = Reading { segments, rows_met: input.number()?, ..Reading::default() };
        let measures = shape.measures();
        (measures.len() == shape.measured.len()).then_some(())?;
        let kinds: Vec<Kind> = shape.groups.iter().map(|(_, kind)| *kind).collect();
        let accumulator = |(measure, kind): (&Measure, &Option<Kind>)| Accumulator::new(measure, *kind, shape.weight);
        let accumulators = measures.iter().zip(&shape.measured).map(accumulator).collect();
        let groups = Groups::decode(&mut input, &kinds, accumulators)?;
        Some(Self { shape, groups, reading })
    }

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

    /// What was read for it.
    pub fn reading(&self) -> &Reading {
        &self.reading
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
}
