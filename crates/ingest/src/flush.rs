//! Rows that wait become segments: encoded several at once, committed in the order of the log.

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
use crate::error::IngestError;
use crate::live::{Live, lock};
use crate::segments::write_segments;

/// How often it is looked whether rows wait long enough.
const LOOK_EACH: Duration = Duration::from_millis(200);
/// The pause after a segment could not be written.
const PAUSE: Duration = Duration::from_secs(1);

struct Encoded {
    segments: Vec<Segment>,
    schema: SchemaRef,
    position: u64,
    /// What they take the place of, where rows do.
    superseding: Option<Arc<Superseding>>,
}

/// Writes the rows of a table as segments until the store closes and none are left, or is gone without closing.
pub(crate) async fn flush(live: Arc<Live>, mut closing: watch::Receiver<bool>) {
    let mut encoding: FuturesOrdered<JoinHandle<Result<Encoded, IngestError>>> = FuturesOrdered::new();
    loop {
        let close = *closing.borrow();
        if is_gone(&closing) {
            return;
        }
        while encoding.len() < live.options.flushes && (close || live.is_due()) {
            match begin(&live).await {
                Ok(Some(encoder)) => encoding.push_back(encoder),
                Ok(None) => break,
                Err(error) => {
                    failed(&live, &error);
                    if close {
                        return;
                    }
                    tokio::time::sleep(PAUSE).await;
                    break;
                }
            }
        }
        tokio::select! {
            Some(encoded) = encoding.next() => {
                let encoded = encoded.unwrap_or_else(|panic| Err(IngestError::Log(panic.to_string())));
                if let Err(error) = commit(&live, encoded).await {
                    // What follows would leave a hole in the table: it is encoded again after this.
                    while encoding.next().await.is_some() {}
                    let was_last_try = *closing.borrow();
                    failed(&live, &error);
                    while let Err(error) = give_back(&live).await {
                        failed(&live, &error);
                        if *closing.borrow() || is_gone(&closing) {
                            return;
                        }
                        tokio::time::sleep(PAUSE).await;
                    }
                    if was_last_try {
                        return;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
            () = live.due.notified(), if !close => {}
            () = tokio::time::sleep(LOOK_EACH), if !close => {}
            _ = closing.changed(), if !close => {}
            else => break,
        }
    }
}

/// Whether the store was dropped without being closed.
pub(crate) fn is_gone(closing: &watch::Receiver<bool>) -> bool {
    closing.has_changed().is_err()
}

/// Takes back what a commit that failed was to write. Where only its end failed it is in the table all the same: written
/// again, together with rows that came since, it would be there twice.
async fn give_back(live: &Live) -> Result<(), IngestError> {
    let position = appender(live).await?.position_in_table().await?;
    let mut buffer = lock(&live.buffer);
    buffer.committed(position);
    buffer.give_back();
    Ok(())
}

fn failed(live: &Live, error: &IngestError) {
    live.counts.failures.fetch_add(1, Ordering::Relaxed);
    tracing::error!(table = %live.name, %error, "rows could not be written to a segment; they stay in the log");
}

/// Begins to encode the oldest rows that wait, if any do.
async fn begin(live: &Arc<Live>) -> Result<Option<JoinHandle<Result<Encoded, IngestError>>>, IngestError> {
    let appender = appender(live).await?;
    // A turn is only refused once it is closed, which it never is.
    let turn = live.shared.encoders.clone().acquire_owned().await.map_err(|_| IngestError::Closing)?;
    let Some(taken) = lock(&live.buffer).take(live.options.flush_rows) else { return Ok(None) };
    let live = live.clone();
    Ok(Some(tokio::task::spawn_blocking(move || {
        let encoded = encode(&live, &appender, &taken);
        drop(turn);
        encoded
    })))
}

/// The table, which is made with the first rows there are.
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
    let cause = |cause| IngestError::Rows { table: live.name.to_string(), cause };
    let batches = taken.batches.iter().map(|rows| columns.conform(rows)).collect::<Result<Vec<_>, _>>();
    let (batches, superseding) = batches.and_then(|batches| live.last_rows(batches)).map_err(cause)?;
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
    let told = tokio::task::spawn_blocking(move || lock(&telling.log).tell(position)).await;
    told.unwrap_or_else(|panic| Err(IngestError::Log(panic.to_string())))?;
    match superseding {
        None => appender.commit(segments, &schema, position).await?,
        Some(superseding) => {
            // Segments may have to be written anew, which takes as much as encoding some.
            let _turn = live.shared.encoders.acquire().await.map_err(|_| IngestError::Closing)?;
            appender.commit_superseding(segments, &schema, position, superseding).await?
        }
    };
    lock(&live.buffer).committed(position);
    live.counts.segments.fetch_add(count, Ordering::Relaxed);
    live.counts.segment_rows.fetch_add(rows, Ordering::Relaxed);
    live.counts.segment_bytes.fetch_add(bytes, Ordering::Relaxed);
    live.committed.send_replace(position);
    live.advise();
    Ok(())
}
