//! From text to a tree, by precedence.

use std::collections::HashMap;

use expr::{Budget, TooLarge};
use model::{Catalogue, UnknownName};

use super::token::{Token, tokens};
use super::{Arithmetic, Comparison, Expression, Node, OutcomeRef};

/// Why an expression was refused. Places count from 1.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ExpressionError {
    /// Something else was expected.
    #[error("{found:?} at {at}: expected {wanted}")]
    Unexpected {
        /// What stands there.
        found: String,
        /// Where.
        at: usize,
        /// What could stand there.
        wanted: &'static str,
    },
    /// It ends in the middle.
    #[error("the expression ends where {wanted} is expected")]
    Ends {
        /// What could follow.
        wanted: &'static str,
    },
    /// No such entity, or it has no such outcome.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// An outcome without its entity.
    #[error("whose {name:?}? Name the entity, as in game-001:{name}")]
    NoEntity {
        /// The outcome.
        name: String,
    },
    /// It is too long, too deep, or has too many parts.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A number where a condition is needed, or the other way round.
    #[error("{what} at {at}")]
    Type {
        /// What is wrong.
        what: &'static str,
        /// Where.
        at: usize,
    },
}

type Result<T> = std::result::Result<T, ExpressionError>;

pub(super) fn parse(text: &str, catalogue: &Catalogue, entity: Option<usize>) -> Result<Expression> {
    let budget = Budget::new(text)?;
    let (tokens, end) = (tokens(text)?, text.len());
    let (columns, places) = (Vec::new(), HashMap::new());
    let mut parser = Parser { tokens, next: 0, end, catalogue, entity, columns, places, budget };
    let root = parser.disjunction()?;
    match parser.tokens.get(parser.next) {
        None => Ok(Expression { text: text.trim().to_owned(), columns: parser.columns, root }),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
    catalogue: &'a Catalogue,
    entity: Option<usize>,
    columns: Vec<OutcomeRef>,
    /// Names that were looked up, with their places in `columns`.
    places: HashMap<String, usize>,
    budget: Budget,
}

impl Parser<'_> {
    fn take(&mut self, words: &[&str]) -> bool {
        let found = match self.tokens.get(self.next) {
            Some((_, Token::Symbol(symbol))) => words.contains(symbol),
            Some((_, Token::Name(name))) => words.contains(&name.to_ascii_lowercase().as_str()),
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at) + 1
    }

    fn unexpected(&self, wanted: &'static str) -> ExpressionError {
        match self.tokens.get(self.next) {
            None => ExpressionError::Ends { wanted },
            Some((at, token)) => {
                let found = match token {
                    Token::Number(n) => n.to_string(),
                    Token::Name(name) => name.clone(),
                    Token::Symbol(symbol) => (*symbol).to_owned(),
                };
                ExpressionError::Unexpected { found, at: at + 1, wanted }
            }
        }
    }

    fn disjunction(&mut self) -> Result<Node> {
        self.joined(&["or", "||"], Self::conjunction, Node::Any)
    }

    fn conjunction(&mut self) -> Result<Node> {
        self.joined(&["and", "&&"], Self::negation, Node::All)
    }

    /// One or more parts with one of `words` between them.
    fn joined(
        &mut self,
        words: &[&str],
        part: fn(&mut Self) -> Result<Node>,
        join: fn(Vec<Node>) -> Node,
    ) -> Result<Node> {
        let first = part(self)?;
        if !self.take(words) {
            return Ok(first);
        }
        let mut parts = vec![first];
        loop {
            self.budget.node()?;
            parts.push(part(self)?);
            if !self.take(words) {
                return Ok(join(parts));
            }
        }
    }

    /// Parses a part one level deeper.
    fn nested(&mut self, part: fn(&mut Self) -> Result<Node>) -> Result<Node> {
        self.budget.node()?;
        self.budget.enter()?;
        let node = part(self)?;
        self.budget.leave();
        Ok(node)
    }

    fn negation(&mut self) -> Result<Node> {
        if self.take(&["not", "!"]) {
            return Ok(Node::Not(self.nested(Self::negation)?.into()));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Node> {
        let at = self.place();
        let left = self.sum()?;
        let operators = [
            (&["<="][..], Comparison::LessOrEqual),
            (&[">="], Comparison::GreaterOrEqual),
            (&["<"], Comparison::Less),
            (&[">"], Comparison::Greater),
            (&["=", "=="], Comparison::Equal),
            (&["!=", "<>"], Comparison::NotEqual),
        ];
        for (words, comparison) in operators {
            if self.take(words) {
                self.budget.node()?;
                let left = number(left, at)?;
                let at = self.place();
                let right = number(self.sum()?, at)?;
                return Ok(Node::Compare(comparison, left.into(), right.into()));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node> {
        self.chain(&[("+", Arithmetic::Add), ("-", Arithmetic::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node> {
        self.chain(&[("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)], Self::factor)
    }

    /// One or more numbers with operators between them.
    fn chain(&mut self, operators: &[(&str, Arithmetic)], part: fn(&mut Self) -> Result<Node>) -> Result<Node> {
        let at = self.place();
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(word, _)| self.take(&[word])) {
            self.budget.node()?;
            let at = self.place();
            rest.push((*operator, number(part(self)?, at)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(number(first, at)?.into(), rest) })
    }

    fn factor(&mut self) -> Result<Node> {
        let at = self.place();
        if self.take(&["-"]) {
            return Ok(Node::Negate(number(self.nested(Self::factor)?, at)?.into()));
        }
        if self.take(&["("]) {
            let inner = self.nested(Self::disjunction)?;
            self.close()?;
            return Ok(inner);
        }
        match self.tokens.get(self.next).map(|(_, token)| token.clone()) {
            Some(Token::Number(value)) => {
                self.next += 1;
                self.budget.node()?;
                Ok(Node::Number(value))
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                if self.take(&["("]) { self.function(&name, at) } else { self.column(&name) }
            }
            _ => Err(self.unexpected("an outcome or a number")),
        }
    }

    fn close(&mut self) -> Result<()> {
        if self.take(&[")"]) { Ok(()) } else { Err(self.unexpected("a closing bracket")) }
    }

    fn function(&mut self, name: &str, at: usize) -> Result<Node> {
        let first_at = self.place();
        let first = number(self.nested(Self::sum)?, first_at)?;
        let two = match name {
            "abs" => None,
            "min" => Some(Arithmetic::Min),
            "max" => Some(Arithmetic::Max),
            _ => {
                let found = name.to_owned();
                return Err(ExpressionError::Unexpected { found, at, wanted: "one of the functions abs, min, max" });
            }
        };
        let node = match two {
            None => Node::Absolute(first.into()),
            Some(operator) => {
                if !self.take(&[","]) {
                    return Err(self.unexpected("a comma"));
                }
                let second_at = self.place();
                Node::Chain(first.into(), vec![(operator, number(self.nested(Self::sum)?, second_at)?)])
            }
        };
        self.close()?;
        Ok(node)
    }

    fn column(&mut self, name: &str) -> Result<Node> {
        self.budget.node()?;
        if let Some(place) = self.places.get(name) {
            return Ok(Node::Column(*place));
        }
        let (entity, outcome) = match name.split_once(':') {
            Some((entity, outcome)) => (self.catalogue.find_entity(entity)?, outcome),
            None => (self.entity.ok_or_else(|| ExpressionError::NoEntity { name: name.to_owned() })?, name),
        };
        let column = OutcomeRef { entity, outcome: self.catalogue.kind_of(entity).find_outcome(outcome)? };
        let place = self.columns.iter().position(|c| *c == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        self.places.insert(name.to_owned(), place);
        Ok(Node::Column(place))
    }
}

fn number(node: Node, at: usize) -> Result<Node> {
    match node {
        Node::Compare(..) | Node::All(..) | Node::Any(..) | Node::Not(..) => {
            Err(ExpressionError::Type { what: "a condition stands where a number is needed", at })
        }
        node => Ok(node),
    }
}
