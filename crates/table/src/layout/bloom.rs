//! Bloom filters with exactly the size that their values need.
//!
//! Parquet's split block filter allows any number of blocks. The Parquet library only writes powers of two, which is a
//! third too large on average.

use parquet::bloom_filter::Sbbf;

/// Bits per value: one in each word of its block.
const WORDS: usize = 8;
/// From the Parquet specification of split block Bloom filters.
const SALT: [u32; WORDS] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// Builds a filter from the hashes of values (`XXH64`, seed 0) with a false positive rate of at most
/// `false_positives`.
pub(crate) fn filter(hashes: &[u64], false_positives: f64) -> Sbbf {
    let count = blocks_for(distinct(hashes), false_positives);
    let mut blocks = vec![[0u32; WORDS]; count];
    for hash in hashes {
        let block = &mut blocks[(((hash >> 32) * count as u64) >> 32) as usize];
        for (word, salt) in block.iter_mut().zip(SALT) {
            *word |= 1 << ((*hash as u32).wrapping_mul(salt) >> 27);
        }
    }
    let bytes: Vec<u8> = blocks.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    Sbbf::new(&bytes)
}

/// The smallest number of blocks for `distinct` values that reaches the expected false positive rate.
fn blocks_for(distinct: f64, false_positives: f64) -> usize {
    // The rate grows with the load, so find the load by bisection.
    let (mut low, mut high) = (0.0, 256.0);
    for _ in 0..40 {
        let load = f64::midpoint(low, high);
        if false_positive_rate(load) > false_positives { high = load } else { low = load }
    }
    (distinct / f64::max(low, f64::MIN_POSITIVE)).ceil().max(1.0) as usize
}

/// Expected false positive rate of a filter with `load` values per block. The number of values per block has a Poisson
/// distribution. A block of `k` values gives a false positive if all 8 words have the requested bit of 32 set, with
/// probability `(1 - (31/32)^k)^8` (Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters",
/// 2007).
pub(crate) fn false_positive_rate(load: f64) -> f64 {
    let mut probability = (-load).exp();
    let mut rate = 0.0;
    let most = (load + 12.0 * load.sqrt() + 12.0) as u32;
    for k in 1..=most {
        probability *= load / f64::from(k);
        rate += probability * (1.0 - (31.0_f64 / 32.0).powi(k as i32)).powi(WORDS as i32);
    }
    rate
}

/// Distinct hashes, within about 1%, by linear counting (Whang, Vander-Zanden and Taylor 1990): from the share of
/// empty bits in a bitmap of twice as many bits as hashes.
fn distinct(hashes: &[u64]) -> f64 {
    let bits = (2 * hashes.len()).next_power_of_two().max(64);
    let mut map = vec![0u64; bits / 64];
    for hash in hashes {
        // Mix again, for independence from the filter's bits.
        let bit = (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (bits - 1);
        map[bit / 64] |= 1 << (bit % 64);
    }
    let empty = map.iter().map(|word| word.count_zeros()).sum::<u32>();
    let bits = bits as f64;
    if empty == 0 { bits } else { (-bits * (f64::from(empty) / bits).ln()).min(hashes.len() as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_finds_all_with_few_false_positives() {
        // The library's reader checks the filter.
        for n in [1_u64, 7, 1_000, 100_000] {
            let hashes: Vec<u64> = (0..n).map(|i| twox_hash::XxHash64::oneshot(0, &i.to_le_bytes())).collect();
            let ours = filter(&hashes, 0.01);
            assert!((0..n).all(|i| ours.check(&(i as i64))), "a value is missing");
            let wrong = (1..=100_000_i64).filter(|i| ours.check(&-i)).count();
            if n == 100_000 {
                // Expected 1,000, with a standard error of 32 and the error of the count of distinct values.
                assert!((850..1_150).contains(&wrong), "{wrong} false answers of 100,000, for {n} values");
                let bits = ours.num_blocks() as f64 * 256.0 / n as f64;
                // 10.5 according to the Parquet specification.
                assert!((10.2..10.7).contains(&bits), "{bits} bits per value");
            }
        }
    }

    #[test]
    fn repeated_values_do_not_enlarge_filter() {
        let hashes: Vec<u64> =
            (0..100_000_u64).map(|i| twox_hash::XxHash64::oneshot(0, &(i % 1000).to_le_bytes())).collect();
        let blocks = filter(&hashes, 0.01).num_blocks();
        assert!((35..45).contains(&blocks), "{blocks} blocks");
    }
}
