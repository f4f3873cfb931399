//! From a minimal failing input to a pattern: which parts may be anything, which are tied together, and on what evidence.
//!
//! The order of the search, and why (Gopinath et al., "Abstracting Failure-Inducing Inputs", ISSTA 2020, asks up to 100
//! samples at every node; this asks far fewer):
//!
//! 1. `screen`: leaves first. A filling that passes below a node decides every node above it, since the same text is a
//!    derivation of each.
//! 2. `covary`: equal names that failed in no way alone may fail when they change together.
//! 3. `screen` again: inner nodes from the top, those that are still open.
//! 4. `joint`: all holes at once, until enough distinct inputs have failed. Here the samples are shared by all holes; a pass
//!    is narrowed down to its culprit, which becomes concrete, and the count begins anew.
//!
//! A failing run is a fact; a passing one is asked again before it decides anything.

mod candidates;
mod covary;
mod exception;
mod fillings;
mod joint;
mod rare;
mod restrict;
mod screen;
mod space;
#[cfg(test)]
mod tests;

use crate::generate::validity::{Edge, Validity};
use crate::generate::words;
use crate::grammar::{Grammar, SymbolId};
use crate::oracle::Outcome;
use crate::pattern::instances::{Drawer, Fillings, filled};
use crate::pattern::{Condition, Evidence, Filling, Hole, Pattern, Reason};
use crate::search::{Ahead, Lent, Mark, Search, Stop};
use crate::tree::Tree;
use candidates::Candidate;
use fillings::Source;
use joint::Proof;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What can be set.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all random fillings.
    pub seed: u64,
    /// How many distinct failing inputs the finished pattern must show, all holes varied at once.
    pub confidence: u32,
    /// Whether parts that are empty now (optional parts, repetitions without items) may become holes.
    pub slots: bool,
}

/// What was tried in the place of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Place of the node.
    pub at: usize,
    /// The text that was put there.
    pub text: Vec<u8>,
    /// What the run said.
    pub outcome: Outcome,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, confidence: 100, slots: true }
    }
}

/// What came out.
#[derive(Debug)]
pub struct Abstraction {
    /// The pattern; without stop, its evidence reaches the confidence asked for or says why it does not.
    pub pattern: Pattern,
    /// What was tried at single nodes, in order.
    pub trials: Vec<Trial>,
    /// What ended the search early, if something did. The pattern is then what was known at that point, and not proven.
    pub stopped: Option<Stop>,
}

/// Finds the pattern of a failing input. The tree's text must fail; it should be minimal, since every part costs runs.
pub fn generalize(grammar: &Arc<Grammar>, tree: Tree, search: &mut Search<'_>, options: &Options) -> Abstraction {
    let mut engine = Engine::new(grammar, tree, search, options);
    let stopped = engine.run(Step::Begin).err();
    engine.complete_reasons();
    let trials = std::mem::take(&mut engine.trials);
    Abstraction { pattern: engine.pattern(), trials, stopped }
}

/// What is known of a candidate.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    failed: u32,
    unresolved: u32,
}

/// What is to be done next; numbers are those of candidates.
#[derive(Clone)]
enum Step {
    Begin,
    Leaves(usize),
    Names,
    Inner(usize),
    Slots,
    Hostile(u64),
    Proof(Proof),
    Rare,
}

/// The state at a clean point: all that follows is determined by it and by outcomes.
struct Kept<'e, 'o> {
    mark: Mark,
    engine: Engine<'e, 'o>,
    step: Step,
}

#[derive(Clone)]
struct Engine<'e, 'o> {
    grammar: &'e Arc<Grammar>,
    tree: Tree,
    parents: Vec<u32>,
    search: Lent<'e, 'o>,
    options: &'e Options,
    candidates: Vec<Candidate>,
    sources: FxHashMap<usize, Source>,
    counts: FxHashMap<usize, Counts>,
    /// Nodes that are concrete: some filling of them, or of a node below them, passed.
    dead: FxHashSet<usize>,
    reasons: BTreeMap<usize, Vec<u8>>,
    undecided: Vec<usize>,
    holes: Vec<Hole>,
    /// Holes inside of others, with the place of the other.
    covered: Vec<(usize, Hole)>,
    evidence: Evidence,
    /// The fillings of the failing inputs that are the evidence.
    samples: Vec<Fillings>,
    validity: Validity,
    drawer: Drawer,
    small: FxHashMap<SymbolId, Option<Vec<Tree>>>,
    /// Texts whose pass was confirmed.
    confirmed: FxHashSet<[u8; 32]>,
    /// Distinct inputs run so far, and how many of them were unresolved.
    asked: u32,
    invalid: u32,
    /// Blame for unresolved runs, by hole.
    blame: FxHashMap<u32, f64>,
    /// Whether a screened node is varied together with the present holes.
    together: bool,
    /// Whether white space may be varied.
    free_space: bool,
    /// What the systematic fillings of each hole came to.
    systematic: FxHashMap<usize, Counts>,
    trials: Vec<Trial>,
    /// The last clean point.
    kept: Option<Rc<Kept<'e, 'o>>>,
}

