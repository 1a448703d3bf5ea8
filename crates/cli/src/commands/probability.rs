//! `manyworlds probability` and `price`: the share of worlds in which all conditions hold.

use std::process::ExitCode;

use anyhow::Result;
use ensemble::{Price, PriceQuestion};

use super::{make_model, open_columns};
use crate::args::{Format, ProbabilityArgs};
use crate::output::{Table, count, print, print_json, share};

pub(crate) async fn probability(args: &ProbabilityArgs) -> Result<ExitCode> {
    let found = answer(args).await?;
    if args.format.format == Format::Json {
        let mut found = serde_json::to_value(&found)?;
        found.as_object_mut().map(|fields| fields.remove("fair_odds"));
        print_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["condition", "probability"]);
    rows(&found).into_iter().for_each(|(name, probability, _)| table.push([name, probability]));
    print(&if args.format.format == Format::Csv { table.to_csv() } else { table.to_string() })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn price(args: &ProbabilityArgs) -> Result<ExitCode> {
    let found = answer(args).await?;
    if args.format.format == Format::Json {
        print_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["leg", "probability", "fair odds"]);
    rows(&found).into_iter().for_each(|(name, probability, odds)| table.push([name, probability, odds]));
    print(&if args.format.format == Format::Csv { table.to_csv() } else { table.to_string() })?;
    Ok(ExitCode::SUCCESS)
}

async fn answer(args: &ProbabilityArgs) -> Result<Price> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = PriceQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        legs: args.conditions.clone(),
        given: args.given.clone(),
        min_worlds: args.min_worlds,
    };
    Ok(question.answer(&columns, &make_model(), &|| true)?)
}

/// Probability and fair odds of each condition, then of all together with the interval.
fn rows(found: &Price) -> Vec<(String, String, String)> {
    let percent = |p: f64| format!("{:.2}%", 100.0 * p);
    let odds = |p: f64| if p > 0.0 { format!("{:.2}", 1.0 / p) } else { "-".to_owned() };
    let alone = found.legs.iter().map(|leg| (leg.leg.clone(), leg.probability));
    let alone = alone.chain([("if independent".to_owned(), found.independent)]);
    let all = format!("all, in {} worlds", count(found.worlds as u64));
    let all = (all, share(found.probability, found.ci), odds(found.probability));
    alone.map(|(name, p)| (name, percent(p), odds(p))).chain([all]).collect()
}
