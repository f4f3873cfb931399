//! Which derivation steps lead to valid inputs, learned from outcomes.
//!
//! The chance that an input is valid is taken as the product of a factor θ for each of its *edges* (an option at a slot). A
//! valid run credits each of its edges; an unresolved one spreads one unit of blame over them, most on those that look worst.
//! θ is backed off in layers, each the prior of the next: the option and how its slot fared, the edge, the edge at its depth
//! in this hole.

use super::{Policy, Slot};
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::Tree;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// An option that was taken: where, of which symbol, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Edge {
    /// Where the choice stands.
    pub slot: Slot,
    /// The symbol that was derived.
    pub symbol: SymbolId,
    /// The option that was taken (see [`Policy::choose`]).
    pub option: u32,
    /// Depth below the fragment's root, at most [`DEPTHS`]` - 1`.
    pub depth: u32,
    /// The hole that the fragment fills.
    pub hole: u32,
}

/// Depths that are told apart.
pub const DEPTHS: u32 = 5;

/// Weight of each layer's prior, in runs.
const PRIOR: f64 = 2.0;
/// θ above this counts as fully valid, so that what is known to be good stays varied.
const PLATEAU: f64 = 0.9;
/// Weight of an edge never seen valid, where others were, once the run has had its one novelty.
const UNSEEN: f64 = 0.003;
/// The chance that a place at which something was never seen takes up the novelty of an exploring run.
const NOVELTY_HERE: f64 = 0.08;
/// How much more blame an edge never seen valid draws.
const SUSPICION: f64 = 20.0;

/// Least share of valid inputs for which an allowance stays in use.
const SIZE_VALID: f64 = 0.9;
/// Runs after which what is known of an allowance begins to fade.
const SIZE_MEMORY: f64 = 40.0;

type Credit = (f64, f64);

/// What was learned.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Validity {
    #[serde(with = "entries")]
    edges: BTreeMap<(Slot, SymbolId, u32), Credit>,
    #[serde(with = "entries")]
    options: BTreeMap<(SymbolId, u32), Credit>,
    #[serde(with = "entries")]
    slots: BTreeMap<Slot, Credit>,
    #[serde(with = "entries")]
    depths: BTreeMap<Edge, Credit>,
    /// By allowance of the largest filling of an input.
    #[serde(with = "entries", default)]
    sizes: BTreeMap<i32, Credit>,
}

