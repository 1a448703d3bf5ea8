//! How many calls of the Delta library a process makes at once.
//!
//! Such a call waits on one of the runtime's blocking threads for reads that need another of them: as many calls as there
//! are threads wait for ever.

use tokio::sync::Semaphore;

/// How many calls of the Delta library a process makes at once. A runtime in which tables are opened needs more blocking
/// threads than that; by default it has 512.
pub const CALLS_MAX: usize = 8;

static TURNS: Semaphore = Semaphore::const_new(CALLS_MAX);

/// Makes a call of the Delta library when it has its turn. One call must not be made within another.
pub(super) async fn in_turn<T>(call: impl Future<Output = T>) -> T {
    let _turn = TURNS.acquire().await;
    call.await
}
