//! Tokens to a syntax tree.
//!
//! ```text
//! program  = { "let" name "=" sum ";" } sum [ ";" ]
//! sum      = product { ("+" | "-") product }
//! product  = factor { ("*" | "/") factor }
//! factor   = "-" factor | power
//! power    = part [ "^" factor ]
//! part     = value { "." name }
//! value    = number | name | name "(" list ")" | "(" sum ")" | "[" list "]"
//! ```
//!
//! The tree is one list in which every part stands before what is made of it, so that whatever walks it
//! goes through the list and needs no recursion. The parser itself descends, to a fixed depth.

use std::ops::Range;

use super::error::ExpressionError;
use super::token::{Token, tokens};

/// How deep brackets, calls, signs and powers may nest.
const DEPTH: usize = 200;
/// How many parts a text may have.
const PARTS: usize = 100_000;

/// A part of the tree, by its position in [`Syntax::parts`].
#[doc(hidden)]
pub type Part = usize;

/// What a part is made of.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub enum Form {
    /// A number.
    Number(f64),
    /// A freedom, a parameter or a constant of the language.
    Name(String),
    /// The value of an earlier `let`.
    Bound(Part),
    /// −a.
    Negative(Part),
    /// a + b, a − b, a * b, a / b or a ^ b.
    Binary(Operator, Part, Part),
    /// A function with its arguments.
    Call(String, Vec<Part>),
    /// A list.
    List(Vec<Part>),
    /// a.x, a.y or a.z, as 0, 1 or 2.
    Component(Part, usize),
}

/// What stands between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Operator {
    /// a + b
    Add,
    /// a − b
    Subtract,
    /// a * b
    Multiply,
    /// a / b
    Divide,
    /// a ^ b
    Power,
}

/// The syntax tree of a text.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct Syntax {
    /// All parts, each after those it is made of.
    pub parts: Vec<Form>,
    /// The text of each part, in bytes.
    pub spans: Vec<Range<usize>>,
    /// The part that is the value of the whole.
    pub result: Part,
    /// The names that `let` gives, with their places.
    pub names: Vec<(String, Range<usize>)>,
}

impl Syntax {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<Syntax, ExpressionError> {
        let tokens = tokens(text)?;
        let mut parser = Parser {
            text,
            tokens: &tokens,
            at: 0,
            depth: 0,
            bound: Vec::new(),
            syntax: Syntax { parts: Vec::new(), spans: Vec::new(), result: 0, names: Vec::new() },
        };
        parser.program()?;
        Ok(parser.syntax)
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [(Token, Range<usize>)],
    at: usize,
    depth: usize,
    /// Names of earlier `let`s and their values.
    bound: Vec<(&'t str, Part)>,
    syntax: Syntax,
}

type Parsed = Result<Part, ExpressionError>;

impl<'t> Parser<'t> {
    fn token(&self) -> Token {
        self.tokens[self.at].0
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    fn word(&self) -> &'t str {
        &self.text[self.span()]
    }

    fn is(&self, sign: u8) -> bool {
        self.token() == Token::Sign(sign)
    }

    fn take(&mut self, sign: u8) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    /// Says what was expected at the present token.
    fn expected(&self, what: &str) -> ExpressionError {
        let message = match self.token() {
            Token::End => format!("the text ends where {what} is expected"),
            _ => format!("{what} is expected here, not `{}`", self.word()),
        };
        ExpressionError::at(self.span(), message, format!("write {what}"))
    }

