//! Exported outcomes are imported with the same values.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatchIterator};
use ensemble::{Columns, OutcomeRef};
use import::{Input, Mode, Options, Report, Wide, WideError};

use crate::support::{bits, import, import_fresh, input, integers, reals, stored, texts, values};

const WORLDS: usize = 9;

/// A value of every kind for each world of three entities.
fn every_kind(worlds: Range<usize>) -> Input {
    let rows = || worlds.clone().flat_map(|world| [("b-10", world), ("b-2", world + 100), ("a", world + 200)]);
    let odd = [-0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 8.0, 0.1 + 0.2, 1e300];
    let flags: BooleanArray = rows().map(|(_, n)| Some(n % 3 == 0)).collect();
    input(vec![
        ("world", integers(worlds.clone().flat_map(|world| [world as i64; 3]))),
        ("entity", texts(rows().map(|(entity, _)| entity))),
        ("flag", Arc::new(flags) as ArrayRef),
        ("number", integers(rows().map(|(_, n)| n as i64 * 1_000_003 - 2_000_000))),
        ("cents", reals(rows().map(|(_, n)| n as f64 / 100.0))),
        ("code", texts(rows().map(|(_, n)| ["sun", "rain, hail", "\"fog\""][n % 3]))),
        ("real", reals(rows().map(|(_, n)| odd.get(n % 9).copied().unwrap_or((n as f64).sqrt())))),
    ])
}

/// Exports and imports again.
async fn again(wide: &Wide) -> (Report, Columns, tempfile::TempDir) {
    let batches: Vec<_> = wide.batches().map(|batch| Ok(batch.unwrap())).collect();
    let rows = RecordBatchIterator::new(batches, wide.schema());
    import_fresh(vec![Input { name: "wide".to_owned(), rows: None, batches: Box::new(rows) }], &Options::default())
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_returns_to_the_bit() {
    // Two ranges, so two batches for each entity.
    let (_, _, folder) = import_fresh(vec![every_kind(0..4)], &Options::default()).await;
    let appending = Options { mode: Mode::Append, ..Options::default() };
    let before = import(folder.path(), vec![every_kind(4..WORLDS)], &appending).await.unwrap();
    let columns = Columns::open(stored(folder.path()).await, 1 << 20).unwrap();
    let wide = Wide::open(stored(folder.path()).await, None, &[]).unwrap();
    assert_eq!(wide.batches().count(), 6);
    let names: Vec<_> = wide.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["world", "entity", "cents", "code", "flag", "number", "real"]);
    let (after, read, _folder) = again(&wide).await;
    assert_eq!((&after.hash, after.worlds), (&before.hash, WORLDS));
    for entity in ["a", "b-2", "b-10"] {
        for outcome in ["cents", "code", "flag", "number", "real"] {
            let [old, new] = [&columns, &read].map(|columns| bits(&values(columns, entity, outcome)));
            assert_eq!(old, new, "{entity}:{outcome}");
        }
    }
    assert_eq!(columns.ensemble().plan.catalogue, read.ensemble().plan.catalogue);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_kinds_share_a_row_or_are_chosen() {
    let of = |n: usize| integers((0..WORLDS).map(move |w| (w * n) as i64));
    let rows = input(vec![("team-1:points", of(3)), ("team-2:points", of(5)), ("player-1:yards", of(7))]);
    let (before, _, folder) = import_fresh(vec![rows], &Options::default()).await;
    let open = async |kind: Option<&str>, outcomes: &[&str]| {
        let outcomes: Vec<String> = outcomes.iter().map(|name| (*name).to_owned()).collect();
        Wide::open(stored(folder.path()).await, kind, &outcomes)
    };
    let all = open(None, &[]).await.unwrap();
    let names: Vec<_> = all.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["world", "player-1:yards", "team-1:points", "team-2:points"]);
    let (after, read, _folder) = again(&all).await;
    assert_eq!(after.hash, before.hash);
    assert_eq!(read.get(&[OutcomeRef { entity: 0, outcome: 0 }]).unwrap()[0].value(2), 14.0);

    let teams = open(Some("team"), &[]).await.unwrap();
    let rows: usize = teams.batches().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!((rows, again(&teams).await.0.entities), (2 * WORLDS, vec!["team-1".to_owned(), "team-2".to_owned()]));
    // In the order of the words, each once.
    let two = open(None, &["team-2:points", "player-1:yards"]).await.unwrap();
    let batch = two.batches().next().unwrap().unwrap();
    assert_eq!(
        (batch.num_rows(), batch.column(1).to_data()),
        (WORLDS, integers_of(&[0, 5, 10, 15, 20, 25, 30, 35, 40]))
    );
    let said = |wide: Result<Wide, WideError>| wide.unwrap_err().to_string();
    assert_eq!(
        said(open(Some("game"), &[]).await),
        "ensemble \"draws\" has no kind of entities \"game\"; there are: player, team"
    );
    assert_eq!(
        said(open(None, &["points"]).await),
        "\"points\" names no entity: write ENTITY:OUTCOME, or choose one kind of player, team"
    );
    assert_eq!(said(open(Some("team"), &["pints"]).await), "a team has no outcome \"pints\"; did you mean points?");
    let twice = said(open(Some("team"), &["points", "points"]).await);
    assert_eq!(twice, "column \"points\" would stand for two things: choose other outcomes");
}

fn integers_of(values: &[i32]) -> arrow::array::ArrayData {
    arrow::array::Int32Array::from(values.to_vec()).to_data()
}
