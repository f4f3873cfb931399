//! Names that must change together.

use super::Engine;
use crate::generate::stream;
use crate::grammar::{Kind, SymbolId};
use crate::oracle::Outcome;
use crate::pattern::{Condition, Copy, Filling, Hole, only_leaf};
use crate::search::Stop;
use indexmap::IndexMap;

/// Fillings that must fail before a group is believed.
const AGREEING: u32 = 3;
/// Groups of names with more occurrences than this are tried as a whole and without one member only: subsets are exponential.
const ALL_SUBSETS: usize = 6;
/// Other names of the input that are put at a group, to see whether it must differ from them.
const OTHERS: usize = 3;

impl Engine<'_, '_> {
    /// Ties equal names together. Members are names that never failed alone: passing ones, and unresolved ones, too, since in
    /// many languages a name changed in one place only is an error. A name in quotes, in capitals or in a tag counts.
    pub(super) fn covary(&mut self) -> Result<(), Stop> {
        let mut names: IndexMap<(Option<SymbolId>, Vec<u8>), Vec<usize>> = IndexMap::new();
        for candidate in self.candidates.clone() {
            let Some(at) = self.name_at(candidate.at) else { continue };
            // In a grammar without tokens the failures were counted at the characters below the name.
            let mut near = self.chain(at);
            near.extend(self.tree.subtree(at));
            let failed = near.iter().any(|a| self.counts.get(a).is_some_and(|counts| counts.failed > 0));
            if failed || self.is_taken(at) || self.small(self.tree.node(at).symbol).is_some() {
                continue;
            }
            let members = names.entry(self.key(at)).or_default();
            if !members.contains(&at) {
                members.push(at);
            }
        }
        for members in names.into_values() {
            self.tie(members)?;
        }
        Ok(())
    }

    /// What names that may be tied have in common: their letters; in a grammar without tokens the symbol, too, since it is not
    /// known which texts of one symbol are texts of another.
    fn key(&self, at: usize) -> (Option<SymbolId>, Vec<u8>) {
        let text = self.tree.lexeme(at);
        if !self.grammar.is_lexical() {
            return (Some(self.tree.node(at).symbol), text.to_vec());
        }
        (None, letters(text).to_ascii_lowercase())
    }

    /// A group of these members, if the texts at all of them follow from one.
    fn group(&self, members: &[usize]) -> Option<Hole> {
        let texts = members.iter().map(|member| self.tree.lexeme(*member));
        let plain = texts.clone().find(|text| self.grammar.is_lexical() && letters(text) == *text);
        let base = plain.or_else(|| texts.clone().next().filter(|_| self.grammar.is_lexical()).map(letters));
        let base = base.or_else(|| texts.clone().next())?;
        let copy = |member: &usize| Copy::between(base, self.tree.lexeme(*member));
        let copies: Vec<Copy> = members.iter().map(copy).collect::<Option<_>>()?;
        let mut hole = Hole::new(members.to_vec(), Filling::Same);
        if !copies.iter().all(Copy::is_plain) {
            hole.copies = copies;
        }
        Some(hole)
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
                let Some(group) = self.group(&subset) else { continue };
                if self.fails_together(&[group])? {
                    found = Some(subset);
                    break;
                }
            }
            let Some(whole) = found else { break };
            members.retain(|member| !whole.contains(member));
            for part in self.split(whole)? {
                self.open_group(&part)?;
            }
        }
        Ok(())
    }

    /// Two pairs of one name may have nothing to do with each other: then they fail with different names, too.
    fn split(&mut self, whole: Vec<usize>) -> Result<Vec<Vec<usize>>, Stop> {
        let mut open = vec![whole];
        let mut parts = Vec::new();
        while let Some(group) = open.pop() {
            let mut apart = None;
            for one in subsets(&group, 2).into_iter().rev() {
                let other: Vec<usize> = group.iter().copied().filter(|member| !one.contains(member)).collect();
                // Each division once: the part with the first member is the smaller one, or has it.
                if other.len() < one.len() || other.len() == one.len() && one[0] != group[0] {
                    continue;
                }
                let (Some(left), Some(right)) = (self.group(&one), self.group(&other)) else { continue };
                if self.fails_together(&[left, right])? {
                    apart = Some((one, other));
                    break;
                }
            }
            match apart {
                Some((one, other)) => open.extend([other, one]),
                None => parts.push(group),
            }
        }
        Ok(parts)
    }

    fn open_group(&mut self, members: &[usize]) -> Result<(), Stop> {
        let Some(mut hole) = self.group(members) else { return Ok(()) };
        hole.failed = AGREEING;
        // What holds a part of a group and not all of it cannot be free: its names would no longer agree.
        for &member in members {
            let partial = |outer: &usize| !members.iter().all(|m| self.is_inside(*m, *outer));
            let chain: Vec<usize> = self.chain(member).into_iter().skip(1).filter(partial).collect();
            self.dead.extend(chain);
            self.reasons.remove(&member);
        }
        hole.condition = self.group_difference(&hole)?;
        self.holes.push(hole);
        Ok(())
    }

    /// Whether a group must differ from another name of the input.
    fn group_difference(&mut self, hole: &Hole) -> Result<Option<Condition>, Stop> {
        let Some(leaf) = only_leaf(self.grammar, &self.tree, hole.members[0]).filter(|_| hole.copies.is_empty()) else {
            return Ok(None);
        };
        let (symbol, own) = (self.tree.node(leaf).symbol, self.tree.lexeme(leaf).to_vec());
        let mut texts: IndexMap<Vec<u8>, Vec<usize>> = IndexMap::new();
        for at in (0..self.tree.len()).filter(|at| self.tree.node(*at).symbol == symbol) {
            if self.tree.lexeme(at) != own {
                texts.entry(self.tree.lexeme(at).to_vec()).or_default().push(at);
            }
        }
        let mut differs = Vec::new();
        for (text, places) in texts.into_iter().take(OTHERS) {
            let put =
                |at: &usize| Some((*at, crate::pattern::instances::with_text(self.grammar, &self.tree, *at, &text)?));
            let Some(fillings) = hole.members.iter().map(put).collect::<Option<Vec<_>>>() else { continue };
            if self.ask(&fillings)? == Outcome::Pass {
                differs.extend(places);
            }
        }
        Ok((!differs.is_empty()).then_some(Condition::Differs(differs)))
    }

    /// Whether the input fails with fresh names at all of these groups.
    fn fails_together(&mut self, groups: &[Hole]) -> Result<bool, Stop> {
        let (mut failed, mut unresolved) = (0, 0);
        let mut used: Vec<Vec<u8>> = Vec::new();
        for number in 0.. {
            if failed >= AGREEING {
                break;
            }
            let mut fillings = Vec::new();
            for group in groups {
                let purpose = if groups.len() > 1 { "names apart" } else { "name" };
                let mut rng = stream(self.options.seed, purpose, ((group.members[0] as u64) << 32) + number);
                let named = self.drawer.name(self.grammar, &self.tree, group, &used, &mut rng);
                used.extend(named.first().and_then(|(at, name)| group.copy_at(*at).base(name.lexeme(0))));
                fillings.extend(named);
            }
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

/// A text without the marks around it: a quoted name's name.
fn letters(text: &[u8]) -> &[u8] {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let ends = text.iter().position(word).zip(text.iter().rposition(word));
    ends.map_or(text, |(from, to)| &text[from..=to])
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
