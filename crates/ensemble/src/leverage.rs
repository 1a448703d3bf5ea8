//! Leverage: how much each event moves the probability of a condition.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use model::{Catalogue, OutcomeKind};
use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::error::QuestionError;
use crate::expression::{Expression, OutcomeRef};
use crate::plan::MakeModel;
use crate::quantity::Quantity;
use crate::questions::{CONDITIONS_MAX, check_count, given_worlds, min_worlds};
use crate::threads::{available, joined};

mod event;
mod joint;

use event::{Event, events_of};
use joint::{Class, Joint};

/// Maximum events of one answer.
const EVENTS_MAX: usize = 10_000;
/// Maximum outcomes to examine, over all entities.
const OUTCOMES_MAX: usize = 1_000_000;
/// Values of outcomes to examine if the question names no outcomes: numbers are left out beyond these.
const VALUES_MAX: usize = 400_000_000;
/// Bytes of outcomes in memory at once, for each thread.
const BYTES_AT_ONCE: usize = 32 << 20;

/// A query for the events that move the probability of a condition most.
///
/// An event is a condition over one outcome: a flag, one label of a code, or a number above its median (the split that
/// comes closest to half of the worlds). With `p` the share of worlds with the event, the condition's probability moves
/// from `p * with + (1 - p) * without` to `with` or to `without` once the event is decided. The expected distance is
///
/// ```text
/// movement = 2 * p * (1 - p) * |with - without|
/// ```
///
/// Every number is a share of stored worlds: none is sampled or approximated.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeverageQuestion {
    pub ensemble: String,
    /// The condition whose probability moves.
    pub condition: String,
    /// The entity of plain names in `condition` and `given`.
    #[serde(default)]
    pub entity: Option<String>,
    /// Count only worlds that meet these conditions.
    #[serde(default)]
    pub given: Vec<String>,
    /// The entities with the events; none for all.
    #[serde(default)]
    pub entities: Vec<String>,
    /// Names of outcomes and expressions; none for all flags and labelled codes, and for as many numbers of each kind of
    /// entity, in the order of the catalogue, as 400 million values allow.
    #[serde(default)]
    pub outcomes: Vec<String>,
    /// Events to return, those with the greatest movement.
    #[serde(default = "limit")]
    pub limit: usize,
    /// Require at least this many worlds that meet `given`.
    #[serde(default = "min_worlds")]
    pub min_worlds: usize,
}

fn limit() -> usize {
    50
}

/// The events that move a condition's probability most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeverageAnswer {
    /// Worlds counted: all, or those that meet `given`.
    pub worlds: usize,
    /// The share of them in which the condition holds.
    pub probability: f64,
    /// Events compared.
    pub compared: usize,
    /// Numbers that were not examined, because the question names no outcomes and the ensemble has too many.
    pub left_out: usize,
    /// A bound on the movement of an event without any influence: with 95% confidence chance alone moves none of the
    /// compared events farther.
    pub chance: f64,
    /// By movement, the greatest first.
    pub events: Vec<Leverage>,
}

/// One event, and the condition's probability with and without it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leverage {
    /// The entity; `None` for an expression that names the entity of each outcome.
    pub entity: Option<String>,
    /// The entity's title; empty without an entity.
    pub title: String,
    /// The event as a condition: `beta`, `result = 'draw'` or `wins > 9`.
    pub event: String,
    /// The same with the entity, for use as a leg: `team-03:wins > 9`. `None` for an expression about an entity.
    pub leg: Option<String>,
    /// Worlds with the event.
    pub worlds: usize,
    /// The condition's probability in worlds with the event.
    pub with: f64,
    /// Its probability in the other worlds.
    pub without: f64,
    /// `with` minus `without`.
    pub swing: f64,
    /// The expected absolute change of the probability once the event is decided.
    pub movement: f64,
}

/// What to examine of one entity, or of none.
struct Part<'a> {
    entity: Option<usize>,
    what: What<'a>,
}

