//! Inputs that meet a condition on patterns.

use super::{Condition, Matcher, RefineError, refine};
use crate::generate::Samples;
use crate::grammar::Grammar;
use crate::layout::Layout;
use crate::parse::Parser;
use crate::pattern::Pattern;
use crate::tree::Tree;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// How many samples in a row may be of no use before it is given up.
const PATIENCE: usize = 2_000;

/// Distinct random inputs of a grammar for which a condition holds, made by the refined grammar and checked one by one.
pub struct Where {
    grammar: Arc<Grammar>,
    refined: Grammar,
    condition: Condition,
    matcher: Matcher,
    size: i32,
    seed: u64,
    number: usize,
    known: FxHashSet<Vec<u8>>,
}

impl Where {
    /// Inputs of about `size` nodes.
    ///
    /// # Errors
    /// See [`RefineError`].
    pub fn new(patterns: &[&Pattern], condition: Condition, size: i32, seed: u64) -> Result<Where, RefineError> {
        let matcher = Matcher::new(patterns).ok_or(RefineError::Empty)?;
        let grammar = matcher.grammar().clone();
        let refined = Grammar::read(&refine(&grammar, patterns, &condition)?.source, None)?;
        Ok(Where { grammar, refined, condition, matcher, size, seed, number: 0, known: FxHashSet::default() })
    }

    /// The tree of a sample, tied names made equal, if the condition holds of it then.
    fn accepted(&mut self, sample: &Tree) -> Option<Tree> {
        let parser = Parser::new(&self.grammar);
        let tree = parser.parse(sample.text()).ok()?;
        if self.matcher.holds(&self.condition, &tree) {
            return Some(tree);
        }
        let mut edits: Vec<(usize, Tree)> = Vec::new();
        for (_, groups) in self.matcher.tied_places(&tree) {
            for group in groups {
                let Some((first, others)) = group.split_first() else { continue };
                let name = tree.fragment(*first);
                edits.extend(others.iter().map(|other| (*other, name.clone())));
            }
        }
        edits.sort_by_key(|(at, _)| *at);
        // Of places within each other only the outer one.
        let mut end = 0;
        edits.retain(|(at, _)| {
            let free = *at >= end;
            end = if free { tree.after(*at) } else { end };
            free
        });
        let edits: Vec<(usize, &Tree)> = edits.iter().map(|(at, name)| (*at, name)).collect();
        let tied = tree.replace(self.grammar.lexicon(), &edits);
        let tied = parser.parse(tied.text()).ok()?;
        self.matcher.holds(&self.condition, &tied).then_some(tied)
    }
}

impl Iterator for Where {
    /// The input, as its readers see it.
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let refined = self.refined.clone();
        let mut samples = Samples::new(&refined, self.size, self.seed).skip(self.number);
        for _ in 0..PATIENCE {
            self.number += 1;
            let sample = samples.next()?;
            if let Some(tree) = self.accepted(&sample)
                && self.known.insert(tree.text().to_vec())
            {
                return Some(Layout::of(&self.grammar).unfold(tree.text()).into_owned());
            }
        }
        None
    }
}
