//! The catalogue of an input: entities and outcomes in the order of their names, so that every form and order of rows
//! gives the same content.

use model::{Catalogue, Entity, EntityKind, Outcome, OutcomeKind, fault_of_name};

use crate::before::{Before, check_names};
use crate::error::{ImportError, Result};
use crate::grid::Place;
use crate::kinds::Coder;
use crate::names::Names;
use crate::options::{Kind, LABELS_MAX, Options};
use crate::read::Content;

/// What is stored, and where its values are.
pub(crate) struct Description {
    pub(crate) catalogue: Catalogue,
    /// All outcomes, of any kind of entity.
    pub(crate) outcomes: Vec<Described>,
    /// By entity and outcome of the catalogue: where its values are, and its place among all outcomes.
    pub(crate) places: Vec<Vec<(Place, usize)>>,
}

/// An outcome of the input.
pub(crate) struct Described {
    pub(crate) outcome: Outcome,
    /// Its number in the input.
    pub(crate) id: u32,
    pub(crate) coder: Coder,
}

/// Describes an input for the ensemble `name`; `before` is the ensemble if it gets more worlds.
pub(crate) fn describe(
    content: &Content,
    name: &str,
    options: &Options,
    before: Option<&Before>,
) -> Result<Description> {
    let lanes = &content.lanes;
    let entities = sorted("entity", &lanes.entities, lanes.owners.iter().map(|owner| owner.entity))?;
    let outcomes = sorted("outcome", &lanes.outcomes, 0..lanes.outcomes.len() as u32)?;
    let names = |names: &'_ Names, ids: &[u32]| ids.iter().map(|id| names.get(*id).to_owned()).collect::<Vec<_>>();
    let (entity_names, outcome_names) = (names(&lanes.entities, &entities), names(&lanes.outcomes, &outcomes));
    if let Some(unknown) = options.kinds.keys().find(|declared| !outcome_names.contains(declared)) {
        let reason = format!("its kind is declared, and the input has only {}", outcome_names.join(", "));
        return Err(ImportError::Outcome { outcome: unknown.clone(), reason });
    }
    if let Some(before) = before {
        let have: Vec<&str> = before.catalogue.entities.iter().map(|entity| entity.name.as_str()).collect();
        check_names(name, "entity", &have, &entity_names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let have = before.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes).map(|outcome| outcome.name.as_str());
        let new: Vec<&str> = outcome_names.iter().map(String::as_str).collect();
        check_names(name, "outcome", &have.collect::<Vec<_>>(), &new)?;
    }
    let mut described = Vec::new();
    for (id, outcome) in outcomes.iter().zip(outcome_names) {
        let seen = &content.seen[*id as usize];
        let declared = before.map_or_else(|| options.kinds.get(&outcome).copied(), |before| before.kind(&outcome));
        let (kind, scale) = seen.kind(declared);
        let texts: Vec<u32> = content.texts.sorted(seen.texts());
        let codes = if texts.is_empty() { None } else { Some(codes(&content.texts, &texts, &outcome, before)?) };
        let unit = if kind == OutcomeKind::Flag { "0 or 1".to_owned() } else { String::new() };
        let words = codes.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
        let coder = Coder::new(seen, kind, scale, codes.map(|(_, codes)| codes));
        let outcome = Outcome { name: outcome, unit, kind, scale, labels: words };
        described.push(Described { outcome, id: *id, coder });
    }
    let places = |entity: &u32| {
        let place = |(at, outcome): (usize, &Described)| Some((lanes.place(*entity, outcome.id)?, at));
        described.iter().enumerate().filter_map(place).collect::<Vec<_>>()
    };
    let places: Vec<Vec<(Place, usize)>> = entities.iter().map(places).collect();
    let (kinds, of) = kinds(&entity_names, &places, &described);
    let entities = entity_names.into_iter().zip(of).map(|(name, kind)| Entity::new(name, kind)).collect();
    let catalogue = Catalogue { kinds, entities, events: Vec::new() };
    if before.is_some_and(|before| !before.catalogue.has_outputs_of(&catalogue)) {
        let reason = "its entities have other outcomes than those of the input".to_owned();
        return Err(ImportError::Append { name: name.to_owned(), reason });
    }
    Ok(Description { catalogue, outcomes: described, places })
}

