//! Which kind of outcome holds given values without changing one bit of them.

use model::{OutcomeKind, Values};

use crate::numbers::Class;
use crate::options::{Kind, SCALE_MAX};

/// Adding and subtracting it rounds numbers below 2^51 to integers. Unlike calls that round, it needs no instruction of
/// newer processors.
const ROUND: f64 = 6_755_399_441_055_744.0;
const I32_MAX: f64 = i32::MAX as f64;

/// The value times a scale, rounded to an integer.
#[inline]
fn scaled(value: f64, scale: f64) -> f64 {
    (value * scale + ROUND) - ROUND
}

/// Whether a 32-bit integer divided by the scale is the value, to the bit. It is not for -0, NaN and infinities.
#[inline]
fn is_exact(value: f64, scale: f64) -> bool {
    let integer = scaled(value, scale);
    ((integer / scale).to_bits() == value.to_bits()) & (integer.abs() <= I32_MAX)
}

/// The place of the first value that the scale does not hold.
fn misfit(values: &[f64], scale: f64) -> Option<usize> {
    const CHUNK: usize = 1024;
    let fits = |chunk: &[f64]| chunk.iter().fold(true, |fits, value| fits & is_exact(*value, scale));
    let chunk = values.chunks(CHUNK).position(|chunk| !fits(chunk))? * CHUNK;
    values[chunk..].iter().position(|value| !is_exact(*value, scale)).map(|place| chunk + place)
}

/// The values of an outcome so far: what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// Booleans, numbers or texts; `None` before the first value.
    pub(crate) class: Option<Class>,
    /// The smallest scale that holds all values; `None` if none does.
    scale: Option<i32>,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Values that are NaN or infinite.
    pub(crate) not_finite: u64,
    /// Texts by number: whether a value is one.
    texts: Vec<bool>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            class: None,
            scale: Some(1),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            not_finite: 0,
            texts: Vec::new(),
        }
    }
}

impl Seen {
    /// Adds values. Fails with the place of the first that a declared kind cannot hold.
    pub(crate) fn add(&mut self, values: &[f64], declared: Option<Kind>) -> Result<(), usize> {
        if self.class == Some(Class::Texts) {
            for id in values.iter().map(|id| *id as usize) {
                if id >= self.texts.len() {
                    self.texts.resize(id + 1, false);
                }
                self.texts[id] = true;
            }
            return Ok(());
        }
        let outside = match declared {
            Some(Kind::Flag) => values.iter().position(|value| !is_flag(*value)),
            Some(Kind::Number { scale: Some(scale) }) => misfit(values, f64::from(scale)),
            Some(Kind::Code) => misfit(values, 1.0),
            _ => None,
        };
        if let Some(place) = outside {
            return Err(place);
        }
        let (low, high) = values.iter().fold((self.min, self.max), |(low, high), v| (low.min(*v), high.max(*v)));
        (self.min, self.max) = (low, high);
        let before = self.scale;
        while let Some(scale) = self.scale
            && misfit(values, f64::from(scale)).is_some()
        {
            self.scale = (scale < SCALE_MAX).then(|| scale * 10);
        }
        self.scale = self.scale.filter(|scale| self.size() * f64::from(*scale) <= I32_MAX);
        if self.scale.is_none() {
            self.not_finite += values.iter().map(|value| u64::from(!value.is_finite())).sum::<u64>();
        }
        match (before, self.scale, declared) {
            (Some(_), None, Some(Kind::Number { scale: None })) => {
                Err(values.iter().position(|value| !is_number(*value)).unwrap_or_default())
            }
            _ => Ok(()),
        }
    }

    /// The largest absolute value.
    fn size(&self) -> f64 {
        self.max.max(-self.min)
    }

