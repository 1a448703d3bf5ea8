//! Random draws for one (seed, world, entity, purpose).

use crate::philox::{Blocks, LANES};
use crate::{Seed, World};

const BUFFER: usize = 4 * LANES;

/// Random draws that depend only on their key. The generator's counter is (block, world, entity, purpose) and its key
/// is the seed, so streams of different keys never overlap.
///
/// A stream has 2^32 blocks of four words, far more than simulating one entity needs.
#[derive(Debug, Clone)]
pub struct Stream {
    seed: [u32; 2],
    world: u32,
    entity: u32,
    purpose: u32,
    block: u32,
    next: usize,
    buffer: [[u32; 4]; LANES],
}

impl Stream {
    /// The stream of `purpose` for `entity` in `world`, at its beginning.
    pub fn new(seed: Seed, world: World, entity: u32, purpose: u32) -> Self {
        Self {
            seed: [seed.0 as u32, (seed.0 >> 32) as u32],
            world: world.0,
            entity,
            purpose,
            block: 0,
            next: BUFFER,
            buffer: [[0; 4]; LANES],
        }
    }

    #[inline(never)]
    fn refill(&mut self) {
        pulp::Arch::new().dispatch(Blocks {
            first: self.block,
            rest: [self.world, self.entity, self.purpose],
            key: self.seed,
            words: &mut self.buffer,
        });
        self.block = self.block.wrapping_add(LANES as u32);
        self.next = 0;
    }

    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.next >= BUFFER {
            self.refill();
        }
        let value = self.buffer.as_flattened()[self.next];
        self.next += 1;
        value
    }

    /// A uniform number in [0, 1), a multiple of 2^-24.
    #[inline]
    pub fn uniform(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// True with probability `p`, with a resolution of 2^-24. Never true for `p` <= 0, always for `p` >= 1.
    #[inline]
    pub fn chance(&mut self, p: f32) -> bool {
        // Against a constant, the compiler compares whole numbers.
        ((self.next_u32() >> 8) as f32) < p * 16_777_216.0
    }

    /// A uniform integer below `n` (0 if `n` is 0), by Lemire's multiply-shift; the bias is below `n` / 2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(n)) >> 32) as u32
    }

    /// A standard normal draw by the quantile function, from one word.
    #[inline]
    pub fn normal(&mut self) -> f32 {
        normal_quantile((f64::from(self.next_u32()) + 0.5) / 4_294_967_296.0) as f32
    }
}

/// Below this and above 1 less this, the quantile function has formulas for the tails.
const TAIL: f64 = 0.024_25;

#[inline(always)]
pub(crate) fn is_central(p: f64) -> bool {
    (TAIL..=1.0 - TAIL).contains(&p)
}

/// The standard normal quantile of `p` in (0, 1), which may not be subnormal: Acklam's rational approximation (relative
/// error below 1.15e-9). It gives the same bits on every platform.
pub fn normal_quantile(p: f64) -> f64 {
    if is_central(p) { central_quantile(p) } else { tail_quantile(p) }
}

/// [`normal_quantile`] in the tails.
#[inline(always)]
pub(crate) fn tail_quantile(p: f64) -> f64 {
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let is_low = p < 0.5;
    let q = (-2.0 * log_below_one(if is_low { p } else { 1.0 - p })).sqrt();
    let value = (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5])
        / ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1.0);
    if is_low { value } else { -value }
}

/// The bits of `libm::log`, for numbers in (0, 1) that are not subnormal: the same steps (FreeBSD's `e_log.c`), but
/// without branches, so that the compiler can use vector instructions.
#[inline(always)]
fn log_below_one(x: f64) -> f64 {
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    const L: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    /// The upper words of 1 and of the root of 1/2.
    const ONE: u64 = 0x3FF0_0000 << 32;
    const ROOT: u64 = 0x3FE6_A09E << 32;
    /// 2^52: its last bits count.
    const COUNTS: f64 = 4_503_599_627_370_496.0;
    // `x` is 2^exponent times a number from the root of 1/2 to the root of 2.
    let bits = x.to_bits() + (ONE - ROOT);
    let exponent = f64::from_bits(COUNTS.to_bits() | bits >> 52) - (COUNTS + 1023.0);
    let f = f64::from_bits((bits & ((1 << 52) - 1)) + ROOT) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (L[1] + w * (L[3] + w * L[5]));
    let odd = z * (L[0] + w * (L[2] + w * (L[4] + w * L[6])));
    s * (half_square + (odd + even)) + exponent * LN_2[1] - half_square + f + exponent * LN_2[0]
}

/// [`normal_quantile`] outside the tails.
#[inline(always)]
pub(crate) fn central_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    let q = p - 0.5;
    let r = q * q;
    (((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q
        / (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::philox4x32_10;

    fn stream(seed: u64, world: u32, entity: u32, purpose: u32) -> Stream {
        Stream::new(Seed(seed), World(world), entity, purpose)
    }

    #[test]
    fn stream_equals_generator_over_its_key() {
        let mut s = stream(0x0123_4567_89AB_CDEF, 4, 5, 6);
        for block in 0..20 {
            let expected = philox4x32_10([block, 4, 5, 6], [0x89AB_CDEF, 0x0123_4567]);
            for word in expected {
                assert_eq!(s.next_u32(), word);
            }
        }
    }

    #[test]
    fn neighbouring_worlds_are_uncorrelated() {
        // Lag-1 correlation of the first uniform of 100,000 neighbouring worlds: standard error 1 / sqrt(n).
        let n = 100_000;
        let u: Vec<f64> = (0..n).map(|w| f64::from(stream(1, w, 0, 0).uniform()) - 0.5).collect();
        let variance = u.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        let lag = u.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / f64::from(n) / variance;
        assert!(lag.abs() < 4.0 / f64::from(n).sqrt(), "lag-1 correlation {lag}");
        assert!((variance - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0_f64).sqrt() / f64::from(n).sqrt());
    }

    #[test]
    fn normal_draws_have_normal_moments() {
        let mut s = stream(3, 0, 0, 0);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| f64::from(s.normal())).collect();
        let moment = |k: i32| draws.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
        let root_n = f64::from(n).sqrt();
        assert!(moment(1).abs() < 4.0 / root_n);
        assert!((moment(2) - 1.0).abs() < 4.0 * 2.0_f64.sqrt() / root_n);
        assert!((moment(4) - 3.0).abs() < 4.0 * 96.0_f64.sqrt() / root_n);
    }

    #[test]
    fn logarithms_are_those_of_libm() {
        let mut s = stream(5, 0, 0, 0);
        let random = (0..100_000).map(|_| (f64::from(s.next_u32()) + 0.5) / 4_294_967_296.0);
        let powers = (1..1023).flat_map(|n| [1.0, 1.5, 1.999].map(|times| times * f64::powi(2.0, -n)));
        for x in random.chain(powers).chain([f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0, 0.5_f64.sqrt()]) {
            assert_eq!(log_below_one(x).to_bits(), libm::log(x).to_bits(), "{x}");
        }
    }

    #[test]
    fn quantiles_match_published_values() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_985), (0.001, -3.090_232_306)] {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}");
        }
    }

    #[test]
    fn below_is_uniform() {
        let mut s = stream(9, 0, 0, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[s.below(7) as usize] += 1;
        }
        let standard_error = (70_000.0_f64 * (1.0 / 7.0) * (6.0 / 7.0)).sqrt();
        for count in counts {
            assert!((f64::from(count) - 10_000.0).abs() < 4.5 * standard_error);
        }
        assert_eq!(s.below(0), 0);
    }
}
