//! Random draws for many worlds at once: one value for each world of a range.

use crate::philox::{LANES, rounds};
use crate::stream::{central_quantile, is_central, tail_quantile};
use crate::{Seed, WorldRange};

/// Words of a block.
const WORDS: usize = 4;
/// Worlds drawn at once: what they need stays in the first cache.
const CHUNK: usize = 512;

/// The [`Stream`](crate::Stream)s of one entity and purpose in all worlds of a range, drawn in step: each method draws
/// one value for each world. A world's values do not depend on the range.
#[derive(Debug, Clone)]
pub struct Streams {
    seed: [u32; 2],
    worlds: WorldRange,
    entity: u32,
    purpose: u32,
    block: u32,
    /// The third and the fourth word of each world's last block; empty once they are drawn.
    kept: [Vec<u32>; 2],
}

/// A parameter of a distribution: equal in all worlds, or one value for each.
#[derive(Debug, Clone, Copy)]
pub enum PerWorld<'a> {
    All(f64),
    Each(&'a [f64]),
}

impl PerWorld<'_> {
    fn get(&self, place: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[place],
        }
    }

    /// Whether a condition holds for all its values.
    pub fn all(&self, holds: impl Fn(f64) -> bool) -> bool {
        match self {
            Self::All(value) => holds(*value),
            Self::Each(values) => values.iter().all(|value| holds(*value)),
        }
    }
}

impl Streams {
    /// The streams of `purpose` for `entity` in `worlds`, at their beginning.
    pub fn new(seed: Seed, worlds: WorldRange, entity: u32, purpose: u32) -> Self {
        let seed = [seed.0 as u32, (seed.0 >> 32) as u32];
        Self { seed, worlds, entity, purpose, block: 0, kept: Default::default() }
    }

    /// Number of worlds.
    pub fn worlds(&self) -> usize {
        self.worlds.count()
    }

    /// Draws two words for each world, and passes them on chunk by chunk: the first words, and the second.
    fn words(&mut self, mut take: impl FnMut(&[u32], &[u32])) {
        let kept = std::mem::take(&mut self.kept);
        if !kept[0].is_empty() {
            kept[0].chunks(CHUNK).zip(kept[1].chunks(CHUNK)).for_each(|(first, second)| take(first, second));
            return;
        }
        self.kept = [0; 2].map(|_| Vec::with_capacity(self.worlds()));
        let mut words = [[0; CHUNK]; WORDS];
        for done in (0..self.worlds()).step_by(CHUNK) {
            let count = CHUNK.min(self.worlds() - done);
            pulp::Arch::new().dispatch(WorldBlocks {
                first: self.worlds.first().0.wrapping_add(done as u32),
                rest: [self.block, self.entity, self.purpose],
                key: self.seed,
                words: words.each_mut().map(|words| &mut words[..count.next_multiple_of(LANES)]),
            });
            let [first, second, third, fourth] = words.each_ref().map(|words| &words[..count]);
            self.kept[0].extend_from_slice(third);
            self.kept[1].extend_from_slice(fourth);
            take(first, second);
        }
        self.block = self.block.wrapping_add(1);
    }

    /// 64 random bits for each world, from two words.
    fn bits(&mut self) -> Vec<u64> {
        let mut bits = Vec::with_capacity(self.worlds());
        let of = |(first, second): (&u32, &u32)| u64::from(*first) << 32 | u64::from(*second);
        self.words(|first, second| bits.extend(first.iter().zip(second).map(of)));
        bits
    }

