//! Queries about an ensemble from people and programs: names as text, answered over open columns.

use model::Catalogue;
use ndarray::Array2;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::columns::Columns;
use crate::compare::{Comparison, compare};
use crate::correlation::correlation;
use crate::distribution::Distribution;
use crate::error::QuestionError;
use crate::expression::{BitSet, Expression};
use crate::given::Given;
use crate::interval::Interval;
use crate::json::number;
use crate::model_words::ModelWords;
use crate::plan::MakeModel;
use crate::price::{Price, price_while};
use crate::quantity::{Quantity, columns_of};
use crate::stored::StoredEnsemble;

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
/// Maximum bins, and maximum quantiles, of one outcome, and of all outcomes of one query.
const POINTS_MAX: usize = 1_000;
const ALL_POINTS_MAX: usize = 500_000;
/// Maximum legs and conditions of one query.
pub(crate) const CONDITIONS_MAX: usize = 1_000;
/// Maximum outcomes of one query, over all its entities.
const OUTCOMES_MAX: usize = 10_000;
/// Maximum outcomes of one matrix of correlations.
const CORRELATED_MAX: usize = 2_000;
/// Maximum distinct values of all outcomes of one query, and of one that returns them all.
const VALUES_MAX: usize = 8 << 20;
const CDF_VALUES_MAX: usize = 200_000;

/// A query for a probability.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceQuestion {
    pub ensemble: String,
    /// The default entity of the legs; other entities' outcomes are written `entity:outcome`.
    #[serde(default)]
    pub entity: Option<String>,
    /// Conditions that must all hold.
    pub legs: Vec<String>,
    /// Count only worlds that meet these: conditions over outcomes, or in the model's own words, for the default entity
    /// or for another as `entity: words`.
    #[serde(default)]
    pub given: Vec<String>,
    /// Require at least this many worlds.
    #[serde(default = "min_worlds")]
    pub min_worlds: usize,
}

/// The fewest worlds that make a conditional answer useful.
pub(crate) fn min_worlds() -> usize {
    100
}

impl PriceQuestion {
    /// Answers over `columns` of the ensemble. Calls `make_model` for conditions in the model's own words, and stops
    /// once `wanted` returns false.
    ///
    /// # Errors
    /// When the query is invalid or too large, too few worlds match, the caller gives up, or segments cannot be read.
    pub fn answer(
        &self,
        columns: &Columns,
        make_model: &MakeModel,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Price, QuestionError> {
        if self.legs.is_empty() {
            return Err(QuestionError::NoLegs);
        }
        check_count("legs and conditions", self.legs.len() + self.given.len(), CONDITIONS_MAX)?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let entity = catalogue.asked_entity(self.entity.as_deref())?;
        let parse = |text: &String| Expression::parse(text, catalogue, entity);
        let legs = self.legs.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let given = given_worlds(&self.given, self.min_worlds, entity, columns, make_model, wanted)?;
        let price = price_while(columns, &legs, given.as_ref(), wanted)?;
        if wanted() { Ok(price) } else { Err(QuestionError::GivenUp) }
    }
}

pub(crate) fn check_count(what: &'static str, count: usize, max: usize) -> Result<(), QuestionError> {
    if count > max { Err(QuestionError::TooMany { what, count, max }) } else { Ok(()) }
}

/// The worlds that meet all conditions, at least `least`; `None` without conditions. Conditions without an entity are
/// about `entity`.
pub(crate) fn given_worlds(
    conditions: &[String],
    least: usize,
    entity: Option<usize>,
    columns: &Columns,
    make_model: &MakeModel,
    wanted: &dyn Fn() -> bool,
) -> Result<Option<BitSet>, QuestionError> {
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut given = Given::new(columns.worlds());
    let mut words = ModelWords::new(columns.ensemble(), entity, make_model);
    for text in conditions {
        match Expression::parse(text, &columns.ensemble().plan.catalogue, entity) {
            Ok(condition) => given.add(text, &columns.worlds_of(&condition, wanted)?),
            Err(error) => words.add(&mut given, text, error, wanted)?,
        }
        if !wanted() {
            return Err(QuestionError::GivenUp);
        }
    }
    Ok(Some(given.worlds(least)?))
}

/// A query for outcomes: each of the outcomes of each of the entities.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeQuestion {
    pub ensemble: String,
    /// Without entities, each outcome names its own: `team-03:wins`.
    #[serde(default)]
    pub entities: Vec<String>,
    /// Names of outcomes, and expressions such as `wins - losses` or `team-03:wins - team-04:wins`.
    pub outcomes: Vec<String>,
    /// Also return every value with the share of worlds that do not exceed it.
    #[serde(default)]
    pub cdf: bool,
    /// Bins of the histogram at most.
    #[serde(default = "bins")]
    pub bins: usize,
    /// Shares, from 0 to 1, whose quantiles to return.
    #[serde(default = "shares")]
    pub quantiles: Vec<f64>,
}

