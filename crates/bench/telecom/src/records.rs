//! The records of a batch.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, BooleanBufferBuilder, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use arrow::buffer::NullBuffer;
use world::Seed;

use crate::draws::{Draws, Purpose};
use crate::schema::{BILLING, LOSS, QUALITY, decimal, schema};
use crate::text::{CALL_ID, PHONE, Words, fixed_width};
use crate::{Batch, shares, text};

/// A good chunk size: about 13 MB of Arrow arrays.
pub const CHUNK: usize = 65_536;

/// Maximum records of a chunk: 26 bytes of `call_id` each, with 31-bit offsets.
const CHUNK_MAX: usize = i32::MAX as usize / CALL_ID;

/// 1 October 2025, in days since 1970.
const DAY: i32 = 20_362;
const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY_LENGTH: i64 = 24 * HOUR;
/// Time from one call of a batch to the next.
const STEP: i64 = 3 * SECOND;

/// The records of one batch: a pure function of (seed, batch), made on demand.
///
/// Calls follow each other every three seconds from the batch's hour of 1 October 2025, so a batch of 500,000 spans 17
/// days. As in the public call-record benchmark, `call_date` still dates all of them on the first day.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    seed: Seed,
    batch: Batch,
}

impl Records {
    /// The records of a `batch` of [`Traffic`](crate::Traffic), possibly of another seed. Batches of the same seed
    /// share no random draw.
    pub fn new(seed: Seed, batch: Batch) -> Self {
        Self { seed, batch }
    }

    /// The whole batch in order, `size` records per chunk (at least 1). The last chunk may be shorter.
    pub fn chunks(self, size: usize) -> impl ExactSizeIterator<Item = RecordBatch> {
        let rows = self.batch.rows;
        let size = size.max(1);
        (0..rows.div_ceil(size)).map(move |chunk| self.chunk(chunk * size..rows.min((chunk + 1) * size)))
    }

    /// The records at `rows` of the batch, counted from 0. They do not depend on the chunk.
    ///
    /// # Panics
    /// If `rows` ends past the batch, or has more than 82 million records, the limit of an Arrow text column.
    pub fn chunk(self, rows: Range<usize>) -> RecordBatch {
        assert!(rows.end <= self.batch.rows, "rows {rows:?} of a batch of {}", self.batch.rows);
        assert!(rows.len() <= CHUNK_MAX, "{} records in one chunk: at most {CHUNK_MAX}", rows.len());
        let chunk = Chunk {
            first_sequence: self.batch.first_sequence + rows.start as u64,
            draws: Draws { seed: self.seed, batch: self.batch.number, rows },
        };
        let times = chunk.times(self.batch.hour);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(chunk.call_ids()),
            Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC")),
            Arc::new(Date32Array::from(vec![DAY; times.len()])),
            Arc::new(Int32Array::from(vec![i32::from(self.batch.hour); times.len()])),
            Arc::new(chunk.phones(Purpose::Caller)),
            Arc::new(chunk.phones(Purpose::Callee)),
            chunk.integers(Purpose::Duration, |words| shares::duration(words) as i32),
            chunk.integers(Purpose::Tower, shares::tower),
            Arc::new(chunk.words(Purpose::CallType, shares::call_type)),
            Arc::new(chunk.words(Purpose::Network, shares::network)),
            Arc::new(chunk.bytes_transferred()),
            chunk.integers(Purpose::Termination, shares::termination),
            chunk.decimals(Purpose::Billing, BILLING, shares::billing),
            chunk.integers(Purpose::RatePlan, shares::rate_plan),
            Arc::new(chunk.roaming()),
            chunk.decimals(Purpose::Quality, QUALITY, shares::quality),
            chunk.decimals(Purpose::Loss, LOSS, shares::loss),
            Arc::new(chunk.sequence_numbers()),
        ];
        RecordBatch::try_new(schema(), columns).expect("columns are those of the schema")
    }
}

/// Adjacent rows of a batch, by column.
struct Chunk {
    first_sequence: u64,
    draws: Draws,
}

impl Chunk {
    fn rows(&self) -> usize {
        self.draws.rows.len()
    }

    /// Microseconds since 1970. The first call of a batch is one step after the hour.
    fn times(&self, hour: u8) -> Vec<i64> {
        let start = i64::from(DAY) * DAY_LENGTH + i64::from(hour) * HOUR;
        self.draws.rows.clone().map(|row| start + STEP * (row as i64 + 1)).collect()
    }

    fn sequence_numbers(&self) -> Int64Array {
        let first = self.first_sequence as i64;
        Int64Array::from_iter_values(first..first + self.rows() as i64)
    }

    fn call_ids(&self) -> StringArray {
        let mut bytes = Vec::with_capacity(CALL_ID * self.rows());
        let mut sequence = self.first_sequence;
        self.draws.each(Purpose::CallId, |[noise]| {
            bytes.extend_from_slice(&text::call_id(sequence, noise));
            sequence += 1;
        });
        fixed_width(bytes, CALL_ID, self.rows())
    }

    fn phones(&self, purpose: Purpose) -> StringArray {
        let mut bytes = Vec::with_capacity(PHONE * self.rows());
        self.draws.each(purpose, |words| bytes.extend_from_slice(&text::phone(shares::phone(words))));
        fixed_width(bytes, PHONE, self.rows())
    }

    fn words(&self, purpose: Purpose, word: impl Fn([u32; 1]) -> &'static str) -> StringArray {
        let mut words = Words::with_capacity(self.rows(), 5);
        self.draws.each(purpose, |draw| words.push(word(draw)));
        words.finish()
    }

    fn integers<const W: usize>(&self, purpose: Purpose, value: impl Fn([u32; W]) -> i32) -> ArrayRef {
        Arc::new(Int32Array::from(self.draws.values(purpose, value)))
    }

    fn decimals<const W: usize>(&self, purpose: Purpose, kind: (u8, i8), value: impl Fn([u32; W]) -> i128) -> ArrayRef {
        Arc::new(Decimal128Array::from(self.draws.values(purpose, value)).with_data_type(decimal(kind)))
    }

    fn bytes_transferred(&self) -> Int64Array {
        let mut values = Vec::with_capacity(self.rows());
        let mut present = BooleanBufferBuilder::new(self.rows());
        self.draws.each(Purpose::Bytes, |words| {
            let bytes = shares::bytes(words);
            present.append(bytes.is_some());
            values.push(i64::from(bytes.unwrap_or(0)));
        });
        Int64Array::new(values.into(), Some(NullBuffer::new(present.finish())))
    }

    fn roaming(&self) -> BooleanArray {
        let mut roaming = BooleanBufferBuilder::new(self.rows());
        self.draws.each(Purpose::Roaming, |word| roaming.append(shares::roaming(word)));
        BooleanArray::new(roaming.finish(), None)
    }
}