/// Maps with structured keys as lists of pairs, since JSON's keys are strings.
mod entries {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Validity {
    /// The edges of the subtree at `root` of a tree that fills `hole`, whose root stands at `slot`.
    pub fn edges(grammar: &Grammar, tree: &Tree, hole: u32) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut open: Vec<(usize, SymbolId, u32, u32, bool)> = Vec::new();
        for at in 0..tree.len() {
            while open.last().is_some_and(|(end, ..)| *end <= at) {
                open.pop();
            }
            let node = tree.node(at);
            let slot = match open.last_mut() {
                None => Slot::Hole(hole),
                Some((_, symbol, alternative, position, repeats)) => {
                    let slot = Slot::Child(*symbol, *alternative, *position);
                    *position = if *repeats { 0 } else { *position + 1 };
                    slot
                }
            };
            let (option, repeats) = match grammar.kind(node.symbol) {
                Kind::Repeat { separator, min, .. } => {
                    let count = tree.children(at).count() as u32;
                    let items = if separator.is_some() { count.div_ceil(2) } else { count };
                    (items.saturating_sub(*min).min(super::COUNTS - 1), true)
                }
                _ => (node.alternative, false),
            };
            if !grammar.is_leaf(node.symbol) {
                if super::options(grammar, node.symbol).len() > 1 {
                    let depth = (open.len() as u32).min(DEPTHS - 1);
                    edges.push(Edge { slot, symbol: node.symbol, option, depth, hole });
                }
                open.push((tree.after(at), node.symbol, if repeats { 0 } else { option }, 0, repeats));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The chance that an edge does not spoil an input.
    pub fn theta(&self, edge: &Edge) -> f64 {
        let (good, bad) = self.options.get(&(edge.symbol, edge.option)).copied().unwrap_or_default();
        let option = (good + 0.7 * PRIOR) / (good + bad + PRIOR);
        let (good, bad) = self.slots.get(&edge.slot).copied().unwrap_or_default();
        let slot = (good + 0.8 * PRIOR) / (good + bad + PRIOR);
        let (good, bad) = self.edges.get(&(edge.slot, edge.symbol, edge.option)).copied().unwrap_or_default();
        let edge_theta = (good + PRIOR * option * (slot + 0.05).min(1.0)) / (good + bad + PRIOR);
        let (good, bad) = self.depths.get(edge).copied().unwrap_or_default();
        (good + PRIOR * edge_theta) / (good + bad + PRIOR)
    }

    /// Whether the edge was part of valid inputs.
    pub fn is_seen(&self, edge: &Edge) -> bool {
        let (good, bad) = self.depths.get(edge).copied().unwrap_or_default();
        let general = self.edges.get(&(edge.slot, edge.symbol, edge.option)).copied().unwrap_or_default();
        good >= 1.0 || (bad < 0.7 && general.0 >= 2.0)
    }

    /// Learns from one run: whether the input with these edges was valid. Returns the blame of each edge (0 if valid).
    pub fn learn(&mut self, edges: &[Edge], valid: bool) -> Vec<f64> {
        let shares: Vec<f64> = if valid {
            vec![1.0; edges.len()]
        } else {
            let weight = |edge: &Edge| {
                let doubt = (1.0 - self.theta(edge)).powi(2) + 1e-6;
                if self.is_seen(edge) { doubt } else { SUSPICION * doubt }
            };
            let weights: Vec<f64> = edges.iter().map(weight).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total.max(f64::MIN_POSITIVE)).collect()
        };
        for (edge, share) in edges.iter().zip(&shares) {
            let credit = if valid { (*share, 0.0) } else { (0.0, *share) };
            let add = |entry: &mut Credit| *entry = (entry.0 + credit.0, entry.1 + credit.1);
            add(self.edges.entry((edge.slot, edge.symbol, edge.option)).or_default());
            add(self.options.entry((edge.symbol, edge.option)).or_default());
            add(self.slots.entry(edge.slot).or_default());
            add(self.depths.entry(*edge).or_default());
        }
        if valid { vec![0.0; edges.len()] } else { shares }
    }

    /// Learns from one run whether fillings of this allowance make valid inputs. Older runs fade: the choices get better.
    pub fn learn_size(&mut self, allowance: i32, valid: bool) {
        let (good, bad) = self.sizes.entry(allowance).or_default();
        *good += f64::from(u8::from(valid));
        *bad += f64::from(u8::from(!valid));
        if *good + *bad > SIZE_MEMORY {
            (*good, *bad) = (*good * 0.7, *bad * 0.7);
        }
    }

    /// Those of the allowances that make mostly valid inputs; the least one in any case.
    pub fn good_sizes(&self, of: &[i32]) -> Vec<i32> {
        let valid = |size: &i32| {
            let (good, bad) = self.sizes.get(size).copied().unwrap_or_default();
            (good + 3.0) / (good + bad + 3.15) >= SIZE_VALID
        };
        let mut sizes: Vec<i32> = of.iter().copied().filter(valid).collect();
        if sizes.is_empty() {
            sizes.extend(of.first());
        }
        sizes
    }

    /// A policy that prefers what is known to be valid. In an exploring run one edge never seen valid may be taken at its full
    /// weight: so an unresolved run has one suspect.
    pub fn policy(&self, hole: u32, explore: bool) -> Learned<'_> {
        Learned { validity: self, hole, novelty: u32::from(explore) }
    }
}

/// See [`Validity::policy`].
#[derive(Debug)]
pub struct Learned<'a> {
    validity: &'a Validity,
    hole: u32,
    novelty: u32,
}

impl Policy for Learned<'_> {
    fn choose(
        &mut self,
        slot: Slot,
        symbol: SymbolId,
        options: &[u32],
        depth: u32,
        exhausted: bool,
        rng: &mut ChaCha8Rng,
    ) -> u32 {
        let depth = depth.min(DEPTHS - 1);
        let edge = |option: u32| Edge { slot, symbol, option, depth, hole: self.hole };
        let seen: Vec<bool> = options.iter().map(|option| self.validity.is_seen(&edge(*option))).collect();
        let some = |wanted: bool| seen.contains(&wanted);
        // Each place gets its chance of the one novelty: taken by weight alone, it would always be spent near the root.
        // Where all that is new looks bad, it is left to another place.
        let hope = options
            .iter()
            .zip(&seen)
            .filter(|(_, seen)| !**seen)
            .map(|(option, _)| self.validity.theta(&edge(*option)));
        let hope = hope.fold(0.0, f64::max);
        let explore =
            self.novelty > 0 && some(true) && rng.random_bool(NOVELTY_HERE * (hope / PLATEAU).min(1.0).powi(4));
        let weight = |(place, option): (usize, &u32)| {
            let theta = (self.validity.theta(&edge(*option)) / PLATEAU).min(1.0);
            let fewer = if exhausted { 0.3_f64.powi(place as i32).max(0.05) } else { 1.0 };
            let known = match (seen[place], explore) {
                (true, true) => 0.0,
                (false, true) => theta.powi(4),
                (true, false) => theta.powi(8),
                (false, false) if some(true) => UNSEEN * theta.powi(8),
                (false, false) => theta.powi(8),
            };
            known * fewer + 1e-12
        };
        let weights: Vec<f64> = options.iter().enumerate().map(weight).collect();
        let mut at = rng.random::<f64>() * weights.iter().sum::<f64>();
        let mut chosen = options.len() - 1;
        for (place, weight) in weights.iter().enumerate() {
            at -= weight;
            if at < 0.0 {
                chosen = place;
                break;
            }
        }
        self.novelty -= u32::from(!seen[chosen] && self.novelty > 0);
        options[chosen]
    }
}
