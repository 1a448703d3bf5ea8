//! The wrong answers of this program's predecessor, numbered in order of discovery. Each test here fails on one of
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{json as told, program, run};

/// Appends lines of JSON.
fn append(data: &Path, lines: &str) -> Output {
    let mut command = program(&["append", "t", "--data"]);
    command.arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn appended(data: &Path, lines: &str) {
    let output = append(data, lines);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn digested(data: &Path) {
    assert!(run(data, &["flush", "t"]).status.success());
}

fn ask(data: &Path, words: &[&str]) -> Value {
    told(data, &[&["ask", "t"], words].concat())
}

/// Deterministic numbers in no order.
fn noise(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

#[test]
fn failure_1_a_condition_on_integers_loses_no_row_whose_value_is_a_new_extreme_of_its_block() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let mut weights: Vec<u64> = Vec::new();
    // Extremes in the first, second, ..., last place of their block, and among many others.
    for place in [0, 1, 2, 3, 98, 99] {
        let mut block: Vec<u64> = (0..100).map(|n| [10, 11][(noise(n + place) % 2) as usize]).collect();
        block[place as usize] = 100;
        block[(place as usize + 1) % 100] = 1;
        weights.extend(block);
    }
    weights.extend((0..20_000).map(|n| [1, 10, 100][(noise(n) % 3) as usize]));
    for (at, block) in weights.chunks(100).take(6).chain([&weights[600..]]).enumerate() {
        appended(data, &block.iter().map(|w| format!("{{\"weight\": {w}}}\n")).collect::<Vec<_>>().concat());
        for condition in ["weight = 100", "weight >= 100", "weight > 11", "weight < 10", "weight = 1", "weight != 100"]
        {
            let (sign, bound) = condition.trim_start_matches("weight ").split_once(' ').unwrap();
            let bound: u64 = bound.parse().unwrap();
            let meets = |w: &&u64| match sign {
                "=" => **w == bound,
                ">=" => **w >= bound,
                ">" => **w > bound,
                "<" => **w < bound,
                _ => **w != bound,
            };
            let so_far = &weights[..if at < 6 { 100 * (at + 1) } else { weights.len() }];
            let expected = so_far.iter().filter(meets).count();
            let found = ask(data, &["--where", condition]);
            assert_eq!(found[0]["count"], expected, "{condition}, block {at}");
            let sql = told(data, &["sql", &format!("SELECT count(*) AS count FROM t WHERE {condition}")]);
            assert_eq!(sql[0]["count"], expected, "{condition} in SQL, block {at}");
        }
        digested(data);
    }
}

#[test]
fn failure_2_percentiles_are_those_of_all_values() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let mut pings: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for part in 0..3 {
        let mut lines = String::new();
        for n in part * 3_000..(part + 1) * 3_000 {
            // Approximately normal with different means and a few outliers.
            let ping =
                60 + n % 20 + (0..6).map(|k| noise(6 * n + k) % 21).sum::<u64>() + if n % 97 == 0 { 900 } else { 0 };
            let host = format!("host-{}", n % 20);
            writeln!(lines, "{}", json!({"host": host, "ping": ping})).unwrap();
            pings.entry(host).or_default().push(ping);
        }
        appended(data, &lines);
        if part < 2 {
            digested(data);
        }
    }
    let naive = |values: &[u64], hundredths: usize| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        // The least value that at least the given percentage of values does not exceed.
        *sorted.iter().find(|v| sorted.iter().filter(|w| w <= v).count() * 100 >= hundredths * sorted.len()).unwrap()
    };
    let by_flags = ask(data, &["--group", "host", "--quantiles", "ping:p1,p50,p95,p99", "--sort", "host", "--asc"]);
    let quantiles = [1, 50, 95, 99].map(|p| format!("quantile(ping, {}.{p:02}) AS \"p{p}(ping)\"", 0)).join(", ");
    let sql = format!("SELECT host, {quantiles} FROM t GROUP BY host ORDER BY host");
    for answer in [by_flags, told(data, &["sql", &sql])] {
        assert_eq!(answer.as_array().unwrap().len(), 20);
        for (group, (host, values)) in answer.as_array().unwrap().iter().zip(&pings) {
            assert_eq!(group["host"], json!(host));
            for p in [1, 50, 95, 99] {
                assert_eq!(group[format!("p{p}(ping)")], naive(values, p), "p{p} of {host}");
            }
        }
    }
}

