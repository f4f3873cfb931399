//! A deterministic bottom-up tree automaton that tells of each node of a tree which shapes it looks like, and what was counted in it.
//!
//! A node's *state* is the set of shapes that it looks like and the value of each feature in its subtree, saturated. A node's
//! children are read from left to right by a word automaton, whose states are *rows*. Both are made when they are first met and
//! numbered, so that a tree is read with one look into a table for each node (Comon et al., "Tree Automata Techniques and
//! Applications", chapters 1 and 8).

use super::condition::{Condition, Feature};
use super::shape::{Shape, Shapes};
use crate::grammar::{Grammar, SymbolId};
use crate::tree::Tree;
use rustc_hash::FxHashMap;

/// The number of a node's state.
pub(super) type State = u32;
/// The number of a state within a row of children.
pub(super) type Row = u32;

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// The shapes that it looks like, ascending.
    looks: Box<[u32]>,
    values: Box<[u8]>,
}

/// What is known of the children of a node so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Children {
    symbol: SymbolId,
    alternative: u32,
    /// The inner shapes that it may still look like, and how many children they have used; 0 if there is none.
    alive: Box<[u32]>,
    used: u32,
    values: Box<[u8]>,
}

/// What is counted, up to where.
#[derive(Clone, Debug)]
struct Counted {
    feature: Feature,
    cap: u8,
    /// The place of the counts that it rests on, for those that are about two patterns.
    of: [usize; 2],
}

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    shapes: Shapes,
    counted: Vec<Counted>,
    /// For each symbol, its holes, leaves and inner shapes.
    holes: FxHashMap<SymbolId, Vec<u32>>,
    leaves: FxHashMap<SymbolId, FxHashMap<Vec<u8>, Vec<u32>>>,
    inner: FxHashMap<(SymbolId, u32), Vec<u32>>,
    nodes: Vec<Node>,
    node_numbers: FxHashMap<Node, State>,
    rows: Vec<Children>,
    row_numbers: FxHashMap<Children, Row>,
    begun: FxHashMap<(SymbolId, u32), Row>,
    steps: FxHashMap<(Row, State), Row>,
    ends: Vec<Option<State>>,
    leaf_states: FxHashMap<(SymbolId, Option<Vec<u8>>), State>,
}

impl Automaton {
    /// For all that some conditions ask of some patterns.
    pub(super) fn new(shapes: Shapes, conditions: &[&Condition]) -> Automaton {
        let mut counted: Vec<Counted> = Vec::new();
        let mut wanted: Vec<Feature> = conditions.iter().flat_map(|condition| condition.features()).collect();
        let parts = |feature: &Feature| match *feature {
            Feature::Count(_) => Vec::new(),
            Feature::Inside(a, b) | Feature::Before(a, b) => vec![Feature::Count(a), Feature::Count(b)],
        };
        let needed: Vec<Feature> = wanted.iter().flat_map(parts).collect();
        wanted.splice(0..0, needed);
        // Counts first: the others rest on them.
        wanted.sort_by_key(|feature| !matches!(feature, Feature::Count(_)));
        for feature in wanted {
            if counted.iter().any(|known| known.feature == feature) {
                continue;
            }
            let cap = conditions.iter().map(|condition| condition.cap(feature)).max().unwrap_or(1);
            let place = |pattern| counted.iter().position(|c| c.feature == Feature::Count(pattern)).unwrap_or(0);
            let of = match feature {
                Feature::Count(_) => [0, 0],
                Feature::Inside(a, b) | Feature::Before(a, b) => [place(a), place(b)],
            };
            counted.push(Counted { feature, cap: cap.min(255) as u8, of });
        }
        let mut automaton = Automaton {
            counted,
            holes: FxHashMap::default(),
            leaves: FxHashMap::default(),
            inner: FxHashMap::default(),
            nodes: Vec::new(),
            node_numbers: FxHashMap::default(),
            rows: Vec::new(),
            row_numbers: FxHashMap::default(),
            begun: FxHashMap::default(),
            steps: FxHashMap::default(),
            ends: Vec::new(),
            leaf_states: FxHashMap::default(),
            shapes,
        };
        automaton.index();
        automaton
    }

    fn index(&mut self) {
        for (id, shape) in self.shapes.nodes.iter().enumerate() {
            let id = id as u32;
            match shape {
                Shape::Hole(symbol) => self.holes.entry(*symbol).or_default().push(id),
                Shape::Leaf(symbol, text) => {
                    self.leaves.entry(*symbol).or_default().entry(text.clone()).or_default().push(id);
                }
                Shape::Node { symbol, alternative, .. } => {
                    self.inner.entry((*symbol, *alternative)).or_default().push(id);
                }
            }
        }
    }

    pub(super) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The texts of a token that some pattern asks for.
    pub(super) fn texts(&self, symbol: SymbolId) -> Vec<Vec<u8>> {
        let mut texts: Vec<Vec<u8>> =
            self.leaves.get(&symbol).map(|texts| texts.keys().cloned().collect()).unwrap_or_default();
        texts.sort();
        texts
    }

    /// The value of a feature in a node's subtree, up to its cap; 0 for one that is not counted.
    pub(super) fn value(&self, state: State, feature: Feature) -> u32 {
        let at = self.counted.iter().position(|counted| counted.feature == feature);
        at.map_or(0, |at| u32::from(self.nodes[state as usize].values[at]))
    }

