//! The facts of an ensemble.

use anyhow::Result;
use ensemble::StoredEnsemble;
use model::{Catalogue, Outcome, OutcomeKind};
use serde_json::Value;
use world::ContentHash;

use crate::args::Format;
use crate::output::{Table, bytes, count, print, print_json};

/// Labels shown per outcome; JSON has all.
const LABELS: usize = 5;

pub(super) fn info(stored: &StoredEnsemble, format: Format) -> Result<()> {
    match format {
        Format::Json => print_json(&as_json(stored)?),
        Format::Csv => print(&outcomes(&stored.plan.catalogue).to_csv()),
        Format::Table => {
            let outcomes = outcomes(&stored.plan.catalogue);
            print(&format!("{}\n{}", facts(stored)?.text(format), outcomes.text(format)))
        }
    }
}

/// The hash of the stored outcomes, as written.
fn hash(stored: &StoredEnsemble) -> Result<ContentHash> {
    Ok(stored.open_outcomes()?.iter().map(|range| range.metadata().hash).sum())
}

fn as_json(stored: &StoredEnsemble) -> Result<Value> {
    let (mut facts, mut description) = (stored.to_json(), stored.description());
    facts["hash"] = hash(stored)?.to_string().into();
    for part in ["parameters", "catalogue"] {
        facts[part] = description[part].take();
    }
    Ok(facts)
}

fn facts(stored: &StoredEnsemble) -> Result<Table> {
    let (plan, catalogue) = (&stored.plan, &stored.plan.catalogue);
    let (outcome_bytes, event_bytes) = stored.bytes();
    let mut table = Table::new(["ensemble", &plan.name]);
    let mut row = |name: &str, text: String| table.push([name.to_owned(), text]);
    row("state", format!("{}, version {}, of {}", stored.state(), stored.version, stored.created));
    row("model", plan.model.clone());
    row("parameters", shortened(&plan.parameters));
    row("seed", plan.seed.0.to_string());
    row("worlds", format!("{} of {}", count(stored.worlds() as u64), count(plan.worlds.count() as u64)));
    for (place, kind) in catalogue.kinds.iter().enumerate() {
        let entities: Vec<&str> =
            catalogue.entities.iter().filter(|e| e.kind == place).map(|e| e.name.as_str()).collect();
        let names = match entities[..] {
            [] => String::new(),
            [one] => format!(": {one}"),
            [first, .., last] => format!(": {first} to {last}"),
        };
        let (entities, outcomes) = (count(entities.len() as u64), count(kind.outcomes.len() as u64));
        row(&format!("kind {}", kind.name), format!("{entities} entities with {outcomes} outcomes{names}"));
    }
    row("outcomes", format!("{}, hash {}", bytes(outcome_bytes), hash(stored)?));
    row("events", if stored.events.is_empty() { <&str>::from(plan.events).to_owned() } else { bytes(event_bytes) });
    Ok(table)
}

/// A model's parameters may be thousands of words long.
fn shortened(parameters: &str) -> String {
    const SHOWN_MAX: usize = 200;
    match parameters.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &parameters[..end]),
        None => parameters.to_owned(),
    }
}

fn outcomes(catalogue: &Catalogue) -> Table {
    let outcomes: Vec<(&str, &Outcome)> =
        catalogue.kinds.iter().flat_map(|kind| kind.outcomes.iter().map(|outcome| (&*kind.name, outcome))).collect();
    let kind = |(_, outcome): &(&str, &Outcome)| match (outcome.kind, outcome.scale) {
        (OutcomeKind::Flag, _) => "flag".to_owned(),
        (OutcomeKind::Code, _) => "code".to_owned(),
        (OutcomeKind::Real, _) => "real".to_owned(),
        (OutcomeKind::Number, 1) => "number".to_owned(),
        (OutcomeKind::Number, scale) => format!("number in steps of 1/{scale}"),
    };
    let labels = |(_, outcome): &(&str, &Outcome)| {
        let labels: Vec<&str> = outcome.labels.iter().map(String::as_str).filter(|label| !label.is_empty()).collect();
        let rest = if labels.len() > LABELS { format!(", ... ({} labels)", labels.len()) } else { String::new() };
        labels[..labels.len().min(LABELS)].join(", ") + &rest
    };
    Table::of(
        &outcomes,
        &[
            ("of", &|(of, _)| (*of).to_owned()),
            ("outcome", &|(_, outcome)| outcome.name.clone()),
            ("kind", &kind),
            ("unit", &|(_, outcome)| outcome.unit.clone()),
            ("labels", &labels),
        ],
    )
}
