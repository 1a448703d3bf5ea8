//! Arithmetic never wraps around, and patterns keep their meaning.

use sql::Engine;
use world::{Seed, Stream, World};

use crate::support::{ask, cells, engine};

/// The cells of each query's only row; an error as `error: ...`.
async fn first_rows(questions: &[&str]) -> Vec<String> {
    let (engine, _data) = engine().await;
    let mut rows = Vec::new();
    for sql in questions {
        rows.push(match ask(&engine, sql).await {
            Ok(answer) => cells(&answer).first().map(|row| row.join(" ")).unwrap_or_default(),
            Err(error) => format!("error: {error}"),
        });
    }
    rows
}

async fn agree(expected: &[(&str, &str)]) {
    let questions: Vec<&str> = expected.iter().map(|(sql, _)| *sql).collect();
    let wrong: Vec<String> = first_rows(&questions)
        .await
        .into_iter()
        .zip(expected)
        .filter(|(found, (_, due))| found != due)
        .map(|(found, (sql, due))| format!("{sql}\n  found {found}\n  not   {due}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const EXTREMES: &str = "(VALUES (9223372036854775807, -5), (9223372036854775807, 2), (1, NULL)) AS t(x, y)";

#[tokio::test]
async fn integer_sums_are_exact() {
    let of = |select: &str| format!("SELECT {select} FROM {EXTREMES}");
    let unsigned = "SELECT sum(u) FROM (SELECT arrow_cast(18446744073709551615, 'UInt64') AS u FROM range(3))";
    let small = "SELECT sum(s), arrow_typeof(sum(s)) FROM (SELECT arrow_cast(value, 'Int16') AS s FROM range(10))";
    agree(&[
        (&of("sum(x), sum(y), avg(x)"), "18446744073709551615 -3 6.148914691236517e18"),
        (&of("sum(DISTINCT x), avg(DISTINCT y)"), "9223372036854775808 -1.5"),
        (&of("sum(x) FILTER (WHERE y < 0), sum(x) FILTER (WHERE false)"), "9223372036854775807 NULL"),
        (&of("sum(-x - 1), sum(x - 1 + 1)"), "-18446744073709551618 18446744073709551615"),
        (&of("sum(x) / count(*), sum(x) % 10, sum(y) / 2"), "6148914691236517205 5 -1"),
        (&of("sum(x) + 1, -sum(x), sum(x) > 0"), "18446744073709551616 -18446744073709551615 true"),
        (&of("sum(x) * 1.0"), "1.8446744073709552e19"),
        (&of("sum(y) / 2 IN (-1), sum(y) / 2 NOT IN (-1, 7), sum(y) / count(*) > -2"), "true false true"),
        (&of("coalesce(sum(y) / nullif(sum(y) - sum(y), 0), 0), CASE WHEN true THEN sum(y) / 2 ELSE 0 END"), "0 -1"),
        (&of("sum(y) / 2 BETWEEN -1 AND 0, CASE sum(y) / 2 WHEN -1 THEN 'a' END"), "true a"),
        (&format!("SELECT max(r) = -1 FROM (SELECT sum(y) / 2 AS r FROM {EXTREMES} UNION ALL SELECT -7)"), "true"),
        (&format!("SELECT r / 2 IN (-3) FROM (SELECT sum(y) / 2 * 7 AS r FROM {EXTREMES})"), "true"),
        (&format!("SELECT count(*) FROM (SELECT 1 FROM {EXTREMES} HAVING sum(y) / 2 IN (-1, 6))"), "1"),
        ("SELECT sum(x) FROM (SELECT 9223372036854775807 AS x FROM range(20000))", "184467440737095516140000"),
        (unsigned, "55340232221128654845"),
        (small, "45 Int64"),
        (&format!("SELECT y, sum(x), avg(x) FROM {EXTREMES} GROUP BY y ORDER BY y LIMIT 1"), "-5 9223372036854775807 9.223372036854776e18"),
        ("SELECT max(s) FROM (SELECT value % 7 AS k, sum(9223372036854775807) AS s FROM range(700) GROUP BY k)", "922337203685477580700"),
        (
            "SELECT max(s), min(s) FROM (SELECT sum(x) OVER (ORDER BY x ROWS 1 PRECEDING) AS s \
             FROM (SELECT 9223372036854775800 + value AS x FROM range(8)))",
            "18446744073709551613 9223372036854775800",
        ),
        (
            "SELECT sum(DISTINCT x) OVER (ORDER BY y ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM \
             (VALUES (9223372036854775807, 1), (9223372036854775806, 2), (9223372036854775807, 3)) AS t(x, y) ORDER BY s DESC",
            "18446744073709551613",
        ),
    ])
    .await;
}

#[tokio::test]
async fn questions_to_aggregates_have_one_row() {
    let of = "FROM (VALUES (1), (2), (3)) AS t(x)";
    agree(&[
        (&format!("SELECT EXISTS (SELECT median(x) {of} WHERE false)"), "true"),
        (&format!("SELECT EXISTS (SELECT x {of} WHERE false)"), "false"),
        (&format!("SELECT EXISTS (SELECT x, median(x) {of} GROUP BY x HAVING x > 3)"), "false"),
        (&format!("SELECT 2 IN (SELECT quantile(x, 0.5) {of})"), "true"),
        (&format!("SELECT 1 IN (SELECT stddev(x) {of})"), "true"),
    ])
    .await;
}

#[tokio::test]
async fn decimals_and_durations_never_wrap() {
    let nines = "CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0))";
    let out = "error: cannot answer the query: number out of range:";
    let found = first_rows(&[
        &format!("SELECT sum(d) FROM (SELECT {nines} AS d FROM range(2))"),
        &format!("SELECT value % 2, sum(d) FROM (SELECT value, {nines} AS d FROM range(8)) GROUP BY 1"),
        &format!("SELECT avg(d) FROM (SELECT {nines} AS d FROM range(2))"),
        "SELECT sum(d) FROM (SELECT arrow_cast(9223372036854775807, 'Duration(Microsecond)') AS d FROM range(2))",
    ])
    .await;
    assert!(found.iter().all(|row| row.starts_with(out)), "{found:#?}");
    agree(&[
        ("SELECT sum(d), avg(d) FROM (VALUES (CAST('1.5' AS DECIMAL(10,2))), ('2.25')) AS t(d)", "3.75 1.875000"),
        ("SELECT sum(d) FROM (SELECT arrow_cast(value, 'Duration(Second)') AS d FROM range(4))", "PT6S"),
    ])
    .await;
}

#[tokio::test]
async fn infinities_leave_moving_windows() {
    let rows =
        "(VALUES (1, 'inf'::DOUBLE), (2, 1e300), (3, 'nan'), (4, 2.0), (5, 3.5), (6, NULL), (7, NULL)) AS t(k, x)";
    agree(&[(
        &format!(
            "SELECT string_agg(coalesce(s::TEXT, '-') || '/' || coalesce(a::TEXT, '-'), ' ' ORDER BY k) FROM (SELECT k, \
             sum(x) OVER (ORDER BY k ROWS 1 PRECEDING) AS s, avg(x) OVER (ORDER BY k ROWS 1 PRECEDING) AS a FROM {rows})"
        ),
        "inf/inf inf/inf NaN/NaN NaN/NaN 5.5/2.75 3.5/3.5 -/-",
    )])
    .await;
}

#[tokio::test]
async fn integer_overflow_is_an_error() {
    let most = "9223372036854775807";
    let column = |select: &str| format!("SELECT {select} FROM (VALUES ({most}, 1), (3, 2)) AS t(x, y)");
    let overflowing = [
        format!("SELECT {most} + 1"),
        format!("SELECT -{most} - 2"),
        format!("SELECT {most} * 2"),
        format!("SELECT -(-{most} - 1)"),
        "SELECT abs(-9223372036854775807 - 1)".to_owned(),
        format!("SELECT (-{most} - 1) / -1"),
        column("x + y"),
        column("x * x"),
        column("-x - x"),
        column("sum(x + y)"),
        column("x + 1"),
        format!("SELECT count(*) FROM (VALUES ({most})) AS t(x) WHERE x + 1 < 0"),
        format!("SELECT 1 FROM (VALUES ({most})) AS a(x) JOIN (VALUES (-{most} - 1)) AS b(y) ON a.x + 1 = b.y"),
        format!("SELECT CASE WHEN true THEN {most} + 1 END"),
        format!("SELECT (SELECT max(x) + 1 FROM (VALUES ({most})) AS t(x))"),
        "SELECT arrow_cast(127, 'Int8') * arrow_cast(2, 'Int8')".to_owned(),
        "SELECT arrow_cast(0, 'UInt64') - arrow_cast(1, 'UInt64')".to_owned(),
        format!("SELECT CAST({most} AS INT)"),
        "SELECT 1e300::BIGINT".to_owned(),
        "SELECT 'nan'::DOUBLE::BIGINT".to_owned(),
        "SELECT power(10, 30)::BIGINT".to_owned(),
        "SELECT max(value + 9223372036854775800) FROM range(9)".to_owned(),
        "SELECT DATE '9999-01-01' + INTERVAL '2000000000 years'".to_owned(),
        "SELECT TIMESTAMP '2262-01-01' + INTERVAL '100000000 days'".to_owned(),
        "SELECT INTERVAL '2000000000 months' + INTERVAL '2000000000 months'".to_owned(),
        format!("SELECT to_timestamp_seconds({most})::TIMESTAMP"),
        "SELECT factorial(30)".to_owned(),
        format!("SELECT lcm({most}, 2)"),
    ];
    let questions: Vec<&str> = overflowing.iter().map(String::as_str).collect();
    let answered: Vec<_> = first_rows(&questions)
        .await
        .into_iter()
        .zip(&questions)
        .filter(|(row, _)| !row.starts_with("error:"))
        .collect();
    assert!(answered.is_empty(), "{answered:#?}");
}

#[tokio::test]
async fn checked_arithmetic_matches_plain_arithmetic() {
    agree(&[
        ("SELECT 1 + 2 * 3 - -4, -(-5), 7 / 2, 7 % 4", "11 5 3 3"),
        ("SELECT x + y, x * NULL, 2 - y FROM (VALUES (1, 2)) AS t(x, y)", "3 NULL 0"),
        ("SELECT count(*), min(value), max(value) FROM generate_series(9223372036854775805, 9223372036854775807)", "3 9223372036854775805 9223372036854775807"),
        ("SELECT count(*) FROM range(9223372036854775805, 9223372036854775807)", "2"),
        ("SELECT sum(x) OVER (ORDER BY x RANGE 1 PRECEDING) FROM (VALUES (-9223372036854775807 - 1)) AS t(x)", "-9223372036854775808"),
        ("SELECT median(x) FROM (VALUES (9223372036854775807), (9223372036854775805)) AS t(x)", "9.223372036854776e18"),
        ("SELECT quantile(s, 0.5), approx_quantile(s, 0.5) FROM (SELECT sum(value) AS s FROM range(9) GROUP BY value)", "4.0 4.0"),
    ])
    .await;
    let (engine, _data) = engine().await;
    let named = ask(&engine, "SELECT x + y, -x, x + 1 AS z FROM (VALUES (1, 2)) AS t(x, y)").await.unwrap();
    let names: Vec<_> = named.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["t.x + t.y", "(- t.x)", "z"]);
}

/// Texts with every character that is special in some pattern.
const TEXTS: [&str; 12] = ["", "a", "A", r"\", r"a\b", r"\\", "%", "a%b", "_", "a\nb", "é", "[a]"];

fn texts() -> String {
    let quoted: Vec<String> = TEXTS.iter().map(|text| format!("('{text}')")).collect();
    format!("(VALUES {}) AS t(s)", quoted.join(", "))
}

/// The texts that match a condition.
async fn matching(engine: &Engine, condition: &str) -> Vec<String> {
    let answer = ask(engine, &format!("SELECT s FROM {} WHERE {condition}", texts())).await;
    let mut found: Vec<String> = cells(&answer.unwrap_or_else(|error| panic!("{condition}: {error}")))
        .into_iter()
        .map(|mut row| row.remove(0))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn regular_expressions_match_regex_crate() {
    let (engine, _data) = engine().await;
    let patterns = [
        r"\\",
        r"^\\$",
        r"^\\",
        r"\\$",
        r"^a\\b$",
        r"a|\\",
        r"^(\\|a)$",
        "%",
        "^%$",
        "_",
        "^_",
        "a.b",
        "^a",
        "b$",
        "A",
        "",
        ".*",
        r"\.",
        r"[\\]",
        "é",
        r"\[a\]",
        "^(a|%)$",
        r"(?x) \\ # a comment",
        "^$",
        "a%b|_",
    ];
    for pattern in patterns {
        for (operator, negated, any_case) in
            [("~", false, false), ("!~", true, false), ("~*", false, true), ("!~*", true, true)]
        {
            let regex = regex::RegexBuilder::new(pattern).case_insensitive(any_case).build().unwrap();
            let mut due: Vec<&str> = TEXTS.into_iter().filter(|text| regex.is_match(text) != negated).collect();
            due.sort_unstable();
            assert_eq!(matching(&engine, &format!("s {operator} '{pattern}'")).await, due, "{operator} {pattern}");
            // A pattern that becomes constant only later.
            assert_eq!(
                matching(&engine, &format!("s {operator} concat('{pattern}', '')")).await,
                due,
                "{operator} {pattern}"
            );
            if any_case {
                let call = format!("{} regexp_like(s, '{pattern}', 'i')", if negated { "NOT" } else { "" });
                assert_eq!(matching(&engine, &call).await, due, "{call}");
            } else {
                let call = format!("{} regexp_like(s, '{pattern}')", if negated { "NOT" } else { "" });
                assert_eq!(matching(&engine, &call).await, due, "{call}");
            }
        }
    }
}

#[tokio::test]
async fn like_and_similar_to_follow_postgresql() {
    let (engine, _data) = engine().await;
    let expected: &[(&str, &[&str])] = &[
        (r"s LIKE '\\'", &[r"\"]),
        (r"s LIKE 'a\\b'", &[r"a\b"]),
        (r"s LIKE '%\\%'", &[r"\", r"\\", r"a\b"]),
        (r"s LIKE '\%'", &["%"]),
        (r"s LIKE 'a\%b'", &["a%b"]),
        (r"s LIKE '\_'", &["_"]),
        (r"s LIKE '!%' ESCAPE '!'", &["%"]),
        (r"s LIKE '\' ESCAPE '!'", &[r"\"]),
        (r"s LIKE '%!_%' ESCAPE '!'", &["_"]),
        (r"s ILIKE 'A'", &["A", "a"]),
        (r"s ILIKE '%\\B'", &[r"a\b"]),
        (r"s NOT LIKE '%'", &[]),
        ("s LIKE 'a_b'", &["a\nb", "a%b", r"a\b"]),
        ("s SIMILAR TO 'a'", &["a"]),
        ("s SIMILAR TO 'a%'", &["a", "a\nb", "a%b", r"a\b"]),
        ("s SIMILAR TO '_'", &["%", "A", r"\", "_", "a", "é"]),
        ("s SIMILAR TO '(a|A)'", &["A", "a"]),
        (r"s SIMILAR TO '\\'", &[r"\"]),
        (r"s SIMILAR TO 'a\%b'", &["a%b"]),
        (r"s SIMILAR TO 'a!%b' ESCAPE '!'", &["a%b"]),
        ("s SIMILAR TO '.'", &[]),
        ("s NOT SIMILAR TO '%'", &[]),
        ("s SIMILAR TO '[a-z]'", &["a"]),
        (r"starts_with(s, '\')", &[r"\", r"\\"]),
        ("contains(s, '%')", &["%", "a%b"]),
    ];
    for (condition, due) in expected {
        assert_eq!(matching(&engine, condition).await, *due, "{condition}");
    }
    for condition in [r"s LIKE 'a\'", "s SIMILAR TO s", r"s LIKE 'a!' ESCAPE '!'"] {
        assert!(ask(&engine, &format!("SELECT s FROM {} WHERE {condition}", texts())).await.is_err(), "{condition}");
    }
}

#[tokio::test]
async fn real_numbers_compare_by_value() {
    let reals = "(VALUES (1, 0.0), (2, -0.0), (3, 'nan'::DOUBLE), (4, '-nan'::DOUBLE), (5, 'inf'::DOUBLE), (6, '-inf'::DOUBLE), \
                 (7, 1.5), (8, NULL)) AS t(k, x)";
    // NaN with a sign, as processors produce it.
    let reals = format!("(SELECT k, CASE WHEN k = 4 THEN -x ELSE x END AS x FROM {reals})");
    let keys = |condition: &str| {
        format!("SELECT coalesce(string_agg(k::TEXT, '' ORDER BY k), '') FROM {reals} WHERE {condition}")
    };
    let expected: &[(&str, &str)] = &[
        ("x = 0", "12"),
        ("x <> 0", "34567"),
        ("x > 0", "3457"),
        ("x >= -0.0", "123457"),
        ("x < 0.0", "6"),
        ("x <= 0", "126"),
        ("0 < x", "3457"),
        ("x > 1e308", "345"),
        ("x <= 2", "1267"),
        ("x = 'nan'::DOUBLE", "34"),
        ("x < 'nan'::DOUBLE", "12567"),
        ("x IN (0, 1.5)", "127"),
        ("x NOT IN (1.5, 'nan'::DOUBLE)", "1256"),
        ("x BETWEEN 0 AND 2", "127"),
        ("x NOT BETWEEN 0 AND 2", "3456"),
        ("x IS NOT DISTINCT FROM 0", "12"),
        ("x IS NOT DISTINCT FROM 0 OR x > 1e308", "12345"),
        ("x IS DISTINCT FROM 0 AND x < 2", "67"),
        ("NOT x IS DISTINCT FROM 0 AND x >= 0", "12"),
        ("x * 0 = 'nan'::DOUBLE", "3456"),
        ("x * 0 > 5", "3456"),
        ("x + x > 5", "345"),
        ("CASE x WHEN 0 THEN true WHEN 'nan'::DOUBLE THEN true END", "1234"),
        ("nullif(x, 0) IS NULL", "128"),
        ("greatest(x, 1e308) > 1e308", "345"),
        ("least(x, 0) < 0", "6"),
        ("x = 1.5::REAL", "7"),
    ];
    for (condition, due) in expected {
        agree(&[(&keys(condition), due)]).await;
    }
    let of = |select: &str| format!("SELECT {select} FROM {reals}");
    agree(&[
        (&of("count(DISTINCT x), min(x), max(x)"), "5 -inf NaN"),
        (&format!("SELECT count(*) FROM (SELECT DISTINCT x FROM {reals})"), "6"),
        (&format!("SELECT count(*), max(n) FROM (SELECT x, count(*) AS n FROM {reals} GROUP BY x)"), "6 2"),
        (&format!("SELECT count(*) FROM {reals} a JOIN {reals} b ON a.x = b.x"), "11"),
        (&format!("SELECT count(*) FROM {reals} WHERE x IN (SELECT -x FROM {reals} WHERE x = 0)"), "2"),
        (&format!("SELECT count(*) FROM {reals} WHERE x NOT IN (SELECT -x FROM {reals} WHERE x = 0)"), "5"),
        (&format!("SELECT count(*) FROM {reals} WHERE x IN (SELECT -x FROM {reals} WHERE x = 'nan')"), "2"),
        (&of("string_agg(k::TEXT, '' ORDER BY x, k)"), "61275348"),
        (&of("quantile(x, 0.99), quantile(x, 0.0), median(x)"), "NaN -inf 1.5"),
        (&of("percentile_cont(0.0) WITHIN GROUP (ORDER BY x)"), "-inf"),
        (
            &format!(
                "SELECT string_agg(m::TEXT, ',' ORDER BY k) FROM (SELECT k, \
                 max(x) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS m FROM {reals})"
            ),
            "0.0,0.0,NaN,NaN,NaN,NaN,NaN,inf",
        ),
        (&format!("SELECT count(*) FROM (SELECT DISTINCT ON (x) x, k FROM {reals})"), "6"),
        (&format!("SELECT string_agg(k::TEXT, '' ORDER BY k) FROM (SELECT DISTINCT ON (x) k FROM {reals} ORDER BY x, k DESC)"), "245678"),
        (&format!("SELECT count(*), max(n) FROM (SELECT x, count(*) AS n FROM {reals} GROUP BY ROLLUP (x))"), "7 8"),
        (&format!("SELECT count(*) FROM (SELECT x * 2, count(*) AS n FROM {reals} GROUP BY CUBE (x * 2))"), "7"),
        (&format!("SELECT count(*) FROM (SELECT x, k % 2 FROM {reals} GROUP BY GROUPING SETS ((x), (k % 2), (x, k % 2)))"), "16"),
        (&format!("SELECT string_agg(f::TEXT, ',' ORDER BY k) FROM (SELECT k, x IN (SELECT -x FROM {reals} WHERE k < 5) AS f FROM {reals})"), "true,true,true,true,false,false,false"),
        (&format!("SELECT string_agg(f::TEXT, ',' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM {reals} b WHERE b.x = -a.x) AS f FROM {reals} a)"), "2,2,2,2,1,1,0,0"),
        (&format!("SELECT x FROM {reals} GROUP BY x ORDER BY x LIMIT 1"), "-inf"),
        (
            "SELECT min(least), max(greatest) FROM (SELECT k % 2 AS k, min(x) AS least, max(x) AS greatest FROM \
             (VALUES (1, 'inf'::DOUBLE), (3, 'nan'::DOUBLE), (5, 'inf'::DOUBLE), (2, '-inf'::DOUBLE)) AS t(k, x) GROUP BY 1)",
            "-inf NaN",
        ),
        ("SELECT min(x), max(-x) FROM (VALUES (1, 'inf'::DOUBLE), (1, 'inf'::DOUBLE)) AS t(k, x) GROUP BY k", "inf -inf"),
        ("SELECT max(x) FROM (VALUES (1, 'nan'::DOUBLE), (1, 2.0)) AS t(k, x) GROUP BY k", "NaN"),
        // The nearest number of 32 bits exceeds the one of 64.
        ("SELECT x = 0.1::REAL, x < 0.1::REAL FROM (VALUES (0.1::DOUBLE)) AS t(x)", "false true"),
        ("SELECT min(x) FROM (VALUES (1, -2.25), (1, 'nan'::DOUBLE), (1, 1.0)) AS t(k, x) GROUP BY k", "-2.25"),
    ])
    .await;
}

/// Neighbours beyond 2^53 are the same real number.
#[tokio::test]
async fn integers_compare_exactly_with_real_constants() {
    const NUMBERS: [i128; 9] = [
        i64::MIN as i128,
        -9_007_199_254_740_993,
        -1,
        0,
        3,
        9_007_199_254_740_992,
        9_007_199_254_740_993,
        9_007_199_254_740_994,
        i64::MAX as i128,
    ];
    let values = NUMBERS.map(|n| format!("({n})")).join(", ");
    let rows = format!("(VALUES {values}, (NULL)) AS t(n)");
    let holds = |op: &str, n: i128, value: f64| {
        // All integers of 64 bits and the constants below are exact in thousandths of 128 bits.
        let (n, value) = (n * 1000, (value * 1000.0) as i128);
        match op {
            "=" => n == value,
            "<>" => n != value,
            "<" => n < value,
            "<=" => n <= value,
            ">" => n > value,
            _ => n >= value,
        }
    };
    let mut expected = Vec::new();
    let constants = ["9007199254740992.0", "-9007199254740992.0", "-0.5", "2.5", "3.0", "-0.0", "9.3e18", "-1e19"];
    for value in constants {
        let number: f64 = value.parse().unwrap();
        for op in ["=", "<>", "<", "<=", ">", ">="] {
            let found = NUMBERS.iter().filter(|n| holds(op, **n, number)).count();
            expected.push((format!("SELECT count(*) FROM {rows} WHERE n {op} {value}"), found.to_string()));
            let swapped = op.replace('<', "!").replace('>', "<").replace('!', ">").replace("><", "<>");
            expected.push((format!("SELECT count(*) FROM {rows} WHERE {value} {swapped} n"), found.to_string()));
        }
    }
    let count =
        |condition: &str, found: u8| (format!("SELECT count(*) FROM {rows} WHERE {condition}"), found.to_string());
    expected.extend([
        count("n IN (9007199254740992.0, 2.5, 3.0)", 2),
        count("n IN (9007199254740992.0, 9007199254740993, 1e300)", 2),
        count("n NOT IN (9007199254740992.0, 2.5)", 8),
        count("n IN (2.5)", 0),
        count("n NOT IN (2.5, NULL)", 0),
        count("n BETWEEN -0.5 AND 9007199254740992.0", 3),
        count("n NOT BETWEEN -0.5 AND 9007199254740992.0", 6),
        // As written: real numbers.
        count("CAST(n AS DOUBLE) = 9007199254740992.0", 2),
        count("(n = 9007199254740992.0) IS NULL", 1),
    ]);
    let expected: Vec<(&str, &str)> = expected.iter().map(|(sql, due)| (sql.as_str(), due.as_str())).collect();
    agree(&expected).await;
    agree(&[("SELECT arrow_cast(18446744073709551615, 'UInt64') < 18446744073709551616.0", "true")]).await;
}

#[tokio::test]
async fn sums_beside_a_distinct_count_succeed() {
    let of = |cast: &str| {
        format!(
            "SELECT k, count(DISTINCT x), sum(CAST(x AS {cast})), min(x) FROM (VALUES (1, 2), (1, 2), (1, 3)) AS t(k, x) GROUP BY k"
        )
    };
    agree(&[
        (&of("INT"), "1 2 7 2"),
        (&of("BIGINT"), "1 2 7 2"),
        (&of("DECIMAL(9,2)"), "1 2 7.00 2"),
        (&of("DOUBLE"), "1 2 7.0 2"),
    ])
    .await;
}

#[tokio::test]
async fn chained_operations_are_evaluated_in_order() {
    let (engine, _data) = engine().await;
    let numbers = [i64::MAX, 3_037_000_500, 7, 2, 1, 0, -1, -5, i64::MIN + 1];
    let mut dice = Stream::new(Seed(7), World(0), 0, 0);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..150 {
        let (mut sql, mut due) = ("x".to_owned(), Some(numbers[2]));
        for _ in 0..=dice.below(12) {
            let number = numbers[dice.below(numbers.len() as u32) as usize];
            let (sign, next) = match dice.below(6) {
                0 => ('+', due.and_then(|due| due.checked_add(number))),
                1 => ('-', due.and_then(|due| due.checked_sub(number))),
                2 => ('*', due.and_then(|due| due.checked_mul(number))),
                3 => ('/', due.and_then(|due| due.checked_div(number))),
                4 => ('%', due.and_then(|due| due.checked_rem(number))),
                _ => {
                    sql = format!("(-{sql})");
                    due = due.and_then(i64::checked_neg);
                    continue;
                }
            };
            sql = format!("({sql} {sign} CAST('{number}' AS BIGINT))");
            due = next;
        }
        let sql = format!("SELECT {sql} AS found, y FROM (VALUES (7, NULL), (7, 1)) AS t(x, y) ORDER BY y LIMIT 1");
        match (ask(&engine, &sql).await, due) {
            (Ok(answer), Some(due)) => {
                assert_eq!(cells(&answer)[0][0], due.to_string(), "{sql}");
                answered += 1;
            }
            (Err(_), None) => refused += 1,
            (answer, due) => panic!("{sql}: expected {due:?}, got {answer:?}"),
        }
    }
    assert!(answered > 20 && refused > 20, "{answered} {refused}");
}

#[test]
fn long_chains_are_planned_quickly() {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (engine, _data) = runtime.block_on(engine());
        // Nested functions took time that grew with the cube of their depth: minutes for this one.
        let (sum, difference) = (["x"; 400].join(" + "), ["x"; 400].join(" - "));
        let sql = format!("SELECT sum({sum}), sum(x - {difference}) FROM (VALUES (1), (2)) AS t(x)");
        assert_eq!(cells(&runtime.block_on(ask(&engine, &sql)).unwrap())[0].join(" "), "1200 -1197");
    };
    std::thread::Builder::new().stack_size(sql::STACK_BYTES).spawn(work).unwrap().join().unwrap();
}
