//! The notations, and what is made of them.

#![allow(clippy::unwrap_used)]

use super::*;

fn read(source: &str) -> Grammar {
    Grammar::read(source, None).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// The code of the first finding, and the text it points at.
fn defect(source: &str) -> (&'static str, &str) {
    let error = Grammar::read(source, None).unwrap_err();
    let first = &error.diagnostics[0];
    (first.code, &source[first.labels[0].span.clone()])
}

/// The labels of all symbols: the same grammar has the same, in whatever order.
fn labels(grammar: &Grammar) -> Vec<String> {
    let label = |id| format!("{:?} {}", grammar.symbol(id).role, grammar.label(id));
    let mut labels: Vec<String> = grammar.ids().map(label).collect();
    labels.sort();
    labels
}

#[test]
fn notations_agree() {
    let w3c =
        read("list ::= item (',' item)* end?; item ::= [a-z] | '(' list ')' | ''; end ::= 'x'{3} | #x41 | [^\"] - 'a'");
    let iso = read(
        "list = item, {',', item}, [end]; item = ? [a-z] ? | '(', list, ')' | ; end = 3 * 'x' | ? #x41 ? | ? [^\"] ? - 'a';",
    );
    assert_eq!(labels(&w3c), labels(&iso));
}

#[test]
fn iso_examples() {
    // ISO/IEC 14977, 5.7 and 5.8, and the alternative representations of 7.
    let g = read("aa = 'A'; bb = 3 * aa, 'B'; cc = 3 * [aa], 'C'; dd = {aa}, 'D'; start = bb | cc | dd;");
    assert_eq!(g.label(g.start()), "aa");
    let g = read(
        "letter = 'a' / 'b' ! 'c'. (* a comment (* in a comment *) *)
         vowel = letter - 'b'. some words = (: letter :) - , (/ 'x' /).",
    );
    let of = |name: &str| &g.alternative(g.rule(name).unwrap(), 0)[0];
    assert_eq!(g.label(*of("some words")), "letter+");
    assert_eq!(g.label(*of("vowel")), "[ac]");
    let source = "(*@ start *) first = second; second = 'x';";
    assert_eq!(read(source).start(), SymbolId(0));
}

#[test]
fn separators_belong_to_lists() {
    let of = |source: &str| {
        let g = read(source);
        let [part] = g.alternative(g.start(), 0) else { panic!("one part") };
        g.kind(*part).clone()
    };
    assert!(matches!(of("s ::= 'x' (',' 'x')*"), Kind::Repeat { separator: Some(_), min: 1, max: None, .. }));
    assert!(matches!(of("s ::= ('x' (',' 'x')*)?"), Kind::Repeat { separator: Some(_), min: 0, max: None, .. }));
    assert!(matches!(of("s ::= 'x' (',' 'x'){2,3}"), Kind::Repeat { separator: Some(_), min: 3, max: Some(4), .. }));
    assert!(matches!(of("s ::= 'x' (',' ' ' 'x')+"), Kind::Repeat { separator: Some(_), min: 2, max: None, .. }));
    assert!(matches!(of("s ::= ('x'+)?"), Kind::Repeat { separator: None, min: 0, max: None, .. }));
    let g = read("s ::= 'x' (',' 'y')*");
    assert_eq!(g.alternative(g.start(), 0).len(), 2);
}

#[test]
fn written_and_read_again() {
    for source in [
        "s ::= ('a' ('b' 'a')*)? 'c' | [^a-c]+ | t{2,3}; t ::= '\"' \"'\" #x7 | ''",
        "a ::= b - 'x' | []-]; b ::= [xyz#x5D]",
        "s ::= [#xD#x30-9] | [^#xD#x41c-z] | [#xA#x42#x43]",
        "/*@ start */ s ::= n; /*@ token identifier */ n ::= [a-z]+; /*@ skip */ w ::= ' '+; /*@ immediate */ l ::= #xA",
        include_str!("../../grammars/expr.ebnf"),
    ] {
        let Ok(g) = Grammar::read(source, None) else { continue };
        let again = read(&g.to_ebnf());
        assert_eq!(labels(&g), labels(&again), "{}", g.to_ebnf());
        assert_eq!(g.to_ebnf(), again.to_ebnf());
        assert_eq!(g.label(g.start()), again.label(again.start()));
    }
}

#[test]
fn defects_have_places() {
    assert_eq!(defect("s ::= itm; item ::= 'a'"), ("undefined-name", "itm"));
    assert_eq!(defect("s ::= 'a'; s ::= 'b'"), ("duplicate-rule", "s"));
    assert_eq!(defect("s ::= [z-a]"), ("reversed-range", "z-a"));
    assert_eq!(defect("s ::= 'a'{3,2}").0, "reversed-range");
    assert_eq!(defect("s ::= [a] - 'a'").0, "empty-set");
    assert_eq!(defect("s ::= s - 'a'").0, "exception-not-regular");
    assert_eq!(defect("s ::= s 'a'"), ("unproductive-rule", "s"));
    assert_eq!(defect("s ::= s s s s s s s"), ("unproductive-rule", "s"));
    assert_eq!(defect("/*@ tokn */ s ::= 'a'"), ("unknown-annotation", "tokn"));
    assert_eq!(defect("s ::= t; /*@ token */ t ::= 'a' t | 'b'"), ("token-not-regular", "t"));
    assert_eq!(defect("s ::= t; /*@ token */ t ::= 'a'*"), ("empty-token", "t"));
    assert_eq!(defect("s ::= t [0-9]; /*@ token */ t ::= 'a'"), ("set-outside-token", "s"));
    assert_eq!(defect("s ::= 'a").0, "unterminated-string");
    assert_eq!(defect("s = 'a', ").0, "grammar-syntax");
    assert_eq!(defect("").0, "empty-grammar");
    assert_eq!(read("s ::= 'a'; t ::= 'b'").warnings()[0].code, "unreachable-rule");
}

#[test]
fn lists_of_one_item_need_no_separator() {
    let g = read("s ::= x (',' x)*; x ::= 'a'?");
    assert!(g.is_nullable(g.start()));
    let g = read("s ::= x (',' x)+; x ::= 'a'?");
    assert!(!g.is_nullable(g.start()));
}

#[test]
fn keywords() {
    let g = read("s ::= 'if' n | '+' n | '1x' n; /*@ token */ n ::= [a-z]+; /*@ skip */ w ::= ' '+");
    let leaf = |text: &str| g.ids().find(|id| *g.kind(*id) == Kind::Literal(text.as_bytes().into())).unwrap();
    let lexicon = g.lexicon();
    assert!(lexicon.is_keyword(leaf("if")) && !lexicon.is_operator(leaf("if")));
    assert!(lexicon.is_operator(leaf("+")) && lexicon.is_operator(leaf("1x")));
    let name = g.rule("n").unwrap();
    assert!(lexicon.is_match(name, b"iff") && !lexicon.is_match(name, b"if"));
    assert!(lexicon.run_together(b"if", b"x") && !lexicon.run_together(b"+", b"x"));
}
