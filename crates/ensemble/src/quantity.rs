//! Quantities that questions name: an outcome, or an expression of outcomes.

use std::sync::Arc;

use expr::{Expr, Node};
use model::{Catalogue, Outcome, OutcomeKind};

use crate::column::Column;
use crate::columns::Columns;
use crate::distribution::Distribution;
use crate::error::{EnsembleError, QuestionError};
use crate::expression::{Expression, OutcomeRef};
use crate::interval::Interval;

/// A number or a condition over the worlds of an ensemble, with its names.
#[derive(Debug, Clone)]
pub struct Quantity {
    /// The entity of an outcome; for an expression, the entity of its plain names, if one was given. An index in the
    /// catalogue.
    pub entity: Option<usize>,
    /// The outcome's name, or the expression as typed.
    pub name: String,
    /// The unit; empty if the parts of an expression share none.
    pub unit: String,
    /// The outcome whose codes have labels.
    labels: Option<Outcome>,
    /// Whether it is 0 or 1.
    pub is_flag: bool,
    expression: Expression,
}

impl Quantity {
    /// Reads the name of an outcome (`wins` of `entity`, or `team-03:wins`), or an expression of such names.
    ///
    /// # Errors
    /// When a name is unknown, or the text is neither a name nor an expression.
    pub fn parse(text: &str, catalogue: &Catalogue, entity: Option<usize>) -> Result<Self, QuestionError> {
        if let Some(Ok(outcome)) = OutcomeRef::named(text, catalogue, entity) {
            return Ok(Self::outcome(outcome, catalogue));
        }
        // A name alone needs no pointer at the position of the error.
        if let Ok(Expr { node: Node::Name(name), .. }) = expr::parse(text)
            && let Some(Err(unknown)) = OutcomeRef::named(&name, catalogue, entity)
        {
            return Err(unknown.into());
        }
        let expression = Expression::parse(text, catalogue, entity)?;
        if let Some(outcome) = expression.outcome() {
            return Ok(Self::outcome(outcome, catalogue));
        }
        Ok(Self {
            entity,
            name: expression.text().to_owned(),
            unit: expression.unit(catalogue).to_owned(),
            labels: None,
            is_flag: expression.is_condition(),
            expression,
        })
    }

    /// One outcome.
    pub(crate) fn outcome(outcome: OutcomeRef, catalogue: &Catalogue) -> Self {
        let described = &catalogue.kind_of(outcome.entity).outcomes[outcome.outcome];
        Self {
            entity: Some(outcome.entity),
            name: described.name.clone(),
            unit: described.unit.clone(),
            labels: (!described.labels.is_empty()).then(|| described.clone()),
            is_flag: described.kind == OutcomeKind::Flag,
            expression: Expression::of(outcome, &described.name),
        }
    }

    /// The outcome, if the quantity is one.
    pub fn as_outcome(&self) -> Option<OutcomeRef> {
        self.expression.outcome()
    }

    /// The outcomes that it reads.
    pub(crate) fn outcomes(&self) -> &[OutcomeRef] {
        self.expression.columns()
    }

    /// Whether its codes have labels.
    pub(crate) fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// The label of a code.
    pub(crate) fn label(&self, code: f64) -> Option<&str> {
        self.labels.as_ref()?.label(code)
    }

    /// Its value in every world; see [`Columns::evaluate`].
    ///
    /// # Errors
    /// Those of [`Columns::evaluate`].
    pub fn column(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<Arc<Column>, QuestionError> {
        columns.evaluate(&self.expression, wanted)
    }

    /// The label, code and worlds of each value; none for quantities without labels.
    pub(crate) fn labelled(&self, distribution: &Distribution) -> Vec<(String, f64, usize)> {
        let Some(outcome) = self.labels.as_ref() else { return Vec::new() };
        let label = |code: f64| outcome.label(code).unwrap_or_default().to_owned();
        distribution.counts.iter().map(|(code, worlds)| (label(*code), *code, *worlds)).collect()
    }

    /// Clips an interval to the possible means.
    pub(crate) fn possible(&self, interval: Interval) -> Interval {
        if self.is_flag { interval.of_flag() } else { interval }
    }
}

/// Maximum bytes of the values of all expressions of one question.
const EXPRESSIONS_BYTES_MAX: usize = 512 << 20;

/// Reads the columns of some quantities: those of outcomes together, each expression alone.
///
/// # Errors
/// Those of [`Columns::evaluate`], or the values of all expressions exceed 512 MB.
pub(crate) fn columns_of(
    quantities: &[Quantity],
    columns: &Columns,
    wanted: &dyn Fn() -> bool,
) -> Result<Vec<Arc<Column>>, QuestionError> {
    let outcomes: Vec<OutcomeRef> = quantities.iter().filter_map(Quantity::as_outcome).collect();
    let mut read = columns.get(&outcomes)?.into_iter();
    let mut bytes = 0;
    let column = |quantity: &Quantity| {
        if let Some(column) = quantity.as_outcome().and_then(|_| read.next()) {
            return Ok(column);
        }
        let column = quantity.column(columns, wanted)?;
        bytes += column.bytes();
        if bytes > EXPRESSIONS_BYTES_MAX {
            return Err(EnsembleError::Memory { limit: EXPRESSIONS_BYTES_MAX }.into());
        }
        Ok(column)
    };
    quantities.iter().map(column).collect()
}
