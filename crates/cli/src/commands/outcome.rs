//! `manyworlds outcome`: how outcomes are distributed.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use ensemble::{Distribution, OutcomeRef};
use model::Catalogue;
use serde_json::{Value, json};

use super::open_columns;
use crate::args::{Format, OutcomeArgs};
use crate::output::{Table, count, print, print_json};

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
const BAR_WIDTH: f64 = 50.0;

/// One outcome and its distribution.
struct Shown {
    entity: String,
    title: String,
    outcome: String,
    unit: String,
    distribution: Distribution,
}

pub(crate) async fn outcome(args: &OutcomeArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let catalogue = &columns.ensemble().plan.catalogue;
    let wanted = wanted(catalogue, args)?;
    let mut shown = Vec::with_capacity(wanted.len());
    for (outcome, column) in wanted.iter().zip(columns.get(&wanted)?) {
        let described = &catalogue.kind_of(outcome.entity).outcomes[outcome.outcome];
        shown.push(Shown {
            entity: catalogue.entities[outcome.entity].name.clone(),
            title: catalogue.entities[outcome.entity].title.clone(),
            outcome: described.name.clone(),
            unit: described.unit.clone(),
            distribution: Distribution::of(&column),
        });
    }
    match args.format.format {
        Format::Json => print_json(&shown.iter().map(|s| to_json(s, args.cdf)).collect::<Vec<_>>())?,
        Format::Csv => print(&to_csv(&shown, args.cdf))?,
        Format::Table => shown.iter().try_for_each(|s| print(&draw(s, args.cdf)))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every outcome of every entity that was asked for.
fn wanted(catalogue: &Catalogue, args: &OutcomeArgs) -> Result<Vec<OutcomeRef>> {
    let mut wanted = Vec::new();
    for name in &args.entities {
        let entity = catalogue.find_entity(name)?;
        let kind = catalogue.kind_of(entity);
        for outcome in &args.outcomes {
            wanted.push(OutcomeRef { entity, outcome: kind.find_outcome(outcome)? });
        }
    }
    Ok(wanted)
}

fn to_json(s: &Shown, cdf: bool) -> Value {
    let d = &s.distribution;
    let quantiles: serde_json::Map<String, Value> =
        QUANTILES.iter().map(|q| (q.to_string(), json!(d.quantile(*q)))).collect();
    let mut value = json!({
        "entity": s.entity,
        "outcome": s.outcome,
        "unit": s.unit,
        "worlds": d.worlds,
        "mean": d.mean(),
        "standard_deviation": d.standard_deviation(),
        "min": d.quantile(0.0),
        "max": d.quantile(1.0),
        "quantiles": quantiles,
        "histogram": d.histogram(BINS).iter().map(|(from, to, n)| json!({"from": from, "to": to, "worlds": n})).collect::<Vec<_>>(),
    });
    if cdf {
        value["cdf"] = d.cdf().map(|(v, p)| json!({"value": v, "probability": p})).collect();
    }
    value
}

fn to_csv(shown: &[Shown], cdf: bool) -> String {
    if cdf {
        let mut table = Table::new(["entity", "outcome", "value", "probability"]);
        for s in shown {
            for (value, p) in s.distribution.cdf() {
                table.push([s.entity.clone(), s.outcome.clone(), value.to_string(), p.to_string()]);
            }
        }
        return table.to_csv();
    }
    let mut table = Table::new(["entity", "outcome", "worlds", "mean", "standard_deviation", "min", "median", "max"]);
    for s in shown {
        let d = &s.distribution;
        let numbers = [d.mean(), d.standard_deviation(), d.quantile(0.0), d.quantile(0.5), d.quantile(1.0)];
        let [mean, deviation, min, median, max] = numbers.map(|n| n.to_string());
        table.push([s.entity.clone(), s.outcome.clone(), d.worlds.to_string(), mean, deviation, min, median, max]);
    }
    table.to_csv()
}

/// A histogram for the terminal, with the moments above it.
fn draw(s: &Shown, cdf: bool) -> String {
    let d = &s.distribution;
    let mut text = format!(
        "{} of {} ({}), {}; {} worlds\nmean {:.2}, standard deviation {:.2}\n",
        s.outcome,
        s.entity,
        s.title,
        s.unit,
        count(d.worlds as u64),
        d.mean(),
        d.standard_deviation()
    );
    let quantiles: Vec<String> = QUANTILES.iter().map(|q| format!("{}%: {}", q * 100.0, d.quantile(*q))).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}\n", quantiles.join("  "));
    if cdf {
        let mut table = Table::new(["value", "not above"]);
        d.cdf().for_each(|(value, p)| table.push([value.to_string(), format!("{:.2}%", 100.0 * p)]));
        let _ = writeln!(text, "{table}");
        return text;
    }
    let bins = d.histogram(BINS);
    let most = bins.iter().map(|b| b.2).max().unwrap_or(1).max(1) as f64;
    let labels: Vec<String> = bins
        .iter()
        .map(|(from, to, _)| if from == to { from.to_string() } else { format!("{} to {}", short(*from), short(*to)) })
        .collect();
    let width = labels.iter().map(String::len).max().unwrap_or(0);
    for ((_, _, n), label) in bins.iter().zip(&labels) {
        let bar = bar(*n as f64 / most * BAR_WIDTH);
        let _ = writeln!(text, "{label:>width$} {:6.2}% {bar}", 100.0 * *n as f64 / d.worlds as f64);
    }
    text.push('\n');
    text
}

fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A bar of `length` characters, to an eighth of one.
fn bar(length: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (length * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
