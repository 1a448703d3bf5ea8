//! One version of an ensemble, open for questions.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ::ensemble::{
    BetFile, BookQuestion, Columns, CompareQuestion, CorrelationQuestion, MakeModel, OutcomeQuestion, OutcomeRef,
    PriceQuestion, Progress, Quantity, StoredEnsemble, verify_by_replay, verify_with,
};
use model::{Catalogue, OutcomeKind};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::array::{Array, Values};
use crate::failure::Failure;
use crate::wait::{wait_blocking, work};

/// Bytes of columns in memory, and of arrays made of them.
const COLUMN_BYTES_MAX: usize = 256 << 20;
const ARRAY_BYTES_MAX: usize = 256 << 20;

/// One version of an ensemble. Questions and answers are JSON in the form of the commands.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Ensemble {
    columns: Arc<Columns>,
    make_model: MakeModel,
    /// Arrays handed out lately, oldest first, and their bytes.
    arrays: Mutex<(VecDeque<(OutcomeRef, Values)>, usize)>,
}

impl Ensemble {
    pub(crate) fn open(stored: StoredEnsemble, make_model: MakeModel) -> Result<Self, Failure> {
        let columns = Arc::new(Columns::open(stored, COLUMN_BYTES_MAX)?);
        Ok(Self { columns, make_model, arrays: Mutex::default() })
    }

    pub(crate) fn stored(&self) -> &StoredEnsemble {
        self.columns.ensemble()
    }

    fn catalogue(&self) -> &Catalogue {
        &self.stored().plan.catalogue
    }

    /// An array handed out before, or a new one.
    fn values(&self, outcome: OutcomeRef) -> Result<Values, Failure> {
        let mut kept = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, values)) = kept.0.iter().find(|(of, _)| *of == outcome) {
            return Ok(values.clone());
        }
        let kind = self.catalogue().kind_of(outcome.entity).outcomes[outcome.outcome].kind;
        let values = Values::of(&self.columns.get(&[outcome])?[0], kind);
        kept.1 += values.bytes();
        kept.0.push_back((outcome, values.clone()));
        while kept.1 > ARRAY_BYTES_MAX
            && let Some((_, oldest)) = kept.0.pop_front()
        {
            kept.1 -= oldest.bytes();
        }
        Ok(values)
    }
}

/// Reads a question that Python wrote.
fn read<T: serde::de::DeserializeOwned>(question: &str) -> Result<T, Failure> {
    serde_json::from_str(question).map_err(Failure::invalid)
}

/// The bets of a CSV file, as those of a `BookQuestion`.
#[pyfunction]
pub(crate) fn bets(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    Ok(json!(wait_blocking(py, move || BetFile::read(&file))?.bets).to_string())
}

#[pymethods]
impl Ensemble {
    /// Its summary, as `ensembles` lists it.
    fn summary(&self) -> String {
        self.stored().to_json().to_string()
    }

    /// Its parameters and its catalogue, in the form of `GET /api/v1/catalogue`.
    fn description(&self) -> String {
        self.stored().description().to_string()
    }

    /// Answers a `PriceQuestion`.
    fn price(&self, py: Python<'_>, question: &str) -> PyResult<String> {
        let question: PriceQuestion = read(question)?;
        let price = work(py, |wanted| question.answer(&self.columns, &self.make_model, wanted))?;
        Ok(json!(price).to_string())
    }

    /// Answers a `BookQuestion`.
    fn book(&self, py: Python<'_>, question: &str) -> PyResult<String> {
        let question: BookQuestion = read(question)?;
        let found = work(py, |wanted| question.answer(&self.columns, &self.make_model, wanted))?;
        Ok(json!(found).to_string())
    }

    /// Answers an `OutcomeQuestion`.
    fn outcome(&self, py: Python<'_>, question: &str) -> PyResult<String> {
        let question: OutcomeQuestion = read(question)?;
        let answers = work(py, |wanted| question.answer(&self.columns, wanted))?;
        Ok(answers.iter().map(|answer| answer.to_json(&question)).collect::<Value>().to_string())
    }

    /// Answers a `CompareQuestion` about this ensemble and another.
    fn compare(&self, py: Python<'_>, other: &Self, question: &str) -> PyResult<String> {
        let question: CompareQuestion = read(question)?;
        let found = work(py, |wanted| question.answer(&self.columns, &other.columns, wanted))?;
        Ok(json!(found).to_string())
    }

    /// Answers a `CorrelationQuestion`.
    fn correlate(&self, py: Python<'_>, question: &str) -> PyResult<String> {
        let question: CorrelationQuestion = read(question)?;
        let found = work(py, |wanted| question.answer(&self.columns, wanted))?;
        Ok(found.to_json().to_string())
    }

    /// Checks everything stored, and plays all worlds again if `replay` is true.
    fn verify(&self, py: Python<'_>, replay: bool) -> PyResult<String> {
        let (columns, make_model) = (self.columns.clone(), self.make_model.clone());
        let check = if replay { verify_by_replay } else { verify_with };
        let found = wait_blocking(py, move || check(columns.ensemble(), &make_model, &Progress::default()))?;
        Ok(json!(found).to_string())
    }

    /// An outcome or an expression over all stored worlds. `entity` is that of plain names.
    fn array(&self, py: Python<'_>, entity: Option<&str>, quantity: &str) -> PyResult<Option<Array>> {
        let catalogue = self.catalogue();
        let entity = catalogue.asked_entity(entity).map_err(Failure::unknown)?;
        let quantity = Quantity::parse(quantity, catalogue, entity).map_err(Failure::from)?;
        if let Some(outcome) = quantity.as_outcome() {
            return Ok(Array::new(py.detach(|| self.values(outcome))?));
        }
        let kind = if quantity.is_flag { OutcomeKind::Flag } else { OutcomeKind::Number };
        let column = work(py, |wanted| quantity.column(&self.columns, wanted))?;
        Ok(Array::new(Values::of(&column, kind)))
    }

    /// The numbers of the stored worlds, in the order of every array.
    fn world_numbers(&self) -> Option<Array> {
        Array::new(Values::Integers(self.stored().world_numbers().map(|world| i64::from(world.0)).collect()))
    }
}