/// A language of at most so many words is tried word by word.
const SMALL: usize = 16;

impl<'e, 'o> Engine<'e, 'o> {
    fn new(grammar: &'e Arc<Grammar>, tree: Tree, search: &'e mut Search<'o>, options: &'e Options) -> Self {
        let mut validity = Validity::default();
        // The input is a valid sample itself, and worth more than one random one.
        let own = Validity::edges(grammar, &tree, u32::MAX);
        (0..3).for_each(|_| drop(validity.learn(&own, true)));
        let candidates = candidates::candidates(grammar, &tree, false);
        Engine {
            parents: tree.parents(),
            drawer: Drawer::of(grammar, &tree),
            grammar,
            tree,
            search: Lent::new(search),
            options,
            candidates,
            validity,
            sources: FxHashMap::default(),
            counts: FxHashMap::default(),
            dead: FxHashSet::default(),
            reasons: BTreeMap::new(),
            undecided: Vec::new(),
            holes: Vec::new(),
            covered: Vec::new(),
            evidence: Evidence::default(),
            samples: Vec::new(),
            small: FxHashMap::default(),
            confirmed: FxHashSet::default(),
            asked: 0,
            invalid: 0,
            blame: FxHashMap::default(),
            together: false,
            free_space: false,
            systematic: FxHashMap::default(),
            trials: Vec::new(),
            kept: None,
        }
    }

    /// Goes on with a step and all that follow it.
    fn run(&mut self, mut step: Step) -> Result<(), Stop> {
        loop {
            step = match step {
                Step::Begin => {
                    self.search.enter("leaves");
                    Step::Leaves(0)
                }
                Step::Leaves(from) => {
                    self.screen_leaves(from)?;
                    self.search.enter("co-variation");
                    Step::Names
                }
                Step::Names => {
                    self.keep(|| Step::Names);
                    self.covary()?;
                    self.search.enter("inner nodes");
                    Step::Inner(0)
                }
                Step::Inner(from) => {
                    self.screen_inner(from, None)?;
                    self.search.enter("slots");
                    Step::Slots
                }
                Step::Slots => {
                    self.keep(|| Step::Slots);
                    if self.options.slots {
                        self.screen_slots()?;
                    }
                    self.search.enter("spacing");
                    self.screen_space()?;
                    self.search.enter("proof");
                    self.evidence = Evidence::default();
                    Step::Hostile(0)
                }
                Step::Hostile(from) => {
                    self.hostile(from)?;
                    Step::Proof(Proof::default())
                }
                Step::Proof(proof) => {
                    self.prove(proof)?;
                    self.search.enter("rarely valid");
                    Step::Rare
                }
                Step::Rare => {
                    self.keep(|| Step::Rare);
                    return self.screen_rare();
                }
            };
        }
    }

    /// Keeps the state, from which a scout can go on, unless no run was done since that was last done.
    fn keep(&mut self, step: impl FnOnce() -> Step) {
        let mark = self.search.mark();
        if self.search.looks_ahead() && self.kept.as_ref().is_none_or(|kept| kept.mark != mark) {
            self.kept = None;
            self.kept = Some(Rc::new(Kept { mark, engine: self.clone(), step: step() }));
        }
    }