    /// Uniform numbers in [0, 1), multiples of 2^-53.
    pub fn uniform(&mut self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.worlds());
        let of = |(first, second): (&u32, &u32)| whole(*first, *second) * STEP;
        self.words(|first, second| {
            pulp::Arch::new().dispatch(|| values.extend(first.iter().zip(second).map(of)));
        });
        values
    }

    /// Standard normal numbers, by the quantile function.
    pub fn normal(&mut self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.worlds());
        self.words(|first, second| pulp::Arch::new().dispatch(Normals { first, second, values: &mut values }));
        values
    }

    /// Exponential numbers with mean 1.
    pub fn exponential(&mut self) -> Vec<f64> {
        self.uniform().into_iter().map(|u| -libm::log1p(-u)).collect()
    }

    /// Whole numbers from 0 to below `n`, by Lemire's multiply-shift; the bias is below `n` / 2^64. All 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> Vec<i64> {
        self.bits().into_iter().map(|bits| ((u128::from(bits) * u128::from(n)) >> 64) as i64).collect()
    }

    /// Places in a list of probabilities that sum to 1, given as their cumulative sums.
    pub fn choice(&mut self, cumulative: &[f64]) -> Vec<i64> {
        let last = cumulative.len().saturating_sub(1);
        self.uniform().into_iter().map(|u| cumulative.partition_point(|sum| *sum <= u).min(last) as i64).collect()
    }

    /// Poisson numbers, by inversion from the mode outwards.
    pub fn poisson(&mut self, mean: PerWorld<'_>) -> Vec<i64> {
        let steps = |mean: f64| Steps {
            mode: mean.floor(),
            at_mode: if mean > 0.0 {
                libm::exp(mean.floor() * libm::log(mean) - mean - libm::lgamma(mean.floor() + 1.0))
            } else {
                1.0
            },
            ratio: move |k: f64| mean / k,
            most: f64::INFINITY,
        };
        self.inverted(|place| mean.get(place), matches!(mean, PerWorld::All(_)), steps)
    }

    /// Binomial numbers of `n` trials, by inversion from the mode outwards.
    pub fn binomial(&mut self, n: PerWorld<'_>, p: PerWorld<'_>) -> Vec<i64> {
        let steps = |(n, p): (f64, f64)| {
            let mode = ((n + 1.0) * p).floor().min(n);
            let choose = libm::lgamma(n + 1.0) - libm::lgamma(mode + 1.0) - libm::lgamma(n - mode + 1.0);
            let (for_hits, for_misses) = (log_power(p, mode), log_power(1.0 - p, n - mode));
            Steps {
                mode,
                at_mode: libm::exp(choose + for_hits + for_misses),
                ratio: move |k: f64| (n - k + 1.0) / k * (p / (1.0 - p)),
                most: n,
            }
        };
        let is_same = matches!((n, p), (PerWorld::All(_), PerWorld::All(_)));
        self.inverted(|place| (n.get(place), p.get(place)), is_same, steps)
    }

    /// Inverts a distribution of whole numbers, prepared once if it is the same in all worlds.
    fn inverted<P, R: Fn(f64) -> f64>(
        &mut self,
        parameters: impl Fn(usize) -> P,
        is_same: bool,
        steps: impl Fn(P) -> Steps<R>,
    ) -> Vec<i64> {
        let uniform = self.uniform().into_iter();
        if is_same {
            let steps = steps(parameters(0));
            return uniform.map(|u| steps.invert(u)).collect();
        }
        uniform.enumerate().map(|(place, u)| steps(parameters(place)).invert(u)).collect()
    }
}

/// The step between uniform numbers.
const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;

/// The first 53 of 64 bits as a whole number. Its two parts convert in vectors, and their sum is exact.
#[inline(always)]
fn whole(first: u32, second: u32) -> f64 {
    f64::from(first) * 2_097_152.0 + f64::from(second >> 11)
}

/// `k` times the logarithm of `p`; 0 if `k` is 0.
fn log_power(p: f64, k: f64) -> f64 {
    if k == 0.0 { 0.0 } else { k * libm::log(p) }
}

/// A distribution of the whole numbers from 0 to `most`.
struct Steps<R> {
    mode: f64,
    /// The probability of the mode.
    at_mode: f64,
    /// The probability of a number over that of the number before it.
    ratio: R,
    most: f64,
}

impl<R: Fn(f64) -> f64> Steps<R> {
    /// Gives each number a part of [0, 1) as long as its probability: first the mode, then its neighbours in turns.
    fn invert(&self, mut u: f64) -> i64 {
        let (mut low, mut high) = (self.mode, self.mode);
        let (mut at_low, mut at_high) = (self.at_mode, self.at_mode);
        u -= self.at_mode;
        while u >= 0.0 {
            let is_higher = high < self.most && at_high > f64::MIN_POSITIVE;
            if is_higher {
                high += 1.0;
                at_high *= (self.ratio)(high);
                u -= at_high;
                if u < 0.0 {
                    return high as i64;
                }
            }
            if low > 0.0 && at_low > f64::MIN_POSITIVE {
                at_low /= (self.ratio)(low);
                low -= 1.0;
                u -= at_low;
                if u < 0.0 {
                    return low as i64;
                }
            } else if !is_higher {
                // What rounding left of 1.
                break;
            }
        }
        self.mode as i64
    }
}

