//! `manyworlds import`: numbers computed elsewhere become an ensemble.

use anyhow::{Result, bail};
use import::{ColumnNames, ImportedOutcome, Mode, Options, Report, files};
use world::Seed;

use super::cores;
use crate::args::{Format, ImportArgs, ImportForm};
use crate::output::{Table, bytes, count, note, print, show};

pub(crate) async fn import(args: ImportArgs) -> Result<()> {
    let threads = match args.threads {
        Some(0) => bail!("--threads 0: an import needs at least one thread"),
        Some(threads) => threads,
        None => cores(),
    };
    if args.memory == 0 {
        bail!("--memory 0: an import needs at least 1 MB");
    }
    let (data, disk) = args.data.data.open()?;
    let options = Options {
        mode: match (args.replace, args.append) {
            (true, _) => Mode::Replace,
            (_, true) => Mode::Append,
            _ => Mode::New,
        },
        form: args.form.map(|form| match form {
            ImportForm::Wide => import::Form::Wide,
            ImportForm::Long => import::Form::Long,
        }),
        columns: ColumnNames {
            world: args.world_column,
            entity: args.entity_column,
            outcome: args.outcome_column,
            value: args.value_column,
        },
        entity: args.entity,
        kinds: args.kinds.into_iter().collect(),
        seed: Seed(args.seed),
        first_world: args.first_world,
        again: args.again,
        memory_bytes: args.memory.saturating_mul(1 << 20),
        spill_folder: data.clone(),
        threads,
        ..Options::default()
    };
    let report = import::import(&data, disk, &args.name, files::open(&args.files, &options), &options).await?;
    warn_of_not_finite(&report);
    show(args.format.format, &report, &as_table(&report))?;
    match args.format.format {
        Format::Table => print(&format!("\n{}", outcomes(&report.outcomes).text(Format::Table))),
        _ => Ok(()),
    }
}

/// NaN often stands for a missing value, and makes the mean of its outcome NaN.
fn warn_of_not_finite(report: &Report) {
    for outcome in report.outcomes.iter().filter(|outcome| outcome.not_finite > 0) {
        let (name, values) = (&outcome.name, count(outcome.not_finite));
        note(&format!("{name} has {values} values that are NaN or infinite; they are stored unchanged"));
    }
}

fn as_table(report: &Report) -> Table {
    let mut table = Table::new(["imported", "", ""]);
    let mut row = |a: &str, b: String, c: String| table.push([a.to_owned(), b, c]);
    row("ensemble", format!("{} (version {})", report.ensemble, report.version), format!("hash {}", report.hash));
    row("form", report.form.to_string(), String::new());
    let new = if report.imported < report.worlds {
        format!("{} of them new", count(report.imported as u64))
    } else {
        String::new()
    };
    row("worlds", count(report.worlds as u64), new);
    let kinds = if report.kinds.len() > 1 { format!("of kinds {}", report.kinds.join(", ")) } else { String::new() };
    row("entities", count(report.entities.len() as u64), kinds);
    let per_world = report.values / report.imported.max(1) as u64;
    let bits = report.bytes as f64 * 8.0 / (report.worlds as u64 * per_world) as f64;
    row("outcome values", count(report.values), String::new());
    row("  on disk", bytes(report.bytes), format!("{bits:.2} bits per value"));
    table
}

fn outcomes(outcomes: &[ImportedOutcome]) -> Table {
    const LABELS_SHOWN: usize = 5;
    let bounds = |outcome: &ImportedOutcome| match outcome.bounds {
        Some([min, max]) => format!("{min} to {max}"),
        None if outcome.labels.len() > LABELS_SHOWN => {
            format!("{}, ... ({} texts)", outcome.labels[..LABELS_SHOWN].join(", "), outcome.labels.len())
        }
        None => outcome.labels.join(", "),
    };
    Table::of(
        outcomes,
        &[("outcome", &|outcome| outcome.name.clone()), ("kind", &|outcome| outcome.kind.clone()), ("values", &bounds)],
    )
}
