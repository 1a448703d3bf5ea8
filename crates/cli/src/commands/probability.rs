//! `manyworlds probability` and `price`: the share of worlds in which all conditions hold.

use anyhow::Result;
use ensemble::{Price, PriceQuestion};

use super::{make_model, open_columns};
use crate::args::ProbabilityArgs;
use crate::output::{Table, count, percent, share, show};

pub(crate) async fn probability(args: &ProbabilityArgs) -> Result<()> {
    let found = answer(args).await?;
    let mut json = serde_json::to_value(&found)?;
    json.as_object_mut().map(|fields| fields.remove("fair_odds"));
    let mut table = Table::new(["condition", "probability"]);
    rows(&found).into_iter().for_each(|[name, probability, _]| table.push([name, probability]));
    show(args.format.format, &json, &table)
}

pub(crate) async fn price(args: &ProbabilityArgs) -> Result<()> {
    let found = answer(args).await?;
    let mut table = Table::new(["condition", "probability", "fair odds"]);
    rows(&found).into_iter().for_each(|row| table.push(row));
    show(args.format.format, &found, &table)
}

async fn answer(args: &ProbabilityArgs) -> Result<Price> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = PriceQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        legs: args.conditions.clone(),
        given: args.worlds.given.clone(),
        min_worlds: args.worlds.min_worlds,
    };
    Ok(question.answer(&columns, &make_model(), &|| true)?)
}

/// Probability and fair odds of each condition, then of all together with the interval.
fn rows(found: &Price) -> Vec<[String; 3]> {
    let odds = |p: f64| if p > 0.0 { format!("{:.2}", 1.0 / p) } else { "-".to_owned() };
    let alone = found.legs.iter().map(|leg| (leg.leg.clone(), leg.probability));
    let alone = alone.chain([("if independent".to_owned(), found.independent)]);
    let all = format!("all, in {} worlds", count(found.worlds as u64));
    let all = [all, share(found.probability, found.ci), odds(found.probability)];
    alone.map(|(name, p)| [name, percent(p), odds(p)]).chain([all]).collect()
}
