//! `manyworlds book`: the risk of a book of bets.

use std::fmt::Write as _;

use anyhow::Result;
use ensemble::{BetFile, BetRisk, BookAnswer, BookQuestion, Interval, QuestionError, Side, TailRisk};

use super::outcome::{bars, quantiles};
use super::{make_model, open_columns};
use crate::args::{BookArgs, Format};
use crate::output::{Table, count, counted, print, print_json, share};

/// Lost bets that the table names for one world.
const LOST_SHOWN: usize = 8;

pub(crate) async fn book(args: &BookArgs) -> Result<()> {
    let file = BetFile::read(&args.file)?;
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = BookQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        bets: file.bets.clone(),
        given: args.worlds.given.clone(),
        min_worlds: args.worlds.min_worlds,
        levels: args.levels.clone(),
        worst: args.worst,
    };
    let found = question.answer(&columns, &make_model(), &|| true).map_err(|error| located(&file, error))?;
    match args.format.format {
        Format::Json => print_json(&found),
        Format::Csv => print(&to_csv(&found)),
        Format::Table => print(&draw(&found, args.top)),
    }
}

/// Adds the line and the column to the error of a bet.
fn located(file: &BetFile, error: QuestionError) -> anyhow::Error {
    match file.locate(error) {
        Ok(located) => located.into(),
        Err(error) => error.into(),
    }
}

/// An amount of money.
fn money(amount: f64) -> String {
    format!("{amount:.2}")
}

/// The ends of an interval of money.
fn range(Interval { low, high }: Interval) -> String {
    format!("{low:.2} to {high:.2}")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn side(bet: &BetRisk) -> String {
    match bet.side {
        Side::Back => "back",
        Side::Lay => "lay",
    }
    .to_owned()
}

/// Everything for the terminal.
fn draw(found: &BookAnswer, top: usize) -> String {
    let (bets, worlds) = (counted(found.bets.len() as u64, "bet"), count(found.worlds as u64));
    let mut text = format!("{bets}, stakes of {}; {worlds} worlds\n", money(found.stake));
    let ci = found.ci.map(|ci| format!(" (95%: {})", range(ci))).unwrap_or_default();
    // Writing to a String cannot fail.
    let _ =
        writeln!(text, "mean profit {}{ci}, standard deviation {}", money(found.mean), money(found.standard_deviation));
    text.push_str(&quantiles(&found.distribution));
    if !found.is_exact {
        let _ = writeln!(text, "each profit is rounded to {}", found.money_unit);
    }
    let _ = writeln!(text, "\n{}", bars(&found.distribution));
    let _ = writeln!(text, "loss in {} of the worlds\n", share(found.loss.probability, found.loss.ci));
    let _ = writeln!(text, "{}\n{}\n{}", tails(&found.tails), worst(found), bets_of(found, top));
    text
}

fn tails(tails: &[TailRisk]) -> Table {
    Table::of(
        tails,
        &[
            ("level", &|tail| format!("{}%", 100.0 * tail.level.to_f64())),
            ("value at risk", &|tail| money(tail.value_at_risk)),
            ("95%", &|tail| range(tail.value_at_risk_ci)),
            ("expected shortfall", &|tail| money(tail.expected_shortfall)),
            ("95%", &|tail| range(tail.expected_shortfall_ci)),
        ],
    )
}

fn worst(found: &BookAnswer) -> Table {
    let lost = |lost: &[String]| {
        let shown = lost.iter().take(LOST_SHOWN).cloned().collect::<Vec<_>>().join(", ");
        let more = lost.len().saturating_sub(LOST_SHOWN);
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    Table::of(
        &found.worst,
        &[
            ("worst world", &|world| world.world.to_string()),
            ("profit", &|world| money(world.profit)),
            ("lost bets", &|world| lost(&world.lost)),
        ],
    )
}

/// The bets with the largest parts of the last expected shortfall.
fn bets_of(found: &BookAnswer, top: usize) -> Table {
    let mut bets: Vec<&BetRisk> = found.bets.iter().collect();
    let part = |bet: &BetRisk| bet.shortfall.last().map_or(0.0, |part| part.amount);
    bets.sort_by(|a, b| part(b).total_cmp(&part(a)));
    bets.truncate(top);
    let names = ["bet", "side", "stake", "odds", "probability", "expected profit", "edge", "95%"];
    let mut header: Vec<String> = names.map(str::to_owned).to_vec();
    for tail in &found.tails {
        let level = 100.0 * tail.level.to_f64();
        header.extend([format!("in {level}% shortfall"), "share".to_owned()]);
    }
    let mut table = Table::with_header(header);
    for bet in bets {
        let mut row = vec![
            bet.id.clone(),
            side(bet),
            bet.stake.to_string(),
            bet.odds.to_string(),
            percent(bet.probability),
            money(bet.expected_profit),
            percent(bet.edge),
            format!("{} to {}", percent(bet.edge_ci.low), percent(bet.edge_ci.high)),
        ];
        for part in &bet.shortfall {
            row.extend([money(part.amount), part.share.map(percent).unwrap_or_default()]);
        }
        table.push_row(row);
    }
    table
}

/// One line per bet.
fn to_csv(found: &BookAnswer) -> String {
    let names = [
        "id",
        "legs",
        "side",
        "stake",
        "odds",
        "probability",
        "ci_low",
        "ci_high",
        "expected_profit",
        "expected_profit_low",
        "expected_profit_high",
        "edge",
        "edge_low",
        "edge_high",
    ];
    let mut header: Vec<String> = names.map(str::to_owned).to_vec();
    for tail in &found.tails {
        header.extend([format!("shortfall_{}", tail.level), format!("shortfall_share_{}", tail.level)]);
    }
    let mut table = Table::with_header(header);
    for bet in &found.bets {
        let mut row = vec![bet.id.clone(), bet.legs.join("; "), side(bet), bet.stake.to_string(), bet.odds.to_string()];
        for (value, ci) in
            [(bet.probability, bet.ci), (bet.expected_profit, bet.expected_profit_ci), (bet.edge, bet.edge_ci)]
        {
            row.extend([value, ci.low, ci.high].map(|number| number.to_string()));
        }
        for part in &bet.shortfall {
            row.extend([part.amount.to_string(), part.share.map(|share| share.to_string()).unwrap_or_default()]);
        }
        table.push_row(row);
    }
    table.to_csv()
}
