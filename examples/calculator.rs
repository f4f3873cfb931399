//! A pocket calculator with a bug, to try `ddset` on.
//!
//! `calculator FILE` (or the standard input, when there is no FILE) reads one arithmetic expression of integers and
//! decimals, `+ - * /`, signs, parentheses and white space, and prints its value. It exits with 0, or with 2 and a
//! message when the input is no expression. Division by zero gives `inf` or `NaN`; parentheses and signs may nest
//! [`MAX_NESTING`] deep.
//!
//! The bug: it panics (exit 101, `internal error: group without operator …`) on a valid expression if, and only if, the
//! body of some pair of parentheses is directly another pair, as in `((4))` or `1 + ( (2 * 3) )`. White space between
//! them makes no difference. [`simplify_group`] shows how it came about.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, not part of the library")]

use std::io::Read;
use std::process::ExitCode;

/// How deep parentheses and signs may nest: every level costs stack, in the parser and in each pass.
const MAX_NESTING: usize = 500;

fn main() -> ExitCode {
    let text = match read_input() {
        Ok(text) => text,
        Err(error) => {
            eprintln!("calculator: {error}");
            return ExitCode::from(2);
        }
    };
    match parse(&text) {
        Ok(expr) => {
            println!("{}", value(&simplify(expr, Level::Sum)));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("calculator: {} at byte {}", error.message, error.at);
            ExitCode::from(2)
        }
    }
}

fn read_input() -> std::io::Result<Vec<u8>> {
    match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path),
        None => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            Ok(text)
        }
    }
}

/// An expression as it was written, parentheses included. Chains of one level are flat, so that a long sum is not deep.
#[derive(Debug)]
enum Expr {
    Number(f64),
    Sign(Sign, Box<Expr>),
    /// At least two operands; the first one's operator is [`Operator::Add`] or [`Operator::Multiply`].
    Chain(Level, Vec<(Operator, Expr)>),
    Group(Box<Expr>),
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// How strongly an operator binds, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Sign,
}

/// Drops the parentheses that change nothing, so that fewer nodes are left to evaluate.
///
/// `context` is the level of the operator around `expr`: what binds more loosely needs its parentheses.
fn simplify(expr: Expr, context: Level) -> Expr {
    match expr {
        Expr::Number(_) => expr,
        Expr::Sign(sign, operand) => Expr::Sign(sign, Box::new(simplify(*operand, Level::Sign))),
        Expr::Chain(level, operands) => {
            let simplified = operands.into_iter().map(|(operator, operand)| (operator, simplify(operand, level)));
            Expr::Chain(level, simplified.collect())
        }
        Expr::Group(body) => simplify_group(*body, context),
    }
}

/// A number needs no parentheses. Whatever else stands in them has an operator, and that decides.
fn simplify_group(body: Expr, context: Level) -> Expr {
    if let Expr::Number(_) = body {
        return body;
    }
    let Some(level) = loosest_operator(&body) else {
        panic!("internal error: group without operator: {body:?}");
    };
    let body = simplify(body, Level::Sum);
    if level > context { body } else { Expr::Group(Box::new(body)) }
}

/// The level of the operator that `expr` is made with, if it is made with one.
fn loosest_operator(expr: &Expr) -> Option<Level> {
    match expr {
        Expr::Number(_) | Expr::Group(_) => None,
        Expr::Sign(..) => Some(Level::Sign),
        Expr::Chain(level, _) => Some(*level),
    }
}

fn value(expr: &Expr) -> f64 {
    match expr {
        Expr::Number(number) => *number,
        Expr::Sign(Sign::Plus, operand) => value(operand),
        Expr::Sign(Sign::Minus, operand) => -value(operand),
        Expr::Group(body) => value(body),
        Expr::Chain(level, operands) => {
            let neutral = if *level == Level::Sum { 0.0 } else { 1.0 };
            operands.iter().fold(neutral, |left, (operator, operand)| apply(*operator, left, value(operand)))
        }
    }
}

fn apply(operator: Operator, left: f64, right: f64) -> f64 {
    match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
    }
}

struct SyntaxError {
    message: &'static str,
    at: usize,
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    nesting: usize,
}

fn parse(text: &[u8]) -> Result<Expr, SyntaxError> {
    let mut parser = Parser { text, at: 0, nesting: 0 };
    let expr = parser.expr()?;
    match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.error("expected an operator or the end")),
    }
}

impl Parser<'_> {
    /// `term (("+" | "-") term)*`
    fn expr(&mut self) -> Result<Expr, SyntaxError> {
        let mut operands = vec![(Operator::Add, self.term()?)];
        loop {
            let operator = match self.peek() {
                Some(b'+') => Operator::Add,
                Some(b'-') => Operator::Subtract,
                _ => return Ok(chain(Level::Sum, operands)),
            };
            self.at += 1;
            operands.push((operator, self.term()?));
        }
    }

    /// `factor (("*" | "/") factor)*`
    fn term(&mut self) -> Result<Expr, SyntaxError> {
        let mut operands = vec![(Operator::Multiply, self.factor()?)];
        loop {
            let operator = match self.peek() {
                Some(b'*') => Operator::Multiply,
                Some(b'/') => Operator::Divide,
                _ => return Ok(chain(Level::Product, operands)),
            };
            self.at += 1;
            operands.push((operator, self.factor()?));
        }
    }

    /// `("+" | "-") factor | "(" expr ")" | number`
    fn factor(&mut self) -> Result<Expr, SyntaxError> {
        match self.peek() {
            Some(b'+') => self.nested(|parser| Ok(Expr::Sign(Sign::Plus, Box::new(parser.factor()?)))),
            Some(b'-') => self.nested(|parser| Ok(Expr::Sign(Sign::Minus, Box::new(parser.factor()?)))),
            Some(b'(') => self.nested(Self::group),
            Some(b'0'..=b'9') => self.number(),
            _ => Err(self.error("expected a number, a sign or `(`")),
        }
    }

    /// Steps over the byte that opens one more level, then goes on with `inner`.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<Expr, SyntaxError>) -> Result<Expr, SyntaxError> {
        if self.nesting == MAX_NESTING {
            return Err(self.error("nested too deep"));
        }
        self.at += 1;
        self.nesting += 1;
        let expr = inner(self)?;
        self.nesting -= 1;
        Ok(expr)
    }

    fn group(&mut self) -> Result<Expr, SyntaxError> {
        let body = self.expr()?;
        if self.peek() != Some(b')') {
            return Err(self.error("expected an operator or `)`"));
        }
        self.at += 1;
        Ok(Expr::Group(Box::new(body)))
    }

    /// `[0-9]+ ("." [0-9]+)?`
    fn number(&mut self) -> Result<Expr, SyntaxError> {
        let start = self.at;
        self.digits();
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("expected a digit"));
            }
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).ok();
        let number = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| self.error("expected a number"))?;
        Ok(Expr::Number(number))
    }

    fn digits(&mut self) -> usize {
        let count = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// The next byte that is no white space, which is skipped.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn error(&self, message: &'static str) -> SyntaxError {
        SyntaxError { message, at: self.at }
    }
}

fn chain(level: Level, mut operands: Vec<(Operator, Expr)>) -> Expr {
    match operands.pop() {
        Some((_, only)) if operands.is_empty() => only,
        last => {
            operands.extend(last);
            Expr::Chain(level, operands)
        }
    }
}
