//! Limits concurrent calls of the Delta library.
//!
//! Each call occupies a blocking thread of the runtime while it waits for reads on another thread. With as many calls
//! as threads, all wait forever.

use tokio::sync::Semaphore;

/// Maximum concurrent calls of the Delta library per process. The runtime needs more blocking threads than this; the
/// default is 512.
pub const CALLS_MAX: usize = 8;

static TURNS: Semaphore = Semaphore::const_new(CALLS_MAX);

/// Waits for a turn, then makes a call of the Delta library. Do not nest.
pub(super) async fn in_turn<T>(call: impl Future<Output = T>) -> T {
    let _turn = TURNS.acquire().await;
    call.await
}