#[test]
fn failure_3_the_top_ten_of_many_groups_is_exact() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    // Twelve users among 20,000 are frequent overall, but not the most frequent in any part.
    for part in 0..4_u64 {
        let often = (0..12).flat_map(|user| std::iter::repeat_n(user * 1_000 + 7, 5 + 2 * user as usize));
        let once = (0..5_000).map(|n| part * 5_000 + n);
        let of_part = std::iter::repeat_n(part * 4_999 + 3, 20);
        let mut lines = String::new();
        for user in often.chain(once).chain(of_part) {
            writeln!(lines, "{}", json!({"user": format!("u{user}")})).unwrap();
            *counts.entry(format!("u{user}")).or_default() += 1;
        }
        appended(data, &lines);
        if part < 3 {
            digested(data);
        }
    }
    let mut top: Vec<(u64, String)> = counts.into_iter().map(|(user, count)| (count, user)).collect();
    top.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    assert!(top[9].0 > top[10].0, "which ten are the top ten is no question");
    let expected: BTreeSet<(u64, String)> = top.into_iter().take(10).collect();
    for words in [&["--group", "user", "--limit", "10"][..], &["--group", "user", "--sort", "count", "--limit", "10"]] {
        let answer = ask(data, words);
        let groups = answer.as_array().unwrap().iter();
        let found = groups.map(|g| (g["count"].as_u64().unwrap(), g["user"].as_str().unwrap().to_owned()));
        assert_eq!(found.collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn failure_4_every_option_works_as_it_is_and_exports_have_their_values_and_trims_select() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    for part in 0..3 {
        let mut lines = String::new();
        for n in part * 200..(part + 1) * 200 {
            let time = format!("2025-10-01T{:02}:{:02}:00Z", n / 60, n % 60);
            writeln!(lines, "{}", json!({"time": time, "host": format!("h{}", n % 3), "ping": n})).unwrap();
        }
        appended(data, &lines);
        if part < 2 {
            digested(data);
        }
    }
    for words in [
        &[][..],
        &["--group", "host"],
        &["--count"],
        &["--avg", "ping"],
        &["--sum", "ping"],
        &["--min", "ping"],
        &["--max", "ping"],
        &["--stddev", "ping"],
        &["--distinct", "host"],
        &["--quantiles", "ping"],
        &["--hist", "ping"],
        &["--loghist", "ping"],
        &["--time-bucket", "1h"],
        &["--weight", "ping"],
        &["--where", "ping > 5"],
        &["--replace", "host=/h/g/", "--group", "host"],
        &["--sort", "count"],
        &["--samples", "2"],
        &["--limit", "1"],
        &["--since", "2025-10-01"],
        &["--until", "2025-10-02"],
        &["--no-cache"],
        &["--threads", "1"],
    ] {
        for format in ["table", "json", "csv"] {
            let output = run(data, &[&["ask", "t"], words, &["--format", format]].concat());
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(output.stdout.len() > 3, "{words:?} tells nothing as {format}");
        }
    }
    for format in ["json", "csv"] {
        let exported = run(data, &["export", "t", "--format", format]);
        let exported = String::from_utf8(exported.stdout).unwrap();
        let rows: Vec<&str> = exported.lines().skip(usize::from(format == "csv")).collect();
        assert_eq!(rows.len(), 600, "{format}");
        for n in 0..600 {
            let (value, host) = (n.to_string(), format!("h{}", n % 3));
            let is_row = |row: &&&str| {
                row.split(|c: char| !c.is_alphanumeric()).any(|word| word == value) && row.contains(&host)
            };
            assert!(rows.iter().any(|row| is_row(&row)), "{format}: row {n} is blank or missing");
        }
    }
    digested(data);
    let files = std::fs::read_dir(data.join("default/t")).unwrap().map(Result::unwrap);
    let segments = files.filter(|file| file.path().extension().is_some_and(|end| end == "parquet"));
    let bytes: u64 = segments.map(|file| file.metadata().unwrap().len()).sum();
    let half = (bytes / 2).to_string();
    let trim = ["table", "trim", "t", "--keep-bytes", &half];
    let selected = told(data, &trim)["rows"].as_u64().unwrap();
    assert!((1..600).contains(&selected), "{selected} rows are past the half of {bytes} bytes");
    assert_eq!(ask(data, &[])[0]["count"], 600, "nothing goes unless it is told to");
    told(data, &[&trim[..], &["--apply"]].concat());
    assert_eq!(ask(data, &[])[0]["count"], 600 - selected);
}

#[test]
fn failure_5_no_line_stops_the_others_and_no_value_is_cut() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    // A value of the wrong type.
    appended(data, "{\"a\": 1}\n{\"a\": \"x\"}\n{\"a\": 3}\n");
    // A line over 64 KB, and a line after it.
    let long = "y".repeat(70_000);
    appended(data, &format!("{{\"a\": 4, \"long\": \"{long}\"}}\n{{\"a\": 5}}\n"));
    // Lines of invalid JSON.
    let output = append(data, "{\"a\": 6}\n{\"a\": \n{\"a\": 7}\n");
    assert_eq!(output.status.code(), Some(1), "what was dropped is no success");
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 2"));
    // Decimals, also after integers.
    appended(data, "{\"b\": 1}\n{\"b\": 2.75}\n{\"c\": 0.1}\n");
    for _ in 0..2 {
        let sql = "SELECT count(*) AS n, sum(a) AS a, max(a_text) AS x, max(length(long)) AS l, sum(b) AS b, max(c) AS c FROM t";
        assert_eq!(told(data, &["sql", sql]), json!([{"n": 10, "a": 26, "x": "x", "l": 70_000, "b": 3.75, "c": 0.1}]));
        let flags = ask(data, &["--sum", "a,b", "--max", "c", "--count"]);
        assert_eq!(flags, json!([{"count": 10, "sum(a)": 26, "sum(b)": 3.75, "max(c)": 0.1}]));
        digested(data);
    }
}

