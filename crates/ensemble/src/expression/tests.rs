use std::sync::Arc;

use model::{Catalogue, Entity, EntityKind, Outcome, OutcomeKind};
use proptest::prelude::*;

use super::*;
use crate::column::{Column, Narrow};

const NAMES: [&str; 4] = ["home_margin", "total_points", "sacks", "wide"];

pub(super) fn catalogue() -> Catalogue {
    let outcome = |(i, name): (usize, &str)| Outcome {
        name: name.to_owned(),
        unit: String::new(),
        kind: OutcomeKind::Number,
        scale: if i == 2 { 2 } else { 1 },
        labels: if i == 0 { ["level", "", "three"].map(str::to_owned).to_vec() } else { Vec::new() },
    };
    let entity = |name: &str| Entity::new(name, 0);
    Catalogue {
        kinds: vec![EntityKind {
            name: "game".to_owned(),
            outcomes: NAMES.into_iter().enumerate().map(outcome).collect(),
        }],
        entities: vec![entity("game-001"), entity("game-002")],
        events: Vec::new(),
    }
}

pub(super) fn columns(margin: &[i16], total: &[u8], sacks: &[u8], wide: &[i32]) -> Vec<Arc<Column>> {
    let column = |values, scale| Arc::new(Column { values, scale });
    vec![
        column(Narrow::I16(margin.to_vec()), 1),
        column(Narrow::U8(total.to_vec()), 1),
        column(Narrow::U8(sacks.to_vec()), 2),
        column(Narrow::I32(wide.to_vec()), 1),
    ]
}