    /// Whether a node in this state looks like a shape.
    pub(super) fn looks(&self, state: State, shape: usize) -> bool {
        self.nodes[state as usize].looks.binary_search(&(shape as u32)).is_ok()
    }

    /// Whether a node in this state looks like a pattern.
    pub(super) fn looks_like(&self, state: State, pattern: usize) -> bool {
        self.shapes.roots[pattern].iter().any(|root| self.looks(state, *root))
    }

    /// How many states there are so far.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The state of a leaf with this text; `None` stands for any text that no pattern asks for.
    pub(super) fn leaf(&mut self, symbol: SymbolId, text: Option<&[u8]>) -> State {
        let known = self.leaves.get(&symbol);
        let text = text.filter(|text| known.is_some_and(|texts| texts.contains_key(*text)));
        let key = (symbol, text.map(<[u8]>::to_vec));
        if let Some(state) = self.leaf_states.get(&key) {
            return *state;
        }
        let mut looks = self.holes.get(&symbol).cloned().unwrap_or_default();
        if let (Some(text), Some(known)) = (text, known) {
            looks.extend(known.get(text).into_iter().flatten());
        }
        let values = vec![0; self.counted.len()];
        let state = self.node(looks, values);
        self.leaf_states.insert(key, state);
        state
    }

    /// Before the first child.
    pub(super) fn begin(&mut self, symbol: SymbolId, alternative: u32) -> Row {
        if let Some(row) = self.begun.get(&(symbol, alternative)) {
            return *row;
        }
        let alive = self.inner.get(&(symbol, alternative)).cloned().unwrap_or_default().into();
        let values = vec![0; self.counted.len()].into();
        let row = self.row(Children { symbol, alternative, alive, used: 0, values });
        self.begun.insert((symbol, alternative), row);
        row
    }

    /// After one more child.
    pub(super) fn step(&mut self, row: Row, child: State) -> Row {
        if let Some(next) = self.steps.get(&(row, child)) {
            return *next;
        }
        let (before, node) = (&self.rows[row as usize], &self.nodes[child as usize]);
        let used = before.used as usize;
        let fits = |shape: &u32| match &self.shapes.nodes[*shape as usize] {
            Shape::Node { slots, .. } => slots
                .get(used)
                .is_some_and(|slot| slot.iter().any(|look| node.looks.binary_search(&(*look as u32)).is_ok())),
            _ => false,
        };
        let alive: Box<[u32]> = before.alive.iter().copied().filter(fits).collect();
        let mut values = before.values.to_vec();
        for (at, counted) in self.counted.iter().enumerate() {
            let [first, second] = counted.of;
            let met =
                matches!(counted.feature, Feature::Before(..)) && before.values[first] > 0 && node.values[second] > 0;
            values[at] = values[at].saturating_add(node.values[at]).saturating_add(u8::from(met)).min(counted.cap);
        }
        let Children { symbol, alternative, .. } = *before;
        let used = if alive.is_empty() { 0 } else { before.used + 1 };
        let next = self.row(Children { symbol, alternative, alive, used, values: values.into() });
        self.steps.insert((row, child), next);
        next
    }

    /// The state of a node with these children.
    pub(super) fn end(&mut self, row: Row) -> State {
        if let Some(state) = self.ends[row as usize] {
            return state;
        }
        let children = &self.rows[row as usize];
        let whole = |shape: &u32| match &self.shapes.nodes[*shape as usize] {
            Shape::Node { slots, .. } => slots.len() == children.used as usize,
            _ => false,
        };
        let mut looks: Vec<u32> = children.alive.iter().copied().filter(whole).collect();
        looks.extend(self.holes.get(&children.symbol).into_iter().flatten());
        let values = children.values.to_vec();
        let state = self.node(looks, values);
        self.ends[row as usize] = Some(state);
        state
    }

    /// A node's state, from what it looks like and what is in its children.
    fn node(&mut self, mut looks: Vec<u32>, mut values: Vec<u8>) -> State {
        looks.sort_unstable();
        let below = values.clone();
        let is =
            |pattern: usize| self.shapes.roots[pattern].iter().any(|root| looks.binary_search(&(*root as u32)).is_ok());
        for (at, counted) in self.counted.iter().enumerate() {
            let more = match counted.feature {
                Feature::Count(pattern) => is(pattern),
                Feature::Inside(_, outer) => below[counted.of[0]] > 0 && is(outer),
                Feature::Before(..) => false,
            };
            values[at] = values[at].saturating_add(u8::from(more)).min(counted.cap);
        }
        let node = Node { looks: looks.into(), values: values.into() };
        let next = self.nodes.len() as State;
        *self.node_numbers.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            next
        })
    }

    fn row(&mut self, children: Children) -> Row {
        let next = self.rows.len() as Row;
        *self.row_numbers.entry(children).or_insert_with_key(|children| {
            self.rows.push(children.clone());
            self.ends.push(None);
            next
        })
    }

    /// The state of each node of a tree.
    pub(super) fn run(&mut self, grammar: &Grammar, tree: &Tree) -> Vec<State> {
        let mut states: Vec<State> = vec![0; tree.len()];
        for at in (0..tree.len()).rev() {
            let node = tree.node(at);
            states[at] = if grammar.is_leaf(node.symbol) {
                self.leaf(node.symbol, Some(tree.lexeme(at)))
            } else {
                let mut row = self.begin(node.symbol, node.alternative);
                for child in tree.children(at) {
                    row = self.step(row, states[child]);
                }
                self.end(row)
            };
        }
        states
    }
}