/// The kind of entities that all have the same outcomes.
const KIND: &str = "entity";

/// The kinds of entities, each with the outcomes that its entities have, and the kind of each entity. A kind is named
/// for what the names of its entities have in common: `team` for `team-1` and `team-2`.
fn kinds(names: &[String], places: &[Vec<(Place, usize)>], described: &[Described]) -> (Vec<EntityKind>, Vec<usize>) {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut of = Vec::with_capacity(names.len());
    for places in places {
        let set: Vec<usize> = places.iter().map(|(_, outcome)| *outcome).collect();
        of.push(sets.iter().position(|known| *known == set).unwrap_or(sets.len()));
        if of.last() == Some(&sets.len()) {
            sets.push(set);
        }
    }
    let stem = |name: &String| name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_ ".contains(c)).to_owned();
    let stem_of = |kind: usize| {
        let mut stems = names.iter().zip(&of).filter(|(_, of)| **of == kind).map(|(name, _)| stem(name));
        let first = stems.next().filter(|stem| !stem.is_empty())?;
        stems.all(|stem| stem == first).then_some(first)
    };
    let stems: Vec<Option<String>> = (0..sets.len()).map(stem_of).collect();
    let name = |kind: usize| match &stems[kind] {
        _ if sets.len() == 1 => KIND.to_owned(),
        Some(stem) if stems.iter().flatten().filter(|other| *other == stem).count() == 1 => stem.clone(),
        _ => format!("{KIND}-{}", kind + 1),
    };
    let outcomes = |set: &Vec<usize>| set.iter().map(|outcome| described[*outcome].outcome.clone()).collect();
    let kinds = sets.iter().enumerate().map(|(kind, set)| EntityKind { name: name(kind), outcomes: outcomes(set) });
    (kinds.collect(), of)
}

/// Valid names in order.
fn sorted(what: &'static str, names: &Names, ids: impl IntoIterator<Item = u32>) -> Result<Vec<u32>> {
    let ids = names.sorted(ids);
    match ids.iter().find_map(|id| fault_of_name(what, names.get(*id))) {
        Some(reason) => Err(ImportError::BadName(reason)),
        None => Ok(ids),
    }
}

/// The texts of an outcome by code, and the code of each text by number.
fn codes(names: &Names, texts: &[u32], outcome: &str, before: Option<&Before>) -> Result<(Vec<String>, Vec<i32>)> {
    let refuse = |reason: String| Err(ImportError::Outcome { outcome: outcome.to_owned(), reason });
    if texts.len() > LABELS_MAX {
        return refuse(format!("it holds {} different texts, {LABELS_MAX} at most", texts.len()));
    }
    // An empty label stands for a code without one.
    if texts.iter().any(|text| names.get(*text).is_empty()) {
        return refuse("it holds an empty text: write another one, such as \"none\"".to_owned());
    }
    let words: Vec<String> = match before {
        Some(before) => before.labels(outcome).to_vec(),
        None => texts.iter().map(|text| names.get(*text).to_owned()).collect(),
    };
    let mut codes = vec![0; names.len()];
    for text in texts {
        let word = names.get(*text);
        match words.iter().position(|known| known == word) {
            Some(code) => codes[*text as usize] = code as i32,
            None => return refuse(format!("it holds the text {word:?}, which none of its stored codes stands for")),
        }
    }
    Ok((words, codes))
}

/// The kind of an outcome as it can be declared.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let kind = match outcome.kind {
        OutcomeKind::Number => Kind::Number { scale: Some(outcome.scale) },
        OutcomeKind::Flag => Kind::Flag,
        OutcomeKind::Code => Kind::Code,
        OutcomeKind::Real => Kind::Real,
    };
    kind.to_string()
}