fn bins() -> usize {
    BINS
}

fn shares() -> Vec<f64> {
    QUANTILES.to_vec()
}

/// One outcome or expression, and its distribution.
#[derive(Debug)]
pub struct OutcomeAnswer {
    /// The entity; `None` for an expression that names the entity of each outcome.
    pub entity: Option<String>,
    /// The entity's title for people; empty without an entity.
    pub title: String,
    /// The outcome's name, or the expression as typed.
    pub outcome: String,
    /// The unit; empty for an expression whose parts share none.
    pub unit: String,
    /// The label, code and worlds of each value, for an outcome whose codes have labels; a code without one has an
    /// empty label.
    pub labelled: Vec<(String, f64, usize)>,
    pub distribution: Distribution,
    /// The mean's 95% confidence interval; `None` for fewer than two worlds.
    pub ci: Option<Interval>,
}

/// Outcomes or expressions in memory at once.
pub(crate) const AT_ONCE: usize = 16;

impl OutcomeQuestion {
    /// Answers over `columns` of the ensemble; stops once `wanted` returns false.
    ///
    /// # Errors
    /// When an entity or outcome is unknown, an expression is invalid or not finite in some world, there are too many,
    /// the caller gives up, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<Vec<OutcomeAnswer>, QuestionError> {
        let catalogue = &columns.ensemble().plan.catalogue;
        let asked = asked(&self.entities, &self.outcomes, catalogue)?;
        self.check_points(asked.len())?;
        let mut answers = Vec::with_capacity(asked.len());
        let mut values = 0;
        let values_max = if self.cdf { CDF_VALUES_MAX } else { VALUES_MAX };
        for some in asked.chunks(AT_ONCE) {
            let some = some.iter().map(|(entity, text)| Quantity::parse(text, catalogue, *entity));
            let some = some.collect::<Result<Vec<_>, _>>()?;
            for (quantity, column) in some.iter().zip(columns_of(&some, columns, wanted)?) {
                if !wanted() {
                    return Err(QuestionError::GivenUp);
                }
                let distribution = Distribution::of(&column);
                values += distribution.counts.len();
                check_count("different values of outcomes", values, values_max)?;
                answers.push(OutcomeAnswer::new(catalogue, quantity, distribution));
            }
        }
        Ok(answers)
    }

    fn check_points(&self, outcomes: usize) -> Result<(), QuestionError> {
        if self.bins == 0 {
            return Err(QuestionError::NoBins);
        }
        check_count("bins of a histogram", self.bins, POINTS_MAX)?;
        check_count("quantiles", self.quantiles.len(), POINTS_MAX)?;
        if let Some(share) = self.quantiles.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(QuestionError::Quantile { share: *share });
        }
        let extra = (self.bins + self.quantiles.len()).saturating_sub(BINS + QUANTILES.len());
        check_count("bins and quantiles", extra.saturating_mul(outcomes), ALL_POINTS_MAX)
    }
}