    /// The kind of the outcome, and its scale.
    pub(crate) fn kind(&self, declared: Option<Kind>) -> (OutcomeKind, i32) {
        match (declared, self.class) {
            (None | Some(Kind::Code), Some(Class::Texts)) | (Some(Kind::Code), _) => (OutcomeKind::Code, 1),
            (None, Some(Class::Flags)) | (Some(Kind::Flag), _) => (OutcomeKind::Flag, 1),
            (Some(Kind::Number { scale: Some(scale) }), _) => (OutcomeKind::Number, scale),
            (Some(Kind::Real), _) => (OutcomeKind::Real, 1),
            (_, _) => self.scale.map_or((OutcomeKind::Real, 1), |scale| (OutcomeKind::Number, scale)),
        }
    }

    /// The texts among the values, by number.
    pub(crate) fn texts(&self) -> impl Iterator<Item = u32> {
        self.texts.iter().enumerate().filter(|(_, is_there)| **is_there).map(|(id, _)| id as u32)
    }
}

/// Whether some scale holds the value.
fn is_number(value: f64) -> bool {
    (0..=SCALE_MAX.ilog10()).any(|exponent| is_exact(value, f64::from(10_i32.pow(exponent))))
}

fn is_flag(value: f64) -> bool {
    value.to_bits() == 0.0_f64.to_bits() || value == 1.0
}

/// Turns the values of an outcome into those that are stored.
#[derive(Debug)]
pub(crate) struct Coder {
    form: Stored,
    scale: f64,
    /// The code of each text.
    codes: Option<Vec<i32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    I16,
    I32,
    F64,
}

/// Memory for the values of one column of a block.
#[derive(Debug, Default)]
pub(crate) struct Coded {
    i16: Vec<i16>,
    i32: Vec<i32>,
}

impl Coder {
    /// For an outcome of a kind and scale. `codes` has the code of each text, if the outcome holds texts.
    pub(crate) fn new(seen: &Seen, kind: OutcomeKind, scale: i32, codes: Option<Vec<i32>>) -> Self {
        let largest = match &codes {
            Some(codes) => codes.iter().copied().max().map_or(0.0, f64::from),
            None => seen.size() * f64::from(scale),
        };
        let form = match kind {
            OutcomeKind::Real => Stored::F64,
            _ if largest <= f64::from(i16::MAX) => Stored::I16,
            _ => Stored::I32,
        };
        Self { form, scale: f64::from(scale), codes }
    }

