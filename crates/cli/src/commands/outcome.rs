//! `manyworlds outcome`: distributions of outcomes.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use ensemble::{Distribution, Interval, OutcomeAnswer, OutcomeQuestion};

use super::open_columns;
use crate::args::{Format, OutcomeArgs};
use crate::chart::blocks;
use crate::output::{Table, count, decimals, from_to, known_to, percent, print, print_json, trimmed};

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
/// Width of a bar, in eighths of a character.
const BAR_EIGHTHS: f64 = 400.0;

pub(crate) async fn outcome(args: &OutcomeArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let catalogue = &columns.ensemble().plan.catalogue;
    // The only entity may be left out: then the first word is an outcome.
    let is_entity = |word: &&String| catalogue.entities.len() > 1 || catalogue.entity(word).is_some();
    let entity = args.entity.iter().filter(is_entity);
    let first = args.entity.iter().filter(|word| !is_entity(word));
    let question = OutcomeQuestion {
        ensemble: args.ensemble.clone(),
        entities: entity.chain(&args.entities).cloned().collect(),
        outcomes: first.chain(&args.names).chain(&args.outcomes).cloned().collect(),
        cdf: args.cdf,
        bins: BINS,
        quantiles: QUANTILES.to_vec(),
    };
    if question.outcomes.is_empty() {
        bail!("no outcome is named: name one after the entity, or with --outcome");
    }
    let shown = question.answer(&columns, &|| true)?;
    match args.format.format {
        Format::Json => print_json(&shown.iter().map(|s| s.to_json(&question)).collect::<Vec<_>>()),
        Format::Csv => print(&to_csv(&shown, args.cdf)),
        Format::Table => shown.iter().try_for_each(|s| print(&draw(s, args.cdf))),
    }
}

fn entity(answer: &OutcomeAnswer) -> String {
    answer.entity.clone().unwrap_or_default()
}

fn to_csv(shown: &[OutcomeAnswer], cdf: bool) -> String {
    if cdf {
        let mut table = Table::new(["entity", "outcome", "value", "probability"]);
        for s in shown {
            for (value, p) in s.distribution.cdf() {
                table.push([entity(s), s.outcome.clone(), value.to_string(), p.to_string()]);
            }
        }
        return table.to_csv();
    }
    let end = |s: &OutcomeAnswer, end: fn(Interval) -> f64| s.ci.map(|ci| end(ci).to_string()).unwrap_or_default();
    let table = Table::of(
        shown,
        &[
            ("entity", &entity),
            ("outcome", &|s| s.outcome.clone()),
            ("worlds", &|s| s.distribution.worlds.to_string()),
            ("mean", &|s| s.distribution.mean().to_string()),
            ("standard_deviation", &|s| s.distribution.standard_deviation().to_string()),
            ("min", &|s| s.distribution.quantile(0.0).to_string()),
            ("median", &|s| s.distribution.quantile(0.5).to_string()),
            ("max", &|s| s.distribution.quantile(1.0).to_string()),
            ("ci_low", &|s| end(s, |ci| ci.low)),
            ("ci_high", &|s| end(s, |ci| ci.high)),
        ],
    );
    table.to_csv()
}

/// The outcome, its entity and its unit.
fn heading(s: &OutcomeAnswer) -> String {
    let of = s.entity.as_ref().map(|entity| format!(" of {entity} ({})", s.title)).unwrap_or_default();
    let unit = if s.unit.is_empty() { String::new() } else { format!(", {}", s.unit) };
    format!("{}{of}{unit}", s.outcome)
}

/// The worlds of each label of a code.
fn labels(s: &OutcomeAnswer) -> String {
    let worlds = s.distribution.worlds;
    let mut table = Table::new(["label", "code", "worlds", "share"]);
    for (label, code, n) in &s.labelled {
        table.push([label.clone(), code.to_string(), count(*n as u64), percent(*n as f64 / worlds as f64)]);
    }
    format!("{}; {} worlds\n\n{table}\n", heading(s), count(worlds as u64))
}

/// A histogram for the terminal, below the moments.
fn draw(s: &OutcomeAnswer, cdf: bool) -> String {
    if !s.labelled.is_empty() && !cdf {
        return labels(s);
    }
    let d = &s.distribution;
    let mut text = format!(
        "{}; {} worlds\nmean {}, standard deviation {:.*}\n",
        heading(s),
        count(d.worlds as u64),
        s.ci.map_or_else(
            || format!("{:.2}", d.mean()),
            |ci| format!("{} (95%: {})", known_to(d.mean(), ci.high - ci.low), from_to(ci))
        ),
        decimals(d.standard_deviation(), 2),
        d.standard_deviation()
    );
    text.push_str(&quantiles(d));
    text.push('\n');
    if cdf {
        let mut table = Table::new(["value", "not above"]);
        d.cdf().for_each(|(value, p)| table.push([value.to_string(), percent(p)]));
        let _ = writeln!(text, "{table}");
        return text;
    }
    text.push_str(&bars(d));
    text.push('\n');
    text
}

/// One line of quantiles.
pub(super) fn quantiles(d: &Distribution) -> String {
    let decimals = decimals(d.standard_deviation(), 2) + 1;
    let quantile = |q: &f64| format!("{}%: {}", q * 100.0, trimmed(d.quantile(*q), decimals));
    format!("{}\n", QUANTILES.iter().map(quantile).collect::<Vec<_>>().join("  "))
}

/// A histogram, one bar per line.
pub(super) fn bars(d: &Distribution) -> String {
    let mut text = String::new();
    let bins = d.histogram(BINS);
    let decimals = decimals(d.standard_deviation(), 2);
    let most = bins.iter().map(|b| b.2).max().unwrap_or(1).max(1) as f64;
    let labels: Vec<String> = bins
        .iter()
        .map(|(from, to, _)| {
            if from == to {
                from.to_string()
            } else {
                format!("{} to {}", trimmed(*from, decimals), trimmed(*to, decimals))
            }
        })
        .collect();
    let width = labels.iter().map(String::len).max().unwrap_or(0);
    for ((_, _, n), label) in bins.iter().zip(&labels) {
        let bar = blocks((*n as f64 / most * BAR_EIGHTHS).round() as usize);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:>width$} {:6.2}% {bar}", 100.0 * *n as f64 / d.worlds as f64);
    }
    text
}