/// Checks the worlds in which `text` holds, over a handful of columns.
fn check(text: &str, expected: &[usize]) {
    let all = columns(&[-7, 0, 3, 20], &[10, 44, 45, 200], &[0, 1, 2, 5], &[-70_000, 0, 1, 70_000]);
    let expression = Expression::parse(text, &catalogue(), Some(0)).unwrap();
    let used: Vec<_> = expression.columns().iter().map(|c| all[c.outcome].clone()).collect();
    assert_eq!(expression.holds(&used, 4).worlds().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn conditions_select_worlds() {
    check("home_margin > 0", &[2, 3]);
    check("home_margin >= 0 and total_points < 44.5", &[1]);
    check("home_margin > 2.5 or not total_points > 10", &[0, 2, 3]);
    check("3 < home_margin", &[3]);
    check("home_margin = 3", &[2]);
    check("home_margin != 3", &[0, 1, 3]);
    check("home_margin = 2.5", &[]);
    check("sacks >= 1", &[2, 3]);
    check("sacks = 0.5 || sacks = 2.5", &[1, 3]);
    check("wide > 69999.5", &[3]);
    check("total_points - 2 * abs(home_margin) > 30", &[1, 2, 3]);
    check("max(home_margin, 0) = min(3, total_points)", &[2]);
    check("-home_margin > 5", &[0]);
    check("(home_margin > 0 or sacks > 0) and total_points < 100", &[1, 2]);
    check("home_margin", &[0, 2, 3]);
    check("home_margin in (20, -7, 5)", &[0, 3]);
    check("sacks not in (0.5, 0)", &[2, 3]);
    check("sacks / 0 > 1000 and home_margin / sacks > 1", &[2, 3]);
    check("true and not false", &[0, 1, 2, 3]);
    check("total_points > 1000", &[]);
    check("game-001:home_margin > game-001:sacks", &[2, 3]);
}

/// In doubles, 0.29 * 100 is 28.999999999999996, and 0.1 * 3 is 0.30000000000000004.
#[test]
fn decimals_are_compared_exactly() {
    let cents = Arc::new(Column { values: Narrow::U8(vec![28, 29, 30]), scale: 100 });
    let threes = Arc::new(Column { values: Narrow::U8(vec![2, 3, 4]), scale: 1 });
    let check = |text: &str, column: &Arc<Column>, expected: &[usize]| {
        let expression = Expression::parse(text, &catalogue(), Some(0)).unwrap();
        let held = expression.holds(std::slice::from_ref(column), 3);
        assert_eq!(held.worlds().collect::<Vec<_>>(), expected, "{text}");
    };
    check("sacks = 0.29", &cents, &[1]);
    check("sacks > 0.29", &cents, &[2]);
    check("sacks <= 0.29", &cents, &[0, 1]);
    check("sacks >= 0.29000000000000004", &cents, &[2]);
    check("sacks < 0.29000000000000004", &cents, &[0, 1]);
    check("0.1 * sacks = 0.3", &threes, &[1]);
    check("0.1 * sacks > 0.3", &threes, &[2]);
    check("0.3 >= sacks / 10", &threes, &[0, 1]);
    check("sacks < 1e999 and sacks > -1e999", &cents, &[0, 1, 2]);
}

#[test]
fn labels_stand_for_their_codes() {
    let all = columns(&[0, 1, 2, 2], &[0; 4], &[0; 4], &[0; 4]);
    let parse = |text: &str| Expression::parse(text, &catalogue(), Some(0));
    for (text, expected) in [
        ("home_margin = 'level'", &[0][..]),
        ("'three' != home_margin", &[0, 1]),
        ("home_margin in ('three', 'level')", &[0, 2, 3]),
        ("game-001:home_margin not in ('three', 1)", &[0]),
    ] {
        let held = parse(text).unwrap().holds(&all[..1], 4);
        assert_eq!(held.worlds().collect::<Vec<_>>(), expected, "{text}");
    }
    let message = |text: &str| parse(text).unwrap_err().to_string();
    let unknown = "home_margin has no label \"thre\"; did you mean three?";
    assert_eq!(message("home_margin = 'thre'"), format!("{unknown}\n  home_margin = 'thre'\n                ^"));
    assert!(message("home_margin in ('a')").starts_with("home_margin has no label \"a\"; there are: level, three\n"));
    let unquoted = "level is a label: write it in quotes, 'level'";
    assert_eq!(message("home_margin = level"), format!("{unquoted}\n  home_margin = level\n                ^"));
    assert!(message("level != game-001:home_margin").starts_with(unquoted));
    assert!(message("home_margin = levl").starts_with("a game has no outcome \"levl\""));
    let anywhere = Expression::parse("game-001:home_margin = level", &catalogue(), None).unwrap_err().to_string();
    assert!(anywhere.starts_with(unquoted), "{anywhere}");
    assert!(message("home_margin > 'level'").starts_with("labels have no order: compare them with = or !=\n"));
    assert!(message("home_margin + 1 = 'level'").starts_with("expected a number: outcomes are numbers"));
    assert!(message("sacks > 'level'").starts_with("expected a number: outcomes are numbers"));
    assert!(message("'level' = 'level'").starts_with("expected a number: outcomes are numbers"));
}

#[test]
fn bad_expressions_get_an_error_with_what_is_wrong() {
    let message = |text: &str| Expression::parse(text, &catalogue(), Some(0)).unwrap_err().to_string();
    let nearest = "a game has no outcome \"home_margn\"; did you mean home_margin?";
    assert_eq!(message("home_margn > 3"), format!("{nearest}\n  home_margn > 3\n  ^"));
    let nearest = "no entity \"game-011\"; did you mean game-001, game-002?";
    assert_eq!(message("1 < game-011:sacks"), format!("{nearest}\n  1 < game-011:sacks\n      ^"));
    let needs_numbers = "outcomes are numbers and never missing: use = != < <= > >= or IN";
    assert_eq!(message("sacks ~ 'a'"), format!("{needs_numbers}\n  sacks ~ 'a'\n  ^"));
    assert_eq!(message("1 = 1 or sacks is null"), format!("{needs_numbers}\n  1 = 1 or sacks is null\n           ^"));
    assert!(message("sacks = 'a'").starts_with("expected a number: outcomes are numbers"));
    assert!(message("sacks in (NULL)").starts_with("expected a number: outcomes are numbers"));
    let without = Expression::parse("sacks > 1", &catalogue(), None).unwrap_err().to_string();
    assert_eq!(without, "ambiguous outcome \"sacks\": write ENTITY:sacks\n  sacks > 1\n  ^");
}

proptest! {
    /// Evaluation by word and by world agree for every column type and comparison.
    #[test]
    fn words_and_worlds_agree(
        margin in prop::collection::vec(any::<i16>(), 1..300),
        bound in -300.0f64..300.0,
        half in any::<bool>(),
        column in 0usize..4,
        operator in prop::sample::select(vec!["<", "<=", ">", ">=", "=", "!="]),
    ) {
        let bound = if half { bound.floor() + 0.5 } else { bound.floor() };
        let bytes: Vec<u8> = margin.iter().map(|m| *m as u8).collect();
        let wide: Vec<i32> = margin.iter().map(|m| i32::from(*m) * 3).collect();
        let all = columns(&margin, &bytes, &bytes, &wide);
        let parse = |text: &str| Expression::parse(text, &catalogue(), Some(0)).unwrap();
        let fast = parse(&format!("{} {operator} {bound}", NAMES[column]));
        // Adding 0 to the outcome takes the general path.
        let slow = parse(&format!("{} + 0 {operator} {bound}", NAMES[column]));
        let used = [all[column].clone()];
        prop_assert_eq!(fast.holds(&used, margin.len()), slow.holds(&used, margin.len()));
    }
}

/// Runs on a thread with half the stack of the server's query threads.
pub(super) fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

/// An expression nested `depth` levels deep, for each way to nest.
pub(super) fn nested(depth: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| open.repeat(depth) + inner + &close.repeat(depth);
    vec![
        around("(", "home_margin > 0", ")"),
        around("not ", "home_margin > 0", ""),
        around("-", "home_margin > 0", ""),
        around("abs(", "sacks", ")"),
        around("max(1, ", "sacks", ")"),
        around("(sacks - 1 + 2 * ", "sacks", ")"),
        around("(sacks > 1 or total_points < 9 and (", "sacks > 1", "))"),
        around("(1 + ", "(sacks > 1)", " > 2)"),
        around("(wide / sacks + ", "(sacks > 1)", " > 2)"),
    ]
}

#[test]
fn expressions_at_the_limits_fit_the_stack() {
    on_a_small_stack(|| {
        for (i, text) in nested(expr::DEPTH_MAX).into_iter().enumerate() {
            // Some nest twice per repetition.
            let text = if i < 6 { text } else { nested(expr::DEPTH_MAX / 2).swap_remove(i) };
            let all = columns(&[0, 1], &[0, 1], &[0, 1], &[0, 1]);
            let expression = Expression::parse(&text, &catalogue(), Some(0)).unwrap();
            let used: Vec<_> = expression.columns().iter().map(|c| all[c.outcome].clone()).collect();
            let holds = expression.holds(&used, 2);
            let values = expression.values(&used, 2, &|| true);
            assert!((0..2).all(|world| holds.contains(world) == (values.value(world) != 0.0)), "{text}");
            assert!((0..2).all(|world| truth(&expression.root, &used, world) == Some(holds.contains(world))), "{text}");
            assert_eq!(format!("{:?}", expression.clone()), format!("{expression:?}"));
        }
    });
}

#[test]
fn conditions_count_as_numbers() {
    check("(home_margin > 0) + (sacks > 0) = 2", &[2, 3]);
    check("(home_margin > 0) + (sacks > 0) + (wide < 0) = 1", &[0, 1]);
    check("10 * (home_margin > 3) > 5", &[3]);
    check("(home_margin > 0) = (sacks >= 1)", &[0, 1, 2, 3]);
    check("-(not home_margin > 0) < 0", &[0, 1]);
    check("abs((sacks > 0) - 1) + max((wide > 0), 0.5) > 1", &[0]);
    check("(home_margin in (3, 20)) - (total_points > 100 or sacks = 0)", &[0, 2]);
    check("true + (home_margin > 0) = 2", &[2, 3]);
    // In doubles, 0.1 * 3 is not 0.3.
    check("(0.1 * home_margin = 0.3) * 2 > 1", &[2]);
    check("(0.1 * home_margin = 0.3) / max(sacks, 0.5) > 0.5", &[2]);
    // A comparison takes the whole sum.
    check("home_margin > 0 + sacks", &[2, 3]);
    check("home_margin > 19 + (sacks > 0)", &[]);
}

#[test]
fn long_chains_are_evaluated_in_order() {
    on_a_small_stack(|| {
        let links = expr::NODES_MAX / 5;
        let sum = format!("sacks{}", " - 1 + 2".repeat(links / 2));
        let any = format!("home_margin > 1000{}", " or home_margin = 3".repeat(links));
        let all = format!("home_margin < 1000{}", " and home_margin != 3".repeat(links));
        check(&format!("{sum} = {}", links / 2 + 1), &[2]);
        check(&any, &[2]);
        check(&all, &[0, 1, 3]);
        check("total_points - 10 - 30 / 2 / 5 * 2 - 4 = 200 - 20", &[3]);
    });
}

#[test]
fn evaluation_ends_when_nobody_waits() {
    let all = columns(&[1; 200], &[1; 200], &[1; 200], &[1; 200]);
    let expression = Expression::parse("sacks + 1 > 0", &catalogue(), Some(0)).unwrap();
    let asked = std::cell::Cell::new(0);
    let wanted = || asked.replace(asked.get() + 1) < 1;
    let held = expression.holds_while(&all[2..3], 200, &wanted);
    assert_eq!((held.count(), asked.get()), (64, 2));
}

/// The number of a node in one world, in doubles; `None` as for [`truth`].
fn number(node: &Node, all: &[Arc<Column>], world: usize) -> Option<f64> {
    let of = |node: &Node| number(node, all, world);
    match node {
        Node::Number(n) => Some(*n),
        Node::Integer(n) => Some(*n as f64),
        Node::Column(c) => Some(all[*c].value(world)),
        Node::Negate(a) => of(a).map(|a| -a),
        Node::Absolute(a) => of(a).map(f64::abs),
        Node::Chain(first, rest) => rest.iter().try_fold(of(first)?, |a, (operator, b)| Some(operator.of(a, of(b)?))),
        condition => truth(condition, all, world).map(|holds| f64::from(u8::from(holds))),
    }
}

/// Whether a condition holds in one world; `None` if two numbers are so close that doubles cannot tell.
fn truth(node: &Node, all: &[Arc<Column>], world: usize) -> Option<bool> {
    let of = |node: &Node| truth(node, all, world);
    match node {
        Node::Compare(comparison, a, b) => {
            let (a, b) = (number(a, all, world)?, number(b, all, world)?);
            let close = (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs());
            (a == b || !close).then(|| comparison.holds(expr::order(a, b)))
        }
        Node::In(c, list) => Some(list.contains(&all[*c].value(world))),
        Node::Not(a) => of(a).map(|holds| !holds),
        Node::All(parts) => parts.iter().map(of).collect::<Option<Vec<_>>>().map(|all| all.iter().all(|holds| *holds)),
        Node::Any(parts) => parts.iter().map(of).collect::<Option<Vec<_>>>().map(|all| all.iter().any(|holds| *holds)),
        plain => number(plain, all, world).map(|number| number != 0.0),
    }
}

/// Numbers and conditions from the grammar, deep and wide.
fn written() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec!["game-001:sacks", "0", "1", "2.5", ".5", "3.", "99999999999999999999", "44.5"])
            .prop_map(str::to_owned),
    ];
    let number = leaf.prop_recursive(6, 60, 5, |inner| {
        let signs = prop::sample::select(vec!["<", ">=", "=", "!="]);
        prop_oneof![
            (inner.clone(), signs, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            inner.clone().prop_map(|a| format!("(not {a} or sacks in (0.5, 1))")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("abs({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            (prop::collection::vec((inner, prop::sample::select(vec!["+", "-", "*", "/"])), 1..5)).prop_map(|parts| {
                let terms: Vec<_> = parts.iter().map(|(a, o)| format!("({a}) {o} ")).collect();
                terms.concat() + "1"
            }),
        ]
    });
    let comparison = (number.clone(), prop::sample::select(vec!["<", "<=", ">", ">=", "=", "!=", "<>", "=="]), number);
    comparison.prop_map(|(a, o, b)| format!("{a} {o} {b}")).prop_recursive(6, 60, 5, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.clone().prop_map(|a| format!("({a})")),
            prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| parts.join(" and ")),
            prop::collection::vec(inner, 2..5).prop_map(|parts| parts.join(" || ")),
        ]
    })
}

proptest! {
    #[test]
    fn sets_and_single_worlds_agree(text in written(), margin in prop::collection::vec(any::<i16>(), 1..130)) {
        let bytes: Vec<u8> = margin.iter().map(|m| *m as u8).collect();
        let wide: Vec<i32> = margin.iter().map(|m| i32::from(*m) << 8).collect();
        let all = columns(&margin, &bytes, &bytes, &wide);
        let expression = Expression::parse(&text, &catalogue(), Some(0)).unwrap();
        let used: Vec<_> = expression.columns().iter().map(|c| all[c.outcome].clone()).collect();
        let holds = expression.holds(&used, margin.len());
        let agrees = |world| truth(&expression.root, &used, world).is_none_or(|truth| truth == holds.contains(world));
        prop_assert!((0..margin.len()).all(agrees));
        let values = expression.values(&used, margin.len(), &|| true);
        prop_assert!((0..margin.len()).all(|world| holds.contains(world) == (values.value(world) != 0.0)));
        let opposite = Expression::parse(&format!("not ({text})"), &catalogue(), Some(0)).unwrap();
        prop_assert_eq!(opposite.holds(&used, margin.len()).count(), margin.len() - holds.count());
    }
}