    pub(crate) fn code<'a>(&self, values: &'a [f64], coded: &'a mut Coded) -> Values<'a> {
        let Coded { i16, i32 } = coded;
        i16.clear();
        i32.clear();
        match (self.form, &self.codes) {
            (Stored::F64, _) => return Values::F64(values),
            (Stored::I16, None) => i16.extend(values.iter().map(|value| scaled(*value, self.scale) as i16)),
            (Stored::I32, None) => i32.extend(values.iter().map(|value| scaled(*value, self.scale) as i32)),
            (_, Some(codes)) => i32.extend(values.iter().map(|id| codes[*id as usize])),
        }
        if i16.is_empty() { Values::I32(i32) } else { Values::I16(i16) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(values: &[f64]) -> Seen {
        let mut seen = Seen { class: Some(Class::Numbers), ..Seen::default() };
        seen.add(values, None).unwrap();
        seen
    }

    /// The stored values, read as a reader does.
    fn read_back(values: &[f64], declared: Option<Kind>) -> Vec<f64> {
        let seen = seen(values);
        let (kind, scale) = seen.kind(declared);
        let mut coded = Coded::default();
        let scale_of = f64::from(scale);
        match Coder::new(&seen, kind, scale, None).code(values, &mut coded) {
            Values::I16(v) => v.iter().map(|x| f64::from(*x) / scale_of).collect(),
            Values::I32(v) => v.iter().map(|x| f64::from(*x) / scale_of).collect(),
            Values::F64(v) => v.to_vec(),
        }
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn kinds_are_the_smallest_that_hold_all_values() {
        let kind = |values: &[f64]| seen(values).kind(None);
        for (values, scale) in [
            (&[0.0, 1.0, -7.0][..], 1),
            (&[2_147_483_647.0, -2_147_483_647.0], 1),
            (&[2.5, 3.0], 10),
            (&[19.99, -0.05], 100),
            (&[0.001, 2_147_483.647], 1000),
            (&[1e-9], 1_000_000_000),
        ] {
            assert_eq!(kind(values), (OutcomeKind::Number, scale), "{values:?}");
        }
        for values in [
            &[-0.0][..],
            &[f64::NAN],
            &[f64::NEG_INFINITY],
            &[2_147_483_648.0],
            &[0.1 + 0.2],
            &[5e-324],
            &[1e-10],
            // Each alone has a scale, both together have none.
            &[0.001, 2_147_483.0, 0.0001],
        ] {
            assert_eq!(kind(values), (OutcomeKind::Real, 1), "{values:?}");
        }
    }

    #[test]
    fn declared_kinds_refuse_what_they_cannot_hold() {
        let refused = |values: &[f64], kind: &str| {
            let mut seen = Seen { class: Some(Class::Numbers), ..Seen::default() };
            seen.add(values, Some(kind.parse().unwrap())).err()
        };
        assert_eq!(refused(&[0.0, 1.0, 2.0], "flag"), Some(2));
        assert_eq!(refused(&[0.0, -0.0], "flag"), Some(1));
        assert_eq!(refused(&[2.5, 2.25], "number:10"), Some(1));
        assert_eq!(refused(&[2.5, 2.25], "number"), None);
        assert_eq!(refused(&[2.25, f64::NAN], "number"), Some(1));
        assert_eq!(refused(&[3.0, 2.5], "code"), Some(1));
        assert_eq!(refused(&[3.0, f64::NAN], "real"), None);
        assert!("number:12".parse::<Kind>().is_err() && "text".parse::<Kind>().is_err());
    }

    proptest! {
        #[test]
        fn values_are_read_back_to_the_bit(values in prop::collection::vec(any::<f64>(), 1..40)) {
            prop_assert_eq!(bits(&read_back(&values, None)), bits(&values));
        }

        #[test]
        fn decimals_are_numbers_and_read_back_to_the_bit(
            integers in prop::collection::vec(-2_000_000_000i32..2_000_000_000, 1..40),
            exponent in 0u32..=9,
        ) {
            let scale = 10_i32.pow(exponent);
            let values: Vec<f64> = integers.iter().map(|i| f64::from(*i) / f64::from(scale)).collect();
            let values: Vec<f64> = values.into_iter().map(|v| v + 0.0).collect();
            let found = seen(&values).kind(None);
            prop_assert!(found.0 == OutcomeKind::Number && found.1 <= scale, "{:?}", found);
            prop_assert_eq!(bits(&read_back(&values, None)), bits(&values));
            let declared = Kind::Number { scale: Some(scale) };
            prop_assert_eq!(bits(&read_back(&values, Some(declared))), bits(&values));
        }

        /// The kind does not depend on the order of values, nor on the pieces in which they come.
        #[test]
        fn kinds_do_not_depend_on_order(
            mut values in prop::collection::vec(prop_oneof![
                (-100_000i32..100_000).prop_map(|i| f64::from(i) / 1000.0), (0i32..50).prop_map(f64::from), Just(-0.0), any::<f64>(),
            ], 1..30),
            cut in 0usize..30,
        ) {
            let whole = seen(&values).kind(None);
            values.reverse();
            let mut parts = Seen { class: Some(Class::Numbers), ..Seen::default() };
            let cut = cut.min(values.len());
            parts.add(&values[..cut], None).unwrap();
            parts.add(&values[cut..], None).unwrap();
            prop_assert_eq!(parts.kind(None), whole);
        }
    }
}
