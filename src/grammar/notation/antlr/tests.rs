//! Samples of each construct, and what they come to.

#![allow(clippy::unwrap_used)]

use super::super::super::{Format, Grammar};
use super::*;
use crate::grammar::sources::Sources;
use crate::parse::Parser;
use crate::tree;

fn load(files: &[&str]) -> Result<Grammar, crate::grammar::GrammarError> {
    let mut sources = Sources::default();
    files.iter().enumerate().for_each(|(number, text)| sources.add(format!("{number}.g4"), *text));
    Grammar::load(sources, Some(Format::Antlr), None)
}

fn read(files: &[&str]) -> Grammar {
    let grammar = load(files).unwrap_or_else(|error| panic!("{:#?}", error.diagnostics));
    let again = Grammar::read(grammar.source(), None).unwrap_or_else(|error| panic!("{error}\n{}", grammar.source()));
    assert_eq!(labels(&again), labels(&grammar), "{}", grammar.source());
    grammar
}

/// Rules with their roles: what is written and read again must not change.
fn labels(grammar: &Grammar) -> Vec<String> {
    let label = |id| format!("{:?} {}", grammar.symbol(id).role, grammar.label(id));
    let mut labels: Vec<String> = grammar.ids().map(label).collect();
    labels.sort();
    labels
}

/// The tree of an input, or where there is none.
fn parse(grammar: &Grammar, input: &str) -> String {
    match Parser::new(grammar).parse(input.as_bytes()) {
        Ok(tree) => tree::to_sexp(grammar, &tree),
        Err(error) => format!("none at {}", error.offset()),
    }
}

fn accepts(grammar: &Grammar, input: &str) -> bool {
    Parser::new(grammar).parse(input.as_bytes()).is_ok()
}

/// Whether the token `T` of a lexer grammar matches the whole text.
fn matches(rules: &str, text: &str) -> bool {
    let grammar = read(&[&format!("lexer grammar L; {rules}")]);
    grammar.lexicon().is_match(grammar.rule("T").unwrap(), text.as_bytes())
}

fn codes(files: &[&str]) -> Vec<&'static str> {
    match load(files) {
        Ok(grammar) => grammar.warnings().iter().map(|found| found.code).collect(),
        Err(error) => error.diagnostics.iter().map(|found| found.code).collect(),
    }
}

#[test]
fn the_notation_is_told_from_the_text() {
    assert!(is_antlr("/** doc; */ // grammar\n lexer  grammar A;"));
    assert!(is_antlr("grammar A;") && is_antlr("parser grammar A ;"));
    assert!(!is_antlr("grammar ::= rule*") && !is_antlr("grammar = rule;") && !is_antlr("/* open"));
    assert_eq!(
        references("parser grammar P; options { tokenVocab = L; } import A, B = C; s : ;"),
        ["A.g4", "C.g4", "L.g4"]
    );
}

