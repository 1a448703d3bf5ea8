//! Builds a tree from tokens, by operator precedence.

use crate::error::Error;
use crate::lex::{Token, What, lex};
use crate::limits::{BYTES_MAX, Budget};
use crate::tree::{Comparison, Expr, Name, Node, Operator};

const KEYWORDS: [&str; 9] = ["AND", "OR", "NOT", "IN", "IS", "NULL", "HAS", "TRUE", "FALSE"];

/// Parses an expression: a condition or a number.
///
/// # Errors
/// If the text breaks the grammar or exceeds a limit.
pub fn parse(text: &str) -> Result<Expr, Error> {
    if text.len() > BYTES_MAX {
        let reason = format!("the expression has {} bytes, the limit is {BYTES_MAX}: split it", text.len());
        return Err(Error::new(text, 0, reason));
    }
    let fail = |(at, reason): (usize, String)| Error::new(text, at, reason);
    let mut parser = Parser { tokens: lex(text).map_err(fail)?, next: 0, budget: Budget::default() };
    let expr = parser.any().map_err(fail)?;
    match parser.peek() {
        What::End => Ok(*expr),
        found => {
            let is_name = matches!(found, What::Word(_));
            let hint = if is_name { "; a name with spaces is written in double quotes" } else { "" };
            Err(fail((parser.at(), format!("expected AND, OR, an operator or the end{hint}"))))
        }
    }
}

