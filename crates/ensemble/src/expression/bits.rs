//! Tests of values as bits, 64 to a word.

use pulp::NullaryFnOnce;

/// Whether `test` holds for each value, bit by bit. Bits past the last value are 0.
#[inline]
pub(super) fn bits<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> Vec<u64> {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(Bits { values, test, pack: Wide(simd) });
    }
    Bits { values, test, pack: Portable }.call()
}

struct Bits<'a, T, F, P> {
    values: &'a [T],
    test: F,
    pack: P,
}

impl<T: Copy, F: Fn(T) -> bool, P: Pack> NullaryFnOnce for Bits<'_, T, F, P> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn call(self) -> Vec<u64> {
        let Self { values, test, pack } = self;
        let mut words = Vec::with_capacity(values.len().div_ceil(64));
        let (chunks, rest) = values.as_chunks::<64>();
        for chunk in chunks {
            let mut bytes = [0; 64];
            for (byte, value) in bytes.iter_mut().zip(chunk) {
                *byte = u8::from(test(*value)).wrapping_neg();
            }
            words.push(pack.pack(&bytes));
        }
        if !rest.is_empty() {
            words.push(rest.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(test(*value)) << bit));
        }
        words
    }
}

/// Packs 64 bytes of 0 or 255 into 64 bits.
trait Pack {
    fn pack(&self, bytes: &[u8; 64]) -> u64;
}

/// For any processor: a multiplication gathers the low bits of eight bytes in the top byte.
struct Portable;

impl Pack for Portable {
    #[inline(always)]
    fn pack(&self, bytes: &[u8; 64]) -> u64 {
        const LOW: u64 = 0x0101_0101_0101_0101;
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let (eights, _) = bytes.as_chunks::<8>();
        let gathered = eights.iter().map(|eight| (u64::from_le_bytes(*eight) & LOW).wrapping_mul(GATHER) >> 56);
        gathered.enumerate().fold(0, |word, (place, byte)| word | byte << (8 * place))
    }
}

/// For processors with AVX2, which have an instruction for it.
#[cfg(target_arch = "x86_64")]
struct Wide(pulp::x86::V3);

#[cfg(target_arch = "x86_64")]
impl Pack for Wide {
    #[inline(always)]
    fn pack(&self, bytes: &[u8; 64]) -> u64 {
        let (halves, _) = bytes.as_chunks::<32>();
        let mask = |half: [u8; 32]| u64::from(self.0.avx2._mm256_movemask_epi8(pulp::cast(half)).cast_unsigned());
        mask(halves[0]) | mask(halves[1]) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_bit_is_its_value(values in prop::collection::vec(-20i16..20, 0..300), most in -25i16..25) {
            let test = |value: i16| value <= most;
            let expected: Vec<u64> = values
                .chunks(64)
                .map(|word| word.iter().enumerate().map(|(bit, value)| u64::from(test(*value)) << bit).sum())
                .collect();
            prop_assert_eq!(&bits(&values, test), &expected);
            prop_assert_eq!(&Bits { values: &values, test, pack: Portable }.call(), &expected);
        }
    }
}
