use proptest::prelude::*;

use super::*;

/// The tree in prefix form, with names and numbers bare.
fn shown(expr: &Expr) -> String {
    let all = |exprs: &[Expr]| exprs.iter().map(shown).collect::<Vec<_>>().join(" ");
    let not = |negated: bool, text: String| if negated { format!("(not {text})") } else { text };
    match &expr.node {
        Node::All(parts) => format!("(and {})", all(parts)),
        Node::Any(parts) => format!("(or {})", all(parts)),
        Node::Not(inner) => format!("(not {})", shown(inner)),
        Node::Compare(left, comparison, right) => format!("({} {} {})", comparison.sign(), shown(left), shown(right)),
        Node::Match { name, pattern, negated, .. } => not(*negated, format!("(~ {} '{pattern}')", name.text)),
        Node::In { name, values, negated } => not(*negated, format!("(in {} {})", name.text, all(values))),
        Node::IsNull { name, negated } => not(*negated, format!("(null {})", name.text)),
        Node::Has { name, member, negated } => not(*negated, format!("(has {} '{member}')", name.text)),
        Node::Name(name) => name.clone(),
        Node::Int(value) => value.to_string(),
        Node::Real(value) => format!("{value:?}"),
        Node::Text(text) => format!("'{text}'"),
        Node::Bool(value) => value.to_string(),
        Node::Null => "null".to_owned(),
        Node::Negative(inner) => format!("(- {})", shown(inner)),
        Node::Absolute(inner) => format!("(abs {})", shown(inner)),
        Node::Chain(first, rest) => {
            rest.iter().fold(shown(first), |left, (operator, right)| format!("({operator:?} {left} {})", shown(right)))
        }
    }
}

#[test]
fn precedence_shapes_the_tree() {
    for (text, tree) in [
        ("a", "a"),
        ("a > 1 or b < 2 and not c = 3", "(or (> a 1) (and (< b 2) (not (= c 3))))"),
        ("a>1 || b<2 && ! c==3", "(or (> a 1) (and (< b 2) (not (= c 3))))"),
        ("not a = 1 and b", "(and (not (= a 1)) b)"),
        ("1 + 2 * x - -3 < y / 4", "(< (Subtract (Add 1 (Multiply 2 x)) -3) (Divide y 4))"),
        ("(a + 1) * 2 >= -(b)", "(>= (Multiply (Add a 1) 2) (- b))"),
        ("((a > 1)) AND ((b))", "(and (> a 1) b)"),
        ("abs(a - b) <= MAX(1, min(c, 2.5))", "(<= (abs (Subtract a b)) (Max 1 (Min c 2.5)))"),
        ("game-001:home_margin-1 > 0", "(> (Subtract game-001:home_margin 1) 0)"),
        ("a-1:b.c = 2", "(= a-1:b.c 2)"),
        ("a-1 = b", "(= (Subtract a 1) b)"),
        ("\"in\" IN (-1, 2.0, 'x''y', NULL, TRUE)", "(in in -1 2.0 'x'y' null true)"),
        ("x not in (1)", "(not (in x 1))"),
        ("host !~ '^a' or host ~ 'b'", "(or (not (~ host '^a')) (~ host 'b'))"),
        ("x is not null and y IS NULL", "(and (not (null x)) (null y))"),
        ("tags has 'a' and tags not has 'b'", "(and (has tags 'a') (not (has tags 'b')))"),
        ("ä.ö = .5e1", "(= ä.ö 5.0)"),
        ("n = 9223372036854775807", "(= n 9223372036854775807)"),
        ("n = 9223372036854775808", "(= n 9.223372036854776e18)"),
        ("flag = true", "(= flag true)"),
        ("min > 1", "(> min 1)"),
        ("(a > 1) + (b or c) * 2", "(Add (> a 1) (Multiply (or b c) 2))"),
        ("10*(a > 3) - -(not b)", "(Subtract (Multiply 10 (> a 3)) (- (not b)))"),
        ("abs((a > 1)) > 1 or a = (b > 1)", "(or (> (abs (> a 1)) 1) (= a (> b 1)))"),
        // Without parentheses, a comparison takes the whole sum.
        ("a > 0 + b", "(> a (Add 0 b))"),
        ("10 * a > 3", "(> (Multiply 10 a) 3)"),
    ] {
        assert_eq!(parse(text).map(|expr| shown(&expr)).as_deref(), Ok(tree), "{text}");
    }
}