    fn require(&mut self, sign: u8, what: &str) -> Result<(), ExpressionError> {
        if self.take(sign) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Adds a part whose text goes from a byte to the last token taken.
    fn push(&mut self, form: Form, start: usize) -> Parsed {
        let span = start..self.tokens[self.at.saturating_sub(1)].1.end;
        if self.syntax.parts.len() >= PARTS {
            let help = format!("at most {PARTS} numbers, names and operators");
            return Err(ExpressionError::at(span, "this expression is too long", help));
        }
        self.syntax.parts.push(form);
        self.syntax.spans.push(span);
        Ok(self.syntax.parts.len() - 1)
    }

    fn start_of(&self, part: Part) -> usize {
        self.syntax.spans[part].start
    }

    fn program(&mut self) -> Result<(), ExpressionError> {
        while self.token() == Token::Name && self.word() == "let" {
            self.at += 1;
            if self.token() != Token::Name || self.word() == "let" {
                return Err(self.expected("a name"));
            }
            let (name, span) = (self.word(), self.span());
            if self.bound.iter().any(|(other, _)| *other == name) {
                let message = format!("`{name}` has a value already");
                return Err(ExpressionError::at(span, message, "give this one another name"));
            }
            self.at += 1;
            self.require(b'=', "`=`")?;
            let value = self.sum()?;
            self.require(b';', "`;`")?;
            self.bound.push((name, value));
            self.syntax.names.push((name.into(), span));
        }
        self.syntax.result = self.sum()?;
        self.take(b';');
        if self.token() == Token::End { Ok(()) } else { Err(self.expected("an operator or the end")) }
    }

    fn sum(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH {
            let help = format!("at most {DEPTH} levels; give parts a name with `let`");
            return Err(ExpressionError::at(self.span(), "brackets are nested too deeply", help));
        }
        let mut a = self.product()?;
        loop {
            let operator = match self.token() {
                Token::Sign(b'+') => Operator::Add,
                Token::Sign(b'-') => Operator::Subtract,
                _ => break,
            };
            self.at += 1;
            let b = self.product()?;
            a = self.push(Form::Binary(operator, a, b), self.start_of(a))?;
        }
        self.depth -= 1;
        Ok(a)
    }

    fn product(&mut self) -> Parsed {
        let mut a = self.factor()?;
        loop {
            let operator = match self.token() {
                Token::Sign(b'*') => Operator::Multiply,
                Token::Sign(b'/') => Operator::Divide,
                _ => return Ok(a),
            };
            self.at += 1;
            let b = self.factor()?;
            a = self.push(Form::Binary(operator, a, b), self.start_of(a))?;
        }
    }

    /// Signs and powers, which stand in front of what they act on: kept aside until it has been read.
    fn factor(&mut self) -> Parsed {
        let mut waiting: Vec<(usize, Option<Part>)> = Vec::new();
        let mut value = loop {
            if waiting.len() > DEPTH {
                let help = format!("at most {DEPTH} in a row");
                return Err(ExpressionError::at(self.span(), "too many signs or powers", help));
            }
            if self.is(b'-') {
                waiting.push((self.span().start, None));
                self.at += 1;
                continue;
            }
            let base = self.part()?;
            if !self.take(b'^') {
                break base;
            }
            waiting.push((self.start_of(base), Some(base)));
        };
        while let Some((start, base)) = waiting.pop() {
            let form = match base {
                None => Form::Negative(value),
                Some(base) => Form::Binary(Operator::Power, base, value),
            };
            value = self.push(form, start)?;
        }
        Ok(value)
    }

    fn part(&mut self) -> Parsed {
        let mut a = self.value()?;
        while self.take(b'.') {
            let component = ["x", "y", "z"].iter().position(|c| *c == self.word());
            let Some(component) = component.filter(|_| self.token() == Token::Name) else {
                return Err(self.expected("x, y or z"));
            };
            self.at += 1;
            a = self.push(Form::Component(a, component), self.start_of(a))?;
        }
        Ok(a)
    }

    fn value(&mut self) -> Parsed {
        let start = self.span().start;
        match self.token() {
            Token::Number(x) => {
                self.at += 1;
                self.push(Form::Number(x), start)
            }
            Token::Name => {
                let name = self.word();
                if name == "let" {
                    return Err(self.expected("a value"));
                }
                self.at += 1;
                if self.take(b'(') {
                    let arguments = self.list(b')', "`)` or `,`")?;
                    return self.push(Form::Call(name.into(), arguments), start);
                }
                match self.bound.iter().find(|(other, _)| *other == name) {
                    Some((_, value)) => self.push(Form::Bound(*value), start),
                    None => self.push(Form::Name(name.into()), start),
                }
            }
            Token::Sign(b'(') => {
                self.at += 1;
                let value = self.sum()?;
                self.require(b')', "`)`")?;
                // The brackets belong to what is underlined.
                self.syntax.spans[value] = start..self.tokens[self.at - 1].1.end;
                Ok(value)
            }
            Token::Sign(b'[') => {
                self.at += 1;
                let entries = self.list(b']', "`]` or `,`")?;
                self.push(Form::List(entries), start)
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// Values between commas, up to a closing bracket.
    fn list(&mut self, close: u8, what: &str) -> Result<Vec<Part>, ExpressionError> {
        let mut list = Vec::new();
        while !self.take(close) {
            list.push(self.sum()?);
            if !self.take(b',') && !self.is(close) {
                return Err(self.expected(what));
            }
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    //! Claim: precedence is that of mathematics, places are those of the text, and nothing overflows.

    use super::*;

    /// The tree with all its brackets.
    fn shown(text: &str) -> String {
        let syntax = Syntax::parse(text).unwrap();
        let mut words: Vec<String> = Vec::new();
        for form in &syntax.parts {
            let all = |list: &[Part]| list.iter().map(|p| words[*p].clone()).collect::<Vec<_>>().join(",");
            words.push(match form {
                Form::Number(x) => x.to_string(),
                Form::Name(name) => name.clone(),
                Form::Bound(a) => words[*a].clone(),
                Form::Negative(a) => format!("-{}", words[*a]),
                Form::Binary(operator, a, b) => {
                    let sign = ["+", "-", "*", "/", "^"][*operator as usize];
                    format!("({}{sign}{})", words[*a], words[*b])
                }
                Form::Call(name, list) => format!("{name}({})", all(list)),
                Form::List(list) => format!("[{}]", all(list)),
                Form::Component(a, k) => format!("{}.{}", words[*a], ["x", "y", "z"][*k]),
            });
        }
        words[syntax.result].clone()
    }

    #[test]
    fn precedence() {
        for (text, tree) in [
            ("1 + 2 * 3", "(1+(2*3))"),
            ("a - b - c", "((a-b)-c)"),
            ("a / b * c", "((a/b)*c)"),
            ("-a ^ 2", "-(a^2)"),
            ("a ^ -b ^ 2", "(a^-(b^2))"),
            ("2 * -a", "(2*-a)"),
            ("--a", "--a"),
            ("(a + b).x ^ 2", "((a+b).x^2)"),
            ("f(a, [1, .5e1,], g())", "f(a,[1,5],g())"),
            ("let a = 1; let b = a + 1; b * a; # the end", "((1+1)*1)"),
        ] {
            assert_eq!(shown(text), tree, "{text}");
        }
    }

    #[test]
    fn errors_have_a_place() {
        for (text, offending, message) in [
            ("1 +", "", "the text ends where a value is expected"),
            ("1 + * 2", "*", "a value is expected here, not `*`"),
            ("f(1 2)", "2", "`)` or `,` is expected here, not `2`"),
            ("a.w", "w", "x, y or z is expected here, not `w`"),
            ("let a 1; a", "1", "`=` is expected here, not `1`"),
            ("let a = 1 a", "a", "`;` is expected here, not `a`"),
            ("let a = 1; let a = 2; a", "a", "`a` has a value already"),
            ("1 2", "2", "an operator or the end is expected here, not `2`"),
            ("1 § 2", "§", "`§` has no meaning here"),
            ("1e999", "1e999", "this number is too large"),
            ("", "", "the text ends where a value is expected"),
        ] {
            let error = Syntax::parse(text).unwrap_err();
            assert_eq!(error.message, message);
            let super::super::error::Place::Text(span) = error.place else { panic!("no place") };
            assert_eq!(&text[span], offending, "{text}");
        }
    }

    #[test]
    fn deep_and_long_texts_are_refused() {
        for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("-", ""), ("2^", "")] {
            for (count, fits) in [(150, true), (1_000, false), (100_000, false)] {
                let text = format!("{}1{}", open.repeat(count), close.repeat(count));
                assert_eq!(Syntax::parse(&text).is_ok(), fits, "{count} {open}");
            }
        }
        let long = |count: usize| format!("1{}", " + 1".repeat(count));
        assert!(Syntax::parse(&long(10_000)).is_ok());
        assert_eq!(Syntax::parse(&long(1_000_000)).unwrap_err().message, "this expression is too long");
    }
}
