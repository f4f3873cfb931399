//! An oracle that sees texts as their readers do.

use super::Layout;
use crate::oracle::{Oracle, OracleError, Run};

/// Unfolds each input before the oracle inside runs it.
#[derive(Debug)]
pub struct Unfolding<O> {
    /// The oracle that runs inputs.
    pub oracle: O,
    layout: Layout,
}

impl<O> Unfolding<O> {
    /// An oracle for the derived texts of a grammar with this layout.
    pub fn new(oracle: O, layout: Layout) -> Self {
        Unfolding { oracle, layout }
    }
}

impl<O: Oracle> Oracle for Unfolding<O> {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        self.oracle.run(&self.layout.unfold(input))
    }

    fn identity(&self) -> String {
        self.oracle.identity()
    }
}
