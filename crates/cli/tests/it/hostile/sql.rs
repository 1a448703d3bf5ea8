//! SQL questions that are almost valid: from a grammar, over names and values at limits.

use super::Dice;
use super::typed::typed_query;

/// Existing tables, and one that does not exist.
const TABLES: [&str; 10] = [
    "(SELECT column1 AS host, column2 AS load, column3 AS n, column4 AS time FROM (VALUES ('a', 1.5, 1, TIMESTAMP '2026-01-01'), \
     ('b', 'NaN'::DOUBLE, NULL, NULL), (NULL, -0.0, -9223372036854775807, TIMESTAMP '1800-01-01')))",
    "(SELECT array_agg(value) AS n, 'x' AS host FROM generate_series(1, 9))",
    "d.cpu",
    "sim.outcomes",
    "events",
    "ensembles",
    "information_schema.tables",
    "nothing",
    "worlds('season', 'game-001')",
    "events('season', 'game-001', 1)",
];
const COLUMNS: [&str; 10] =
    ["host", "load", "time", "n", "world", "entity", "home_points", "\"No Such\"", "*", "t.load"];
const VALUES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "-0.0",
    "1e-400",
    "'NaN'",
    "NULL",
    "true",
    "''",
    "'a'",
    "'\\'",
    "'(('",
    "'2026-01-01'",
    "'0001-01-01T00:00:00Z'",
    "INTERVAL '1 month'",
    "X'00ff'",
    "'\u{1F980}'",
    "ARRAY[1,NULL]",
    "'infinity'",
    "1.7976931348623157e309",
];
const FUNCTIONS: [&str; 30] = [
    "abs",
    "sqrt",
    "ln",
    "power",
    "round",
    "sum",
    "avg",
    "min",
    "max",
    "count",
    "stddev",
    "quantile",
    "median",
    "lower",
    "substr",
    "lpad",
    "repeat",
    "replace",
    "split_part",
    "regexp_replace",
    "regexp_like",
    "to_timestamp",
    "date_bin",
    "date_trunc",
    "date_part",
    "array_agg",
    "array_element",
    "coalesce",
    "nullif",
    "to_char",
];
const OPERATORS: [&str; 22] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "<>",
    "<",
    ">=",
    "AND",
    "OR",
    "||",
    "~",
    "!~*",
    "LIKE",
    "IS DISTINCT FROM",
    "&",
    "<<",
    "^",
    "->",
    "@>",
    "NOT IN",
];
const TYPES: [&str; 14] = [
    "INT",
    "SMALLINT",
    "BIGINT UNSIGNED",
    "DOUBLE",
    "REAL",
    "DECIMAL(38,38)",
    "DECIMAL(1,0)",
    "TEXT",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "TIME",
    "INTERVAL",
    "BYTEA",
];

pub(crate) fn statement(dice: &mut Dice) -> String {
    match dice.below(20) {
        0 => format!("EXPLAIN {} {}", dice.pick(&["", "ANALYZE", "VERBOSE"]), query(dice, 3)),
        1 => format!("WITH c AS ({}) {}", query(dice, 2), query(dice, 2)),
        2 => format!(
            "{} {} {}",
            query(dice, 2),
            dice.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]),
            query(dice, 2)
        ),
        3 => {
            let written = query(dice, 2);
            let mut bytes = written.into_bytes();
            dice.damage(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        4 => (*dice.pick(&[
            "DROP TABLE d.cpu",
            "INSERT INTO d.cpu VALUES (1)",
            "SET x = 1",
            "SHOW ALL",
            "CREATE TABLE x (y INT)",
            "COPY d.cpu TO '/tmp/x'",
            "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
            "BEGIN",
            ";",
            "",
            "--",
            "SELECT",
            "SHOW TABLES",
            "SELECT * FROM '/etc/passwd'",
            "DEALLOCATE ALL",
            "PREPARE p AS SELECT $1",
            "EXECUTE p(1)",
            "VALUES (1, 2), (3)",
        ]))
        .to_owned(),
        5..=10 => query(dice, 3),
        _ => typed_query(dice),
    }
}

