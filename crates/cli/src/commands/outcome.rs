//! `manyworlds outcome`: distributions of outcomes.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use ensemble::{OutcomeAnswer, OutcomeQuestion};

use super::open_columns;
use crate::args::{Format, OutcomeArgs};
use crate::output::{Table, count, from_to, known_to, print, print_json};

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
const BAR_WIDTH: f64 = 50.0;

pub(crate) async fn outcome(args: &OutcomeArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = OutcomeQuestion {
        ensemble: args.ensemble.clone(),
        entities: args.entities.clone(),
        outcomes: args.outcomes.clone(),
        cdf: args.cdf,
    };
    let shown = question.answer(&columns, &|| true)?;
    match args.format.format {
        Format::Json => print_json(&shown.iter().map(|s| s.to_json(args.cdf)).collect::<Vec<_>>())?,
        Format::Csv => print(&to_csv(&shown, args.cdf))?,
        Format::Table => shown.iter().try_for_each(|s| print(&draw(s, args.cdf)))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn to_csv(shown: &[OutcomeAnswer], cdf: bool) -> String {
    if cdf {
        let mut table = Table::new(["entity", "outcome", "value", "probability"]);
        for s in shown {
            for (value, p) in s.distribution.cdf() {
                table.push([s.entity.clone(), s.outcome.clone(), value.to_string(), p.to_string()]);
            }
        }
        return table.to_csv();
    }
    let mut table = Table::new([
        "entity",
        "outcome",
        "worlds",
        "mean",
        "standard_deviation",
        "min",
        "median",
        "max",
        "ci_low",
        "ci_high",
    ]);
    for s in shown {
        let d = &s.distribution;
        let numbers = [d.mean(), d.standard_deviation(), d.quantile(0.0), d.quantile(0.5), d.quantile(1.0)];
        let [mean, deviation, min, median, max] = numbers.map(|n| n.to_string());
        let worlds = d.worlds.to_string();
        let [low, high] = s.ci.map_or_else(Default::default, |ci| [ci.low, ci.high].map(|end| end.to_string()));
        table.push([s.entity.clone(), s.outcome.clone(), worlds, mean, deviation, min, median, max, low, high]);
    }
    table.to_csv()
}

/// A histogram for the terminal, below the moments.
fn draw(s: &OutcomeAnswer, cdf: bool) -> String {
    let d = &s.distribution;
    let mut text = format!(
        "{} of {} ({}), {}; {} worlds\nmean {}, standard deviation {:.2}\n",
        s.outcome,
        s.entity,
        s.title,
        s.unit,
        count(d.worlds as u64),
        s.ci.map_or_else(
            || format!("{:.2}", d.mean()),
            |ci| format!("{} (95%: {})", known_to(d.mean(), ci.high - ci.low), from_to(ci))
        ),
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

/// A bar of `length` characters, in eighths.
fn bar(length: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (length * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
