//! Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
//! easy as 1, 2, 3" (SC 2011): ten rounds turn a 128-bit counter and a 64-bit key into 128 random bits.

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Counters processed together, so that the compiler can use vector instructions.
pub(crate) const LANES: usize = 16;

/// Returns one block: four random words from a counter and a key.
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut lanes = counter.map(|word| [word; 1]);
    rounds(&mut lanes, key);
    lanes.map(|[word]| word)
}

/// The blocks of [`LANES`] counters that differ in their first word, which counts up from `first`. Compiled for several
/// instruction sets and dispatched to the widest that the processor has. All give the same words.
pub(crate) struct Blocks<'a> {
    pub(crate) first: u32,
    pub(crate) rest: [u32; 3],
    pub(crate) key: [u32; 2],
    pub(crate) words: &'a mut [[u32; 4]; LANES],
}

impl pulp::NullaryFnOnce for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [world, entity, purpose] = self.rest.map(|word| [word; LANES]);
        let counted = std::array::from_fn(|lane| self.first.wrapping_add(lane as u32));
        let mut counters = [counted, world, entity, purpose];
        rounds(&mut counters, self.key);
        for (lane, words) in self.words.iter_mut().enumerate() {
            *words = counters.each_ref().map(|word| word[lane]);
        }
    }
}

/// Runs the ten rounds over `N` counters; `c[i][lane]` is word `i` of counter `lane`.
///
/// Between rounds, each word is the lower half of a 64-bit integer whose upper half is ignored. Vector units multiply
/// these lower halves, so a round needs no conversion to 64 bits and back. For many worlds that halves the time.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "four arrays share the index")]
pub(crate) fn rounds<const N: usize>(c: &mut [[u32; N]; 4], mut key: [u32; 2]) {
    let lower = |word: u64| word & u64::from(u32::MAX);
    let mut words = c.map(|words| words.map(u64::from));
    for _ in 0..ROUNDS {
        for lane in 0..N {
            let a = u64::from(MULTIPLIER[0]) * lower(words[0][lane]);
            let b = u64::from(MULTIPLIER[1]) * lower(words[2][lane]);
            words[0][lane] = (b >> 32) ^ words[1][lane] ^ u64::from(key[0]);
            words[1][lane] = b;
            words[2][lane] = (a >> 32) ^ words[3][lane] ^ u64::from(key[1]);
            words[3][lane] = a;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    *c = words.map(|words| words.map(|word| word as u32));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with Random123 (`kat_vectors`, philox4x32 10).
    #[test]
    fn matches_published_answers() {
        let check = |counter, key, expected| assert_eq!(philox4x32_10(counter, key), expected);
        check([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        check([0xffff_ffff; 4], [0xffff_ffff; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        check(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        );
    }
}