/// A name as an expression writes it: in double quotes if it needs them.
pub fn written(name: &str) -> String {
    match parse(name) {
        Ok(Expr { node: Node::Name(read), .. }) if read == name => name.to_owned(),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    budget: Budget,
}

/// An error is a position and a reason.
type Parsed<T> = Result<T, (usize, String)>;

/// Boxed, so that recursive calls have small stack frames.
type Part = Parsed<Box<Expr>>;

impl Parser {
    fn peek(&self) -> &What {
        &self.tokens[self.next].what
    }

    fn at(&self) -> usize {
        self.tokens[self.next].at
    }

    fn fail<T>(&self, reason: &str) -> Parsed<T> {
        Err((self.at(), reason.to_owned()))
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.tokens.get(self.next + ahead);
        matches!(token.map(|t| &t.what), Some(What::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        if found {
            self.advance();
        }
        found
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), What::Sign(s) if *s == sign)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn close(&mut self) -> Parsed<()> {
        if self.sign(")") { Ok(()) } else { self.fail("expected a closing parenthesis") }
    }

    fn count(&mut self) -> Parsed<()> {
        let at = self.at();
        self.budget.node().map_err(|reason| (at, reason))
    }

    /// Parses a part one level deeper.
    fn nested(&mut self, part: fn(&mut Self) -> Part) -> Part {
        self.count()?;
        let at = self.at();
        self.budget.enter().map_err(|reason| (at, reason))?;
        let done = part(self)?;
        self.budget.leave();
        Ok(done)
    }

    fn any(&mut self) -> Part {
        self.joined("OR", "||", Self::all, Node::Any)
    }

    fn all(&mut self) -> Part {
        self.joined("AND", "&&", Self::factor, Node::All)
    }

    /// One or more parts joined by a keyword or a sign.
    fn joined(&mut self, word: &str, sign: &str, part: fn(&mut Self) -> Part, join: fn(Vec<Expr>) -> Node) -> Part {
        let at = self.at();
        let first = part(self)?;
        if !(self.is_word(0, word) || self.is_sign(sign)) {
            return Ok(first);
        }
        let mut parts = vec![*first];
        while self.word(word) || self.sign(sign) {
            parts.push(*part(self)?);
        }
        Ok(made(join(parts), at))
    }

    fn factor(&mut self) -> Part {
        let at = self.at();
        if self.word("NOT") || self.sign("!") {
            return Ok(made(Node::Not(self.nested(Self::factor)?), at));
        }
        self.count()?;
        let left = self.sum()?;
        self.test(left)
    }

    /// The test that follows `left`, if one does.
    fn test(&mut self, left: Box<Expr>) -> Part {
        let at = self.at();
        if let What::Sign(sign) = *self.peek() {
            if let Some(comparison) = Comparison::signed(sign) {
                self.advance();
                return self.compared(left, comparison, at);
            }
            if sign == "~" || sign == "!~" {
                let name = named(*left)?;
                self.advance();
                let (pattern, pattern_at) = self.text("expected a pattern in single quotes")?;
                let node = Node::Match { name, pattern, pattern_at: pattern_at + 1, negated: sign == "!~" };
                return Ok(made(node, at));
            }
        }
        if self.word("IS") {
            let negated = self.word("NOT");
            if !self.word("NULL") {
                return self.fail("expected NULL or NOT NULL");
            }
            return Ok(made(Node::IsNull { name: named(*left)?, negated }, at));
        }
        let negated = (self.is_word(1, "IN") || self.is_word(1, "HAS")) && self.word("NOT");
        if self.word("IN") {
            let name = named(*left)?;
            return Ok(made(Node::In { name, values: self.list()?, negated }, at));
        }
        if self.word("HAS") {
            let name = named(*left)?;
            let (member, _) = self.text("expected a member in single quotes")?;
            return Ok(made(Node::Has { name, member, negated }, at));
        }
        Ok(left)
    }

    fn compared(&mut self, left: Box<Expr>, comparison: Comparison, at: usize) -> Part {
        Ok(made(Node::Compare(left, comparison, self.sum()?), at))
    }

    fn text(&mut self, expected: &str) -> Parsed<(String, usize)> {
        let at = self.at();
        let What::Text(text) = self.peek().clone() else { return self.fail(expected) };
        self.advance();
        Ok((text, at))
    }

    fn list(&mut self) -> Parsed<Vec<Expr>> {
        if !self.sign("(") {
            return self.fail("expected a list of values in parentheses");
        }
        let mut values = Vec::new();
        loop {
            values.push(*self.atom()?);
            if self.sign(")") {
                return Ok(values);
            }
            if !self.sign(",") {
                return self.fail("expected a comma or a closing parenthesis");
            }
        }
    }

    fn sum(&mut self) -> Part {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Part {
        self.chain(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::atom)
    }

    /// One or more numbers joined by operators.
    fn chain(&mut self, operators: &[(&str, Operator)], part: fn(&mut Self) -> Part) -> Part {
        let first = part(self)?;
        if !operators.iter().any(|(sign, _)| self.is_sign(sign)) {
            return Ok(first);
        }
        let at = first.at;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.sign(sign)) {
            self.count()?;
            rest.push((*operator, *part(self)?));
        }
        Ok(made(Node::Chain(first, rest), at))
    }

    fn atom(&mut self) -> Part {
        match self.peek() {
            What::Sign("-") => self.negative(),
            What::Sign("(") => self.parenthesized(),
            What::Word(_) if matches!(self.tokens.get(self.next + 1), Some(Token { what: What::Sign("("), .. })) => {
                self.call()
            }
            _ => self.leaf(),
        }
    }

    fn negative(&mut self) -> Part {
        let at = self.at();
        self.advance();
        let inner = self.nested(Self::atom)?;
        Ok(match inner.node {
            Node::Int(value) => made(Node::Int(-value), at),
            Node::Real(value) => made(Node::Real(-value), at),
            _ => made(Node::Negative(inner), at),
        })
    }

    fn parenthesized(&mut self) -> Part {
        self.advance();
        let inner = self.nested(Self::any)?;
        self.close()?;
        Ok(inner)
    }

    fn leaf(&mut self) -> Part {
        const EXPECTED: &str = "expected a name, a number or a 'text'";
        let at = self.at();
        let node = match self.peek().clone() {
            What::Int(value) => Node::Int(value),
            What::Real(value) => Node::Real(value),
            What::Text(text) => Node::Text(text),
            What::Quoted(name) => Node::Name(name),
            What::Word(word) => match word.to_ascii_uppercase().as_str() {
                "NULL" => Node::Null,
                "TRUE" => Node::Bool(true),
                "FALSE" => Node::Bool(false),
                upper if KEYWORDS.contains(&upper) => return self.fail(EXPECTED),
                _ => Node::Name(word),
            },
            What::Sign(_) | What::End => return self.fail(EXPECTED),
        };
        self.advance();
        Ok(made(node, at))
    }

    /// A call: a function's name and its arguments in parentheses.
    fn call(&mut self) -> Part {
        let at = self.at();
        let operator = match self.peek() {
            What::Word(name) if name.eq_ignore_ascii_case("abs") => None,
            What::Word(name) if name.eq_ignore_ascii_case("min") => Some(Operator::Min),
            What::Word(name) if name.eq_ignore_ascii_case("max") => Some(Operator::Max),
            What::Word(name) if KEYWORDS.iter().any(|word| name.eq_ignore_ascii_case(word)) => return self.leaf(),
            What::Word(name) if name.contains(':') => {
                let (entity, function) = name.rsplit_once(':').unwrap_or_default();
                let reason = "an entity stands before each name, not before a function";
                return self.fail(&format!("{reason}: write {function}({entity}:NAME)"));
            }
            _ => return self.fail("expected one of the functions abs, min, max"),
        };
        self.advance();
        self.advance();
        let first = self.argument()?;
        let node = match operator {
            None => Node::Absolute(first),
            Some(_) if !self.sign(",") => return self.fail("expected a comma"),
            Some(operator) => Node::Chain(first, vec![(operator, *self.argument()?)]),
        };
        self.close()?;
        Ok(made(node, at))
    }

    fn argument(&mut self) -> Part {
        let argument = self.nested(Self::sum)?;
        match *self.peek() {
            What::Sign(sign) if Comparison::signed(sign).is_some() => {
                self.fail("put a condition that is an argument in parentheses, such as abs((a > 0))")
            }
            _ => Ok(argument),
        }
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "every part of a tree is in a box")]
fn made(node: Node, at: usize) -> Box<Expr> {
    Box::new(Expr { node, at })
}

fn named(expr: Expr) -> Parsed<Name> {
    match expr.node {
        Node::Name(text) => Ok(Name { text, at: expr.at }),
        _ => Err((expr.at, "expected a name before this test".to_owned())),
    }
}
