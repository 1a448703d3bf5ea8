//! `manyworlds leverage`: the events that move a probability most.

use anyhow::Result;
use ensemble::{Leverage, LeverageAnswer, LeverageQuestion};

use super::{make_model, open_columns};
use crate::args::{Format, LeverageArgs};
use crate::output::{Table, count, note, percent, show};

pub(crate) async fn leverage(args: &LeverageArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = LeverageQuestion {
        ensemble: args.ensemble.clone(),
        condition: args.condition.clone(),
        entity: args.entity.clone(),
        given: args.worlds.given.clone(),
        entities: args.among.clone(),
        outcomes: args.outcomes.clone(),
        limit: args.top,
        min_worlds: args.worlds.min_worlds,
    };
    let found = question.answer(&columns, &make_model(), &|| true)?;
    show(args.format.format, &found, &table(&found))?;
    if args.format.format == Format::Table {
        note(&about(args, &found));
    }
    Ok(())
}

fn table(found: &LeverageAnswer) -> Table {
    let points = |share: f64| format!("{:.2}", 100.0 * share);
    let event = |event: &Leverage| event.leg.as_ref().unwrap_or(&event.event).clone();
    Table::of(
        &found.events,
        &[
            ("event", &event),
            ("worlds", &|e| count(e.worlds as u64)),
            ("with", &|e| percent(e.with)),
            ("without", &|e| percent(e.without)),
            ("movement", &|e| points(e.movement)),
        ],
    )
}

/// What the table is about, and how far chance alone reaches.
fn about(args: &LeverageArgs, found: &LeverageAnswer) -> String {
    let left_out = match found.left_out {
        0 => String::new(),
        n => format!("; {} numbers were not examined: name some with --outcome or --among", count(n as u64)),
    };
    format!(
        "{}: {} of {} worlds; chance alone moves none of {} events by more than {:.2} points (95%){left_out}",
        args.condition,
        percent(found.probability),
        count(found.worlds as u64),
        count(found.compared as u64),
        100.0 * found.chance
    )
}
