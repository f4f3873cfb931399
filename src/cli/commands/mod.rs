//! One file a command.

pub(crate) mod combine;
pub(crate) mod coverage;
pub(crate) mod generalize;
pub(crate) mod generate;
pub(crate) mod grammar;
pub(crate) mod matching;
pub(crate) mod oracle;
pub(crate) mod parse;
pub(crate) mod reduce;
pub(crate) mod report;
pub(crate) mod sample;
