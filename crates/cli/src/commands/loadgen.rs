//! `manyworlds loadgen`.

use ::bench::ingest::{LoadFigures, LoadPlan, Pace, Target, load};
use anyhow::Result;
use serde::Serialize;

use super::bench::stop_on_signal;
use crate::ExitCode;
use crate::args::LoadgenArgs;
use crate::output::{Table, count, note, print, print_json};

pub(crate) fn loadgen(args: &LoadgenArgs) -> Result<ExitCode> {
    let target = Target::new(&args.url, args.anywhere, &args.database, args.token.as_deref())?;
    let plan = LoadPlan { pace: args.rate.map_or(Pace::Max, Pace::Rate), ..args.plan.clone() };
    let stop = stop_on_signal("stopping")?;
    let figures = load(&target, &plan, &note, &stop)?;
    if args.json {
        print_json(&Loaded { plan: &plan, figures: &figures })?;
    } else {
        print(&table(&figures).to_string())?;
    }
    if figures.is_stored() {
        return Ok(ExitCode::SUCCESS);
    }
    note(&format!(
        "the server acknowledged {} records and stored {}",
        count(figures.acknowledged),
        count(figures.stored)
    ));
    Ok(ExitCode::from(1))
}

#[derive(Serialize)]
struct Loaded<'a> {
    plan: &'a LoadPlan,
    #[serde(flatten)]
    figures: &'a LoadFigures,
}

fn table(of: &LoadFigures) -> Table {
    let ms = |value: f64| format!("{value:.2} ms");
    let statuses: Vec<String> = of.statuses.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
    let mut table = Table::new(["what", "measured"]);
    let mut row = |what: &str, measured: String| table.push([what.to_owned(), measured]);
    row("records per second", count(of.records_per_s.round() as u64));
    row("acknowledged", count(of.acknowledged));
    row("stored", count(of.stored));
    if of.uncertain > 0 {
        row("unanswered or failed", count(of.uncertain));
    }
    row("requests by status", statuses.join(", "));
    row("rejected for lack of memory", count(of.refused_requests));
    row("due but not sent", count(of.unsent_requests));
    row("broken connections", count(of.broken_connections));
    row("bytes per record on the wire", format!("{:.1}", of.wire_bytes_per_record));
    row("p50", ms(of.p50_ms));
    row("p95", ms(of.p95_ms));
    row("p99", ms(of.p99_ms));
    row("maximum", ms(of.max_ms));
    row("elapsed", format!("{:.2} s", of.elapsed_s));
    row("processor time of the load generator", format!("{:.2} s", of.load_cpu_s));
    table
}