#[test]
fn failure_6_twenty_writers_at_once_that_bring_columns_leave_a_table_that_is_read() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    std::thread::scope(|scope| {
        for writer in 0..20 {
            scope
                .spawn(move || (0..3).for_each(|n| appended(data, &format!("{{\"c{writer}_{n}\": {n}, \"n\": 1}}\n"))));
        }
    });
    for _ in 0..2 {
        assert_eq!(ask(data, &["--sum", "n"])[0]["sum(n)"], 60);
        let columns: Vec<String> = (0..20).map(|writer| format!("c{writer}_2")).collect();
        let sums = ask(data, &["--sum", &columns.join(",")]);
        assert!(columns.iter().all(|column| sums[0][format!("sum({column})")] == 2), "{sums}");
        digested(data);
    }
}

/// The tests of `ingest` with power cuts (`power_loss` and `others`) check that data is synced.
#[test]
fn failure_7_a_digest_that_is_killed_hides_no_row() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    for turn in 0..10 {
        for _ in 0..4 {
            appended(data, &"{\"n\": 1}\n".repeat(250));
        }
        let mut command = program(&["flush", "t", "--data"]);
        let mut child = command.arg(data).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(turn * 11));
        // It may have ended already.
        drop(child.kill());
        child.wait().unwrap();
        let expected = (turn + 1) * 1_000;
        assert_eq!(ask(data, &["--sum", "n"])[0]["sum(n)"], expected);
        assert_eq!(told(data, &["sql", "SELECT count(*) AS n FROM t"])[0]["n"], expected);
    }
}
