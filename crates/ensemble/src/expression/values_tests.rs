use std::sync::Arc;

use proptest::prelude::*;

use super::Expression;
use super::tests::{catalogue, columns};
use crate::column::{Column, Narrow};
use crate::distribution::Distribution;

fn all() -> Vec<Arc<Column>> {
    columns(&[-7, 0, 3, 20], &[10, 44, 45, 200], &[0, 1, 2, 5], &[-70_000, 0, 1, 70_000])
}

fn values(text: &str, all: &[Arc<Column>]) -> Column {
    let expression = Expression::parse(text, &catalogue(), Some(0)).unwrap();
    let used: Vec<_> = expression.columns().iter().map(|c| all[c.outcome].clone()).collect();
    expression.values(&used, all[0].len(), &|| true)
}

#[test]
fn decimals_are_exact() {
    let tenths = values("0.1 * total_points + 0.2", &all());
    assert_eq!(tenths, Column { values: Narrow::U8(vec![12, 46, 47, 202]), scale: 10 });
    assert_eq!(tenths.value(0), 1.2);
    // In doubles, 0.1 * 3 is 0.30000000000000004.
    let same = columns(&[3, 3], &[3, 1], &[6, 2], &[0, 0]);
    let sum = values("0.1 * home_margin - 0.3 + 0 * wide", &same);
    assert_eq!(Distribution::of(&sum).counts, [(0.0, 2)]);
    // `sacks` has halves: 0, 0.5, 1, 2.5.
    let halves = values("sacks / 4 - 1", &all());
    assert_eq!(halves, Column { values: Narrow::I16(vec![-8, -7, -6, -3]), scale: 8 });
    let thirds = values("total_points / -3", &all());
    assert_eq!((thirds.scale, thirds.value(2)), (3, -15.0));
    assert_eq!(values("max(sacks, 0.75) * min(2, home_margin)", &all()).value(0), -5.25);
}

#[test]
fn large_numbers_become_real() {
    let squares = values("wide * wide", &all());
    assert_eq!(squares.values, Narrow::F64(vec![4.9e9, 0.0, 1.0, 4.9e9]));
    let fifth = values("wide * wide * wide * wide * wide", &all());
    assert_eq!(fifth.value(3), 70_000f64.powi(5));
    let tiny = values("total_points * 0.000000000001", &all());
    assert_eq!(tiny.value(0), 10.0 / 1e12);
    assert_eq!(values("total_points * 1e300", &all()).value(0), 1e301);
}

#[test]
fn constants_keep_all_their_digits() {
    let large = columns(&[1, 1], &[1, 1], &[1, 1], &[94_906_267, 94_906_266]);
    // The first product, which no double holds.
    assert_eq!(values("wide * wide >= 9007199515875289", &large).values, Narrow::U8(vec![1, 0]));
    assert_eq!(values("wide * wide > 9007199515875289", &large).values, Narrow::U8(vec![0, 0]));
    assert_eq!(values("wide * wide - 9007199515875289", &large).value(0), 0.0);
    let real = vec![Arc::new(Column { values: Narrow::F64(vec![0.122_901_274_894_114_73]), scale: 1 })];
    assert_eq!(values("home_margin - 0.12290127489411473", &real).value(0), 0.0);
    assert_eq!(values("home_margin = 0.12290127489411473", &real).value(0), 1.0);
}

#[test]
fn quotients_of_outcomes_are_real() {
    assert_eq!(values("(0.1 * home_margin) / total_points", &all()).value(2), 0.3 / 45.0);
    let by_zero = values("home_margin / sacks", &all());
    assert_eq!((by_zero.value(0), by_zero.value(3)), (f64::NEG_INFINITY, 8.0));
    assert!(values("home_margin / 0", &all()).value(1).is_nan());
    let real = vec![Arc::new(Column { values: Narrow::F64(vec![0.25, -1.5]), scale: 1 })];
    assert_eq!(values("-home_margin + abs(home_margin)", &real).values, Narrow::F64(vec![0.0, 3.0]));
}