/// Makes one block for each world, compiled for several instruction sets.
struct WorldBlocks<'a> {
    first: u32,
    /// Block, entity and purpose.
    rest: [u32; 3],
    key: [u32; 2],
    /// The words, each for all worlds, a multiple of [`LANES`].
    words: [&'a mut [u32]; WORDS],
}

impl pulp::NullaryFnOnce for WorldBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [block, entity, purpose] = self.rest;
        let [a, b, c, d] = self.words;
        let chunks = a.chunks_exact_mut(LANES).zip(b.chunks_exact_mut(LANES));
        let chunks = chunks.zip(c.chunks_exact_mut(LANES).zip(d.chunks_exact_mut(LANES)));
        let mut world = self.first;
        for ((a, b), (c, d)) in chunks {
            let mut counters = [[block; LANES], [0; LANES], [entity; LANES], [purpose; LANES]];
            counters[1].iter_mut().enumerate().for_each(|(lane, number)| *number = world.wrapping_add(lane as u32));
            rounds(&mut counters, self.key);
            a.copy_from_slice(&counters[0]);
            b.copy_from_slice(&counters[1]);
            c.copy_from_slice(&counters[2]);
            d.copy_from_slice(&counters[3]);
            world = world.wrapping_add(LANES as u32);
        }
    }
}

/// Appends standard normal numbers, from two words each: first all by the formula for the centre, without branches, then
/// those in the tails, gathered.
struct Normals<'a> {
    first: &'a [u32],
    second: &'a [u32],
    values: &'a mut Vec<f64>,
}