#[test]
fn errors_name_expectation_and_position() {
    for (text, reason, at) in [
        ("", "expected a name, a number or a 'text'", 0),
        ("a >", "expected a name, a number or a 'text'", 3),
        ("a > 3 4", "expected AND, OR, an operator or the end", 6),
        ("b a > 3", "expected AND, OR, an operator or the end; a name with spaces is written in double quotes", 2),
        ("(a > 3", "expected a closing parenthesis", 6),
        ("a # 3", "unexpected '#': put names with special characters in double quotes", 2),
        ("sum(a) > 1", "expected one of the functions abs, min, max", 0),
        ("game-1:abs(a) > 1", "an entity stands before each name, not before a function: write abs(game-1:NAME)", 0),
        ("min(a) > 1", "expected a comma", 5),
        ("abs(a > 1) > 1", "put a condition that is an argument in parentheses, such as abs((a > 0))", 6),
        ("max(1, a = 1)", "put a condition that is an argument in parentheses, such as abs((a > 0))", 9),
        ("a > 0 > b", "expected AND, OR, an operator or the end", 6),
        ("2 * not a", "expected a name, a number or a 'text'", 4),
        ("3 in (1)", "expected a name before this test", 0),
        ("a in 1", "expected a list of values in parentheses", 5),
        ("a in (1 2)", "expected a comma or a closing parenthesis", 8),
        ("a is 1", "expected NULL or NOT NULL", 5),
        ("a ~ b", "expected a pattern in single quotes", 4),
        ("a has b", "expected a member in single quotes", 6),
        ("1x > 2", "letters after a number: put names that start with a digit in double quotes", 0),
        ("a = 'b", "unterminated text: close it with '", 4),
        ("\"a", "unterminated name: close it with \"", 0),
    ] {
        let expected = Error::new(text, at, reason);
        assert_eq!(parse(text).unwrap_err(), expected, "{text}");
    }
}

/// Threads that answer questions have twice this stack.
fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

/// One expression per way to nest, `depth` levels deep.
fn nested(depth: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| open.repeat(depth) + inner + &close.repeat(depth);
    vec![
        around("(", "a > 0", ")"),
        around("not ", "a > 0", ""),
        around("!", "a > 0", ""),
        around("-", "a", ""),
        around("abs(", "a", ")"),
        around("max(1, ", "a", ")"),
        format!("a in ({})", around("-", "1", "")),
        around("(a - 1 + 2 * ", "a", ")"),
        around("(a > 1 or b is null and ", "c", ")"),
    ]
}

#[test]
fn deepest_expressions_fit_the_stack() {
    on_small_stack(|| {
        for text in nested(DEPTH_MAX) {
            let parsed = parse(&text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(format!("{:?}", parsed.clone()), format!("{parsed:?}"));
        }
    });
}

#[test]
fn oversized_expressions_are_rejected() {
    on_small_stack(|| {
        let rejected = |text: &str| parse(text).unwrap_err().to_string();
        for depth in [DEPTH_MAX + 1, 20_000] {
            for text in nested(depth) {
                let error = rejected(&text);
                assert!(error.contains("nested more than") || error.contains("tests and operators"), "{error}");
                assert!(error.len() < 700, "{error}");
            }
        }
        assert!(rejected(&"(".repeat(200_000)).contains("nested more than"));
        assert!(rejected(&format!("a{}", " + 1".repeat(NODES_MAX))).contains("tests and operators"));
        assert!(rejected(&format!("a{}", " or a".repeat(NODES_MAX))).contains("tests and operators"));
        assert!(rejected(&" ".repeat(BYTES_MAX + 1)).contains("bytes"));
    });
}

/// A parser that forgets to leave a level counts these as deep.
#[test]
fn shallow_parentheses_do_not_add_depth() {
    let text = vec!["(a = 1)"; 5_000].join(" or ");
    assert!(matches!(parse(&text).unwrap().node, Node::Any(parts) if parts.len() == 5_000));
    assert!(parse(&format!("a in ({}1)", "-1, ".repeat(5_000))).is_ok());
}

#[test]
fn real_numbers_have_total_order() {
    let ordered = [f64::NEG_INFINITY, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
    for (i, a) in ordered.iter().enumerate() {
        for (j, b) in ordered.iter().enumerate() {
            assert_eq!(order(*a, *b), i.cmp(&j), "{a} {b}");
        }
    }
    assert!(order(-0.0, 0.0).is_eq());
    assert_eq!(Operator::Min.of(f64::NAN, 1.0).to_bits(), 1.0f64.to_bits());
    assert!(Operator::Max.of(f64::NAN, 1.0).is_nan());
}

proptest! {
    #[test]
    fn parsing_any_text_never_panics(text in ".{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn parsing_any_tokens_never_panics(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "(", ")", "not ", "-", "abs(", "min(", ",", " and ", " or ", "a", "game-001:", "1", ".", "=", "<", "+",
                "/", "ä", " in (", " is null", "~", "'x'", "\"", "!", " has ", "e9",
            ]),
            0..40,
        ),
    ) {
        let _ = parse(&words.concat());
    }
}

#[test]
fn written_names_are_read_back() {
    for (name, expected) in [
        ("margin", "margin"),
        ("game-017:home_won", "game-017:home_won"),
        ("2nd half", "\"2nd half\""),
        ("and", "\"and\""),
        ("true", "\"true\""),
        ("a\"b", "\"a\"\"b\""),
        ("", "\"\""),
    ] {
        assert_eq!(written(name), expected);
        assert_eq!(parse(&written(name)).unwrap().name().unwrap().text, name);
        assert!(parse(&format!("{} > 3", written(name))).is_ok());
    }
}