#[test]
fn conditions_are_flags() {
    let flags = values("home_margin > 0 or sacks = 0.5", &all());
    assert_eq!(flags, Column { values: Narrow::U8(vec![0, 1, 1, 1]), scale: 1 });
    let calls = std::cell::Cell::new(0);
    let bytes = vec![1; 5000];
    let long = columns(&[], &[], &bytes, &[]);
    let expression = Expression::parse("sacks + 1", &catalogue(), Some(0)).unwrap();
    let stopped = expression.values(&long[2..3], 5000, &|| calls.replace(calls.get() + 1) < 1);
    assert_eq!((stopped.value(1023), stopped.value(1024), calls.get()), (1.5, 0.0, 2));
}

#[test]
fn units_are_shared_or_absent() {
    let mut catalogue = catalogue();
    for (outcome, unit) in catalogue.kinds[0].outcomes.iter_mut().zip(["points", "points", "sacks", "yards"]) {
        unit.clone_into(&mut outcome.unit);
    }
    for (text, unit) in [
        ("home_margin + total_points", "points"),
        ("abs(2 * home_margin) - 3.5 - total_points / 2", "points"),
        ("max(1, sacks)", "sacks"),
        ("home_margin + sacks", ""),
        ("home_margin * total_points", ""),
        ("1 / home_margin", ""),
        ("home_margin / total_points", ""),
        ("7", ""),
        ("home_margin > 3", "0 or 1"),
        ("10 * (home_margin > 3)", ""),
        ("home_margin + (home_margin > 3)", ""),
        ("home_margin + 3", "points"),
    ] {
        assert_eq!(Expression::parse(text, &catalogue, Some(0)).unwrap().unit(&catalogue), unit, "{text}");
    }
}

/// A number as a tree.
#[derive(Debug, Clone)]
enum Tree {
    Outcome(usize),
    /// Hundredths.
    Decimal(i32),
    Negative(Box<Tree>),
    Absolute(Box<Tree>),
    Chain(Box<Tree>, Vec<(&'static str, Tree)>),
    Min(Box<(Tree, Tree)>),
    Halved(Box<Tree>),
}

/// A numerator and a positive denominator.
type Fraction = (i128, i128);

/// `None` beyond 128 bits.
fn apply(operator: &str, (a, b): Fraction, (c, d): Fraction) -> Option<Fraction> {
    let crossed = || Some((a.checked_mul(d)?, c.checked_mul(b)?));
    let value = match operator {
        "+" => crossed().and_then(|(a, c)| a.checked_add(c))?,
        "-" => crossed().and_then(|(a, c)| a.checked_sub(c))?,
        _ => a.checked_mul(c)?,
    };
    Some((value, b.checked_mul(d)?))
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Outcome(outcome) => ["home_margin", "total_points", "sacks"][*outcome].to_owned(),
            Self::Decimal(hundredths) => format!("{}", f64::from(*hundredths) / 100.0),
            Self::Negative(inner) => format!("-({})", inner.text()),
            Self::Absolute(inner) => format!("abs({})", inner.text()),
            Self::Chain(first, rest) => {
                // Parentheses group products and sums from left to right.
                rest.iter().fold(first.text(), |text, (operator, tree)| format!("({text} {operator} {})", tree.text()))
            }
            Self::Min(pair) => format!("min({}, {})", pair.0.text(), pair.1.text()),
            Self::Halved(inner) => format!("({} / -2.5)", inner.text()),
        }
    }

