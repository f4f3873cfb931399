//! The two laws: a fold unfolds to its text, and what a grammar derives survives being unfolded and folded again.

use super::Layout;
use crate::generate::{Derivation, Plain, Slot, TokenSource, derive, stream};
use crate::grammar::{Grammar, bundled};
use crate::oracle::Outcome;
use crate::parse::parse;
use crate::reduce::reduce;
use crate::search::Search;
use proptest::prelude::*;

/// An outline, in which nothing is as in Python: other marks, other comments, other tokens that span lines.
const OUTLINE: &str = "
    items ::= item+
    item  ::= word+ end (open items close)? | '[' word* ']' end
    /*@ token */ word ::= [a-z]+ | '<' [^<>]* '>'
    /*@ skip */ space ::= [ #x9#xA#xD]+
    /*@ skip */ note ::= '{-' [^-]* '-}' | '--' [^#xA]*
    /*@ skip */ escape ::= '\\' #xA
    /*@ newline */ end ::= #x1
    /*@ indent */ open ::= #x2
    /*@ dedent */ close ::= #x3";

fn outline() -> Grammar {
    Grammar::read(OUTLINE, None).expect("valid")
}

fn python() -> Grammar {
    Grammar::read(bundled::find("python").expect("bundled").source, None).expect("valid")
}

fn tokens(layout: &Layout, text: &[u8]) -> Vec<Vec<u8>> {
    Layout::lexemes(&layout.lexicon, text).filter(|(_, skip)| !skip).map(|(at, _)| text[at].to_vec()).collect()
}

#[test]
fn marks_stand_where_lines_and_blocks_end() {
    let layout = Layout::of(&outline());
    let fold = |text: &str| String::from_utf8(layout.fold(text.as_bytes()).expect("folds").text).expect("text");
    for (text, folded) in [
        ("", ""),
        ("\n -- a\n", "\n -- a\n"),
        ("a", "a\x01"),
        ("a\nb\n", "a\x01\nb\x01\n"),
        ("a\n  b\n  c\nd\n", "a\x01\x02\n  b\x01\n  c\x01\x03\nd\x01\n"),
        ("a\n b\n  c", "a\x01\x02\n b\x01\x02\n  c\x01\x03\x03"),
        ("a -- x\n\n -- y\n b -- z", "a\x01\x02 -- x\n\n -- y\n b\x01\x03 -- z"),
        ("[a\n  b\n]\nc", "[a\n  b\n]\x01\nc\x01"),
        ("a \\\n  b\nc", "a \\\n  b\x01\nc\x01"),
        ("<x\n  y>\na", "<x\n  y>\x01\na\x01"),
        ("a {-\n  -} b\nc", "a {-\n  -} b\x01\nc\x01"),
        ("a\n\tb\n        c", "a\x01\x02\n\tb\x01\n        c\x01\x03"),
        ("<\x01>", "<\x01>\x01"),
    ] {
        assert_eq!(fold(text), folded, "{text:?}");
    }
}

#[test]
fn what_has_no_blocks_is_told() {
    let layout = Layout::of(&outline());
    let error = layout.fold(b"a\n    b\n  c").expect_err("between two levels");
    assert_eq!(error.diagnostic().labels[0].span, 10..10);
    let error = layout.fold(b"a \x02").expect_err("a mark");
    assert!(error.to_string().contains("U+0002"), "{error}");
}

#[test]
fn derived_texts_are_laid_out() {
    let layout = Layout::of(&outline());
    for (folded, text) in [
        ("a\x01\x02b\x01\x02c\x01\x03\x03d\x01", "a\n    b\n        c\nd"),
        ("a\x01\x02\n  b\x01\x02c\x01\x03\x03", "a\n  b\n      c"),
        // What was taken out of brackets, and what was moved to another level.
        ("a\n  b\x01", "a b"),
        ("a -- x\n  b\x01", "a b"),
        ("[a -- x\n  b]\x01", "[a -- x\n  b]"),
        ("a\x01\n      b\x01\x02\n  c\x01\x03", "a\nb\n  c"),
        ("a\x01\x02\n    b\x01\x02\n  c\x01\x03\x03", "a\n    b\n        c"),
        ("a\x01 -- x\n b\x01", "a -- x\nb"),
        ("a\x01 {- x -} b\x01", "a {- x -} \nb"),
        ("\x01\x02a\x01\x03", "\n    a"),
    ] {
        let unfolded = layout.unfold(folded.as_bytes());
        assert_eq!(String::from_utf8_lossy(&unfolded), text, "{folded:?}");
    }
}

#[test]
fn without_marks_nothing_changes() {
    let layout = Layout::of(&Grammar::read("a ::= 'x'", None).expect("valid"));
    let text = b"x\n  \x1E\x0E y";
    assert_eq!(layout.fold(text).expect("folds").text, text);
    assert_eq!(*layout.unfold(text), text[..]);
    assert_eq!(layout.unfolded_range(text, 2..5), 2..5);
}

const PYTHON: &str = "
# -*- coding: utf-8 -*-
import os, sys  # both

@decorated(1,
    # within
    2)
class A(B):
    '''A text
  of lines.'''

    async def f(self, x=[1,
2], *args: int) -> None:
        # first
        if x and \\
                self.y:
            return {k: v
                    for k, v in x}
        elif (x or
              y): pass
        else:
          yield f'{x!r}'
    # after
        # deeper
    g = lambda: (yield)

try:
\twith a as b, c:
\t\tprint(\"\"\"
\"\"\", end='')
except* E as e: raise
match x:
    case {'a': [1, *_], **rest} | P(z=-1) if y:
        type T[K] = dict[K, int]
for i in range(3): del a[i], b; break
";

#[test]
fn every_candidate_of_a_reduction_survives() {
    let grammar = python();
    let layout = Layout::of(&grammar);
    for wanted in ["yield", "rest", "\"\"\"", "range", "coding", "within"] {
        let oracle = |folded: &[u8]| {
            let text = layout.unfold(folded);
            let again = layout.fold(&text).expect("what is derived folds");
            assert_eq!(tokens(&layout, &again.text), tokens(&layout, folded), "{}", String::from_utf8_lossy(&text));
            assert_eq!(layout.unfold(&again.text), text);
            let found = text.windows(wanted.len()).any(|window| window == wanted.as_bytes());
            if found { Outcome::Fail } else { Outcome::Pass }
        };
        let folded = layout.fold(PYTHON.as_bytes()).expect("folds").text;
        assert_eq!(String::from_utf8_lossy(&layout.unfold(&folded)), PYTHON);
        let tree = parse(&grammar, &folded).expect("parses");
        let reduction = reduce(&grammar, tree, &mut Search::new(&oracle));
        assert!(reduction.proven, "{wanted}: {reduction:?}");
    }
}

#[test]
fn random_derivations_survive() {
    for grammar in [python(), outline()] {
        let layout = Layout::of(&grammar);
        let mut sources = TokenSource::default();
        for number in 0..500 {
            let mut rng = stream(1, "layout", number);
            let allowance = 12 + (number % 40) as i32;
            let slot = Slot::Hole(0);
            let what = Derivation { grammar: &grammar, tokens: &mut sources, slot, allowance, first: None };
            let tree = derive(what, grammar.start(), &mut Plain, &mut rng);
            let text = layout.unfold(tree.text());
            let again = layout.fold(&text).expect("what is derived folds").text;
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(tokens(&layout, &again), tokens(&layout, tree.text()), "{shown}");
            let parsed = parse(&grammar, &again).unwrap_or_else(|error| panic!("{error}: {shown}"));
            assert_eq!(layout.unfold(parsed.text()), text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_fold_unfolds_to_its_text(pieces in proptest::collection::vec(0..16_usize, 0..40)) {
        let blank = [" ", "  ", "\n", "\n", "\n ", "\n  ", "\n    ", "\r\n"];
        let all = [&blank[..], &["a", "b c", "[", "]", "-- x\n", "{- \n -}", "\\\n", "<\n>"]].concat();
        let text: String = pieces.iter().map(|piece| all[*piece]).collect();
        let layout = Layout::of(&outline());
        if let Ok(folded) = layout.fold(text.as_bytes()) {
            let unfolded = layout.unfold(&folded.text).into_owned();
            prop_assert_eq!(String::from_utf8_lossy(&unfolded), text.as_str());
            for (at, byte) in folded.text.iter().enumerate().filter(|(_, byte)| **byte > 3) {
                prop_assert_eq!(text.as_bytes()[folded.source_offset(at)], *byte);
            }
        }
    }

    /// With tabs, up to the white space that lines begin with.
    #[test]
    fn tabs_are_blanks(pieces in proptest::collection::vec(0..8_usize, 0..30)) {
        let all = ["a", "b", "\n", "\n\t", "\n        ", "\n    ", "\n  \t", "\n\t\t"];
        let text: String = pieces.iter().map(|piece| all[*piece]).collect();
        let layout = Layout::of(&outline());
        if let Ok(folded) = layout.fold(text.as_bytes()) {
            let unfolded = layout.unfold(&folded.text).into_owned();
            let words = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
            prop_assert_eq!(words(&String::from_utf8_lossy(&unfolded)), words(&text));
            let again = layout.fold(&unfolded).expect("folds").text;
            prop_assert_eq!(tokens(&layout, &again), tokens(&layout, &folded.text));
        }
    }
}
