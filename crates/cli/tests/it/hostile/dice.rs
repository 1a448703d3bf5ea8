//! Random choices, reproducible from a seed.

/// SplitMix64.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end`, exclusive.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Flips, removes, repeats, moves or overwrites some bytes.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(64)).min(bytes.len());
            match self.below(7) {
                _ if bytes.is_empty() => bytes.push(self.roll() as u8),
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << self.below(8),
                2 => drop(bytes.drain(at..end)),
                3 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
                4 => bytes[at..end].fill(*self.pick(&[&0_u8, &0xFF, &0x7F, &0x80])),
                5 => bytes[at] = self.roll() as u8,
                // Numbers at the limits of their types, as lengths and counts.
                _ => {
                    let number = *self.pick(&[&u64::MAX, &(i64::MAX as u64), &(1 << 31), &(1 << 32), &(1 << 60)]);
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
                }
            }
        }
    }
}