    fn exact(&self, outcomes: [Fraction; 3]) -> Option<Fraction> {
        let of = |tree: &Self| tree.exact(outcomes);
        Some(match self {
            Self::Outcome(outcome) => outcomes[*outcome],
            Self::Decimal(hundredths) => (i128::from(*hundredths), 100),
            Self::Negative(inner) => apply("*", of(inner)?, (-1, 1))?,
            Self::Absolute(inner) => (of(inner)?.0.abs(), of(inner)?.1),
            Self::Chain(first, rest) => {
                rest.iter().try_fold(of(first)?, |left, (operator, tree)| apply(operator, left, of(tree)?))?
            }
            Self::Min(pair) => {
                let (a, b) = (of(&pair.0)?, of(&pair.1)?);
                if apply("-", a, b)?.0 <= 0 { a } else { b }
            }
            Self::Halved(inner) => apply("*", of(inner)?, (-2, 5))?,
        })
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0usize..3).prop_map(Tree::Outcome), (-500i32..500).prop_map(Tree::Decimal)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let link = (prop::sample::select(vec!["+", "-", "*"]), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Negative(tree.into())),
            inner.clone().prop_map(|tree| Tree::Absolute(tree.into())),
            inner.clone().prop_map(|tree| Tree::Halved(tree.into())),
            (inner.clone(), inner.clone()).prop_map(|pair| Tree::Min(pair.into())),
            (inner, prop::collection::vec(link, 1..3)).prop_map(|(first, rest)| Tree::Chain(first.into(), rest)),
        ]
    })
}

proptest! {
    /// Every value is the double next to the exact fraction, for integer columns, or within rounding of it.
    #[test]
    fn values_are_those_of_fractions(
        tree in trees(),
        worlds in prop::collection::vec((-99i16..99, any::<u8>(), any::<u8>()), 1..40),
    ) {
        let margin: Vec<i16> = worlds.iter().map(|w| w.0).collect();
        let (total, sacks): (Vec<u8>, Vec<u8>) = worlds.iter().map(|w| (w.1, w.2)).unzip();
        let wide = vec![0; worlds.len()];
        let found = values(&tree.text(), &columns(&margin, &total, &sacks, &wide));
        prop_assert_eq!(found.len(), worlds.len());
        for (world, (margin, total, sacks)) in worlds.iter().enumerate() {
            let outcomes = [(i128::from(*margin), 1), (i128::from(*total), 1), (i128::from(*sacks), 2)];
            let Some((value, scale)) = tree.exact(outcomes) else { continue };
            let expected = value as f64 / scale as f64;
            let near = 1e-9 * expected.abs().max(1e-3);
            prop_assert!((found.value(world) - expected).abs() <= near, "{} {expected}", found.value(world));
            if let Narrow::U8(_) | Narrow::I16(_) | Narrow::I32(_) = found.values {
                let stored = (found.value(world) * f64::from(found.scale)).round() as i128;
                prop_assert_eq!(stored.checked_mul(scale), value.checked_mul(found.scale.into()));
            }
        }
    }

    /// Comparisons of two numbers are those of their fractions.
    #[test]
    fn comparisons_are_those_of_fractions(
        left in trees(),
        right in trees(),
        sign in prop::sample::select(vec!["<", "<=", "=", "!=", ">=", ">"]),
        worlds in prop::collection::vec((-9i16..9, 0u8..9, 0u8..9), 1..150),
    ) {
        let margin: Vec<i16> = worlds.iter().map(|w| w.0).collect();
        let (total, sacks): (Vec<u8>, Vec<u8>) = worlds.iter().map(|w| (w.1, w.2)).unzip();
        let all = columns(&margin, &total, &sacks, &vec![0; worlds.len()]);
        let text = format!("{} {sign} {}", left.text(), right.text());
        let expression = Expression::parse(&text, &catalogue(), Some(0)).unwrap();
        let used: Vec<_> = expression.columns().iter().map(|c| all[c.outcome].clone()).collect();
        let held = expression.holds(&used, worlds.len());
        let is_exact = !matches!(values(&format!("{} - {}", left.text(), right.text()), &all).values, Narrow::F64(_));
        for (world, (margin, total, sacks)) in worlds.iter().enumerate() {
            let outcomes = [(i128::from(*margin), 1), (i128::from(*total), 1), (i128::from(*sacks), 2)];
            let both = left.exact(outcomes).zip(right.exact(outcomes));
            let Some((difference, _)) = both.and_then(|(left, right)| apply("-", left, right)) else { continue };
            let order = difference.cmp(&0);
            let expected = match sign {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                "=" => order.is_eq(),
                "!=" => order.is_ne(),
                ">=" => order.is_ge(),
                _ => order.is_gt(),
            };
            prop_assert!(!is_exact || held.contains(world) == expected, "{text} in world {world}");
        }
    }
}