impl pulp::NullaryFnOnce for Normals<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let before = self.values.len();
        // The middle of a step, never 0; that of the last step would round to 1.
        let middle = |(first, second): (&u32, &u32)| ((whole(*first, *second) + 0.5) * STEP).min(1.0 - STEP);
        self.values.extend(self.first.iter().zip(self.second).map(middle));
        let values = &mut self.values[before..];
        let (mut tails, mut places, mut found) = ([0.0; CHUNK], [0; CHUNK], 0);
        for (place, p) in values.iter().enumerate() {
            (tails[found], places[found]) = (*p, place);
            found += usize::from(!is_central(*p));
        }
        values.iter_mut().for_each(|p| *p = central_quantile(*p));
        tails[..found].iter_mut().for_each(|p| *p = tail_quantile(*p));
        tails[..found].iter().zip(places).for_each(|(value, place)| values[place] = *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::normal_quantile;
    use crate::{Stream, World};

    fn streams(first: u32, count: u32) -> Streams {
        Streams::new(Seed(0x0123_4567_89AB_CDEF), WorldRange::new(World(first), count).unwrap(), 5, 6)
    }

    #[test]
    fn words_are_those_of_each_worlds_stream() {
        let worlds = 2 * CHUNK as u32 + 37;
        let mut streams = streams(7, worlds);
        let seed = Seed(0x0123_4567_89AB_CDEF);
        let mut alone: Vec<Stream> = (7..7 + worlds).map(|world| Stream::new(seed, World(world), 5, 6)).collect();
        for _ in 0..11 {
            let mut expected = || -> Vec<u32> { alone.iter_mut().map(Stream::next_u32).collect() };
            let expected = [expected(), expected()];
            let mut found = [vec![], vec![]];
            streams.words(|first, second| {
                found[0].extend_from_slice(first);
                found[1].extend_from_slice(second);
            });
            assert_eq!(found, expected);
        }
    }

    /// All draws of some worlds.
    fn draws(first: u32, count: u32) -> Vec<Vec<u64>> {
        let mut s = streams(first, count);
        let each: Vec<f64> = (first..first + count).map(|world| f64::from(world % 40) / 2.0).collect();
        let shares: Vec<f64> = each.iter().map(|mean| mean / 20.0).collect();
        let real = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect();
        let whole = |values: Vec<i64>| values.into_iter().map(|value| value as u64).collect();
        vec![
            real(s.uniform()),
            real(s.normal()),
            whole(s.poisson(PerWorld::Each(&each))),
            real(s.exponential()),
            whole(s.below(6)),
            whole(s.binomial(PerWorld::All(10.0), PerWorld::Each(&shares))),
            whole(s.choice(&[0.25, 0.5, 1.0])),
            whole(s.poisson(PerWorld::All(3.5))),
            real(s.normal()),
        ]
    }

    #[test]
    fn worlds_do_not_depend_on_the_range() {
        let whole = draws(3, 100);
        for (first, count) in [(3, 1), (3, 17), (40, 63), (102, 1)] {
            for (part, all) in draws(first, count).iter().zip(&whole) {
                let place = (first - 3) as usize;
                assert_eq!(part[..], all[place..place + count as usize], "worlds from {first}");
            }
        }
    }

    #[test]
    fn numbers_are_those_of_the_bits() {
        let bits = streams(0, 10_000).bits();
        let uniform: Vec<f64> = bits.iter().map(|bits| (bits >> 11) as f64 * STEP).collect();
        assert_eq!(streams(0, 10_000).uniform(), uniform);
        let normal: Vec<f64> = bits.iter().map(|bits| normal_quantile(((bits >> 11) as f64 + 0.5) * STEP)).collect();
        assert_eq!(streams(0, 10_000).normal(), normal);
    }

    #[test]
    fn normals_at_the_ends_equal_the_quantile_function() {
        let ends = [0, 1, 1 << 11, 1 << 40, 1 << 52, 1 << 58, u64::MAX, u64::MAX - (1 << 11), !(1 << 40), !(1 << 58)];
        let (first, second): (Vec<u32>, Vec<u32>) = ends.iter().map(|bits| ((bits >> 32) as u32, *bits as u32)).unzip();
        let mut values = vec![];
        pulp::Arch::new().dispatch(Normals { first: &first, second: &second, values: &mut values });
        let p = |bits: &u64| (((bits >> 11) as f64 + 0.5) * STEP).min(1.0 - STEP);
        assert_eq!(values, ends.iter().map(|bits| normal_quantile(p(bits))).collect::<Vec<f64>>());
        assert!(values.iter().all(|value| value.abs() < 9.0), "{values:?}");
    }

    /// The frequency of each number against its probability, within five standard errors.
    fn check(values: &[i64], probability: impl Fn(i64) -> f64, what: &str) {
        let n = values.len() as f64;
        let most = *values.iter().max().unwrap();
        let mut total = 0.0;
        for k in 0..=most {
            let p = probability(k);
            let share = values.iter().filter(|value| **value == k).count() as f64 / n;
            assert!((share - p).abs() <= 5.0 * (p * (1.0 - p) / n).sqrt() + 1e-9, "{what}: {k} has {share}, not {p}");
            total += p;
        }
        assert!(total > 0.999, "{what}: {total}");
    }

    #[test]
    fn whole_numbers_have_their_probabilities() {
        let worlds = 200_000;
        let factorial = |k: i64| libm::lgamma(k as f64 + 1.0);
        for mean in [0.0, 0.3, 1.0, 4.7, 60.0] {
            let p = |k: i64| {
                if mean == 0.0 { f64::from(k == 0) } else { (k as f64 * f64::ln(mean) - mean - factorial(k)).exp() }
            };
            check(&streams(0, worlds).poisson(PerWorld::All(mean)), p, &format!("poisson({mean})"));
        }
        for (n, share) in [(1, 0.3), (10, 0.5), (40, 0.97), (5, 0.0), (5, 1.0)] {
            let p = |k: i64| {
                let choose = (factorial(n) - factorial(k) - factorial(n - k)).exp();
                if k > n { 0.0 } else { choose * f64::powi(share, k as i32) * f64::powi(1.0 - share, (n - k) as i32) }
            };
            let values = streams(0, worlds).binomial(PerWorld::All(n as f64), PerWorld::All(share));
            check(&values, p, &format!("binomial({n}, {share})"));
        }
        check(&streams(0, worlds).below(6), |k| f64::from(k < 6) / 6.0, "below(6)");
        check(&streams(0, worlds).choice(&[0.25, 0.5, 1.0]), |k| [0.25, 0.25, 0.5][k as usize], "choice");
    }

    #[test]
    fn large_means_have_their_moments() {
        let worlds = 2_000;
        let moments = |values: Vec<i64>| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<i64>() as f64 / n;
            (mean, values.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>() / n)
        };
        let (mean, variance) = moments(streams(0, worlds).poisson(PerWorld::All(1e6)));
        assert!((mean - 1e6).abs() < 5.0 * (1e6 / f64::from(worlds)).sqrt(), "{mean}");
        assert!((variance / 1e6 - 1.0).abs() < 5.0 * (2.0 / f64::from(worlds)).sqrt(), "{variance}");
    }
}