fn query(dice: &mut Dice, depth: usize) -> String {
    let mut sql = vec![format!("SELECT {}", dice.pick(&["", "", "DISTINCT ", "ALL "]))];
    for column in 0..=dice.below(3) {
        let comma = if column > 0 { ", " } else { "" };
        sql.push(format!("{comma}{}", expression(dice, depth)));
    }
    if !dice.one_in(6) {
        sql.push(format!(" FROM {} AS t", table(dice, depth)));
        if dice.one_in(4) {
            let join = dice.pick(&["JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN", "NATURAL JOIN", "JOIN LATERAL"]);
            sql.push(format!(" {join} {} AS u ON {}", table(dice, depth), expression(dice, 1)));
        }
    }
    if dice.one_in(2) {
        sql.push(format!(" WHERE {}", expression(dice, depth)));
    }
    if dice.one_in(3) {
        sql.push(format!(
            " GROUP BY {}",
            dice.pick(&["1", "host", "ALL", "ROLLUP(host)", "CUBE(host, n)", "GROUPING SETS ((), (n))"])
        ));
        if dice.one_in(2) {
            sql.push(format!(" HAVING {}", expression(dice, 1)));
        }
    }
    if dice.one_in(3) {
        sql.push(format!(" ORDER BY {} {}", expression(dice, 1), dice.pick(&["", "DESC", "NULLS FIRST"])));
    }
    // Without a limit, some answers have the squared number of a table's rows.
    sql.push(format!(" LIMIT {}", dice.pick(&["0", "1", "10", "10", "1 OFFSET 9223372036854775807"])));
    sql.concat()
}

fn table(dice: &mut Dice, depth: usize) -> String {
    match dice.below(8) {
        0 if depth > 0 => format!("({})", query(dice, depth - 1)),
        1 => format!("generate_series({}, {}, {})", value(dice), dice.below(50), value(dice)),
        2 => format!("unnest({})", value(dice)),
        3 => format!("(VALUES ({}, {}))", value(dice), value(dice)),
        _ => (*dice.pick(&TABLES)).to_owned(),
    }
}

fn value(dice: &mut Dice) -> &'static str {
    dice.pick(&VALUES)
}

pub(crate) fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*if dice.one_in(2) { dice.pick(&COLUMNS) } else { value(dice) }).to_owned();
    }
    let inner = |dice: &mut Dice| expression(dice, depth - 1);
    match dice.below(12) {
        0..=2 => format!("{} {} {}", inner(dice), dice.pick(&OPERATORS), inner(dice)),
        3..=5 => {
            let arguments: Vec<String> = (0..dice.below(4)).map(|_| inner(dice)).collect();
            let end =
                dice.pick(&["", "", "", " FILTER (WHERE n > 0)", " OVER (ORDER BY n)", " OVER (PARTITION BY host)"]);
            // Texts of gigabytes belong to the tests of memory limits.
            let name = dice.pick(&FUNCTIONS);
            if matches!(name, "repeat" | "lpad") {
                return format!("{name}({}, {})", inner(dice), dice.below(100));
            }
            format!("{name}({}){end}", arguments.join(", "))
        }
        6 => format!("CAST({} AS {})", inner(dice), dice.pick(&TYPES)),
        7 => format!("CASE WHEN {} THEN {} ELSE {} END", inner(dice), inner(dice), inner(dice)),
        8 => format!("({})", inner(dice)),
        9 => format!("{} BETWEEN {} AND {}", inner(dice), inner(dice), inner(dice)),
        10 => format!("{} IN ({}, {})", inner(dice), inner(dice), inner(dice)),
        _ => format!("(SELECT {} FROM {} LIMIT 1)", inner(dice), dice.pick(&TABLES)),
    }
}