enum What<'a> {
    /// Outcomes by their index in the entity's kind, ascending.
    Outcomes(&'a [usize]),
    /// Outcomes and expressions as typed.
    Texts(&'a [String]),
}

impl LeverageQuestion {
    /// Answers over `columns` of the ensemble on all cores. Calls `make_model` for conditions in the model's own words,
    /// and stops once `wanted` returns false.
    ///
    /// # Errors
    /// When the query is invalid or too large, too few worlds match, the caller gives up, or segments cannot be read.
    pub fn answer(
        &self,
        columns: &Columns,
        make_model: &MakeModel,
        wanted: &(dyn Fn() -> bool + Sync),
    ) -> Result<LeverageAnswer, QuestionError> {
        check_count("events", self.limit, EVENTS_MAX)?;
        check_count("conditions", self.given.len(), CONDITIONS_MAX)?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let entity = catalogue.asked_entity(self.entity.as_deref())?;
        let condition = Expression::parse(&self.condition, catalogue, entity)?;
        let given = given_worlds(&self.given, self.min_worlds.max(1), entity, columns, make_model, wanted)?;
        let holds = columns.worlds_of(&condition, wanted)?;
        let classes: Vec<Class> = (0..columns.worlds())
            .map(|world| match (given.as_ref().is_none_or(|given| given.contains(world)), holds.contains(world)) {
                (false, _) => Class::Ignored,
                (true, false) => Class::Missed,
                (true, true) => Class::Met,
            })
            .collect();
        let worlds = classes.iter().filter(|class| **class != Class::Ignored).count();
        let hits = classes.iter().filter(|class| **class == Class::Met).count();
        let kinds = Kinds::of(catalogue, columns.worlds());
        let parts = self.parts(catalogue, &kinds)?;
        let search = Search { columns, classes: &classes, named: condition.columns(), limit: self.limit, wanted };
        let found = search.run(&parts)?;
        if !wanted() {
            return Err(QuestionError::GivenUp);
        }
        let probability = hits as f64 / worlds.max(1) as f64;
        let leverage = |found: &Found| found.leverage(catalogue, worlds, hits);
        Ok(LeverageAnswer {
            worlds,
            probability,
            compared: found.compared,
            left_out: if self.outcomes.is_empty() { left_out(&parts, catalogue) } else { 0 },
            chance: chance(found.compared, probability, worlds),
            events: found.best.iter().map(leverage).collect(),
        })
    }

    fn parts<'a>(&'a self, catalogue: &Catalogue, kinds: &'a Kinds) -> Result<Vec<Part<'a>>, QuestionError> {
        let named = self.entities.iter().map(|name| catalogue.find_entity(name));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        let all: Vec<usize> = if named.is_empty() { (0..catalogue.entities.len()).collect() } else { named };
        let parts: Vec<Part<'a>> = if self.outcomes.is_empty() {
            let what = |entity: usize| What::Outcomes(&kinds.0[catalogue.entities[entity].kind]);
            all.into_iter().map(|entity| Part { entity: Some(entity), what: what(entity) }).collect()
        } else {
            self.texts(catalogue, &all)?
        };
        let count = |part: &Part<'_>| match part.what {
            What::Outcomes(outcomes) => outcomes.len(),
            What::Texts(texts) => texts.len(),
        };
        check_count("outcomes", parts.iter().map(count).sum(), OUTCOMES_MAX)?;
        Ok(parts)
    }

    /// The outcomes and expressions as typed. Those that name their entities are examined once, the others for each
    /// entity of a kind that has them.
    fn texts<'a>(&'a self, catalogue: &Catalogue, entities: &[usize]) -> Result<Vec<Part<'a>>, QuestionError> {
        let mut parts = Vec::new();
        for text in &self.outcomes {
            let what = || What::Texts(std::slice::from_ref(text));
            if Quantity::parse(text, catalogue, None).is_ok() {
                parts.push(Part { entity: None, what: what() });
                continue;
            }
            let mut refused = None;
            let mut known: Vec<Option<bool>> = vec![None; catalogue.kinds.len()];
            let before = parts.len();
            for &entity in entities {
                let known = &mut known[catalogue.entities[entity].kind];
                let has = *known.get_or_insert_with(|| match Quantity::parse(text, catalogue, Some(entity)) {
                    Ok(_) => true,
                    Err(error) => {
                        refused.get_or_insert(error);
                        false
                    }
                });
                if has {
                    parts.push(Part { entity: Some(entity), what: what() });
                }
            }
            match refused {
                Some(error) if parts.len() == before || !self.entities.is_empty() => return Err(error),
                _ => {}
            }
        }
        Ok(parts)
    }
}

