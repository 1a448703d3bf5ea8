//! A data folder written by an earlier version stays readable: `golden/dice-1` is what `cargo run -p dice -- FOLDER 40`
//! wrote when the format was first released. It is never written anew; a new format gets a new folder beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{Columns, Expression, Store, price, verify};
use model::Parameters;

const HASH: &str = "dffdc6c3c6b24518";

/// A copy, so that nothing is ever written into the golden folder itself.
fn copy(from: &Path, to: PathBuf) -> PathBuf {
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
    to
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_table_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/dice-1");
    let data = copy(&golden, folder.path().join("data"));
    let store = Store::open(&data, Arc::new(RealDisk)).await.unwrap().unwrap();
    let stored = store.ensemble("dice").await.unwrap();
    assert_eq!((stored.worlds(), stored.outcomes.len(), stored.plan.seed.0), (40, 2, 1));
    let parameters = Parameters::from_json(dice::PARAMETERS, &stored.plan.parameters).unwrap();
    let model = dice::Dice::new(&parameters).unwrap();
    let found = verify(&stored, &model).unwrap();
    assert!(found.ok, "{found:?}");
    assert_eq!(found.hash, HASH);
    let columns = Columns::open(stored, 1 << 20).unwrap();
    let leg = Expression::parse("ann + bob > 130", &columns.ensemble().plan.catalogue, Some(2)).unwrap();
    assert!(price(&columns, &[leg], None).unwrap().hits > 20);
}
