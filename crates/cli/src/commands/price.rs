//! `manyworlds price`: the joint probability of some legs.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ensemble::{BitSet, Columns, Expression, Price};

use super::{find_entity, open_columns};
use crate::args::{Format, PriceArgs};
use crate::output::{Table, count, print, print_json};

pub(crate) async fn price(args: &PriceArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let catalogue = &columns.ensemble().plan.catalogue;
    let entity = args.entity.as_deref().map(|name| find_entity(catalogue, name)).transpose()?;
    let parse = |text: &String| Expression::parse(text, catalogue, entity).with_context(|| format!("in {text:?}"));
    let legs = args.legs.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let given = args.given.as_ref().map(parse).transpose()?;
    let given = given.map(|condition| matching(&columns, &condition, args.min_worlds)).transpose()?;
    let price = ensemble::price(&columns, &legs, given.as_ref())?;
    report(&price, args.format.format)?;
    Ok(ExitCode::SUCCESS)
}

/// The worlds that meet a condition, where they are enough to answer from.
fn matching(columns: &Columns, condition: &Expression, min_worlds: usize) -> Result<BitSet> {
    let worlds = condition.holds(&columns.get(condition.columns())?, columns.worlds());
    let matched = worlds.count();
    if matched < min_worlds {
        bail!(
            "only {} of {} worlds meet {:?}: too few to answer from (--min-worlds {min_worlds}); play more worlds or \
             widen the condition",
            count(matched as u64),
            count(columns.worlds() as u64),
            condition.text()
        );
    }
    Ok(worlds)
}

fn report(price: &Price, format: Format) -> Result<()> {
    if format == Format::Json {
        return print_json(price);
    }
    let percent = |p: f64| format!("{:.2}%", 100.0 * p);
    let odds = |p: f64| if p > 0.0 { format!("{:.2}", 1.0 / p) } else { "-".to_owned() };
    let mut table = Table::new(["leg", "probability", "fair odds"]);
    for leg in &price.legs {
        table.push([leg.leg.clone(), percent(leg.probability), odds(leg.probability)]);
    }
    table.push(["if independent".to_owned(), percent(price.independent), odds(price.independent)]);
    let joint = format!("all, in {} worlds", count(price.worlds as u64));
    let probability = format!("{} ± {}", percent(price.probability), percent(price.standard_error));
    table.push([joint, probability, odds(price.probability)]);
    print(&if format == Format::Csv { table.to_csv() } else { table.to_string() })
}
