//! The joint distribution of a column and a condition.

use crate::column::{Column, Narrow};

/// How a world counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The condition does not hold.
    Missed,
    /// The condition holds.
    Met,
    /// The world is not counted.
    Ignored,
}

/// Distinct values of a column, ascending, with their worlds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Joint {
    pub(super) counts: Vec<Count>,
}

/// One value: the counted worlds with it, and those of them in which the condition holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub(super) value: f64,
    pub(super) worlds: usize,
    pub(super) hits: usize,
}

/// Maximum number of slots for the values between the smallest and the largest one.
const SLOTS_MAX: usize = 1 << 16;

impl Joint {
    pub(super) fn of(column: &Column, classes: &[Class]) -> Self {
        let scale = f64::from(column.scale);
        let counts = match &column.values {
            Narrow::U8(values) => integers(values, classes, scale),
            Narrow::I16(values) => integers(values, classes, scale),
            Narrow::I32(values) => integers(values, classes, scale),
            Narrow::F64(values) => sorted(values.iter().copied(), classes),
        };
        Self { counts }
    }

    pub(super) fn worlds(&self) -> usize {
        self.counts.iter().map(|count| count.worlds).sum()
    }

    pub(super) fn hits(&self) -> usize {
        self.counts.iter().map(|count| count.hits).sum()
    }
}

fn integers<T: Copy + Ord + Into<i32>>(values: &[T], classes: &[Class], scale: f64) -> Vec<Count> {
    let (Some(low), Some(high)) = (values.iter().copied().min(), values.iter().copied().max()) else {
        return Vec::new();
    };
    let (low, high): (i32, i32) = (low.into(), high.into());
    let width = (i64::from(high) - i64::from(low)) as usize + 1;
    if width > SLOTS_MAX {
        return sorted(values.iter().map(|value| f64::from((*value).into()) / scale), classes);
    }
    // Two tables in turns: equal neighbours would wait for each other's count.
    let mut slots = [vec![[0u32; 3]; width], vec![[0u32; 3]; width]];
    let place = |value: T| (value.into() - low) as usize;
    let (values, last_value) = values.as_chunks::<2>();
    let (classes, last_class) = classes.as_chunks::<2>();
    for (values, classes) in values.iter().zip(classes) {
        slots[0][place(values[0])][classes[0] as usize] += 1;
        slots[1][place(values[1])][classes[1] as usize] += 1;
    }
    if let (Some(value), Some(class)) = (last_value.first(), last_class.first()) {
        slots[0][place(*value)][*class as usize] += 1;
    }
    let mut counts = Vec::new();
    for (place, (a, b)) in slots[0].iter().zip(&slots[1]).enumerate() {
        let [missed, met] = [Class::Missed, Class::Met].map(|class| (a[class as usize] + b[class as usize]) as usize);
        if missed + met > 0 {
            let value = f64::from(place as i32 + low) / scale;
            counts.push(Count { value, worlds: missed + met, hits: met });
        }
    }
    counts
}

fn sorted(values: impl Iterator<Item = f64>, classes: &[Class]) -> Vec<Count> {
    let counted = values.zip(classes).filter(|(_, class)| **class != Class::Ignored);
    let mut counted: Vec<(f64, bool)> = counted.map(|(value, class)| (value, *class == Class::Met)).collect();
    counted.sort_unstable_by(|a, b| expr::order(a.0, b.0));
    let runs = counted.chunk_by(|a, b| expr::order(a.0, b.0).is_eq());
    let count = |run: &[(f64, bool)]| Count {
        value: run[0].0,
        worlds: run.len(),
        hits: run.iter().filter(|(_, met)| *met).count(),
    };
    runs.map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_widths_count_like_sorted_values() {
        let classes: Vec<Class> =
            (0..101).map(|world| [Class::Missed, Class::Met, Class::Ignored, Class::Met][world * 7 % 4]).collect();
        let wide = |factor: i32| (0..101).map(|world: i32| (world * 37 % 11 - 5) * factor).collect::<Vec<_>>();
        for (values, scale) in [
            (Narrow::U8(wide(1).iter().map(|v| (v + 5) as u8).collect()), 1),
            (Narrow::I16(wide(3000).iter().map(|v| *v as i16).collect()), 10),
            (Narrow::I32(wide(20)), 1),
            (Narrow::I32(wide(400_000_000)), 4),
        ] {
            let column = Column { values, scale };
            let reals = Narrow::F64((0..column.len()).map(|world| column.value(world)).collect());
            let joint = Joint::of(&column, &classes);
            assert_eq!(joint, Joint::of(&Column { values: reals, scale: 1 }, &classes));
            assert_eq!((joint.counts.len(), joint.worlds(), joint.hits()), (11, 76, 50));
        }
        assert_eq!(Joint::of(&Column { values: Narrow::U8(Vec::new()), scale: 1 }, &[]).counts, []);
    }

    #[test]
    fn values_of_ignored_worlds_are_no_values() {
        let column = Column { values: Narrow::U8(vec![1, 2, 3]), scale: 1 };
        let joint = Joint::of(&column, &[Class::Met, Class::Ignored, Class::Missed]);
        let count = |value, hits| Count { value, worlds: 1, hits };
        assert_eq!(joint.counts, [count(1.0, 1), count(3.0, 0)]);
    }
}
