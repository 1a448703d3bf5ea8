//! Queries read only the parts that they need.

use sql::Engine;

use crate::support::{ask, cells, stored};

/// The sum of a metric over the executed plan of a query.
async fn metric(engine: &Engine, name: &str, sql: &str) -> u64 {
    let plan = cells(&ask(engine, &format!("EXPLAIN ANALYZE {sql}")).await.unwrap());
    let text = plan.concat().join("\n");
    let name = format!("{name}=");
    let amounts = text.split(&name).skip(1);
    amounts.map(|rest| amount(rest.split([',', ']']).next().unwrap())).sum()
}

/// Parses `850`, and larger numbers in EXPLAIN's form, such as `1.70 K`.
fn amount(text: &str) -> u64 {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let unit = match unit {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        other => panic!("{other:?} in {text:?}"),
    };
    (number.parse::<f64>().unwrap() * unit).round() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_read_one_page_per_range() {
    let stored = stored().await;
    // The season has two ranges; a game has 850 outcomes.
    for (pages, sql) in [
        (4, "SELECT avg(home_points) FROM worlds('season', 'game-003') WHERE home_margin > 3"),
        (0, "SELECT max(world) FROM worlds('season', 'game-003')"),
        (
            2,
            "SELECT avg(value) FROM outcomes WHERE ensemble = 'season' AND entity = 'game-004' AND outcome = 'home_points'",
        ),
        (
            1,
            "SELECT sum(value) FROM outcomes WHERE ensemble = 'season' AND entity = 'game-004' AND outcome = 'home_points' AND world < 2",
        ),
        (
            4,
            "SELECT sum(value) FROM outcomes WHERE ensemble = 'season' AND entity IN ('game-001', 'game-009') AND outcome LIKE 'home\\_margin\\__4'",
        ),
        (1700, "SELECT sum(value) FROM outcomes WHERE ensemble = 'season' AND entity = 'game-005'"),
        (0, "SELECT count(*) FROM outcomes"),
        (0, "SELECT entity, count(*) FROM outcomes GROUP BY entity"),
    ] {
        assert_eq!(metric(&stored.engine, "pages_read", sql).await, pages, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn second_query_reads_cached_columns() {
    let stored = stored().await;
    let sql = "SELECT avg(home_points) FROM worlds('season', 'game-003')";
    assert_eq!(metric(&stored.engine, "pages_read", sql).await, 2);
    assert_eq!(metric(&stored.engine, "pages_read", sql).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_read_by_entity() {
    let stored = stored().await;
    let scanned = |condition: &str| format!("SELECT sum(yards) FROM events WHERE ensemble = 'season' AND {condition}");
    let all = metric(&stored.engine, "output_rows", &scanned("true")).await;
    let one = metric(&stored.engine, "output_rows", &scanned("entity = 'game-007'")).await;
    // 288 games; operators above the scan repeat its rows.
    assert!(one * 50 < all, "{one} of {all} rows");
}
