//! The disk space that the experiments need, checked before they start.

use std::path::Path;

use table::Codec;

use super::workload::SeasonWorkload;
use crate::error::BenchError;
use crate::harness::report::number::bytes as size;

/// Worlds per range that `manyworlds run` chooses for large ensembles.
const RANGE_WORLDS: u32 = 5_000;
/// The season written during R5: bytes per second of each writing core, the number of cores that a disk can keep busy,
/// and the seconds of waiting around two rounds of reads.
const BESIDE_BYTES_PER_S: f64 = 100e6;
const BESIDE_MOST_CORES: usize = 8;
const BESIDE_WAITS_S: f64 = 5.0;

/// Bytes on disk per range, rounded up from measured seasons: headers and index entries of one page per outcome.
const OUTCOMES_A_RANGE: u64 = 24_700_000;
const PLAYS_A_RANGE: u64 = 3_600_000;

/// Maximum bytes of a season played by `threads` threads, with at least one range per thread.
fn season_bytes(worlds: u32, plays: bool, range_worlds: u32, threads: usize, codec: Codec) -> u64 {
    // Bytes per world, rounded up from measured seasons.
    let (outcomes_a_world, plays_a_world) = match codec {
        Codec::Zstd(_) | Codec::Gzip => (98_700, 349_000),
        // Snappy and LZ4 need less than no compression; the benchmark measures how much less.
        Codec::None | Codec::Snappy | Codec::Lz4 => (235_000, 885_000),
    };
    let ranges = u64::from(worlds.div_ceil(range_worlds)).max(threads as u64);
    let outcomes = u64::from(worlds) * outcomes_a_world + ranges * OUTCOMES_A_RANGE;
    let plays_too = u64::from(worlds) * plays_a_world + ranges * PLAYS_A_RANGE;
    if plays { outcomes + plays_too } else { outcomes }
}

/// Peak disk space of the experiments, in bytes, on a machine with `cores` cores.
pub(crate) fn needed(workload: &SeasonWorkload, cores: usize) -> u64 {
    let season = |worlds, plays| season_bytes(worlds, plays, RANGE_WORLDS, cores, Codec::default());
    let written = workload.seasons().into_iter().map(|(worlds, plays)| season(worlds, plays));
    let (asked, plays) = workload.kept_season();
    let writing = cores.saturating_sub(1).clamp(1, BESIDE_MOST_CORES) as f64;
    let beside = writing * BESIDE_BYTES_PER_S * (2.0 * workload.read_seconds + BESIDE_WAITS_S);
    let asked = season(asked, plays) + beside as u64;
    let worlds = workload.sweep_worlds;
    let compared = |plays, range, codec| if worlds == 0 { 0 } else { season_bytes(worlds, plays, range, 1, codec) };
    let by_codec = workload.codecs.iter().map(|c| compared(workload.plays, workload.shared_range_worlds(), *c));
    let by_range = workload.ranges.iter().map(|range| compared(false, *range, Codec::default()));
    written.chain([asked]).chain(by_codec).chain(by_range).max().unwrap_or(0)
}

/// A sentence about needed and free space; an error if free space is too low.
pub(crate) fn check(folder: &Path, needed: u64, free: u64) -> Result<String, BenchError> {
    if free < needed {
        return Err(BenchError::DiskSpace { folder: folder.to_owned(), needed: size(needed), free: size(free) });
    }
    Ok(format!("up to {} of disk at a time; {} has {} free", size(needed), folder.display(), size(free)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::season::tests::example;

    /// A workload of these seasons only.
    fn workload(scales: &[u32], plays: bool) -> SeasonWorkload {
        let scales = scales.to_vec();
        SeasonWorkload { scales, plays, sweep_worlds: 0, read_seconds: 0.0, ..example().workload }
    }

    #[test]
    fn measured_seasons_fit_into_what_is_said_and_fill_it() {
        // Worlds, worlds per range, codec, bytes of outcomes, bytes of plays, as measured with `manyworlds run`.
        let (none, zstd) = (Codec::None, Codec::default());
        for (worlds, range, codec, outcomes, plays) in [
            (1_000, 500, zstd, 141_930_000_u64, 345_120_000_u64),
            (10_000, 5_000, zstd, 983_000_000, 3_397_000_000),
            (100_000, 5_000, zstd, 9_830_000_000, 33_980_000_000),
            (1_000, 500, none, 264_686_237, 870_897_719),
        ] {
            let said = [false, true].map(|plays| season_bytes(worlds, plays, range, 2, codec));
            for (said, measured) in said.into_iter().zip([outcomes, outcomes + plays]) {
                let share = measured as f64 / said as f64;
                assert!((0.9..1.0).contains(&share), "{worlds} worlds, {codec}: {measured} of {said} bytes");
            }
        }
        assert!(season_bytes(1, true, 1, 1, none) > 17_485_171 + 3_610_672);
        assert!(season_bytes(40, true, 20, 1, zstd) > 35_533_402 + 19_548_857);
    }

    #[test]
    fn what_is_needed_is_the_largest_season_and_not_their_sum() {
        let most = needed(&workload(&[100_000], true), 2);
        assert_eq!(most, season_bytes(100_000, true, 5_000, 2, Codec::default()));
        assert_eq!(needed(&workload(&[100, 100_000, 10_000], true), 2), most);
        let outcomes = needed(&workload(&[100_000], false), 2);
        let beside = (BESIDE_BYTES_PER_S * BESIDE_WAITS_S) as u64;
        assert_eq!(outcomes, season_bytes(100_000, false, 5_000, 2, Codec::default()) + beside);
    }

    #[test]
    fn what_is_compared_counts_at_the_codec_that_takes_most() {
        let compared = |codecs: &[Codec]| {
            let codecs = codecs.to_vec();
            needed(&SeasonWorkload { sweep_worlds: 50_000, codecs, ..workload(&[10], true) }, 2)
        };
        let (zstd, both) = (compared(&[Codec::Zstd(9)]), compared(&[Codec::None, Codec::Zstd(9)]));
        assert!(both > 2 * zstd, "{both} and {zstd}");
    }

    #[test]
    fn a_disk_that_is_too_small_is_refused_in_a_sentence() {
        let folder = Path::new("some/folder");
        assert_eq!(
            check(folder, 45_300_000_000, 45_300_000_000).unwrap(),
            "up to 45.3 GB of disk at a time; some/folder has 45.3 GB free"
        );
        let said = check(folder, 45_300_000_000, 45_299_999_999).unwrap_err().to_string();
        let refused = check(folder, 45_300_000_000, 9_000_000_000).unwrap_err().to_string();
        assert_eq!(
            refused,
            "some/folder has 9.00 GB of disk free and the largest season needs up to 45.3 GB: name a folder on a larger \
             disk, or measure fewer worlds or no plays"
        );
        assert!(said.starts_with("some/folder has 45.3 GB"), "{said}");
    }
}