    /// Asks for an outcome, once more if it is known; what would follow is found out meanwhile.
    fn outcome(&mut self, text: &[u8], again: bool) -> Result<Outcome, Stop> {
        let kept = self.kept.clone();
        let go_on = |scout: &mut Search<'o>| {
            if let Some(kept) = &kept {
                let mut engine = Engine { search: Lent::new(scout), ..kept.engine.clone() };
                // It ends when the scout has seen enough.
                let _ = engine.run(kept.step.clone());
            }
        };
        let ahead = kept.as_ref().map(|kept| Ahead { mark: kept.mark, go_on: &go_on });
        match again {
            true => self.search.retest_ahead(text, ahead.as_ref()),
            false => self.search.test_ahead(text, ahead.as_ref()),
        }
    }

    /// Runs the tree with these fillings, and learns from it.
    fn ask(&mut self, fillings: &Fillings) -> Result<Outcome, Stop> {
        let text = filled(self.grammar, &self.tree, fillings).text().to_vec();
        self.ask_text(&text, fillings)
    }

    /// The same for a text that has other white space.
    fn ask_text(&mut self, text: &[u8], fillings: &Fillings) -> Result<Outcome, Stop> {
        let new = self.search.known(text).is_none();
        let mut outcome = self.outcome(text, false)?;
        if outcome == Outcome::Pass && self.confirmed.insert(*blake3::hash(text).as_bytes()) {
            // From the first contradiction on, the oracle is known to be unsteady, and one more look is not enough.
            let looks = if self.search.contradictions() > 0 { 4 } else { 1 };
            for _ in 0..looks {
                if self.outcome(text, true)? == Outcome::Fail {
                    outcome = Outcome::Fail;
                    break;
                }
            }
        }
        if new {
            self.asked += 1;
            self.invalid += u32::from(outcome == Outcome::Unresolved);
            let edges: Vec<Edge> = fillings
                .iter()
                .flat_map(|(at, fragment)| Validity::edges(self.grammar, fragment, *at as u32))
                .collect();
            let shares = self.validity.learn(&edges, outcome != Outcome::Unresolved);
            for (edge, share) in edges.iter().zip(shares) {
                *self.blame.entry(edge.hole).or_default() += share;
            }
        }
        Ok(outcome)
    }

    /// The node and what contains it, innermost first.
    fn chain(&self, at: usize) -> Vec<usize> {
        let mut chain = vec![at];
        let mut at = at;
        while at != 0 {
            at = self.parents[at] as usize;
            chain.push(at);
        }
        chain
    }

    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.tree.subtree(outer).contains(&inner)
    }

    /// With `text` in its place the input passes: the node is concrete, and so is all that contains it.
    fn kill(&mut self, at: usize, text: &[u8]) {
        let shorter = self.reasons.get(&at).is_none_or(|known| text.len() < known.len());
        if shorter {
            self.reasons.insert(at, text.to_vec());
        }
        self.dead.extend(self.chain(at));
    }

    /// The same for all that lies on the way down to the same text and derives `filling`, too: grammars with a rule for each
    /// level of operators have a dozen such nodes for one operand.
    fn kill_with(&mut self, at: usize, filling: &Tree) {
        let text = filling.lexeme(0).to_vec();
        let whole = (0..filling.len()).take_while(|node| filling.lexeme(*node) == text);
        let symbols: Vec<SymbolId> = whole.map(|node| filling.node(node).symbol).collect();
        for inner in self.same_text_below(at) {
            if symbols.contains(&self.tree.node(inner.at).symbol) {
                self.kill(inner.at, &text);
            }
        }
        self.kill(at, &text);
    }

    /// The candidates below a node that spell all of it.
    fn same_text_below(&self, at: usize) -> Vec<Candidate> {
        let same = |inner: &&Candidate| {
            inner.at != at && self.is_inside(inner.at, at) && self.tree.lexeme(inner.at) == self.tree.lexeme(at)
        };
        self.candidates.iter().filter(same).copied().collect()
    }

    fn close_above(&mut self, at: usize) {
        self.dead.extend(self.chain(at).into_iter().skip(1));
    }

    /// The words of a small language.
    fn small(&mut self, symbol: SymbolId) -> Option<Vec<Tree>> {
        let grammar = self.grammar;
        self.small.entry(symbol).or_insert_with(|| words::words(grammar, symbol, SMALL)).clone()
    }

    /// Whether the node is or lies in a hole.
    fn is_taken(&self, at: usize) -> bool {
        self.holes.iter().flat_map(|hole| &hole.members).any(|member| self.is_inside(at, *member))
    }

    /// Brings back the holes that were inside of one that is no hole any more.
    fn uncover(&mut self, at: usize) {
        let covered: Vec<(usize, Hole)> = self.covered.extract_if(.., |(outer, _)| *outer == at).collect();
        for (_, hole) in covered {
            if !hole.members.iter().any(|member| self.is_taken(*member)) {
                self.holes.push(hole);
            }
        }
    }

    /// Makes a hole of a node; holes inside it are no longer needed.
    fn open_hole(&mut self, at: usize, filling: Filling) {
        let subtree = self.tree.subtree(at);
        let inside = |hole: &mut Hole| hole.members.iter().all(|member| subtree.contains(member));
        let covered: Vec<Hole> = self.holes.extract_if(.., inside).collect();
        self.covered.extend(covered.into_iter().map(|hole| (at, hole)));
        let Counts { failed, unresolved } = self.counts.get(&at).copied().unwrap_or_default();
        self.holes.push(Hole { failed, unresolved, ..Hole::new(vec![at], filling) });
    }

    /// The shortest text that passes in the place of each concrete part, from what is known already: reduction has tried the
    /// least text of a part, and its own parts of the same kind.
    fn complete_reasons(&mut self) {
        for candidate in self.candidates.clone() {
            let at = candidate.at;
            if !self.dead.contains(&at) || self.is_taken(at) {
                continue;
            }
            let symbol = self.tree.node(at).symbol;
            let parts = self.tree.subtree(at).skip(1).filter(|part| self.tree.node(*part).symbol == symbol);
            let mut fragments: Vec<Tree> = parts.map(|part| self.tree.fragment(part)).collect();
            fragments.push(crate::tree::least(self.grammar, symbol));
            fragments.sort_by_key(|fragment| fragment.lexeme(0).len());
            let passes = |fragment: &&Tree| {
                let text = filled(self.grammar, &self.tree, &[(at, (*fragment).clone())]);
                self.search.known(text.text()) == Some(Outcome::Pass)
            };
            if let Some(text) = fragments.iter().find(passes).map(|fragment| fragment.lexeme(0).to_vec()) {
                let shorter = self.reasons.get(&at).is_none_or(|known| text.len() < known.len());
                if shorter {
                    self.reasons.insert(at, text);
                }
            }
        }
    }

    fn pattern(self) -> Pattern {
        let mut holes = self.holes;
        holes.iter_mut().for_each(sort_members);
        holes.sort_by_key(|hole| hole.members[0]);
        say_once(&mut holes);
        let covered =
            |at: usize| holes.iter().flat_map(|hole| &hole.members).any(|m| self.tree.subtree(*m).contains(&at));
        let mut undecided: Vec<usize> =
            self.undecided.iter().copied().filter(|at| !self.dead.contains(at) && !covered(*at)).collect();
        undecided.sort_unstable();
        undecided.dedup();
        // What holds a hole is shown by the hole, and what lies in another undecided part by that.
        let holds = |at: usize| holes.iter().flat_map(|hole| &hole.members).any(|m| self.tree.subtree(at).contains(m));
        undecided.retain(|at| !holds(*at));
        let all = undecided.clone();
        undecided.retain(|at| !all.iter().any(|outer| outer != at && self.tree.subtree(*outer).contains(at)));
        let reasons = self.reasons.into_iter().filter(|(at, _)| !covered(*at));
        let reasons = reasons.map(|(at, passes_with)| Reason { at, passes_with }).collect();
        Pattern {
            grammar: self.grammar.clone(),
            reasons,
            undecided,
            holes,
            evidence: self.evidence,
            validity: self.validity,
            free_space: self.free_space,
            tree: self.tree,
        }
    }
}

fn sort_members(hole: &mut Hole) {
    let mut order: Vec<usize> = (0..hole.members.len()).collect();
    order.sort_by_key(|place| hole.members[*place]);
    if !hole.copies.is_empty() {
        hole.copies = order.iter().map(|place| hole.copies[*place].clone()).collect();
    }
    hole.members.sort_unstable();
}

/// That two holes differ is said at the second of them only.
fn say_once(holes: &mut [Hole]) {
    for earlier in 0..holes.len() {
        let said: Vec<usize> = holes[earlier + 1..]
            .iter()
            .filter(|later| match &later.condition {
                Some(Condition::Differs(places)) => places.iter().any(|place| holes[earlier].members.contains(place)),
                _ => false,
            })
            .flat_map(|later| later.members.clone())
            .collect();
        if let Some(Condition::Differs(places)) = &mut holes[earlier].condition {
            places.retain(|place| !said.contains(place));
            if places.is_empty() {
                holes[earlier].condition = None;
            }
        }
    }
}
