//! What holds of every text: no panic, bounded depth, short errors, and brackets that change nothing.
#![no_main]

use expr::{BYTES_MAX, DEPTH_MAX, Expr, NODES_MAX, Node, parse, regex};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = regex(text);
    match parse(text) {
        Ok(tree) => {
            assert!(text.len() <= BYTES_MAX);
            let mut nodes = 0;
            check(&tree, text, 0, &mut nodes);
            // Brackets cost a level and a node.
            match parse(&format!("({text})")) {
                Ok(within) => assert_eq!(within.is_condition(), tree.is_condition()),
                Err(error) => assert!(error.reason().contains("more than"), "{error}"),
            }
        }
        Err(error) => assert!(error.to_string().len() < 1_000, "{error}"),
    }
});

fn check(tree: &Expr, text: &str, depth: usize, nodes: &mut usize) {
    *nodes += 1;
    // A list of values and a comparison may add a level each that no bracket opened.
    assert!(depth <= 3 * DEPTH_MAX && *nodes <= 4 * NODES_MAX);
    assert!(text.is_char_boundary(tree.at), "a position within a character");
    let parts: Vec<&Expr> = match &tree.node {
        Node::All(parts) | Node::Any(parts) | Node::In { values: parts, .. } => parts.iter().collect(),
        Node::Not(part) | Node::Negative(part) | Node::Absolute(part) => vec![part],
        Node::Compare(left, _, right) => vec![left, right],
        Node::Chain(first, rest) => std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect(),
        Node::Match { .. }
        | Node::IsNull { .. }
        | Node::Has { .. }
        | Node::Name(_)
        | Node::Int(_)
        | Node::Real(_)
        | Node::Text(_)
        | Node::Bool(_)
        | Node::Null => Vec::new(),
    };
    for part in parts {
        check(part, text, depth + 1, nodes);
    }
}
