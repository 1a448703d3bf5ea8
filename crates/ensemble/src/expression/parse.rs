//! From text to a tree, by precedence.

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
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.len(), catalogue, entity, columns: Vec::new() };
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
        let mut left = self.conjunction()?;
        while self.take(&["or", "||"]) {
            left = Node::Or(left.into(), self.conjunction()?.into());
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Node> {
        let mut left = self.negation()?;
        while self.take(&["and", "&&"]) {
            left = Node::And(left.into(), self.negation()?.into());
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Node> {
        if self.take(&["not", "!"]) {
            return Ok(Node::Not(self.negation()?.into()));
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
                let left = number(left, at)?;
                let at = self.place();
                let right = number(self.sum()?, at)?;
                return Ok(Node::Compare(comparison, left.into(), right.into()));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node> {
        let at = self.place();
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.take(&["+"]) => Arithmetic::Add,
                () if self.take(&["-"]) => Arithmetic::Subtract,
                () => return Ok(left),
            };
            let right_at = self.place();
            let right = number(self.product()?, right_at)?;
            left = Node::Arithmetic(operator, number(left, at)?.into(), right.into());
        }
    }

    fn product(&mut self) -> Result<Node> {
        let at = self.place();
        let mut left = self.factor()?;
        loop {
            let operator = match () {
                () if self.take(&["*"]) => Arithmetic::Multiply,
                () if self.take(&["/"]) => Arithmetic::Divide,
                () => return Ok(left),
            };
            let right_at = self.place();
            let right = number(self.factor()?, right_at)?;
            left = Node::Arithmetic(operator, number(left, at)?.into(), right.into());
        }
    }

    fn factor(&mut self) -> Result<Node> {
        let at = self.place();
        if self.take(&["-"]) {
            return Ok(Node::Negate(number(self.factor()?, at)?.into()));
        }
        if self.take(&["("]) {
            let inner = self.disjunction()?;
            self.close()?;
            return Ok(inner);
        }
        match self.tokens.get(self.next).map(|(_, token)| token.clone()) {
            Some(Token::Number(value)) => {
                self.next += 1;
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
        let first = number(self.sum()?, first_at)?;
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
                Node::Arithmetic(operator, first.into(), number(self.sum()?, second_at)?.into())
            }
        };
        self.close()?;
        Ok(node)
    }

    fn column(&mut self, name: &str) -> Result<Node> {
        let (entity, outcome) = match name.split_once(':') {
            Some((entity, outcome)) => (self.catalogue.find_entity(entity)?, outcome),
            None => (self.entity.ok_or_else(|| ExpressionError::NoEntity { name: name.to_owned() })?, name),
        };
        let column = OutcomeRef { entity, outcome: self.catalogue.kind_of(entity).find_outcome(outcome)? };
        let place = self.columns.iter().position(|c| *c == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        Ok(Node::Column(place))
    }
}

fn number(node: Node, at: usize) -> Result<Node> {
    match node {
        Node::Compare(..) | Node::And(..) | Node::Or(..) | Node::Not(..) => {
            Err(ExpressionError::Type { what: "a condition stands where a number is needed", at })
        }
        node => Ok(node),
    }
}
