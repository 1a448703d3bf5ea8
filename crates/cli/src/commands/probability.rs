//! `manyworlds price`: the joint probability of some legs.

use std::process::ExitCode;

use anyhow::Result;
use ensemble::{Price, PriceQuestion};

use super::{make_model, open_columns};
use crate::args::{Format, PriceArgs};
use crate::output::{Table, count, print, print_json, share};

pub(crate) async fn price(args: &PriceArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = PriceQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        legs: args.legs.clone(),
        given: args.given.clone(),
        min_worlds: args.min_worlds,
    };
    report(&question.answer(&columns, &make_model(), &|| true)?, args.format.format)?;
    Ok(ExitCode::SUCCESS)
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
    table.push([joint, share(price.probability, price.ci), odds(price.probability)]);
    print(&if format == Format::Csv { table.to_csv() } else { table.to_string() })
}
