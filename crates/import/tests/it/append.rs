//! Worlds are added after the stored ones, and only worlds that fit them.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use disk::RealDisk;
use ensemble::Store;
use import::{Input, Mode, Options};
use table::{Change, Table};
use world::{World, WorldRange};

use crate::support::{assert_sound, import, import_fresh, input, integers, reals, stored, texts};

const SKY: [&str; 6] = ["sun", "rain", "sun", "fog", "rain", "fog"];

/// Some of six worlds, with a column of worlds or without.
fn rows(worlds: std::ops::Range<usize>, is_named: bool) -> Input {
    let of = |number: fn(usize) -> f64| reals(worlds.clone().map(number));
    let flags: BooleanArray = worlds.clone().map(|w| Some(w % 2 == 0)).collect();
    let mut columns = vec![
        ("cost", of(|w| w as f64 / 4.0)),
        ("late", Arc::new(flags) as ArrayRef),
        ("sky", texts(SKY[worlds.clone()].to_vec())),
        ("share", of(|w| (w as f64).sqrt())),
    ];
    if is_named {
        columns.push(("world", integers(worlds.map(|w| w as i64))));
    }
    input(columns)
}

fn appending() -> Options {
    Options { mode: Mode::Append, ..Options::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn appended_worlds_hash_as_one_import() {
    let whole = import_fresh(vec![rows(0..6, true)], &Options::default()).await.0;
    for is_named in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        import(folder.path(), vec![rows(0..4, is_named)], &Options::default()).await.unwrap();
        let one = import(folder.path(), vec![rows(4..5, is_named)], &appending()).await.unwrap();
        assert_eq!((one.worlds, one.imported), (5, 1));
        let report = import(folder.path(), vec![rows(5..6, is_named)], &appending()).await.unwrap();
        assert_eq!((report.hash.as_str(), report.worlds), (whole.hash.as_str(), 6));
        let stored = stored(folder.path()).await;
        assert_eq!((stored.version, stored.plan.worlds.count()), (1, 6));
        assert_sound(&stored, &report);
    }
}

async fn refusal(data: &Path, rows: Input) -> String {
    let before = stored(data).await;
    let error = import(data, vec![rows], &appending()).await.unwrap_err().to_string();
    let after = stored(data).await;
    assert_eq!((before.worlds(), before.plan), (after.worlds(), after.plan), "{error}");
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let unknown = import(data, vec![rows(0..2, true)], &appending()).await.unwrap_err().to_string();
    assert!(unknown.starts_with("unknown ensemble \"draws\""), "{unknown}");
    let first = vec![("x", integers([1, 2])), ("y", reals([0.5, 1.0])), ("sky", texts(["sun", "fog"]))];
    import(data, vec![input(first)], &Options::default()).await.unwrap();
    let of = |x: f64, y: f64, sky: &'static str| vec![("x", reals([x])), ("y", reals([y])), ("sky", texts([sky]))];
    assert_eq!(
        refusal(data, input(of(1.5, 1.0, "sun"))).await,
        "\"x\" of entity \"all\" is 1.5 in world 2, and cannot be stored as number"
    );
    assert_eq!(
        refusal(data, input(of(1.0, 0.25, "sun"))).await,
        "\"y\" of entity \"all\" is 0.25 in world 2, and cannot be stored as number in steps of 1/10"
    );
    assert_eq!(
        refusal(data, input(of(1.0, 1.0, "hail"))).await,
        "outcome \"sky\": it holds the text \"hail\", which none of its stored codes stands for"
    );
    let coded = vec![("x", integers([1])), ("y", integers([1])), ("sky", integers([0]))];
    assert_eq!(
        refusal(data, input(coded)).await,
        "outcome \"sky\": its codes stand for texts, and it holds no texts in rows"
    );
    let worded = vec![("x", texts(["one"])), ("y", integers([1])), ("sky", texts(["sun"]))];
    assert_eq!(refusal(data, input(worded)).await, "outcome \"x\": it is a number, and holds texts in rows");
    let mut fewer = of(1.0, 1.0, "sun");
    fewer.pop();
    assert_eq!(
        refusal(data, input(fewer)).await,
        "cannot append to ensemble \"draws\": the input lacks outcome \"sky\""
    );
    let mut more = of(1.0, 1.0, "sun");
    more.push(("z", integers([1])));
    assert_eq!(
        refusal(data, input(more)).await,
        "cannot append to ensemble \"draws\": it has no outcome \"z\", which the input has"
    );
    let mut named = of(1.0, 1.0, "sun");
    named.push(("entity", texts(["one"])));
    assert_eq!(
        refusal(data, input(named)).await,
        "cannot append to ensemble \"draws\": the input lacks entity \"all\""
    );
    for (world, expected) in [
        (1, "rows, row 1, column \"world\": world 1 is stored already: continue with world 2"),
        (3, "the worlds begin at 3, and must begin at 2"),
    ] {
        let mut named = of(1.0, 1.0, "sun");
        named.push(("world", integers([world])));
        assert_eq!(refusal(data, input(named)).await, expected);
    }
    let declared = |kind: &str| Options { kinds: [("y".to_owned(), kind.parse().unwrap())].into(), ..appending() };
    let said = import(data, vec![input(of(1.0, 1.0, "sun"))], &declared("real")).await.unwrap_err().to_string();
    let reason = "outcome \"y\" is stored as number in steps of 1/10, not as real";
    assert_eq!(said, format!("cannot append to ensemble \"draws\": {reason}"));
    import(data, vec![input(of(1.0, 1.0, "sun"))], &declared("number")).await.unwrap();
    assert_eq!(stored(data).await.worlds(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_ensembles_hold_only_the_new_worlds() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), vec![rows(0..6, true)], &Options::default()).await.unwrap();
    let replacing = Options { mode: Mode::Replace, ..Options::default() };
    let report = import(folder.path(), vec![rows(0..2, true)], &replacing).await.unwrap();
    assert_eq!((report.worlds, report.version), (2, 2));
    assert_sound(&stored(folder.path()).await, &report);
    let expected = import_fresh(vec![rows(0..2, true)], &Options::default()).await.0;
    assert_eq!(report.hash, expected.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_appends_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    import(data, vec![rows(0..4, false)], &Options::default()).await.unwrap();
    let again = Options { again: true, ..appending() };
    let reason = "they seem to be appended already";
    for worlds in [0..4, 2..4] {
        let said = refusal(data, rows(worlds.clone(), false)).await;
        let count = worlds.len();
        assert_eq!(
            said,
            format!("the {count} worlds of the input equal the last {count} of ensemble \"draws\": {reason}")
        );
    }
    // Other numbers, more of them, and numbered worlds are new.
    import(data, vec![rows(4..6, false)], &appending()).await.unwrap();
    assert!(refusal(data, rows(4..6, false)).await.ends_with(reason));
    import(data, vec![rows(4..6, false)], &again).await.unwrap();
    let all = [rows(0..4, false), rows(4..6, false), rows(4..6, false), rows(0..1, false)];
    import(data, all.into(), &appending()).await.unwrap();
    assert_eq!(stored(data).await.worlds(), 17);
    let other = vec![
        ("world", integers([17])),
        ("cost", reals([0.0])),
        ("late", Arc::new(BooleanArray::from(vec![true])) as ArrayRef),
        ("sky", texts(["sun"])),
        ("share", reals([0.0])),
    ];
    import(data, vec![input(other)], &appending()).await.unwrap();
    assert_eq!(stored(data).await.worlds(), 18);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_added_to_an_ensemble_that_lacks_a_world() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    import(data, vec![rows(0..4, true)], &Options::default()).await.unwrap();
    for worlds in [4..5, 5..6] {
        import(data, vec![rows(worlds, true)], &appending()).await.unwrap();
    }
    let mut outcomes = Table::open(&data.join(table::SIM).join("outcomes"), Arc::new(RealDisk)).await.unwrap().unwrap();
    let segments = outcomes.segments().await.unwrap();
    let lost = segments.into_iter().filter(|segment| segment.path.contains("/00000004-")).collect();
    outcomes.commit(&Change { remove: lost, ..Change::default() }).await.unwrap();
    let refused = refusal(data, rows(5..6, true)).await;
    assert_eq!(refused, "cannot append to ensemble \"draws\": it lacks world 4");
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_may_count_from_any_number() {
    let whole = import_fresh(vec![rows(0..5, true)], &Options::default()).await.0;
    let from = |first: i64, worlds: std::ops::Range<usize>| {
        let of = |number: fn(usize) -> f64| reals(worlds.clone().map(number));
        let flags: BooleanArray = worlds.clone().map(|w| Some(w % 2 == 0)).collect();
        let numbers = integers(worlds.clone().map(|w| w as i64 + first));
        let columns = vec![("world", numbers), ("cost", of(|w| w as f64 / 4.0)), ("late", Arc::new(flags) as ArrayRef)];
        input(
            [columns, vec![("sky", texts(SKY[worlds.clone()].to_vec())), ("share", of(|w| (w as f64).sqrt()))]]
                .concat(),
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let one = |mode: Mode| Options { mode, first_world: 1, ..Options::default() };
    import(folder.path(), vec![from(1, 0..4)], &one(Mode::New)).await.unwrap();
    let stored_already = "rows, row 1, column \"world\": world 4 is stored already: continue with world 5";
    let said = import(folder.path(), vec![from(1, 3..4)], &one(Mode::Append)).await.unwrap_err().to_string();
    assert_eq!(said, stored_already);
    let report = import(folder.path(), vec![from(1, 4..5)], &one(Mode::Append)).await.unwrap();
    assert_eq!(report.hash, whole.hash);
    let said = import(folder.path(), vec![from(0, 0..1)], &one(Mode::Replace)).await.unwrap_err().to_string();
    assert_eq!(said, "rows, row 1, column \"world\": 0 is not a world number: give integers from 1");
    // Errors name worlds as the rows do.
    let of = |worlds: &[i64], x: &[f64]| {
        input(vec![("world", integers(worlds.to_vec())), ("x", reals(x.to_vec())), ("y", integers(worlds.to_vec()))])
    };
    let kinds = [("x".to_owned(), "number:1".parse().unwrap())].into();
    let counted = Options { mode: Mode::New, first_world: 1, kinds, ..Options::default() };
    for (worlds, x, expected) in [
        ([1, 2, 4], [5.0, 6.0, 7.0], "world 3 of entity \"all\" is missing"),
        ([1, 3, 3], [5.0, 6.0, 7.0], "rows, row 3, column \"world\": world 3 of entity \"all\" is repeated"),
        ([3, 2, 4], [5.0, 6.0, 7.0], "the worlds begin at 2, and must begin at 1"),
        ([1, 2, 3], [5.0, 6.0, 0.5], "\"x\" of entity \"all\" is 0.5 in world 3, and cannot be stored as number"),
    ] {
        let other = tempfile::tempdir().unwrap();
        let said = import(other.path(), vec![of(&worlds, &x)], &counted).await.unwrap_err().to_string();
        assert_eq!(said, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_that_were_added_meanwhile_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    import(data, vec![rows(0..4, true)], &Options::default()).await.unwrap();
    let version = stored(data).await.version;
    // This append has seen four worlds when another one adds two.
    let mut store = Store::open(data, Arc::new(disk::RealDisk)).await.unwrap().unwrap();
    import(data, vec![rows(4..6, true)], &appending()).await.unwrap();
    let all = WorldRange::new(World(0), 5).unwrap();
    let said = store.plan_worlds("draws", version, 4, all).await.unwrap_err().to_string();
    assert_eq!(
        said,
        "ensemble \"draws\" cannot be extended: it has 6 worlds by now, and had 4: another process adds worlds to it"
    );
    let after = stored(data).await;
    assert_eq!((after.worlds(), after.is_complete()), (6, true));
}
