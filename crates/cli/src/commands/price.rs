//! `manyworlds price`: the joint probability of some legs.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use ensemble::{Expression, GameState, Given, Price, StoredEnsemble};

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
    let mut given = Given::new(columns.worlds());
    for text in &args.given {
        if GameState::is_meant(text) {
            let state = GameState::parse(text)?;
            given.add_state(text, state, &times_needed(state, columns.ensemble(), entity)?);
        } else {
            let condition = parse(text)?;
            given.add(text, &condition.holds(&columns.get(condition.columns())?, columns.worlds()));
        }
    }
    let given = if args.given.is_empty() { None } else { Some(given.worlds(args.min_worlds)?) };
    let price = ensemble::price(&columns, &legs, given.as_ref())?;
    report(&price, args.format.format)?;
    Ok(ExitCode::SUCCESS)
}

/// How many times the state's tolerances must be taken for each world's game to have been in it.
fn times_needed(state: GameState, ensemble: &StoredEnsemble, entity: Option<usize>) -> Result<Vec<u32>> {
    let entity = entity.context("a moment of a game needs --entity, to know of which")?;
    let mut times = Vec::with_capacity(ensemble.worlds());
    for (range, _, _) in &ensemble.outcomes {
        let events = events_of(ensemble, entity, *range, GameState::reads)?;
        times.extend(state.times_needed(&ensemble.plan.catalogue, &events)?);
    }
    Ok(times)
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