/// The outcomes that are examined by default, for each kind of entity.
struct Kinds(Vec<Vec<usize>>);

impl Kinds {
    /// All flags and labelled codes, and numbers in the order of the catalogue while [`VALUES_MAX`] allows.
    fn of(catalogue: &Catalogue, worlds: usize) -> Self {
        let entities = |kind: usize| catalogue.entities.iter().filter(|entity| entity.kind == kind).count();
        let entities: Vec<usize> = (0..catalogue.kinds.len()).map(entities).collect();
        let mut taken: Vec<Vec<usize>> = vec![Vec::new(); catalogue.kinds.len()];
        let mut values: usize = 0;
        let mut numbers = Vec::new();
        for (kind, described) in catalogue.kinds.iter().enumerate() {
            let mut before = 0;
            for (place, outcome) in described.outcomes.iter().enumerate() {
                match outcome.kind {
                    OutcomeKind::Flag => {}
                    OutcomeKind::Code if !outcome.labels.is_empty() => {}
                    OutcomeKind::Code => continue,
                    OutcomeKind::Number | OutcomeKind::Real => {
                        // By turns, so that a kind with many numbers leaves room for the others.
                        numbers.push((before, kind, place));
                        before += 1;
                        continue;
                    }
                }
                taken[kind].push(place);
                values = values.saturating_add(entities[kind].saturating_mul(worlds));
            }
        }
        numbers.sort_unstable();
        for (_, kind, place) in numbers {
            let more = values.saturating_add(entities[kind].saturating_mul(worlds));
            if more > VALUES_MAX {
                break;
            }
            values = more;
            taken[kind].push(place);
        }
        taken.iter_mut().for_each(|outcomes| outcomes.sort_unstable());
        Self(taken)
    }
}

/// Numbers of the examined entities that are not examined.
fn left_out(parts: &[Part<'_>], catalogue: &Catalogue) -> usize {
    let of_part = |part: &Part<'_>| {
        let (Some(entity), What::Outcomes(outcomes)) = (part.entity, &part.what) else { return 0 };
        let all = &catalogue.kind_of(entity).outcomes;
        let is_number = |kind: OutcomeKind| matches!(kind, OutcomeKind::Number | OutcomeKind::Real);
        let numbers = all.iter().filter(|outcome| is_number(outcome.kind)).count();
        numbers - outcomes.iter().filter(|place| is_number(all[**place].kind)).count()
    };
    parts.iter().map(of_part).sum()
}

/// The movement that none of some events without influence exceeds, with 95% confidence.
///
/// The swing of such an event has the variance `P (1 - P) / (N p (1 - p))`, so its movement has the standard deviation
/// `2 sqrt(p (1 - p) P (1 - P) / N)`, at most `sqrt(P (1 - P) / N)`. The tail of the normal distribution is below
/// `exp(-z^2 / 2)`, which is shared among the events (Bonferroni).
fn chance(events: usize, probability: f64, worlds: usize) -> f64 {
    if events == 0 || worlds == 0 {
        return 0.0;
    }
    let z = (2.0 * (events as f64 / 0.05).ln()).sqrt();
    z * (probability * (1.0 - probability) / worlds as f64).sqrt()
}

struct Search<'a> {
    columns: &'a Columns,
    /// The class of each world.
    classes: &'a [Class],
    /// The outcomes in the condition: they decide it, and are no news.
    named: &'a [OutcomeRef],
    limit: usize,
    wanted: &'a (dyn Fn() -> bool + Sync),
}

/// An event with its worlds.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    entity: Option<usize>,
    event: Event,
    /// Worlds with the event, and those of them in which the condition holds.
    worlds: usize,
    hits: usize,
    movement: f64,
}

/// The best events of some parts.
#[derive(Default)]
struct Best {
    compared: usize,
    /// By movement, the greatest first, once sorted.
    best: Vec<Found>,
}

