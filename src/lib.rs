//! Reduce a failing input, abstract it into a pattern, generate more inputs that fail the same way.

pub mod abstraction;
pub mod generate;
pub mod grammar;
pub mod oracle;
pub mod parse;
pub mod pattern;
pub mod reduce;
pub mod search;
pub mod session;
pub mod tree;
