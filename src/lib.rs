//! Reduce a failing input, abstract it into a pattern, generate more inputs that fail the same way.

pub mod grammar;
pub mod oracle;
pub mod reduce;
pub mod search;
pub mod tree;