/// Every outcome of every entity: the entity's index, and the outcome's text.
pub(crate) fn asked<'q>(
    entities: &[String],
    outcomes: &'q [String],
    catalogue: &Catalogue,
) -> Result<Vec<(Option<usize>, &'q str)>, QuestionError> {
    check_count("outcomes", entities.len().max(1).saturating_mul(outcomes.len()), OUTCOMES_MAX)?;
    let entities = entities.iter().map(|name| Ok(Some(catalogue.find_entity(name)?)));
    let mut entities = entities.collect::<Result<Vec<_>, QuestionError>>()?;
    if entities.is_empty() {
        entities.push(catalogue.asked_entity(None)?);
    }
    let of = |entity| outcomes.iter().map(move |text| (entity, text.as_str()));
    Ok(entities.into_iter().flat_map(of).collect())
}

/// A query for the correlations between outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrelationQuestion {
    pub ensemble: String,
    /// The entity of plain names.
    #[serde(default)]
    pub entity: Option<String>,
    /// Names of outcomes, and expressions; none for all outcomes of the entity.
    #[serde(default)]
    pub outcomes: Vec<String>,
}

/// Correlations between outcomes or expressions.
#[derive(Debug)]
pub struct CorrelationAnswer {
    /// The entity of plain names.
    pub entity: Option<String>,
    pub worlds: usize,
    /// The names as typed, in the order of the matrix.
    pub outcomes: Vec<String>,
    /// Pearson correlations over all worlds; NaN for an outcome that is constant.
    pub matrix: Array2<f64>,
}

impl CorrelationQuestion {
    /// Answers over `columns` of the ensemble; stops once `wanted` returns false.
    ///
    /// # Errors
    /// When the entity or an outcome is unknown, neither is given, an expression is invalid or not finite in some
    /// world, there are too many, the caller gives up, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<CorrelationAnswer, QuestionError> {
        check_count("outcomes", self.outcomes.len(), CORRELATED_MAX)?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let entity = catalogue.asked_entity(self.entity.as_deref())?;
        let mut texts = self.outcomes.clone();
        if texts.is_empty() {
            let kind = catalogue.kind_of(entity.ok_or(QuestionError::NoOutcomes)?);
            texts.extend(kind.outcomes.iter().map(|outcome| outcome.name.clone()));
        }
        let quantities = texts.iter().map(|text| Quantity::parse(text, catalogue, entity));
        let quantities = quantities.collect::<Result<Vec<_>, _>>()?;
        let matrix = correlation(&columns_of(&quantities, columns, wanted)?);
        let answer =
            CorrelationAnswer { entity: self.entity.clone(), worlds: columns.worlds(), outcomes: texts, matrix };
        if wanted() { Ok(answer) } else { Err(QuestionError::GivenUp) }
    }
}

impl CorrelationAnswer {
    /// The JSON form in commands and the server. JSON has no NaN: a constant outcome has no correlation.
    pub fn to_json(&self) -> Value {
        let number = |r: &f64| if r.is_nan() { Value::Null } else { json!(r) };
        let rows: Value = self.matrix.rows().into_iter().map(|row| row.iter().map(number).collect::<Value>()).collect();
        json!({"entity": self.entity, "worlds": self.worlds, "outcomes": self.outcomes, "matrix": rows})
    }
}

/// A query for the differences between two ensembles.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareQuestion {
    pub first: String,
    pub second: String,
    /// Outcomes as `ENTITY:OUTCOME`, and expressions of such.
    pub outcomes: Vec<String>,
}

impl CompareQuestion {
    /// Answers over the columns of both ensembles; stops once `wanted` returns false.
    ///
    /// # Errors
    /// When either ensemble does not know a name, an expression is invalid or not finite in some world, either has no
    /// worlds, there are too many outcomes, the caller gives up, or segments cannot be read.
    pub fn answer(
        &self,
        first: &Columns,
        second: &Columns,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<Comparison>, QuestionError> {
        check_count("outcomes", self.outcomes.len(), OUTCOMES_MAX)?;
        self.outcomes.iter().map(|outcome| compare(first, second, outcome, wanted)).collect()
    }
}

impl OutcomeAnswer {
    fn new(catalogue: &Catalogue, quantity: &Quantity, distribution: Distribution) -> Self {
        let entity = quantity.entity.map(|entity| &catalogue.entities[entity]);
        Self {
            entity: entity.map(|entity| entity.name.clone()),
            title: entity.map(|entity| entity.title.clone()).unwrap_or_default(),
            outcome: quantity.name.clone(),
            unit: quantity.unit.clone(),
            labelled: quantity.labelled(&distribution),
            ci: distribution.interval().map(|interval| quantity.possible(interval)),
            distribution,
        }
    }

