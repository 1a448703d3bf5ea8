//! `manyworlds price`: the joint probability of some legs.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ensemble::{BitSet, Columns, Expression, GameState, Price};

use super::events::events_of;
use super::open_columns;
use crate::args::{Format, PriceArgs};
use crate::output::{Table, count, print, print_json};

pub(crate) async fn price(args: &PriceArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let catalogue = &columns.ensemble().plan.catalogue;
    let entity = args.entity.as_deref().map(|name| catalogue.find_entity(name)).transpose()?;
    let parse = |text: &String| Expression::parse(text, catalogue, entity).with_context(|| format!("in {text:?}"));
    let legs = args.legs.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let mut given: Option<BitSet> = None;
    for text in &args.given {
        let worlds = if GameState::is_meant(text) {
            seen(&columns, text, entity)?
        } else {
            let condition = parse(text)?;
            condition.holds(&columns.get(condition.columns())?, columns.worlds())
        };
        match &mut given {
            Some(all) => all.intersect(&worlds),
            None => given = Some(worlds),
        }
    }
    if let Some(given) = &given {
        refuse_few(given, args)?;
    }
    let price = ensemble::price(&columns, &legs, given.as_ref())?;
    report(&price, args.format.format)?;
    Ok(ExitCode::SUCCESS)
}

/// The worlds in which a moment of the entity's game was as described.
fn seen(columns: &Columns, text: &str, entity: Option<usize>) -> Result<BitSet> {
    let state = GameState::parse(text)?;
    let entity = entity.context("a moment of a game needs --entity, to know of which")?;
    let ensemble = columns.ensemble();
    let catalogue = &ensemble.plan.catalogue;
    let mut found = Vec::with_capacity(ensemble.outcomes.len());
    for (range, _, _) in &ensemble.outcomes {
        let events = events_of(ensemble, entity, *range, GameState::reads)?;
        found.push(state.matches(catalogue, &events)?);
    }
    Ok(BitSet::concat(&found))
}

/// Refuses to answer from too few worlds.
fn refuse_few(given: &BitSet, args: &PriceArgs) -> Result<()> {
    let (matched, least) = (given.count(), args.min_worlds);
    if matched >= least {
        return Ok(());
    }
    bail!(
        "only {} of {} worlds meet {:?}: too few to answer from (--min-worlds {least}); play more worlds or widen the \
         condition",
        count(matched as u64),
        count(given.len() as u64),
        args.given.join(" and ")
    )
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
