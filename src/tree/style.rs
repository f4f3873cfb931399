//! White space as a person wrote it.
//!
//! A minimal input has no blank that it can do without; a pattern is for people to read. The habits of the original input
//! say where it had blanks, and the minimal one gets them back.

use super::{Tree, spaced};
use crate::grammar::{Grammar, SymbolId};
use rustc_hash::FxHashMap;

/// How often something was seen with white space, and how often without.
#[derive(Clone, Copy, Debug, Default)]
struct Habit {
    apart: u32,
    together: u32,
    line: u32,
}

impl Habit {
    fn add(&mut self, trivia: &[u8]) {
        match trivia {
            [] => self.together += 1,
            _ => self.apart += 1,
        }
        self.line += u32::from(trivia.contains(&b'\n'));
    }

    fn is_known(&self) -> bool {
        self.apart + self.together > 0
    }

    fn is_apart(&self) -> bool {
        self.apart > self.together
    }
}

/// Where an input had white space: by pairs of leaves, and by the leaf before or after.
#[derive(Clone, Debug, Default)]
pub struct Style {
    pairs: FxHashMap<(SymbolId, SymbolId), Habit>,
    after: FxHashMap<SymbolId, Habit>,
    before: FxHashMap<SymbolId, Habit>,
}

impl Style {
    /// The habits of an input.
    pub fn of(tree: &Tree) -> Style {
        let mut style = Style::default();
        let leaves: Vec<usize> = tree.subtree(0).filter(|at| tree.has_bytes(*at)).collect();
        for pair in leaves.windows(2) {
            let (left, right) = (tree.node(pair[0]).symbol, tree.node(pair[1]).symbol);
            let trivia = &tree.text_of(pair[1])[..tree.node(pair[1]).trivia as usize];
            style.pairs.entry((left, right)).or_default().add(trivia);
            style.after.entry(left).or_default().add(trivia);
            style.before.entry(right).or_default().add(trivia);
        }
        style
    }

    /// Another tree of the same grammar with white space after these habits: a blank, or a line break where the habit was one.
    /// None goes inside round and square brackets.
    #[must_use]
    pub fn apply(&self, grammar: &Grammar, tree: &Tree) -> Tree {
        let mut last: Option<(SymbolId, &[u8])> = None;
        let mut wanted: FxHashMap<usize, &'static [u8]> = FxHashMap::default();
        for at in tree.subtree(0).filter(|at| tree.has_bytes(*at)) {
            let symbol = tree.node(at).symbol;
            let lexeme = tree.lexeme(at);
            if let Some((left, before)) = last.replace((symbol, lexeme)) {
                let (apart, line) = self.between(left, symbol);
                if apart && !hugs(before, lexeme) {
                    wanted.insert(at, if line { b"\n" } else { b" " });
                }
            }
        }
        spaced(grammar, tree, |at| wanted.get(&at).copied())
    }

    /// Whether white space goes between two leaves, and whether it is a line break. What was never seen side by side is kept
    /// apart if both sides are used to it.
    fn between(&self, left: SymbolId, right: SymbolId) -> (bool, bool) {
        let pair = self.pairs.get(&(left, right)).copied().unwrap_or_default();
        if pair.is_known() {
            return (pair.is_apart(), pair.line * 2 > pair.apart);
        }
        let after = self.after.get(&left).copied().unwrap_or_default();
        let before = self.before.get(&right).copied().unwrap_or_default();
        let usual = |habit: Habit| habit.is_apart() || !habit.is_known();
        (usual(after) && usual(before) && (after.is_known() || before.is_known()), false)
    }
}

/// Brackets hug what is in them, and commas what is before them, whatever the habits of the input: a fuzzer's are none.
fn hugs(left: &[u8], right: &[u8]) -> bool {
    matches!(left, b"(" | b"[") || matches!(right, b")" | b"]" | b"," | b";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_come_back_where_the_original_had_them() {
        let source = "s ::= stmt* stmt ::= id '=' id ';' /*@ token */ id ::= [a-z]+ /*@ skip */ ws ::= [ #xA]+";
        let grammar = Grammar::read(source, None).expect("valid");
        let parse = |text: &str| crate::parse::parse(&grammar, text.as_bytes()).expect("parses");
        let style = Style::of(&parse("a = b;\nc = d;\n"));
        assert_eq!(style.apply(&grammar, &parse("x=y;z=y;")).text(), b"x = y;\nz = y;");
    }
}
