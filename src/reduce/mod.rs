//! Reduction: the smallest derivation tree near the given one whose text still fails.
//!
//! The currency is oracle runs. The schedule: white space first; then a queue of nodes from the longest down (`queue`),
//! tokens, and white space again, until nothing changes; then a sweep over all single edits, smallest gain first. If the sweep
//! finds something, all begins again; if not, the result is 1-tree-minimal, and the sweep is the proof.
//!
//! Every candidate is an edit of a derivation tree and so in the grammar by construction, and strictly simpler than the
//! tree that it comes from (see `simpler`), so the search ends. It goes back to hierarchical delta debugging (Misherghi and
//! Su, 2006) and Perses (Sun et al., 2018).

mod context;
mod hoist;
mod list;
mod order;
mod prediction;
mod queue;
mod replacement;
mod schedule;
mod space;
mod sweep;
#[cfg(test)]
mod tests;
mod tokens;
mod view;
mod work;

use crate::grammar::Grammar;
use crate::search::{Search, Stop};
use crate::tree::Tree;
use schedule::Schedule;
use std::rc::Rc;
use work::Work;

/// What a reduction came to.
#[derive(Debug)]
pub struct Reduction {
    /// The smallest failing tree found.
    pub tree: Tree,
    /// Whether the last sweep tried every single edit of `tree` in vain: it is 1-tree-minimal for this oracle.
    pub proven: bool,
    /// Length of the text in bytes, before.
    pub before: usize,
    /// Length of the text in bytes, after.
    pub after: usize,
    /// How many oracle runs it took.
    pub runs: u64,
    /// Why it ended before it was done, if it did. `tree` is the best until then.
    pub stopped: Option<Stop>,
}

/// Reduces a tree whose text fails; the caller has made sure that it does.
///
/// ```
/// use ddset::{grammar::Grammar, oracle::Outcome, reduce::reduce, search::Search, tree::Builder};
///
/// let grammar = Grammar::read("list ::= [a-z]*", None)?;
/// let (list, letters) = (grammar.start(), grammar.alternative(grammar.start(), 0)[0]);
/// let letter = grammar.ids().find(|id| grammar.is_leaf(*id)).expect("the set");
/// let mut tree = Builder::default();
/// tree.open(list, 0);
/// tree.open(letters, 0);
/// b"abcxdef".iter().for_each(|byte| tree.leaf(letter, b"", &[*byte]));
/// tree.close();
/// tree.close();
///
/// let oracle = |input: &[u8]| if input.contains(&b'x') { Outcome::Fail } else { Outcome::Pass };
/// let mut search = Search::new(&oracle);
/// let reduced = reduce(&grammar, tree.finish(b""), &mut search);
/// assert_eq!(reduced.tree.text(), b"x");
/// assert!(reduced.proven);
/// # Ok::<(), ddset::grammar::GrammarError>(())
/// ```
pub fn reduce(grammar: &Grammar, tree: Tree, search: &mut Search<'_>) -> Reduction {
    let before = tree.text().len();
    let begin = search.runs();
    let mut work = Work::new(grammar, tree, search);
    let (proven, stopped) = match schedule::run(&mut work, &mut Schedule::default()) {
        Ok(proven) => (proven, None),
        Err(stop) => (false, Some(stop)),
    };
    let runs = work.search.runs() - begin;
    let after = work.tree.text().len();
    let tree = Rc::unwrap_or_clone(work.tree);
    Reduction { tree, proven, before, after, runs, stopped }
}
