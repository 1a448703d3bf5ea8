//! Partial answers, and their encoding as bytes.

use std::fmt::Write as _;

use twox_hash::XxHash64;

use serde::{Deserialize, Serialize};

use crate::column::Kind;
use crate::error::AskError;
use crate::plan::Plan;
use crate::question::{Measure, Question};
use crate::reading::Reading;
use crate::state::{Accumulator, Bytes, Groups, Input};

/// The answer of one of several machines. Partial answers to the same question merge, in any order, into the answer
/// over all rows.
#[derive(Debug, Clone)]
pub struct Partial {
    pub(crate) shape: Shape,
    pub(crate) groups: Groups,
    /// Groups that were left out, because they are past the limit of the answer.
    pub(crate) left_out: usize,
    pub(crate) reading: Reading,
}

/// The shape of the answer: the question and the kinds of its columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) question: Question,
    /// Names and kinds of the key columns.
    pub(crate) groups: Vec<(String, Kind)>,
    pub(crate) measured: Vec<Option<Kind>>,
    pub(crate) weight: Option<Kind>,
    pub(crate) notes: Vec<String>,
}

impl Shape {
    pub(crate) fn new(question: Question, plan: &Plan) -> Self {
        let mut notes = Vec::new();
        let is_inexact = |column: &usize| plan.is_used(*column) && !plan.is_exact(*column);
        let inexact: Vec<&str> = (0..plan.names.len()).filter(is_inexact).map(|c| plan.names[c].as_str()).collect();
        if !inexact.is_empty() {
            let mut note = String::new();
            let _ = write!(
                note,
                "approximate: decimals ({}) are read as doubles, each with a relative error of at most 1.2e-16",
                inexact.join(", ")
            );
            notes.push(note);
        }
        Self {
            question,
            groups: plan.groups.iter().map(|group| (plan.names[group.column].clone(), group.kind)).collect(),
            measured: plan.measured.iter().map(|measured| measured.kind).collect(),
            weight: plan.weight.map(|column| plan.kinds[column]),
            notes,
        }
    }

    pub(crate) fn measures(&self) -> &[Measure] {
        const COUNT: &[Measure] = &[Measure::Count];
        if self.question.measures.is_empty() { COUNT } else { &self.question.measures }
    }
}

/// The first bytes of every file of a partial answer.
const MAGIC: &[u8] = b"manyworlds partial answer 1\n";

impl Partial {
    /// Encodes the partial answer for another machine.
    ///
    /// # Errors
    /// If compression fails.
    pub fn encode(mut self) -> Result<Vec<u8>, AskError> {
        self.groups.settle();
        let failed = |e: &dyn std::fmt::Display| AskError::invalid(format!("cannot encode the partial answer: {e}"));
        let mut raw = Bytes::default();
        raw.text(&serde_json::to_string(&self.shape).map_err(|e| failed(&e))?);
        raw.number(self.reading.segments as u64);
        raw.number(self.reading.rows_matching);
        self.groups.encode(&mut raw);
        let mut bytes = Bytes(MAGIC.to_vec());
        bytes.0.extend_from_slice(&XxHash64::oneshot(0, &raw.0).to_le_bytes());
        bytes.number(raw.0.len() as u64);
        bytes.0.extend(zstd::bulk::compress(&raw.0, 1).map_err(|e| failed(&e))?);
        Ok(bytes.0)
    }

    /// Decodes the bytes of [`Self::encode`]; `name` names them in errors.
    ///
    /// # Errors
    /// If the bytes are damaged, or are not a partial answer of this version.
    pub fn decode(name: &str, bytes: &[u8]) -> Result<Self, AskError> {
        let fail = |reason: &str| AskError::Partial { name: name.to_owned(), reason: reason.to_owned() };
        let damaged = || fail("the partial answer is damaged: write it again");
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(fail("not a partial answer of this version: write it again"));
        };
        Self::read(rest).ok_or_else(damaged)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        /// The maximum compression ratio; a larger claim means damage.
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
        let reading = Reading { segments, rows_matching: input.number()?, ..Reading::default() };
        let measures = shape.measures();
        (measures.len() == shape.measured.len()).then_some(())?;
        let kinds: Vec<Kind> = shape.groups.iter().map(|(_, kind)| *kind).collect();
        let accumulator = |(measure, kind): (&Measure, &Option<Kind>)| Accumulator::new(measure, *kind, shape.weight);
        let accumulators = measures.iter().zip(&shape.measured).map(accumulator).collect();
        let groups = Groups::decode(&mut input, &kinds, accumulators)?;
        Some(Self { shape, groups, left_out: 0, reading })
    }

    pub(crate) fn new(shape: Shape, (groups, left_out): (Groups, usize), reading: Reading) -> Self {
        Self { shape, groups, left_out, reading }
    }

    pub fn question(&self) -> &Question {
        &self.shape.question
    }

    /// The data read to compute the partial answer.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Merges the partial answer of another machine.
    ///
    /// # Errors
    /// If the questions or the column types differ. Order and limit may differ.
    pub fn merge(&mut self, other: Self) -> Result<(), AskError> {
        let plain = |shape: &Shape| {
            let question = Question { order: None, limit: None, ..shape.question.clone() };
            Shape { question, notes: Vec::new(), ..shape.clone() }
        };
        if plain(&self.shape) != plain(&other.shape) {
            return Err(AskError::invalid(
                "cannot merge partial answers to different questions or with different column types",
            ));
        }
        for note in other.shape.notes {
            if !self.shape.notes.contains(&note) {
                self.shape.notes.push(note);
            }
        }
        self.reading.add(other.reading);
        self.groups.merge(other.groups)
    }

    /// Replaces the order and the limit of the answer.
    pub fn arrange(&mut self, order: Option<crate::question::Order>, limit: Option<usize>) {
        self.shape.question.order = order.or(self.shape.question.order.take());
        self.shape.question.limit = limit.or(self.shape.question.limit);
    }
}
