//! A grammar as it is written: what each notation's reader builds and [`super::lower`] makes a grammar of.

use super::charset::CharSet;
use std::ops::Range;

/// A place in the source, in bytes.
pub type Span = Range<usize>;

/// A rule as written.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name, without angle brackets.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The words of the annotations before it, without `@`.
    pub annotations: Vec<(String, Span)>,
    /// What it stands for.
    pub body: Expr,
}

/// What may stand at the right of a rule.
#[derive(Clone, Debug)]
pub enum Expr {
    /// The text itself; empty text derives nothing.
    Text(String),
    /// One character of a set.
    Set(CharSet),
    /// What another rule derives.
    Name(String, Span),
    /// One after the other.
    Sequence(Vec<Expr>),
    /// One of them; the earlier one is preferred.
    Choice(Vec<Expr>),
    /// The item, `min` to `max` times.
    Repeat {
        /// What is repeated.
        item: Box<Expr>,
        /// Least count.
        min: u32,
        /// Greatest count, if there is one.
        max: Option<u32>,
    },
    /// The first but not the second; both must be sets of characters.
    Except(Box<Expr>, Box<Expr>, Span),
}
