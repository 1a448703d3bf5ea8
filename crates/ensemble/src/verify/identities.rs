//! Checks the conditions that hold in every world of a model.

use model::{Identity, Model};

use super::{Check, Progress};
use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::{Expression, OutcomeRef};
use crate::stored::StoredEnsemble;
use crate::threads::{available, map};

/// Identities whose outcomes are read together.
const IDENTITIES_AT_ONCE: usize = 32;

pub(super) fn check_identities(
    ensemble: &StoredEnsemble,
    model: &dyn Model,
    progress: &Progress,
) -> Result<Check, EnsembleError> {
    let ranges: Vec<Columns> = ensemble
        .outcomes
        .iter()
        .map(|range| {
            let one = StoredEnsemble { outcomes: vec![range.clone()], ..ensemble.clone() };
            Columns::open(one, 0)
        })
        .collect::<Result<_, _>>()?;
    let identities = model.identities();
    let entities: Vec<Option<usize>> = (0..ensemble.plan.catalogue.entities.len()).map(Some).chain([None]).collect();
    progress.begin("checking identities");
    let found = map(available(), &entities, |&entity| {
        let violated = check_entity(ensemble, &ranges, &identities, entity);
        progress.add_one_of(entities.len());
        violated
    })?;
    // Of each identity, the first entity that violates it.
    let mut broken: Vec<Option<String>> = vec![None; identities.len()];
    for (place, violation) in found.into_iter().flatten() {
        broken[place].get_or_insert(violation);
    }
    let held = broken.iter().filter(|b| b.is_none()).count();
    let first = broken.into_iter().flatten().next();
    Ok(Check {
        name: "identities hold in every world".to_owned(),
        ok: Some(first.is_none()),
        detail: first.unwrap_or_else(|| format!("{held} identities")),
    })
}

/// An identity of an entity, or of none.
struct Condition {
    /// Its place among the identities of the model.
    place: usize,
    expression: Expression,
    violation: Option<String>,
}

/// The violated identities of an entity, or of none, with the first violation of each.
fn check_entity(
    ensemble: &StoredEnsemble,
    ranges: &[Columns],
    identities: &[Identity],
    entity: Option<usize>,
) -> Result<Vec<(usize, String)>, EnsembleError> {
    let catalogue = &ensemble.plan.catalogue;
    let kind = entity.map(|entity| catalogue.entities[entity].kind);
    let (mut conditions, mut violated) = (Vec::new(), Vec::new());
    for (place, identity) in identities.iter().enumerate().filter(|(_, identity)| identity.kind == kind) {
        match Expression::parse(&identity.condition, catalogue, entity) {
            Ok(expression) => conditions.push(Condition { place, expression, violation: None }),
            Err(error) => violated.push((place, format!("{}: {error}", identity.condition))),
        }
    }
    for columns in ranges {
        for some in conditions.chunks_mut(IDENTITIES_AT_ONCE) {
            check_conditions(columns, some, entity)?;
        }
    }
    violated.extend(conditions.into_iter().filter_map(|condition| Some((condition.place, condition.violation?))));
    Ok(violated)
}

/// Describes the first world that violates each condition. Reads the outcomes of all of them in one pass.
fn check_conditions(
    columns: &Columns,
    conditions: &mut [Condition],
    entity: Option<usize>,
) -> Result<(), EnsembleError> {
    let named: Vec<OutcomeRef> = conditions.iter().flat_map(|c| c.expression.columns()).copied().collect();
    let read = columns.get_alone(&named)?;
    let mut rest = read.as_slice();
    for Condition { expression, violation, .. } in conditions {
        let (own, others) = rest.split_at(expression.columns().len());
        rest = others;
        let holds = expression.holds(own, columns.worlds());
        let first = columns.ensemble().world_numbers().enumerate().find(|(place, _)| !holds.contains(*place));
        if let (None, Some((_, world))) = (&violation, first) {
            let entities = &columns.ensemble().plan.catalogue.entities;
            let of = entity.map_or(String::new(), |entity| format!("for {} ", entities[entity].name));
            *violation = Some(format!("{} does not hold {of}in world {world}", expression.text()));
        }
    }
    Ok(())
}
