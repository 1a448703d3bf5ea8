//! The day's traffic: the hour of each batch and its number of records.

use world::{Seed, Stream, World};

use crate::draws::Purpose;

/// Batches of a day in the public call-record benchmark.
pub const BATCHES: usize = 500;

/// Maximum number of batches in a day.
pub const BATCHES_MAX: usize = 1_000_000;

/// The largest scale: its largest batches have 500 million records.
pub const SCALE_MAX: f64 = 1_000.0;

/// Limit of records in a day, exclusive: sequence numbers have twelve digits.
const ROWS_END: u64 = 1_000_000_000_000;

const HOURS: usize = 24;
const SMALL: u32 = 10_000;
const MEDIUM: u32 = 100_000;
const LARGE: u32 = 500_000;

/// Records that arrive together and are inserted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Its number in the day, from 1.
    pub number: u32,
    /// Its hour of arrival, 0 to 23.
    pub hour: u8,
    /// Number of records, at least 1.
    pub rows: usize,
    /// The sequence number of its first record. A day's sequence numbers start at 1, without gaps.
    pub first_sequence: u64,
}

/// Invalid settings of a day.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum TrafficError {
    #[error("a day has 1 to {BATCHES_MAX} batches, not {0}")]
    Batches(usize),
    /// Not a number, not above 0, or above [`SCALE_MAX`].
    #[error("the scale is above 0 and at most {SCALE_MAX}, not {0}")]
    Scale(f64),
    #[error("{batches} batches at scale {scale} have 10^12 records or more, and sequence numbers end there: lower one")]
    Rows { batches: usize, scale: f64 },
}

/// One day of traffic: quiet at night, bursts of half a million records at rush hours.
///
/// Batch sizes and their shares are those of the public call-record benchmark. Its day of 500 batches has 39.7 million
/// records on average, with a standard deviation of 1.8 million.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    batches: Vec<Batch>,
}

impl Traffic {
    /// The day of `seed` in `batches` batches (1 to [`BATCHES_MAX`]), which always span all 24 hours: batch b of B
    /// arrives in hour floor((b - 1) * 24 / B). `scale` (above 0, up to [`SCALE_MAX`]) multiplies each batch's records;
    /// the result is rounded, but at least one. A batch's random draw depends only on its number, not on the scale.
    pub fn new(batches: usize, scale: f64, seed: Seed) -> Result<Self, TrafficError> {
        if !(1..=BATCHES_MAX).contains(&batches) {
            return Err(TrafficError::Batches(batches));
        }
        if !(scale > 0.0 && scale <= SCALE_MAX) {
            return Err(TrafficError::Scale(scale));
        }
        let mut total = 0;
        let day = (0..batches)
            .map(|index| {
                let number = index as u32 + 1;
                let hour = (index * HOURS / batches) as u8;
                let mut random = Stream::new(seed, World(number), 0, Purpose::Size as u32);
                let rows = (f64::from(size(hour, random.below(100))) * scale).round().max(1.0) as usize;
                let first_sequence = total + 1;
                total += rows as u64;
                Batch { number, hour, rows, first_sequence }
            })
            .collect();
        if total >= ROWS_END {
            return Err(TrafficError::Rows { batches, scale });
        }
        Ok(Self { batches: day })
    }

    /// The batches in order of arrival.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }
}

/// Number of records of a batch at `hour` and scale 1; `percentile` is uniform from 0 to 99.
fn size(hour: u8, percentile: u32) -> u32 {
    let (share, common, rare) = match hour {
        0..=5 => (100, SMALL, SMALL),
        7 | 8 | 17 | 18 => (70, MEDIUM, LARGE),
        9..=16 => (85, MEDIUM, SMALL),
        _ => (60, SMALL, MEDIUM),
    };
    if percentile < share { common } else { rare }
}
