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
    assert_eq!(defect("s ::= t - 'a'; t ::= 'b' t | 'c'"), ("exception-not-regular", "t - 'a'"));
    assert_eq!(defect("s ::= s - 'a'").0, "exception-not-regular");
    assert_eq!(defect("s ::= s 'a'"), ("unproductive-rule", "s"));
    assert_eq!(defect("s ::= s s s s s s s"), ("unproductive-rule", "s"));
    assert_eq!(defect("/*@ tokn */ s ::= 'a'"), ("unknown-annotation", "tokn"));
    assert_eq!(defect("s ::= t; /*@ token */ t ::= 'a' t | 'b'"), ("token-not-regular", "t"));
    assert_eq!(defect("s ::= t; /*@ token */ t ::= 'a'*"), ("empty-token", "t"));
    assert_eq!(defect("s ::= t [0-9]; /*@ token */ t ::= 'a'"), ("set-outside-token", "s"));
    assert_eq!(defect("s ::= ( 'a'").0, "grammar-syntax");
    assert_eq!(defect("s ::= 'a"), ("unterminated", "'"));
    assert_eq!(defect("s = [ 'x', \"a;"), ("unterminated", "\""));
    assert_eq!(defect("s ::= 'a' /* so"), ("unterminated", "/*"));
    assert_eq!(defect("s = 'a', ").0, "grammar-syntax");
    assert_eq!(defect("").0, "empty-grammar");
}

/// The codes of all findings, and the texts that they point at.
fn findings(source: &str) -> Vec<(&'static str, &str)> {
    let found = match Grammar::read(source, None) {
        Ok(grammar) => grammar.warnings().to_vec(),
        Err(error) => error.diagnostics,
    };
    found.iter().map(|finding| (finding.code, &source[finding.labels[0].span.clone()])).collect()
}

#[test]
fn one_defect_hides_no_other() {
    let source = "s ::= undefined endless | twice | [z-a] | range{3,2} | set - [a-z] | s2 - 'x' | empty | cycle | undefined\n\
                  endless ::= endless 'x'\n\
                  twice ::= 'a' | 'b' | 'a'\n\
                  range ::= '('\n\
                  set ::= [a]\n\
                  s2 ::= '(' s2 ')'\n\
                  twice ::= 'c'\n\
                  cycle ::= s3; s3 ::= cycle | 'x'\n\
                  unused ::= 'd'\n\
                  /*@ token */ empty ::= 'e'*\n\
                  /*@ tokn */ one ::= empty\n";
    let codes: Vec<&str> = findings(source).into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        [
            "undefined-name",
            "reversed-range",
            "reversed-range",
            "empty-set",
            "exception-not-regular",
            "unproductive-rule",
            "unproductive-rule",
            "duplicate-rule",
            "empty-token",
            "unknown-annotation",
            "duplicate-alternative",
            "cyclic-rule",
            "unreachable-rule",
            "unreachable-rule",
        ],
        "{:?}",
        findings(source)
    );
}

#[test]
fn one_defect_causes_no_other() {
    assert_eq!(findings("s ::= a t; /*@ token */ t ::= b"), [("undefined-name", "a"), ("undefined-name", "b")]);
    assert_eq!(findings("s ::= a | b | 'x'").len(), 2);
    assert_eq!(findings("s ::= a | a 'x' | (a 'y')"), [("undefined-name", "a")]);
    assert_eq!(findings("s ::= a 'x'; a ::= b; b ::= b 'x'"), [("unproductive-rule", "b")]);
    assert_eq!(findings("s ::= [z-a] t; t ::= 'x'"), [("reversed-range", "z-a")]);
    assert_eq!(findings("s ::= t - [z-a]; t ::= [z-a]").len(), 2);
    assert_eq!(findings("s ::= 'x'; s ::= t; t ::= 'y'").len(), 2);
}

/// Whatever is cut out of a grammar, what is left is read, or the reason is told with a place in the text.
#[test]
fn broken_grammars_are_reported() {
    for source in [include_str!("../../grammars/json.ebnf"), include_str!("../../grammars/lua.ebnf")] {
        let mut random: usize = 1;
        for _ in 0..60 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut broken = source.as_bytes().to_vec();
            let from = (random >> 24) % broken.len();
            broken.drain(from..(from + 1 + (random >> 56)).min(source.len()));
            let broken = String::from_utf8_lossy(&broken);
            if let Err(error) = Grammar::read(&broken, None) {
                assert!(error.diagnostics.iter().any(|finding| finding.severity == Severity::Error));
                let spans =
                    error.diagnostics.iter().flat_map(|finding| &finding.labels).map(|label| label.span.clone());
                assert!(spans.clone().all(|span| broken.get(span).is_some()), "{:?}", spans.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn warnings() {
    assert_eq!(findings("s ::= 'a'; t ::= 'b'"), [("unreachable-rule", "t")]);
    assert_eq!(findings("s ::= t - u; t ::= [a-z]+; u ::= v; v ::= 'if'"), []);
    assert_eq!(findings("s ::= 'a'; /*@ skip */ w ::= x+; x ::= ' '"), []);
    assert_eq!(findings("s ::= t; t ::= s | 'x'"), [("cyclic-rule", "s")]);
    assert_eq!(findings("s ::= e s e | 'x'; e ::= 'y'?"), [("cyclic-rule", "s")]);
    assert_eq!(findings("s ::= 'x' | (s | 'y')*"), [("cyclic-rule", "s")]);
    assert_eq!(findings("s ::= 'x' | '(' s ')' | s s"), []);
    assert_eq!(findings("s ::= 'x' | s (',' s)+"), []);
    assert_eq!(findings("s ::= 'x' | 'y' | 'x'"), [("duplicate-alternative", "s")]);
    assert_eq!(findings("s ::= [a-c] - 'b' | 'd'"), []);
    let tokens = "s ::= a b c; /*@ token */ a ::= [x]+; /*@ token */ b ::= 'x' 'x'*; /*@ token */ c ::= 'x'";
    assert_eq!(findings(tokens), [("shadowed-token", "b")]);
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
