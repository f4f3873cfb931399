//! Reduce a failing input, abstract it into a pattern, generate more inputs that fail the same way.
//!
//! What the command `ddset` does, as calls. The oracle is a closure here; [`oracle::CommandOracle`] runs a program.
//!
//! ```
//! use ddset::abstraction::{Options, generalize};
//! use ddset::{pattern::Instances, grammar::Grammar, oracle::Outcome, parse::parse, reduce::reduce, search::Search};
//! use std::sync::Arc;
//!
//! let grammar = Arc::new(Grammar::read(
//!     "expr   ::= number | '(' expr ')' | expr '+' expr
//!      /*@ token */ number ::= [0-9]+",
//!     None,
//! )?);
//! let oracle = |input: &[u8]| {
//!     if input.windows(2).any(|pair| pair == b"((") { Outcome::Fail } else { Outcome::Pass }
//! };
//! let mut search = Search::new(&oracle);
//!
//! let tree = parse(&grammar, b"1+((22+3))+(4)")?;
//! let minimal = reduce(&grammar, tree, &mut search).tree;
//! assert_eq!(minimal.text(), b"((0))");
//!
//! let pattern = generalize(&grammar, minimal, &mut search, &Options::default()).pattern;
//! assert_eq!(pattern.text(), b"((<expr>))");
//! assert_eq!((pattern.evidence.failed, pattern.evidence.passed), (100, 0));
//!
//! let instances: Vec<_> = Instances::new(&pattern, 1).take(20).collect();
//! assert!(instances.iter().all(|instance| oracle(instance.text()) == Outcome::Fail));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The data goes one way: [`grammar`] → [`parse`](mod@parse) → [`tree`] → [`reduce`](mod@reduce) → [`abstraction`] →
//! [`pattern`]; [`generate`] makes what is tried in holes. Beside it, [`oracle`] and [`search`] know bytes only. [`session`]
//! keeps a run on disk. Where indentation counts, [`layout`] makes marks of it before an input is parsed, and unmakes them in
//! whatever is shown or run.

pub mod abstraction;
pub mod algebra;
pub mod generate;
pub mod grammar;
pub mod layout;
pub mod oracle;
pub mod parse;
pub mod pattern;
pub mod reduce;
pub mod search;
pub mod session;
pub mod tree;
