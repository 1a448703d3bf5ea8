//! `manyworlds compare`: differences between two ensembles.

use anyhow::Result;
use ensemble::{CompareQuestion, Comparison};

use super::open_columns;
use crate::args::{CompareArgs, Format};
use crate::output::{Table, count, known_to, note, number, show};

pub(crate) async fn compare(args: &CompareArgs) -> Result<()> {
    let first = open_columns(&args.data.data, &args.first).await?;
    let second = open_columns(&args.data.data, &args.second).await?;
    let (one, other) = (args.first.clone(), args.second.clone());
    let question = CompareQuestion { first: one, second: other, outcomes: args.outcomes.clone() };
    let found = question.answer(&first, &second, &|| true)?;
    show(args.format.format, &found, &table(args, &found))?;
    if args.format.format == Format::Table && found.iter().any(|c| !c.is_paired) {
        note("the seeds differ: the worlds are unpaired, and each interval is that of two separate means");
    }
    Ok(())
}

fn table(args: &CompareArgs, found: &[Comparison]) -> Table {
    let names = [&args.first, &args.second].map(|name| format!("mean of {name}"));
    let maybe = |n: Option<f64>| n.map(|half| known_to(half, half)).unwrap_or_default();
    let sign = |n: f64| if n < 0.0 { "" } else { "+" };
    let share = |c: &Comparison, n: usize| c.shares.map(|s| format!("{:.1}%", s[n] * 100.0)).unwrap_or_default();
    Table::of(
        found,
        &[
            ("outcome", &|c| c.outcome.clone()),
            ("worlds", &|c| count(c.worlds as u64)),
            (&names[0], &|c| number(c.means[0])),
            (&names[1], &|c| number(c.means[1])),
            ("difference", &|c| {
                sign(c.difference).to_owned() + &known_to(c.difference, c.ci_half_width.unwrap_or(0.0))
            }),
            ("± 95%", &|c| maybe(c.ci_half_width)),
            ("less", &|c| share(c, 0)),
            ("same", &|c| share(c, 1)),
            ("more", &|c| share(c, 2)),
            ("± 95% unpaired", &|c| maybe(c.unpaired_half_width)),
        ],
    )
}
