//! Names that must change together.

use super::Engine;
use super::candidates::only_leaf;
use crate::generate::stream;
use crate::grammar::{Kind, SymbolId};
use crate::oracle::Outcome;
use crate::pattern::{Filling, Hole};
use crate::search::Stop;
use indexmap::IndexMap;

/// Fillings that must fail before a group is believed.
const AGREEING: u32 = 3;
/// Groups of names with more occurrences than this are tried as a whole and without one member only: subsets are exponential.
const ALL_SUBSETS: usize = 6;

impl Engine<'_, '_> {
    /// Ties equal names together. Members are names that never failed alone: passing ones, and unresolved ones, too, since in
    /// many languages a name changed in one place only is an error.
    pub(super) fn covary(&mut self) -> Result<(), Stop> {
        let mut names: IndexMap<(SymbolId, Vec<u8>), Vec<usize>> = IndexMap::new();
        for candidate in self.candidates.clone() {
            let Some(at) = self.name_at(candidate.at) else { continue };
            let failed = self.chain(at).iter().any(|a| self.counts.get(a).is_some_and(|counts| counts.failed > 0));
            if failed || self.is_taken(at) || self.small(self.tree.node(at).symbol).is_some() {
                continue;
            }
            let key = (self.tree.node(at).symbol, self.tree.lexeme(at).to_vec());
            let members = names.entry(key).or_default();
            if !members.contains(&at) {
                members.push(at);
            }
        }
        for members in names.into_values() {
            self.tie(members)?;
        }
        Ok(())
    }

    /// The node whose text is a name, for a candidate that spells just that: a token; in a grammar without tokens, the
    /// outermost node of the candidate's text whose symbol is not recursive.
    fn name_at(&self, at: usize) -> Option<usize> {
        if self.grammar.is_lexical() {
            return only_leaf(self.grammar, &self.tree, at);
        }
        let named = self.grammar.symbol(self.tree.node(at).symbol).name.is_some();
        (named && !self.is_recursive(self.tree.node(at).symbol)).then(|| {
            let chain = self.chain(at);
            let same = chain.iter().take_while(|outer| {
                let symbol = self.tree.node(**outer).symbol;
                self.tree.lexeme(**outer) == self.tree.lexeme(at) && !self.is_recursive(symbol)
            });
            let outermost =
                same.filter(|outer| self.grammar.symbol(self.tree.node(**outer).symbol).name.is_some()).last();
            outermost.copied().unwrap_or(at)
        })
    }

    fn is_recursive(&self, symbol: SymbolId) -> bool {
        let mut seen = vec![false; self.grammar.len()];
        let mut open = vec![symbol];
        let mut first = true;
        while let Some(id) = open.pop() {
            if id == symbol && !first {
                return true;
            }
            first = false;
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            match self.grammar.kind(id) {
                Kind::Choice(alternatives) => open.extend(alternatives.iter().flatten()),
                Kind::Repeat { item, separator, .. } => open.extend(separator.iter().chain([item])),
                Kind::Literal(_) | Kind::Set(_) => {}
            }
        }
        false
    }

    /// Finds the largest subset of the members that fails with any name put at all of them; then looks among the rest.
    fn tie(&mut self, mut members: Vec<usize>) -> Result<(), Stop> {
        while members.len() > 1 {
            let least = if members.len() > ALL_SUBSETS { members.len() - 1 } else { 2 };
            let mut found = None;
            for subset in subsets(&members, least) {
                if self.fails_together(&subset)? {
                    found = Some(subset);
                    break;
                }
            }
            let Some(group) = found else { break };
            members.retain(|member| !group.contains(member));
            // What holds a part of a group and not all of it cannot be free: its names would no longer agree.
            for &member in &group {
                let partial = |outer: &usize| !group.iter().all(|m| self.is_inside(*m, *outer));
                let chain: Vec<usize> = self.chain(member).into_iter().skip(1).filter(partial).collect();
                self.dead.extend(chain);
                self.reasons.remove(&member);
            }
            self.holes.push(Hole { members: group, filling: Filling::Same, failed: AGREEING });
        }
        Ok(())
    }

    fn fails_together(&mut self, members: &[usize]) -> Result<bool, Stop> {
        let symbol = self.tree.node(members[0]).symbol;
        let (mut failed, mut unresolved) = (0, 0);
        let mut used: Vec<Vec<u8>> = Vec::new();
        for number in 0.. {
            if failed >= AGREEING {
                break;
            }
            let mut rng = stream(self.options.seed, "name", ((members[0] as u64) << 32) + number);
            let name = self.drawer.name(self.grammar, symbol, &used, &mut rng);
            used.push(name.text().to_vec());
            let fillings = members.iter().map(|member| (*member, name.clone())).collect();
            match self.ask(&fillings)? {
                Outcome::Fail => failed += 1,
                Outcome::Pass => return Ok(false),
                Outcome::Unresolved => unresolved += 1,
            }
            if unresolved > 1 + 2 * failed {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Subsets with at least `least` members, larger ones first.
fn subsets(members: &[usize], least: usize) -> Vec<Vec<usize>> {
    if members.len() > ALL_SUBSETS {
        let without = |out: usize| members.iter().copied().filter(|m| *m != members[out]).collect();
        return std::iter::once(members.to_vec()).chain((0..members.len()).map(without)).collect();
    }
    let mut all: Vec<Vec<usize>> = (0..1_u32 << members.len())
        .filter(|bits| bits.count_ones() as usize >= least)
        .map(|bits| members.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1).map(|(_, m)| *m).collect())
        .collect();
    all.sort_by_key(|subset| (std::cmp::Reverse(subset.len()), subset.clone()));
    all
}
