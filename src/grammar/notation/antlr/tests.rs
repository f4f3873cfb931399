//! Samples of each construct.
