//! The questions about the stored season: outcomes and a bet.

use ensemble::{Columns, Expression, OutcomeRef};
use model::Catalogue;

use crate::error::BenchError;

/// The game in questions about one game.
pub(crate) const GAME: &str = "game-017";
/// The team in questions about one team.
pub(crate) const TEAM: &str = "team-01";

/// Outcomes of a game, as a parlay uses them; the first five are the small basket.
const BASKET: &str = "home_margin total_points home_qb1_pass_yards away_wr1_catch_yards home_rb1_anytime_touchdown \
                      away_qb1_pass_touchdowns home_rb1_rush_yards away_points_h1 home_te1_catches away_k_points \
                      total_sacks home_possession";

/// The five conditions of the bet: each value must be above its bound.
const CONDITIONS: [(&str, f64); 5] = [
    ("home_margin", 3.5),
    ("total_points", 40.5),
    ("home_qb1_pass_yards", 199.5),
    ("away_wr1_catch_yards", 39.5),
    ("home_rb1_anytime_touchdown", 0.5),
];

fn entity(catalogue: &Catalogue, name: &str) -> Result<usize, BenchError> {
    catalogue.entity(name).ok_or_else(|| BenchError::Missing(name.to_owned()))
}

fn outcome(catalogue: &Catalogue, entity: usize, name: &str) -> Result<OutcomeRef, BenchError> {
    let outcome = catalogue.kind_of(entity).outcome(name);
    let outcome = outcome.ok_or_else(|| BenchError::Missing(format!("{}:{name}", catalogue.entities[entity].name)))?;
    Ok(OutcomeRef { entity, outcome })
}

/// Every outcome of one entity.
pub(crate) fn whole(catalogue: &Catalogue, name: &str) -> Result<Vec<OutcomeRef>, BenchError> {
    let entity = entity(catalogue, name)?;
    Ok((0..catalogue.kind_of(entity).outcomes.len()).map(|outcome| OutcomeRef { entity, outcome }).collect())
}

/// The first `count` outcomes of the basket, of one game.
pub(crate) fn basket(catalogue: &Catalogue, count: usize) -> Result<Vec<OutcomeRef>, BenchError> {
    let entity = entity(catalogue, GAME)?;
    BASKET.split(' ').take(count).map(|name| outcome(catalogue, entity, name)).collect()
}

/// A team's points in each of its home and away games.
pub(crate) fn points_of_team(catalogue: &Catalogue, team: &str) -> Result<Vec<OutcomeRef>, BenchError> {
    let games = catalogue.entities.iter().enumerate();
    let of_team = games.filter_map(|(place, game)| match game.members.as_slice() {
        [home, _] if home == team => Some((place, "home_points")),
        [_, away] if away == team => Some((place, "away_points")),
        _ => None,
    });
    of_team.map(|(place, name)| outcome(catalogue, place, name)).collect()
}

/// Every outcome of every team's season.
pub(crate) fn all_seasons(catalogue: &Catalogue) -> Result<Vec<OutcomeRef>, BenchError> {
    let kind = catalogue.entities[entity(catalogue, TEAM)?].kind;
    let teams = catalogue.entities.iter().filter(|e| e.kind == kind);
    Ok(teams.map(|t| whole(catalogue, &t.name)).collect::<Result<Vec<_>, _>>()?.concat())
}

/// The conditions of the bet.
pub(crate) fn conditions(catalogue: &Catalogue) -> Result<Vec<Expression>, BenchError> {
    let entity = entity(catalogue, GAME)?;
    let parse = |(name, bound): (&str, f64)| {
        let question = format!("{name} > {bound}");
        Expression::parse(&question, catalogue, Some(entity))
            .map_err(|source| BenchError::Question { question, source })
    };
    CONDITIONS.into_iter().map(parse).collect()
}

/// The bet in SQL, over the ensemble `name`.
pub(crate) fn bet_in_sql(name: &str) -> String {
    let conditions: Vec<String> = CONDITIONS.iter().map(|(outcome, bound)| format!("{outcome} > {bound}")).collect();
    format!(
        "SELECT avg(CASE WHEN {} THEN 1.0 ELSE 0.0 END) AS p FROM worlds('{name}', '{GAME}')",
        conditions.join(" AND ")
    )
}

/// One team's season in SQL, over the ensemble `name`.
pub(crate) fn season_in_sql(name: &str) -> String {
    format!("SELECT * FROM worlds('{name}', '{TEAM}')")
}

/// Counts the worlds that meet all conditions, value by value.
pub(crate) fn count_by_brute_force(columns: &Columns) -> Result<usize, BenchError> {
    let catalogue = &columns.ensemble().plan.catalogue;
    let game = entity(catalogue, GAME)?;
    let wanted: Vec<OutcomeRef> =
        CONDITIONS.iter().map(|(name, _)| outcome(catalogue, game, name)).collect::<Result<_, _>>()?;
    let values = columns.get(&wanted)?;
    let wins = |world: &usize| values.iter().zip(CONDITIONS).all(|(column, (_, bound))| column.value(*world) > bound);
    Ok((0..columns.worlds()).filter(wins).count())
}
