//! Turns waiting rows into segments: several are encoded at once, and committed in log order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use table::upkeep::Superseding;
use table::{Appender, Segment, TableOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::buffer::Taken;
use crate::digest::blocking;
use crate::error::IngestError;
use crate::live::{Live, Trouble, lock};
use crate::segments::write_segments;

/// How often to check the age of waiting rows.
const LOOK_EACH: Duration = Duration::from_millis(200);

struct Encoded {
    segments: Vec<Segment>,
    schema: SchemaRef,
    position: u64,
    /// The rows they supersede, if the table has unique columns.
    superseding: Option<Arc<Superseding>>,
}

/// Writes the rows of a table as segments until the store closes and none are left, or the store is dropped.
pub(crate) async fn flush(live: Arc<Live>, mut closing: watch::Receiver<bool>) {
    let mut encoding: FuturesOrdered<JoinHandle<Result<Encoded, IngestError>>> = FuturesOrdered::new();
    loop {
        let close = *closing.borrow();
        if is_gone(&closing) {
            return;
        }
        if live.is_held() {
            if let Err(error) = catch_up(&live).await {
                live.fail(&error);
                live.hold();
                if close {
                    return;
                }
                pause(&live, &mut closing).await;
            }
            continue;
        }
        let mut failed = None;
        while encoding.len() < live.options.flushes && (close || live.is_due()) {
            match begin(&live).await {
                Ok(Some(encoder)) => encoding.push_back(encoder),
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if failed.is_none() {
            tokio::select! {
                Some(encoded) = encoding.next() => {
                    let encoded = encoded.unwrap_or_else(|panic| Err(panic.into()));
                    failed = commit(&live, encoded).await.err();
                }
                () = live.due.notified(), if !close => {}
                () = tokio::time::sleep(LOOK_EACH), if !close => {}
                _ = closing.changed(), if !close => {}
                else => break,
            }
        }
        if let Some(error) = failed {
            // Later segments would leave a gap in the table; encode them again afterwards.
            while encoding.next().await.is_some() {}
            live.fail(&error);
            live.hold();
            if !close {
                pause(&live, &mut closing).await;
            }
        }
    }
}

/// Writes the next rows that are in the log only. Reopens the table after a failure: a commit may be in it although its
/// last step failed, and others may have changed its columns.
async fn catch_up(live: &Arc<Live>) -> Result<(), IngestError> {
    // One table at a time: these rows are outside the memory budget.
    let _turn = live.shared.catching_up.acquire().await.map_err(|_| IngestError::Closing)?;
    if lock(&live.trouble).is_some() {
        let table = Appender::open(&live.root, live.disk.clone()).await?.map(Arc::new);
        let position = match &table {
            Some(table) => table.position_in_table().await?,
            None => 0,
        };
        live.appender.lock().await.clone_from(&table);
        let again = live.clone();
        blocking(move || again.start_again(table.as_deref(), position)).await?;
    }
    let taking = live.clone();
    blocking(move || taking.take_back()).await?;
    while let Some(encoder) = begin(live).await? {
        commit(live, encoder.await.unwrap_or_else(|panic| Err(panic.into()))).await?;
    }
    Ok(())
}

/// Waits before the next try, unless the store closes.
async fn pause(live: &Live, closing: &mut watch::Receiver<bool>) {
    let pause = lock(&live.trouble).as_ref().map_or(LOOK_EACH, Trouble::pause);
    tokio::select! {
        () = tokio::time::sleep(pause) => {}
        _ = closing.changed() => {}
    }
}

/// Whether the store was dropped without being closed.
pub(crate) fn is_gone(closing: &watch::Receiver<bool>) -> bool {
    closing.has_changed().is_err()
}

/// Starts to encode the oldest waiting rows, if any.
async fn begin(live: &Arc<Live>) -> Result<Option<JoinHandle<Result<Encoded, IngestError>>>, IngestError> {
    let appender = appender(live).await?;
    // Acquiring fails only on a closed semaphore, and this one never closes.
    let turn = live.shared.encoders.clone().acquire_owned().await.map_err(|_| IngestError::Closing)?;
    let Some(taken) = lock(&live.buffer).take(live.options.flush_rows) else { return Ok(None) };
    let live = live.clone();
    Ok(Some(tokio::task::spawn_blocking(move || {
        let encoded = encode(&live, &appender, &taken);
        drop(turn);
        encoded
    })))
}

/// The table, created with the first rows.
async fn appender(live: &Live) -> Result<Arc<Appender>, IngestError> {
    let mut appender = live.appender.lock().await;
    if let Some(appender) = appender.as_ref() {
        return Ok(appender.clone());
    }
    let schema = lock(&live.columns).schema().clone();
    let (codec, encodings) = (live.options.codec, live.options.encodings);
    let options = TableOptions { codec, encodings, ..TableOptions::new(table::Layout::Pruned) };
    let made = Appender::open_or_create(&live.root, live.disk.clone(), &schema, &options).await?;
    Ok(appender.insert(Arc::new(made)).clone())
}

fn encode(live: &Live, appender: &Appender, taken: &Taken) -> Result<Encoded, IngestError> {
    let columns = lock(&live.columns).clone();
    let batches = columns.conform_all(&taken.batches).and_then(|batches| live.last_rows(batches));
    let (batches, superseding) = batches.map_err(IngestError::rows(&live.name))?;
    let segments = write_segments(appender, &batches, live.options.partition, &live.root)?;
    let superseding = superseding.map(Arc::new);
    Ok(Encoded { segments, schema: columns.schema().clone(), position: taken.position, superseding })
}

async fn commit(live: &Arc<Live>, encoded: Result<Encoded, IngestError>) -> Result<(), IngestError> {
    let Encoded { segments, schema, position, superseding } = encoded?;
    let count = segments.len() as u64;
    let (rows, bytes) = segments.iter().fold((0, 0), |(rows, bytes), s| (rows + s.rows, bytes + s.bytes));
    let appender = appender(live).await?;
    let telling = live.clone();
    tokio::task::spawn_blocking(move || lock(&telling.log).tell(position)).await??;
    match superseding {
        None => appender.commit(segments, &schema, position).await?,
        Some(superseding) => {
            // Segments may need rewriting, which costs as much as encoding.
            let _turn = live.shared.encoders.acquire().await.map_err(|_| IngestError::Closing)?;
            appender.commit_superseding(segments, &schema, position, superseding).await?
        }
    };
    lock(&live.buffer).committed(position);
    let before = live.counts.segments.fetch_add(count, Ordering::Relaxed);
    live.counts.segment_rows.fetch_add(rows, Ordering::Relaxed);
    live.counts.segment_bytes.fetch_add(bytes, Ordering::Relaxed);
    live.committed.send_replace(position);
    live.recovered(before == 0);
    live.advise();
    Ok(())
}
