//! Bodies of requests as they arrive, within a limit on all of them: a body waits in memory until its last byte is here.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use ingest::{Budget, Share};

use crate::error::Refusal;

/// The memory of all bodies.
pub(crate) struct Bodies {
    memory: Budget,
    /// Time limit for one body.
    patience: Duration,
}

/// A body, and its share of the memory, given back on drop.
pub(crate) struct Arrived {
    bytes: Bytes,
    _share: Share,
}

impl std::ops::Deref for Arrived {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

impl Bodies {
    pub(crate) fn new(bytes: u64, patience: Duration) -> Self {
        Self { memory: Budget::new(bytes), patience }
    }

    /// Reads a body of up to `most` bytes.
    pub(crate) async fn read(&self, body: Body, most: usize) -> Result<Arrived, Refusal> {
        tokio::time::timeout(self.patience, self.collect(body, most)).await.map_err(|_| {
            let text = format!("the request did not arrive within {} s", self.patience.as_secs());
            Refusal::new(StatusCode::REQUEST_TIMEOUT, text)
        })?
    }

    async fn collect(&self, mut body: Body, most: usize) -> Result<Arrived, Refusal> {
        let announced = body.size_hint().lower().min(most as u64);
        let mut share = self.memory.take(announced).ok_or_else(|| self.full())?;
        let (mut parts, mut bytes) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refusal::bad(format!("cannot read the body: {error}")))?;
            // Other frames are trailers.
            let Ok(part) = frame.into_data() else { continue };
            bytes += part.len();
            if bytes > most {
                let text = format!("the body exceeds {most} bytes: send smaller requests");
                return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text));
            }
            if !self.memory.grow(&mut share, bytes as u64) {
                return Err(self.full());
            }
            parts.push(part);
        }
        let bytes = if parts.len() == 1 { parts.remove(0) } else { parts.concat().into() };
        Ok(Arrived { bytes, _share: share })
    }

    fn full(&self) -> Refusal {
        let (used, limit) = (self.memory.used(), self.memory.limit());
        let text = format!(
            "too many requests are arriving ({used} of {limit} bytes): nothing of this one was done; send it again in 1 s"
        );
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: usize = 1024;

    #[tokio::test]
    async fn bodies_share_their_memory_and_give_it_back() {
        let bodies = Bodies::new(8 * KB as u64, Duration::from_secs(9));
        let read = async |bytes: usize, most: usize| {
            let parts = [vec![1; bytes / 2], vec![2; bytes - bytes / 2]].map(Ok::<_, std::io::Error>);
            // No size is announced.
            bodies.read(Body::from_stream(futures::stream::iter(parts)), most).await
        };
        let status = |refused: Result<Arrived, Refusal>| refused.map(|_| ()).unwrap_err().status();
        let five = read(5 * KB, usize::MAX).await.unwrap();
        assert_eq!(five[..], [vec![1; 5 * KB / 2], vec![2; 5 * KB / 2]].concat());
        assert_eq!(status(read(4 * KB, usize::MAX).await), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(status(bodies.read(Body::from(vec![3; 4 * KB]), usize::MAX).await), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(status(read(3 * KB, 2 * KB).await), StatusCode::PAYLOAD_TOO_LARGE);
        let three = read(3 * KB, usize::MAX).await.unwrap();
        drop((five, three));
        // One above the limit is read alone.
        let large = bodies.read(Body::from(vec![3; 20 * KB]), usize::MAX).await.unwrap();
        assert_eq!((large.len(), bodies.memory.used()), (20 * KB, 8 * KB as u64));
        drop(large);
        assert_eq!(bodies.memory.used(), 0);
    }
}
