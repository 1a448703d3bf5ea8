//! Queries from a grammar succeed or fail, but never panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::support::{ask, open, stored_in};

#[path = "../../../cli/tests/it/hostile/dice.rs"]
mod dice;
#[path = "../../../cli/tests/it/hostile/sql.rs"]
mod sql;
#[path = "../../../cli/tests/it/hostile/typed.rs"]
mod typed;

use dice::Dice;

/// Longer than any of these queries takes. Time limits handle longer queries.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn grammar_queries_never_panic() {
    let (data, runtime) = (tempfile::tempdir().unwrap(), tokio::runtime::Runtime::new().unwrap());
    let engine = runtime.block_on(async {
        stored_in(data.path()).await;
        open(data.path()).await
    });
    let setting = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let first = setting("MANYWORLDS_HOSTILE_SEED", 1);
    let count = 2 * setting("MANYWORLDS_HOSTILE_ROUNDS", 200);
    let (mut answered, mut panicked) = (0, Vec::new());
    for seed in first..first + count {
        let sql = sql::statement(&mut Dice::new(seed));
        let asked = async { tokio::time::timeout(PATIENCE, ask(&engine, &sql)).await };
        let result = catch_unwind(AssertUnwindSafe(|| runtime.block_on(asked)));
        match result {
            Err(_) => panicked.push(sql),
            Ok(Err(_)) => panic!("no answer within {PATIENCE:?}: {sql}"),
            Ok(Ok(Err(error))) if error.to_string().contains("panic") => panicked.push(sql),
            Ok(Ok(result)) => answered += u64::from(result.is_ok()),
        }
    }
    assert!(panicked.is_empty(), "{panicked:#?}");
    assert!(count < 100 || answered > count / 5, "only {answered} of {count} succeeded");
}