impl Best {
    fn add(&mut self, found: Found, limit: usize) {
        self.best.push(found);
        // Twice the limit, so that sorting costs little for each event.
        if self.best.len() >= 2 * limit.max(32) {
            self.trim(limit);
        }
    }

    fn trim(&mut self, limit: usize) {
        // Ties in the order of the catalogue, for the same answer from any number of threads.
        let key = |found: &Found| (found.entity, found.event.place(), found.event.text());
        self.best.sort_by(|a, b| b.movement.total_cmp(&a.movement).then_with(|| key(a).cmp(&key(b))));
        self.best.truncate(limit);
    }
}

impl Search<'_> {
    /// The best events of all parts, which the threads take in turns.
    fn run(&self, parts: &[Part<'_>]) -> Result<Best, QuestionError> {
        let threads = available().min(parts.len().max(1));
        let next = AtomicUsize::new(0);
        let all: Mutex<Best> = Mutex::default();
        let work = || {
            let mut best = Best::default();
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed))
                && (self.wanted)()
            {
                self.examine(part, &mut best)?;
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.compared += best.compared;
            best.best.into_iter().for_each(|found| all.add(found, self.limit));
            Ok::<_, QuestionError>(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().map(joined).fold(own, Result::and)
        })?;
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.trim(self.limit);
        Ok(all)
    }

    fn examine(&self, part: &Part<'_>, best: &mut Best) -> Result<(), QuestionError> {
        let catalogue = &self.columns.ensemble().plan.catalogue;
        match (part.entity, &part.what) {
            (Some(entity), What::Outcomes(outcomes)) => {
                let at_once = (BYTES_AT_ONCE / (8 * self.classes.len().max(1))).max(1);
                let refs: Vec<OutcomeRef> = outcomes.iter().map(|&outcome| OutcomeRef { entity, outcome }).collect();
                let refs: Vec<OutcomeRef> = refs.into_iter().filter(|outcome| !self.named.contains(outcome)).collect();
                for some in refs.chunks(at_once) {
                    for (outcome, column) in some.iter().zip(self.columns.read_alone(some)?) {
                        let quantity = Quantity::outcome(*outcome, catalogue);
                        self.compare(part.entity, &quantity, &Joint::of(&column, self.classes), best);
                    }
                    if !(self.wanted)() {
                        return Ok(());
                    }
                }
            }
            (_, What::Texts(texts)) => {
                for text in *texts {
                    let quantity = Quantity::parse(text, catalogue, part.entity)?;
                    if quantity.outcomes().iter().all(|outcome| self.named.contains(outcome)) {
                        continue;
                    }
                    let column = quantity.column(self.columns, self.wanted)?;
                    self.compare(part.entity, &quantity, &Joint::of(&column, self.classes), best);
                }
            }
            (None, What::Outcomes(_)) => {}
        }
        Ok(())
    }

    fn compare(&self, entity: Option<usize>, quantity: &Quantity, joint: &Joint, best: &mut Best) {
        let (all, met) = (joint.worlds(), joint.hits());
        for (event, worlds, hits) in events_of(quantity, joint) {
            best.compared += 1;
            let swing = share(hits, worlds) - share(met - hits, all - worlds);
            let p = share(worlds, all);
            let movement = 2.0 * p * (1.0 - p) * swing.abs();
            if movement > 0.0 {
                best.add(Found { entity: quantity.entity.or(entity), event, worlds, hits, movement }, self.limit);
            }
        }
    }
}

impl Found {
    fn leverage(&self, catalogue: &Catalogue, worlds: usize, hits: usize) -> Leverage {
        let entity = self.entity.map(|entity| &catalogue.entities[entity]);
        let with = share(self.hits, self.worlds);
        let without = share(hits - self.hits, worlds - self.worlds);
        Leverage {
            entity: entity.map(|entity| entity.name.clone()),
            title: entity.map(|entity| entity.title.clone()).unwrap_or_default(),
            event: self.event.text(),
            leg: self.event.leg(entity.map(|entity| entity.name.as_str())),
            worlds: self.worlds,
            with,
            without,
            swing: with - without,
            movement: self.movement,
        }
    }
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

#[cfg(test)]
mod tests;