    /// The JSON form in commands and the server, with what `question` asks for.
    pub fn to_json(&self, question: &OutcomeQuestion) -> Value {
        let d = &self.distribution;
        let mut value = json!({
            "entity": self.entity,
            "outcome": self.outcome,
            "unit": self.unit,
            "worlds": d.worlds,
            "mean": number(d.mean()),
            "ci": self.ci.map(|ci| [number(ci.low), number(ci.high)]),
            "standard_deviation": number(d.standard_deviation()),
            "min": number(d.quantile(0.0)),
            "max": number(d.quantile(1.0)),
            "quantiles": quantiles_of(d, &question.quantiles),
            "histogram": histogram_of(d, question.bins),
        });
        if !self.labelled.is_empty() {
            let share = |n: usize| n as f64 / d.worlds as f64;
            let labelled = self.labelled.iter();
            value["labels"] = labelled
                .map(|(label, code, n)| json!({"label": label, "code": code, "worlds": n, "share": share(*n)}))
                .collect();
        }
        if question.cdf {
            value["cdf"] = d.cdf().map(|(v, p)| json!({"value": number(v), "probability": p})).collect();
        }
        value
    }
}

/// Quantiles by their share.
pub(crate) fn quantiles(distribution: &Distribution) -> Map<String, Value> {
    quantiles_of(distribution, &QUANTILES)
}

fn quantiles_of(distribution: &Distribution, shares: &[f64]) -> Map<String, Value> {
    shares.iter().zip(distribution.quantiles(shares)).map(|(share, value)| (share.to_string(), number(value))).collect()
}

pub(crate) fn histogram(distribution: &Distribution) -> Vec<Value> {
    histogram_of(distribution, BINS)
}

fn histogram_of(distribution: &Distribution, bins: usize) -> Vec<Value> {
    let bin = |(from, to, n): (f64, f64, usize)| json!({"from": number(from), "to": number(to), "worlds": n});
    distribution.histogram(bins).into_iter().map(bin).collect()
}

impl StoredEnsemble {
    /// Summary and progress, in the JSON form of commands and the server.
    pub fn to_json(&self) -> Value {
        let (outcome_bytes, event_bytes) = self.bytes();
        let plan = &self.plan;
        let (parameters, definition) = plan.inputs();
        json!({
            "ensemble": plan.name,
            "state": self.state(),
            "enough": self.enough,
            "version": self.version,
            "model": plan.model,
            "parameters": parameters,
            "definition": definition,
            "worlds": self.worlds(),
            "planned": plan.worlds.count(),
            "seed": plan.seed.0,
            "events": plan.events.into_str(),
            "outcome_bytes": outcome_bytes,
            "event_bytes": event_bytes,
            "created": self.created,
        })
    }
}

impl StoredEnsemble {
    /// Its model's parameters and its catalogue, in the JSON form of the server.
    pub fn description(&self) -> Value {
        let plan = &self.plan;
        let parameters: Value = serde_json::from_str(&plan.parameters).unwrap_or_default();
        // The model does not declare how events are stored.
        let catalogue = plan.catalogue.clone().without_expectations();
        json!({"ensemble": plan.name, "parameters": parameters, "catalogue": catalogue})
    }
}

/// Opens the columns of an ensemble; caches at most `limit_bytes` of them.
///
/// # Errors
/// When it has no completed worlds, or its segments cannot be opened.
pub fn open_columns(stored: StoredEnsemble, limit_bytes: usize) -> Result<Columns, QuestionError> {
    if stored.outcomes.is_empty() {
        return Err(QuestionError::NoWorlds { ensemble: stored.plan.name });
    }
    Ok(Columns::open(stored, limit_bytes)?)
}
