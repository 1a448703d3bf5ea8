//! SQL questions with matching types, so that they are planned and answered.

use super::Dice;

/// Values at the limits of each type.
const ROWS: &str = "(SELECT column1 AS host, column2 AS load, column3 AS n, column4 AS time, column5 AS flag FROM (VALUES \
    ('a', 1.5, 1, TIMESTAMP '2026-01-01', true), ('b%_\\', 'NaN'::DOUBLE, NULL, NULL, NULL), \
    (NULL, -0.0, -9223372036854775807, TIMESTAMP '1800-01-01', false), ('', 1e308, 9223372036854775807, NULL, true)))";

/// A question over [`ROWS`].
pub(crate) fn typed_query(dice: &mut Dice) -> String {
    let condition = truth(dice, 2);
    let from = format!("FROM {ROWS} AS t WHERE {condition}");
    match dice.below(4) {
        0 => format!("SELECT {}, {}, {} {from}", number(dice, 2), text(dice, 2), truth(dice, 2)),
        1 => {
            let aggregate = dice.pick(&["sum", "avg", "min", "max", "count", "approx_distinct", "stddev", "median"]);
            format!("SELECT host, {aggregate}({}) AS a {from} GROUP BY host ORDER BY a, host", number(dice, 2))
        }
        2 => {
            let ranked = dice.pick(&["sum(load)", "min(n)", "row_number()", "lag(load)", "count(*)"]);
            format!("SELECT {ranked} OVER (PARTITION BY flag ORDER BY {}) {from}", number(dice, 1))
        }
        _ => {
            let join = dice.pick(&["JOIN", "LEFT JOIN", "FULL JOIN"]);
            format!(
                "SELECT count(*) FROM {ROWS} AS t {join} {ROWS} AS u ON t.host = u.host AND t.n < u.n WHERE t.load > 0"
            )
        }
    }
}

fn number(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["load", "n", "1", "-1.5", "load", "'NaN'::DOUBLE", "9223372036854775807"])).to_owned();
    }
    let inner = |dice: &mut Dice| number(dice, depth - 1);
    match dice.below(5) {
        0 => format!("({} {} {})", inner(dice), dice.pick(&["+", "-", "*", "/", "%"]), inner(dice)),
        1 => format!("{}({})", dice.pick(&["abs", "floor", "sqrt", "ln", "round"]), inner(dice)),
        2 => format!("CASE WHEN {} THEN {} ELSE {} END", truth(dice, depth - 1), inner(dice), inner(dice)),
        3 => format!("coalesce({}, {})", inner(dice), inner(dice)),
        _ => format!("character_length({})", text(dice, depth - 1)),
    }
}

fn text(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["host", "'a'", "''", "'\\'", "host", "'é%_'"])).to_owned();
    }
    let inner = |dice: &mut Dice| text(dice, depth - 1);
    match dice.below(4) {
        0 => format!("({} || {})", inner(dice), inner(dice)),
        1 => format!("{}({})", dice.pick(&["upper", "lower", "reverse", "trim"]), inner(dice)),
        2 => format!("substr({}, {}, {})", inner(dice), dice.below(5), dice.below(5)),
        _ => format!("repeat({}, {})", inner(dice), dice.below(9)),
    }
}

fn truth(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["flag", "true", "host IS NULL", "load > 0", "n IN (1, NULL)", "host LIKE '%'"]))
            .to_owned();
    }
    let inner = |dice: &mut Dice| truth(dice, depth - 1);
    match dice.below(5) {
        0 => format!("({} {} {})", inner(dice), dice.pick(&["AND", "OR"]), inner(dice)),
        1 => format!("NOT {}", inner(dice)),
        2 => {
            let sign = dice.pick(&["=", "<>", "<", ">=", "IS DISTINCT FROM"]);
            format!("({} {sign} {})", number(dice, depth - 1), number(dice, depth - 1))
        }
        3 => format!("({} {} {})", text(dice, depth - 1), dice.pick(&["=", "LIKE", "~", "<"]), text(dice, 0)),
        _ => format!("({} BETWEEN {} AND {})", number(dice, 0), number(dice, 0), number(dice, depth - 1)),
    }
}