#[test]
fn operators_group_as_written() {
    let grammar =
        read(&["grammar E; s : e EOF; e : <assoc=right> e '^' e | '-' e | e '*' e | e '+' e # sum | e '!' | a=ID;
        ID : [a-z]+; WS : ' ' -> skip;"]);
    let tree = |input| parse(&grammar, input).replace(['"', '\\'], "").replace("ID ", "");
    assert_eq!(tree("a + b * c + d"), "(s (e (e (e (a)) (+ +) (e (e (b)) (* *) (e (c)))) (+ +) (e (d))))");
    assert_eq!(tree("a^b^c"), "(s (e (e (a)) (^ ^) (e (e (b)) (^ ^) (e (c)))))");
    assert_eq!(tree("- - a * b"), "(s (e (e (- -) (e (- -) (e (a)))) (* *) (e (b))))");
    assert_eq!(tree("a + b !"), "(s (e (e (e (a)) (+ +) (e (b))) (! !)))");
}

#[test]
fn words_are_keywords_where_a_later_rule_matches_them() {
    let lexer = "lexer grammar L; IF : I F; END_IF : 'end-if'; ID : [a-z] [a-z-]*; LATE : 'late'; GT : '>'; SHR : '>>';
        WS : [ \\n] -> channel(HIDDEN); fragment I : [iI]; fragment F : 'f' | 'F';";
    let parser = "parser grammar P; options { tokenVocab = L; } s : IF ID (GT | '>>') ID END_IF EOF;";
    let grammar = read(&[lexer, parser]);
    assert!(accepts(&grammar, "iF a >> b end-if"));
    assert!(!accepts(&grammar, "if if > b end-if") && !accepts(&grammar, "ifa > b end-if"));
    assert!(!accepts(&grammar, "if end-if > b end-if"));
    assert!(!accepts(&grammar, "if a > b end-if-not") && accepts(&grammar, "if late > b end-if"));
    let roles: Vec<bool> = grammar.rules().map(|(_, id)| grammar.symbol(id).role.identifier).collect();
    assert_eq!(roles.iter().filter(|identifier| **identifier).count(), 1);
}

#[test]
fn sets_and_escapes() {
    let one = r"T : [a-c\u0041\u{1F600}\p{Greek}\]\-\n];";
    for yes in ["b", "A", "\u{1F600}", "λ", "]", "-", "\n"] {
        assert!(matches(one, yes), "{yes}");
    }
    assert!(!matches(one, "d") && !matches(one, "\\"));
    assert!(matches(r"T : '\u0041\'\\' ~[a\r] ~'x' ~('b' | [cd]) 'e'..'g' .;", "A'\\byef!"));
    assert!(!matches(r"T : ~('b' | [cd]);", "c") && matches(r"T : [\P{L}] [\p{Script=Latin}];", "1é"));
    assert!(matches("options { caseInsensitive = true; } T : 'ab' [c-d];", "aBD"));
    assert!(!matches(
        "options { caseInsensitive = true; } T options { caseInsensitive = false; } : 'ab' [c-d];",
        "aBD"
    ));
}

#[test]
fn lazy_repetitions_end_as_soon_as_they_may() {
    let comment = "T : '/*' .*? '*/';";
    assert!(matches(comment, "/* a **/") && !matches(comment, "/* a */ */"));
    // An escaped quote comes before any character, so it does not end the text.
    let text = r#"T : '"' ('\\"' | .)*? '"';"#;
    assert!(matches(text, r#""a\"b""#) && matches(text, r#""\n""#) && !matches(text, r#""a"b""#));
    let line = r"T : '//' .*? ('\n' | EOF);";
    assert!(matches(line, "// a") && matches(line, "// a\n") && !matches(line, "// a\n\n"));
    assert!(matches("T : 'a' B; fragment B : 'b'+? C; fragment C : 'b' 'c'?;", "abb"));
}

#[test]
fn modes_more_and_types() {
    let lexer = r#"lexer grammar L; OPEN : '{' -> pushMode(CODE); TEXT : ~[{]+; mode CODE; CLOSE : '}' -> popMode;
        IF : 'if'; ID : [a-z]+; QUOTE : '"' -> more, pushMode(STR); WS : ' '+ -> skip; INT : [0-9]+ -> type(ID);
        mode STR; STRING : '"' -> popMode; ESC : '\\' . -> more; ANY : . -> more;"#;
    let parser = "parser grammar P; options { tokenVocab = L; } s : (TEXT | OPEN IF (ID | STRING) CLOSE)* EOF;";
    let grammar = read(&[lexer, parser]);
    assert!(accepts(&grammar, r#"if x {if abc}y{ if "a}\"b" }z{if 12}"#));
    assert!(!accepts(&grammar, r#"{if "a}"#));
    assert!(codes(&[lexer, parser]).contains(&"approximated-mode"));
}

#[test]
fn what_one_mode_skips_is_a_token_of_another() {
    let lexer =
        "lexer grammar L; OPEN : '<' -> pushMode(IN); NL : '\\n'; TEXT : ~[<\\n]+; mode IN; CLOSE : '>' -> popMode;
        NAME : [a-z]+; S : [ \\n] -> skip;";
    let parser = "parser grammar P; options { tokenVocab = L; } s : ((TEXT | '<' NAME+ CLOSE)+ NL)* EOF;";
    let grammar = read(&[lexer, parser]);
    assert!(accepts(&grammar, " a <b\n c > d\n<b>\n") && !accepts(&grammar, "a <b>\n\n"));
}

#[test]
fn what_is_skipped_leaves_earlier_tokens_alone() {
    let grammar =
        read(&["grammar G; s : (ID* EOL)* EOF; ID : [a-z]+; EOL : [\\n]+; WS : [ \\n] -> skip; X : . -> skip;"]);
    assert!(accepts(&grammar, "a b\nc\n\n") && accepts(&grammar, "a ; b\n") && !accepts(&grammar, "a b"));
}

#[test]
fn files_come_together() {
    let main = "grammar M; import I; s : a EOF; ID : 'x';";
    let imported = "grammar I; a : ID NUM; b : ID; ID : 'y'; NUM : [0-9];";
    let grammar = read(&[imported, main]);
    assert_eq!(grammar.label(grammar.start()), "s");
    assert!(accepts(&grammar, "x1") && !accepts(&grammar, "y1"));
    assert_eq!(codes(&["grammar A; s : X; X : 'x';", "grammar B; s : Y; Y : 'y';"]), ["duplicate-rule"]);
    let alone = read(&["lexer grammar L; A : 'a' | 'b'; N : [0-9]+; WS : ' ' -> skip;"]);
    assert!(accepts(&alone, "a 12 b") && !accepts(&alone, "c"));
}

#[test]
fn any_and_not_are_of_tokens() {
    let grammar = read(&["grammar G; s : (~(';' | A) | 'x' .)* ';' EOF; A : 'a'; B : 'b'+; C : 'c' -> skip;"]);
    assert!(accepts(&grammar, "bcbxa;") && !accepts(&grammar, "a;") && accepts(&grammar, "x;;"));
}

#[test]
fn host_code_is_passed_over() {
    let codes = codes(&[
        r#"grammar G; options { superClass = Base; } @header { import "}"; } @parser::members { char c = '}'; }
        s[int n, List<int[]> x] returns [int m] throws E locals [int k] options { k = 1; } @init { a(); } :
        {p()}? t+=a[1]* { /* } */ b(); } <assoc=right> # one | EOF; catch [E e] { c(); } finally { d(); }
        a[int n] : 'a';"#,
    ]);
    assert_eq!(codes, ["dropped-superclass", "dropped-action", "dropped-predicate"]);
}

#[test]
fn a_guarded_token_takes_no_word_away() {
    let grammar =
        read(&["grammar G; s : IF (ID | RAW) EOF; IF : 'if'; RAW : ~[ ]+ {raw()}?; ID : [a-z]+; WS : ' ' -> skip;"]);
    assert!(accepts(&grammar, "if a") && accepts(&grammar, "if if:"));
}

#[test]
fn each_finding_has_a_code() {
    let lexical = |rules: &str| codes(&[&format!("grammar G; s : A* EOF; {rules}")]);
    assert_eq!(lexical("A : 'a' | '(' A* ')';"), ["unfolded-recursion"]);
    assert_eq!(lexical("A : 'a'*;"), ["nullable-token"]);
    assert_eq!(lexical("A : [a-z]+; B : 'b'; "), ["unmatched-token", "unused-token"]);
    assert_eq!(lexical("A : 'a'; B : [b]+;"), ["unused-token"]);
    assert_eq!(lexical("A : 'a'; B : . -> skip;"), ["approximated-catch-all"]);
    assert_eq!(codes(&["grammar G; tokens { B } s : A B EOF; A : 'a';"]), ["token-without-rule"]);
    assert_eq!(codes(&["grammar G; s : a AB; a : ; A : 'a';"]), ["undefined-name"]);
    assert_eq!(lexical("A : ~'ab';"), ["negated-text"]);
    assert_eq!(lexical(r"A : '\u12';"), ["unknown-escape"]);
    assert_eq!(lexical(r"A : [\p{Nothing}];"), ["unknown-property"]);
    assert_eq!(lexical("A : [z-a];"), ["reversed-range"]);
    assert_eq!(lexical("A : [];"), ["empty-set"]);
    assert_eq!(lexical("A = 'a';"), ["grammar-syntax"]);
}

#[test]
fn a_large_lazy_rule_is_taken_as_greedy() {
    // To know which `x` stood eleven characters before takes 2^11 states.
    let rules = format!("grammar G; s : A; A : .*? 'x' {} 'y';", ". ".repeat(10));
    assert_eq!(codes(&[&rules]), ["approximated-repetition"]);
}

#[test]
fn hostile_grammars_end() {
    let deep = format!("grammar G; s : {}'a'{};", "(".repeat(500), ")".repeat(500));
    assert_eq!(codes(&[&deep]), ["nested-too-deeply"]);
    let allowed = format!("grammar G; s : {}'a'{};", "(".repeat(199), ")".repeat(199));
    assert_eq!(codes(&[&allowed]), Vec::<&str>::new());
    assert_eq!(codes(&[&format!("grammar G; s : {}", "{".repeat(150))]), ["grammar-syntax"]);
    assert_eq!(codes(&[&format!("grammar G; s {}", "[".repeat(5000))]), ["unterminated"]);
    let doubling = |last: &str| {
        let rules = (0..40).map(|n| format!("fragment A{n} : A{} A{};", n + 1, n + 1)).collect::<String>();
        format!("grammar G; s : A; A : A0; {rules} fragment A40 : {last};")
    };
    for last in ["'a'", "", "'a'?", "[ab]", "'a'*?"] {
        assert!(!codes(&[&doubling(last)]).is_empty(), "{last}");
    }
}

#[test]
fn a_lexer_rule_is_itself_where_others_make_its_token() {
    let lexer = "lexer grammar L; EQ : '=' -> mode(V); KEY : ID -> type(ID); mode V; PAIR : ID '.' ID; ID : [a-z]+;";
    let grammar = read(&[lexer, "parser grammar P; options { tokenVocab = L; } s : ID '=' (ID | PAIR) EOF;"]);
    assert!(accepts(&grammar, "a=b") && accepts(&grammar, "a=b.c") && !accepts(&grammar, "a=b."));
}
