//! Compact events give the rows that plain ones give.

use ensemble::{EventMode, Plan};

use crate::support::{ask, cells, create, open, plan, play};

#[tokio::test(flavor = "multi_thread")]
async fn sql_restores_compact_events() {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    for (name, events) in [("plain", EventMode::Store), ("compact", EventMode::Compact)] {
        let plan = Plan { events, ..plan(&football::PLUGIN, name, 7, 6, 4) };
        let ensemble = store.register(plan, false).await.unwrap();
        play(&mut store, &football::PLUGIN, ensemble).await;
    }
    let dice = store.register(plan(&dice::PLUGIN, "dice", 7, 2, 2), false).await.unwrap();
    play(&mut store, &dice::PLUGIN, dice).await;
    let engine = open(data.path()).await;
    let rows = async |sql: String| cells(&ask(&engine, &sql).await.unwrap());

    let columns = "entity, world, number, drive, quarter, clock, offence, down, distance, yard_line, play_type, yards, \
                   points, home_score, away_score, foul, foul_yards, run_off";
    let order = "ORDER BY entity, world, number";
    for (what, condition) in [
        (columns, "entity IN ('game-003', 'game-287')"),
        ("entity, world, number, clock", "entity = 'game-003' AND world = 5 AND clock < 60"),
        ("entity, world, number, yards", "entity = 'game-003' AND world IN (1, 4)"),
        ("sum(clock), sum(yard_line), min(home_score), max(away_score)", "true"),
    ] {
        let order = if what.starts_with("sum") { "" } else { order };
        let of = |ensemble: &str| {
            rows(format!("SELECT {what} FROM events WHERE ensemble = '{ensemble}' AND {condition} {order}"))
        };
        let plain = of("plain").await;
        assert!(!plain.is_empty() && of("compact").await == plain, "{what} where {condition}");
    }
    // All ensembles at once, in the order of their names; dice have no clock.
    let counted =
        rows("SELECT ensemble, count(*), count(clock) FROM events GROUP BY ensemble ORDER BY 1".to_owned()).await;
    assert_eq!(counted[0][1..], counted[2][1..]);
    assert_eq!((counted[1][0].as_str(), counted[1][2].as_str()), ("dice", "0"));
    let of =
        |ensemble: &str| rows(format!("SELECT * FROM events('{ensemble}', 'game-003', '2-4') ORDER BY world, number"));
    assert_eq!(of("compact").await, of("plain").await);
    let scanned = async |column: &str| {
        let plan = rows(format!("EXPLAIN SELECT {column} FROM events WHERE ensemble = 'compact'")).await;
        plan.concat().concat().contains("ScanExec: events")
    };
    // Columns that hold values are read as in other ensembles.
    assert_eq!((scanned("clock").await, scanned("yards").await), (true, false));
}
