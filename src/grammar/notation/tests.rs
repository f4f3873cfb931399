//! What each notation means, what it loses, what is wrong in it.

#![allow(clippy::unwrap_used)]

use super::Format;
use crate::grammar::sources::Sources;
use crate::grammar::{Grammar, GrammarError};
use crate::parse::parse;

fn load(format: Format, text: &str) -> Result<Grammar, GrammarError> {
    Grammar::load(Sources::of("", text), Some(format), None)
}

fn read(format: Format, text: &str) -> Grammar {
    load(format, text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn accepts(grammar: &Grammar, input: &str) -> bool {
    parse(grammar, input.as_bytes()).is_ok()
}

/// That these inputs, and not those, are accepted, by what is read and by what is read again after writing.
fn language(format: Format, text: &str, inputs: &[&str], others: &[&str]) {
    let grammar = read(format, text);
    let again =
        Grammar::read(&grammar.to_ebnf(), None).unwrap_or_else(|error| panic!("{error}\n{}", grammar.to_ebnf()));
    assert_eq!(grammar.to_ebnf(), again.to_ebnf());
    for grammar in [&grammar, &again] {
        for input in inputs {
            assert!(accepts(grammar, input), "{input:?} is to be accepted by\n{}", grammar.to_ebnf());
        }
        for input in others {
            assert!(!accepts(grammar, input), "{input:?} is to be refused by\n{}", grammar.to_ebnf());
        }
    }
}

fn defect(format: Format, text: &str) -> (&'static str, String) {
    let error = load(format, text).map(|grammar| grammar.to_ebnf()).unwrap_err();
    let first = &error.diagnostics[0];
    (first.code, text.get(first.labels[0].span.clone()).unwrap_or("?").to_owned())
}

fn warnings(format: Format, text: &str) -> Vec<(&'static str, String)> {
    let grammar = read(format, text);
    grammar.warnings().iter().map(|warning| (warning.code, warning.message.clone())).collect()
}

/// A list of numbers and names in all notations: what the fuzzer starts from.
const LISTS: [(Format, &str); 10] = [
    (
        Format::W3c,
        "/* c */ list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | list | #x78{2,3}\n[3] end ::= [a-z] - 'b'\n",
    ),
    (Format::Iso, "(* c *) list = '[', [item, {',', item}], ']'; item = {? [0-9] ?}- | list | 2 * 'x', ['x'];\n"),
    (
        Format::Bnf,
        "<list> ::= [ <items> ] | [ ]\n<items> ::= <item> | <item> , <items>\n<item> ::= <d> | <d> <d> | <list> | xx | \"xxx\"\n<d> ::= 0 | 1 | 2\n",
    ),
    (
        Format::Abnf,
        "; c\r\nlist = \"[\" [item *(\",\" item)] \"]\"\r\nitem = 1*DIGIT / List ; c\r\nitem =/ 2*3%s\"x\" / %x7A-7A / %d121.121\r\n",
    ),
    (
        Format::Gbnf,
        "# c\nroot ::= \"[\" (item (\",\" item)*)? \"]\"\nitem ::= [0-9]+ | root |\n  \"\\x78\"{2,3} | [^\\x00-\\x79\\]]\n",
    ),
    (
        Format::Lark,
        "start: \"[\" [item (\",\" item)*] \"]\"\n?item: NUMBER | start | X -> x\nX.2: /x{2,3}/i\n%import common.NUMBER\n%import common.WS\n%ignore WS // c\n_sep{a, s}: a (s a)*\n",
    ),
    (Format::Peg, "# c\nlist <- '[' (item (',' item)*)? ']'\nitem <- [0-9]+ / list / 'x' 'x' 'x'? !. / (!'q' [a-r])\n"),
    (
        Format::Pest,
        "// c\nlist = { SOI ~ \"[\" ~ (item ~ (\",\" ~ item)*)? ~ \"]\" ~ EOI }\nitem = { num | list | ^\"x\"{2,3} | (!\"]\" ~ 'a'..'z')+ }\nnum = @{ ASCII_DIGIT+ }\nWHITESPACE = _{ \" \" }\n",
    ),
    (
        Format::TreeSitter,
        r#"{"name": "list", "word": "x", "rules": {
        "list": {"type": "SEQ", "members": [{"type": "STRING", "value": "["}, {"type": "REPEAT", "content": {"type": "SYMBOL", "name": "item"}},
            {"type": "STRING", "value": "]"}]},
        "item": {"type": "CHOICE", "members": [{"type": "PATTERN", "value": "\\d+"}, {"type": "SYMBOL", "name": "list"}, {"type": "SYMBOL", "name": "x"}]},
        "x": {"type": "TOKEN", "content": {"type": "PATTERN", "value": "x{2,3}"}}},
        "extras": [{"type": "PATTERN", "value": "\\s"}]}"#,
    ),
    (
        Format::Fuzzingbook,
        r#"{"<start>": ["[<items>]", ["[", "]"]], "<items>": ["<item>", ["<item>", ",", "<items>"]], "<item>": ["<d>", "<d><d>", "<start>", "xx", ["x", "xx"]],
        "<d>": ["0", "1", "2"]}"#,
    ),
];

#[test]
fn all_notations_say_the_same() {
    for (format, text) in LISTS {
        let comma = if format == Format::TreeSitter { " " } else { "," };
        let inputs = ["[]", "[1]", "[[],12]", "[xx,xxx]"].map(|input| input.replace(',', comma));
        let others = ["[x]", "[", "[1,", "[[]"].map(|input| input.replace(',', comma));
        let others = &others.iter().map(String::as_str).filter(|other| *other != "[x]" || format != Format::Pest);
        let others: Vec<&str> = others.clone().filter(|other| *other != "[x]" || format != Format::Peg).collect();
        language(format, text, &inputs.iter().map(String::as_str).collect::<Vec<_>>(), &others);
    }
}

#[test]
fn each_notation_is_told_from_its_text() {
    for (format, text) in LISTS {
        assert_eq!(super::detect::format(text).ok(), Some(format), "{text}");
    }
    let of = |text: &str| super::detect::format(text).ok();
    assert_eq!(of("a = b / c\r\nb = \"x\"\r\nc = %x41\r\n"), Some(Format::Abnf));
    assert_eq!(of("a = b c ; a comment.\nb = \"x\"\nc = \"y\"\n"), Some(Format::Abnf));
    assert_eq!(of("a = b, c; b = 'x'; c = 'y';"), Some(Format::Iso));
    assert_eq!(of("<a> ::= <b> c /* ours */\n<b> ::= 'x'"), Some(Format::W3c));
    assert_eq!(of(""), Some(Format::W3c));
    let problem = super::detect::format("once upon a time").unwrap_err();
    assert_eq!(problem.code, "unknown-notation");
    assert!(problem.help.unwrap().contains("--grammar-format, one of ebnf, iso, antlr, bnf"));
}

#[test]
fn mixed_notations_are_an_error_with_both_places() {
    for (text, first, second) in
        [("a ::= 'x' b\nb = 'y';\n", "b =", "a ::="), ("a = 'x', b;\nb ::= 'y'\n", "b ::=", "a =")]
    {
        let error = Grammar::read(text, None).unwrap_err();
        let found = &error.diagnostics[0];
        assert_eq!(found.code, "mixed-notation");
        let at = |label: usize| &text[found.labels[label].span.clone()];
        assert_eq!((at(0), at(1)), (first, second));
    }
    read(Format::W3c, "a ::= 'b = c' \"\n= d\" [=]");
}

#[test]
fn what_never_ends_is_shown_where_it_begins() {
    let w3c = |text: &str| defect(Format::W3c, text);
    assert_eq!(w3c("a ::= 'x\nb ::= 'y'\n"), ("unterminated", "'".to_owned()));
    let error = Grammar::read("a ::= \"x\nb ::= \"y\"\n", None).unwrap_err();
    assert_eq!(error.diagnostics[0].labels[0].span, 6..7);
    assert_eq!(w3c("a ::= 'x' /* b"), ("unterminated", "/*".to_owned()));
    assert_eq!(defect(Format::Iso, "a = 'x'; (* (* *) b"), ("unterminated", "(*".to_owned()));
    assert_eq!(defect(Format::Gbnf, "root ::= \"\\\""), ("unterminated", "\"".to_owned()));
    assert_eq!(defect(Format::Bnf, "<a> ::= \"x\n<b> ::= y"), ("unterminated", "\"".to_owned()));
    assert_eq!(w3c("a ::= 'x' \u{FEFF}\nb ::= 'y'"), ("stray-byte-order-mark", "\u{FEFF}".to_owned()));
    read(Format::W3c, "\u{FEFF}a ::= '\u{FEFF}'");
}

#[test]
fn deep_nesting_is_an_error() {
    let many = 5000;
    for (format, text) in [
        (Format::W3c, format!("a ::= {}'x'{}", "(".repeat(many), ")".repeat(many))),
        (Format::W3c, format!("a ::= 'x'{}", "?".repeat(many))),
        (Format::W3c, format!("a ::= 'x'{}", "{1}".repeat(many))),
        (Format::Iso, format!("a = {}'x'{};", "{".repeat(many), "}".repeat(many))),
        (Format::Iso, format!("a = 'x'; {}{}", "(*".repeat(many), "*)".repeat(many))),
        (Format::Abnf, format!("a = {}\"x\"{}", "[".repeat(many), "]".repeat(many))),
        (Format::Abnf, format!("a = {}\"x\"{}", "1#(".repeat(30), ")".repeat(30))),
        (Format::Gbnf, format!("root ::= {}\"x\"{}", "(".repeat(many), ")".repeat(many))),
        (Format::Lark, format!("start: {}\"x\"{}", "(".repeat(many), ")".repeat(many))),
        (Format::Peg, format!("a <- {}'x'", "!".repeat(many))),
        (Format::Peg, format!("a <- {}'x'{}", "(".repeat(many), ")".repeat(many))),
        (Format::Pest, format!("a = {{ {}\"x\"{} }}", "(".repeat(many), ")".repeat(many))),
        (Format::Pest, format!("WHITESPACE = {{ \" \" }} a = {{ {}\"x\"{} }}", "(".repeat(30), ")*".repeat(30))),
    ] {
        assert_eq!(defect(format, &text).0, "nested-too-deeply", "{format:?}");
    }
    let json = format!("{{\"<a>\": {}{}}}", "[".repeat(many), "]".repeat(many));
    assert_eq!(defect(Format::Fuzzingbook, &json).0, "malformed-json-grammar");
    let open = (0..300).map(|n| format!("'({n}' ")).collect::<String>();
    read(Format::W3c, &format!("a ::= {open}"));
}

/// Where a reader tries two ways to read a bracket, each further one doubles the time: this would not end.
#[test]
fn brackets_that_nothing_closes_end_soon() {
    for (format, head) in [
        (Format::W3c, "a ::= "),
        (Format::Iso, "a = "),
        (Format::Bnf, "<a> ::= "),
        (Format::Abnf, "a = "),
        (Format::Gbnf, "root ::= "),
        (Format::Lark, "start: "),
        (Format::Peg, "a <- "),
        (Format::Pest, "a = { "),
        (Format::Antlr, "grammar a; a : "),
    ] {
        for opener in ["(", "[", "{", "(/", "(:", "([", "{(", "(*", "/*", "'(", "a{", "PUSH(", "1#(", "~(", "!(", "<"] {
            try_reading(format, &format!("{head}{}", opener.repeat(60)));
        }
    }
}

#[test]
fn large_counts() {
    assert_eq!(defect(Format::W3c, "s ::= ((\"a\"{1000}){1000}){1000}").0, "count-too-large");
    assert_eq!(defect(Format::W3c, "s ::= 'a'{1001}").0, "count-too-large");
    read(Format::W3c, "s ::= 'a'{1000}");
}

#[test]
fn no_wild_suggestions() {
    let help = |text: &str| load(Format::W3c, text).unwrap_err().diagnostics[0].help.clone().unwrap();
    assert!(help("a ::= x").starts_with("define it"));
    assert!(help("ab ::= xy").starts_with("define it"));
    assert_eq!(help("item ::= itm"), "did you mean `item`?");
}

#[test]
fn long_chains_load_fast() {
    let chain: String = (0..8000).map(|n| format!("r{n} ::= r{}\n", n + 1)).collect();
    let seconds = |text: &str| {
        let before = std::time::Instant::now();
        let grammar = read(Format::W3c, text);
        (before.elapsed().as_secs_f64(), grammar)
    };
    let short: String = (7000..8000).map(|n| format!("r{n} ::= r{}\n", n + 1)).collect();
    let (few, _) = seconds(&(short + "r8000 ::= 'x'\n"));
    let (many, grammar) = seconds(&(chain + "r8000 ::= 'x'\n"));
    // Eight times the rules: a quadratic step would take 64 times as long.
    assert!(many < 30.0 * few.max(0.01), "{few} s, {many} s");
    assert!(accepts(&grammar, "x"));
    let chain: String = (0..5000).map(|n| format!("r{n} ::= r{}\n", n + 1)).collect();
    assert_eq!(defect(Format::W3c, &format!("/*@ token */\n{chain}r5000 ::= 'x'\n")).0, "token-too-large");
}

#[test]
fn w3c_notes_and_iso_digraphs() {
    language(
        Format::W3c,
        "[1] a ::= b [wfc: no ' here] 'x'\n[2] b ::= 'y' [ vc ] | '' [vc: at all]\n",
        &["yvx", "x"],
        &["yx", "y"],
    );
    language(
        Format::Iso,
        "a = (/ 'x' /), (: 'y' :), (* (* *) *) 2 * 'z', {'q'}- .",
        &["zzq", "xyyzzqq"],
        &["zz", "xzq"],
    );
}

#[test]
fn bnf() {
    let text = "<a list> ::= <a list> ; <it> | <empty>\n<it> ::= if x < y then <a list> | ε | \"two words\" | it's\n";
    language(Format::Bnf, text, &["", ";", ";ifx<ythen;;", ";two words", ";it's"], &["if"]);
    assert_eq!(defect(Format::Bnf, "<a> ::= <b>"), ("undefined-name", "<b>".to_owned()));
    assert_eq!(defect(Format::Bnf, "x <a> ::= y").0, "grammar-syntax");
    assert_eq!(defect(Format::Bnf, "<a> ::= x ::= y").0, "grammar-syntax");
}

#[test]
fn abnf() {
    let text = "Msg = Greeting SP name CRLF\n  / %i\"bye\" ; end\ngreeting = \"hi\" / %s\"Hi\" %x21.21\nNAME = 1*2ALPHA *1DIGIT 2DIGIT\nname =/ %b1111010\n";
    language(Format::Abnf, text, &["HI ab12\r\n", "hI ab123\r\n", "Hi!! z\r\n", "bYe"], &["HI! z\r\n", "hi abc12\r\n"]);
    let text = "a = 1#b [c]\nb = \"x\"\nc = <any of RFC 1, section 2>\n";
    language(Format::Abnf, text, &["x", "x , x,x", "xyz"], &["", ", x"]);
    assert_eq!(
        warnings(Format::Abnf, text),
        [("dropped-prose", "1 description in prose is taken as any text".to_owned())]
    );
    assert_eq!(defect(Format::Abnf, "a = %x5A-41"), ("reversed-range", "%x5A-41".to_owned()));
    assert_eq!(defect(Format::Abnf, "a = %xD800"), ("no-such-character", "%xD800".to_owned()));
    assert_eq!(defect(Format::Abnf, "a = \"x\"\na = \"y\"\n").0, "duplicate-rule");
    let paged = "   a = \"x\"\n\nSmith      Standards Track      [Page 7]\n\u{0C}\nRFC 9999      Things      June 2022\n\n   b = a\n";
    language(Format::Abnf, paged, &["x"], &["y"]);
}

#[test]
fn abnf_of_several_files_has_its_core_rules_once() {
    let mut sources = Sources::of("one.abnf", "a = DIGIT b\n");
    sources.add("two.abnf", "b = DIGIT\n");
    let grammar = Grammar::load(sources, None, None).unwrap();
    assert!(accepts(&grammar, "12"));
}

#[test]
fn gbnf() {
    let text = "start ::= \"no\"\nroot ::= [^\\n\\]\\\\]{,2} (\"\\u00e4\" |\n \"\\U0001F600\")? .\n";
    language(Format::Gbnf, text, &["x", "ab\u{e4}\n", "\u{1F600}]"], &["", "]]"]);
    assert_eq!(defect(Format::Gbnf, "root ::= \"\\uD800\"").0, "no-such-character");
    assert_eq!(defect(Format::Gbnf, "root ::= \"a\"{3,2}").0, "reversed-range");
}

#[test]
fn fuzzingbook_names_and_texts() {
    let text = r#"{"[start]": "<s>", "[grammar]": {"<s>": [["<", "<t>", "<t"], "<<t>>", "<b>", ["<t><t>", {"prob": 0.1}], ""], "<t>": [["n"], [], ["\n"]]}}"#;
    language(Format::Fuzzingbook, text, &["<n<t", "<<t", "<n>", "<b>", "nn", "", "\n\n"], &["<nt", "b"]);
    let found = warnings(Format::Fuzzingbook, text);
    assert_eq!(
        found,
        [("name-taken-as-text", "1 name in angle brackets has no rule, and is taken as text".to_owned())]
    );
    assert_eq!(defect(Format::Fuzzingbook, r#"{"[start]": "<x>", "[grammar]": {"<s>": ["x"]}}"#).0, "undefined-start");
    assert_eq!(defect(Format::Fuzzingbook, r#"{"<s>": "x"}"#), ("malformed-json-grammar", "\"<s>\"".to_owned()));
    assert_eq!(defect(Format::Fuzzingbook, r#"{"<s>": ["x",]}"#).0, "malformed-json-grammar");
    language(Format::Fuzzingbook, r#"{"<start>": ["<1 a/b><é>"], "<1 a/b>": ["x"], "<é>": ["y"]}"#, &["xy"], &["x"]);
}

#[test]
fn written_as_fuzzingbook_and_read_again() {
    let lexical = "s ::= (n (',' n)*)? ('if' n{2,3} | '<s>'? | 'x'i) ';'*\n/*@ token */ n ::= [a-z]+ | [^#x0-#x7F]\n/*@ skip */ w ::= [ #xA]+ | '/*' c* '*/'\nc ::= [^*]\n";
    let plain = "s ::= ('a' 'b')* 'c'{2} t{0,2} | '<t>' ; t ::= [0-9] - '7'\n";
    for (text, inputs) in
        [(lexical, ["a, b if c d", " ab /* x */ <s>", "X;;", "", ","]), (plain, ["ababcc12", "<t>", "cc7", "cc", "c"])]
    {
        let grammar = read(Format::W3c, text);
        let again = read(Format::Fuzzingbook, &grammar.to_fuzzingbook());
        for input in inputs {
            assert_eq!(accepts(&grammar, input), accepts(&again, input), "{input:?}\n{}", grammar.to_fuzzingbook());
        }
    }
    assert!(read(Format::W3c, lexical).to_fuzzingbook().contains("\"[cut]\": 2"));
    assert!(!read(Format::W3c, plain).to_fuzzingbook().contains("[cut]"));
}

#[test]
fn lark() {
    let text = r#"
        start: _list{pair, ","} | "if" NAME "if"i
        ?pair: key ":" value -> pair
             | "(" [pair] ")"
        !key.2: NAME
        value: STRING | SIGNED_INT | "a".."c" ~ 2..3 | /[xy]+/i
        NAME: ("_" | LETTER)+
        STRING: /"(\\"|\\\\|[^"\n])*?"/
        _list{item, sep}: item (sep item)*
        COMMENT: "//" /[^\n]*/
        %import common (LETTER, SIGNED_INT)
        %import common.WS -> BLANK
        %ignore BLANK
        %ignore COMMENT
    "#;
    let inputs = ["a:1, b : -2", "k: \"a\\\"b\"", "(a:bca)", "if name IF // c\n", "q:xYy", "() , ()"];
    language(Format::Lark, text, &inputs, &["", "a:", "if if if", "k: \"a\"b\"", "a: b, c"]);
    assert_eq!(warnings(Format::Lark, text), [("dropped-priority", "1 priority was dropped".to_owned())]);
    language(
        Format::Lark,
        "start: A\n%declare B _DEDENT\nA: \"x\"\n%extend A: \"y\"\n%override A: \"z\"",
        &["z"],
        &["x", "y"],
    );
    assert_eq!(defect(Format::Lark, "start: a{\"x\"}\na{b}: a{(b b)}").0, "endless-template");
    assert_eq!(defect(Format::Lark, "start: a{\"x\", \"y\"}\na{b}: b").0, "template-arguments");
    assert_eq!(defect(Format::Lark, "start: X\n%import python.X").0, "unknown-library");
    assert_eq!(defect(Format::Lark, "start: /[b-a]/"), ("malformed-regex", "/[b-a]/".to_owned()));
}

#[test]
fn lark_files_are_found_beside_the_grammar() {
    assert_eq!(
        super::lark::references("%import .terms.NAME\n%import ..lib.more (A, B)\n%import common.X\n"),
        ["terms.lark", "../lib/more.lark"]
    );
}

#[test]
fn lark_imports_keep_their_names_apart() {
    let mut sources = Sources::of(
        "main.lark",
        "start: x \";\" NUMBER\nx: \"x\"\n%import .other.item -> it\n%import .other (x2, NUMBER)\n!y: it | x2",
    );
    sources.add(
        "other.lark",
        "start: item\nitem: x\nx: \"y\"\nx2: x x\nNUMBER: DIGIT+\nDIGIT: \"0\"..\"9\"\n%ignore \" \"",
    );
    let grammar = Grammar::load(sources.clone(), None, None).unwrap();
    assert!(accepts(&grammar, "x;12") && !accepts(&grammar, "x ;12"));
    let grammar = Grammar::load(sources, None, Some("y")).unwrap();
    assert!(accepts(&grammar, "y") && accepts(&grammar, "yy") && !accepts(&grammar, "x"));
}

#[test]
fn lark_names_of_the_library_mean_what_they_mean_there() {
    let text = "start: NUMBER DIGIT\n%import common.SIGNED_NUMBER -> NUMBER\nDIGIT: \"d\"\n";
    language(Format::Lark, text, &["-12.5d", "7d"], &["d", "dd", "x"]);
    let text = "start: (A | B)+\n%import common.INT -> A\n%import common.FLOAT -> B\n%ignore \" \"\n";
    language(Format::Lark, text, &["12 1.5", "1.5"], &["a", ""]);
    let text = "start: S+\nS: \"'\" _STRING_ESC_INNER \"'\"\n%import common._STRING_ESC_INNER -> _STRING_ESC_INNER\n";
    language(Format::Lark, text, &["'ab'", "'a''\\'b'"], &["'ab", "'a'b'"]);
}

#[test]
fn files_that_are_referred_to_and_not_there_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("main.lark");
    std::fs::write(&file, "start: x\n%import .terms.x\n").unwrap();
    let error = Grammar::load(Sources::open(&[file.to_str().unwrap()]).unwrap(), None, None).unwrap_err();
    let help = error.diagnostics[0].help.clone().unwrap();
    assert!(error.diagnostics[0].code == "undefined-name" && help.contains("terms.lark"), "{help}");
}

#[test]
fn tree_sitter_extras_of_several_tokens_have_blanks_between_them() {
    let text = r##"{"name": "x", "rules": {
        "s": {"type": "SEQ", "members": [{"type": "STRING", "value": "a"}, {"type": "STRING", "value": "b"}, {"type": "PATTERN", "value": "\\n"}]},
        "note": {"type": "SEQ", "members": [{"type": "PATTERN", "value": "#[ ]*note"}, {"type": "PATTERN", "value": "\\w+"}, {"type": "PATTERN", "value": "\\n"}]}},
      "extras": [{"type": "PATTERN", "value": "\\s"}, {"type": "SYMBOL", "name": "note"}]}"##;
    language(Format::TreeSitter, text, &["a b\n", "a # note  this \n b\n"], &["a # note\n b\n", "a b"]);
    let bad = r#"{"rules": {"a>b": {"type": "STRING", "value": "x"}}}"#;
    assert_eq!(defect(Format::TreeSitter, bad).0, "malformed-json-grammar");
}

#[test]
fn tree_sitter() {
    let text = r#"{"name": "sum", "word": "name",
      "rules": {
        "source": {"type": "REPEAT", "content": {"type": "SEQ", "members": [{"type": "SYMBOL", "name": "_e"}, {"type": "CHOICE", "members": [{"type": "STRING", "value": "\n"}, {"type": "STRING", "value": ";"}]}]}},
        "_e": {"type": "CHOICE", "members": [{"type": "SYMBOL", "name": "binary"}, {"type": "SYMBOL", "name": "name"}, {"type": "SYMBOL", "name": "string"}, {"type": "SYMBOL", "name": "_scanned"}]},
        "binary": {"type": "CHOICE", "members": [
          {"type": "PREC_LEFT", "value": "add", "content": {"type": "SEQ", "members": [{"type": "FIELD", "name": "l", "content": {"type": "SYMBOL", "name": "_e"}}, {"type": "STRING", "value": "+"}, {"type": "SYMBOL", "name": "_e"}]}},
          {"type": "PREC_RIGHT", "value": "power", "content": {"type": "SEQ", "members": [{"type": "SYMBOL", "name": "_e"}, {"type": "STRING", "value": "^"}, {"type": "SYMBOL", "name": "_e"}]}}]},
        "name": {"type": "PATTERN", "value": "[a-z_]\\w*"},
        "string": {"type": "SEQ", "members": [{"type": "STRING", "value": "\""}, {"type": "REPEAT", "content": {"type": "IMMEDIATE_TOKEN", "content": {"type": "PREC", "value": 1, "content": {"type": "PATTERN", "value": "[^\"\\n]*"}}}}, {"type": "IMMEDIATE_TOKEN", "content": {"type": "STRING", "value": "\""}}]},
        "comment": {"type": "TOKEN", "content": {"type": "SEQ", "members": [{"type": "STRING", "value": "/*"}, {"type": "PATTERN", "value": "[^*]*\\*+([^/*][^*]*\\*+)*"}, {"type": "STRING", "value": "/"}]}}
      },
      "extras": [{"type": "PATTERN", "value": "\\s"}, {"type": "SYMBOL", "name": "comment"}],
      "precedences": [[{"type": "STRING", "value": "power"}, {"type": "STRING", "value": "add"}]],
      "externals": [{"type": "SYMBOL", "name": "_scanned"}], "conflicts": [], "inline": [], "supertypes": []}"#;
    language(
        Format::TreeSitter,
        text,
        &["a + b ^ c;", "a /* ; **/ \n b;", "\"a b\" + x\n", "\"\";", ""],
        &["a b;", "a", "+;"],
    );
    let grammar = read(Format::TreeSitter, text);
    let shown = grammar.to_ebnf();
    assert!(shown.contains("/*@ left */ _e \"+\" _e") || shown.contains("/*@ left(0) */ _e \"+\" _e"), "{shown}");
    assert!(shown.contains("/*@ right(1) */ _e \"^\" _e") || shown.contains("/*@ right */ _e \"^\" _e"), "{shown}");
    assert!(shown.contains("/*@ identifier */\nname") && !shown.contains("binary"), "{shown}");
    let codes: Vec<&str> = grammar.warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["external-token"]);
    assert_eq!(
        defect(Format::TreeSitter, r#"{"rules": {"a": {"type": "SEQUENCE"}}}"#),
        ("malformed-json-grammar", "\"a\"".to_owned())
    );
    assert_eq!(
        defect(
            Format::TreeSitter,
            r#"{"rules": {"a": {"type": "SYMBOL", "name": "x"}}, "externals": [{"type": "SYMBOL", "name": "x"}]}"#
        )
        .0,
        "external-token"
    );
}

#[test]
fn peg() {
    let text = r#"
        S <- Comment / Name / Text
        Comment <- '/*' (!'*/' .)* '*/'
        Name <- !Keyword [a-z] [a-z0-9]*
        Keyword <- ('if' / "do") ![a-z0-9]
        Text <- '"' ('\\' . / !'"' .)* '"' !.
    "#;
    let inputs = ["/* * / **/", "iff", "x1", "\"a\\\"b\"", "do1"];
    language(Format::Peg, text, &inputs, &["if", "do", "/**/*/", "\"a\"b\"", "1"]);
    let codes: Vec<&str> = warnings(Format::Peg, text).iter().map(|warning| warning.0).collect();
    assert_eq!(codes, ["ordered-choice", "approximated-predicate", "unreachable-rule"]);
    let text = "S <- !A 'x' &'y'\nA <- '(' A ')' / 'a'";
    let codes: Vec<&str> = warnings(Format::Peg, text).iter().map(|warning| warning.0).collect();
    assert_eq!(codes, ["ordered-choice", "dropped-predicate", "unreachable-rule"]);
}

#[test]
fn pest() {
    let text = r##"
        WHITESPACE = _{ " " | "\u{9}" }
        COMMENT = _{ "/*" ~ (!"*/" ~ ANY)* ~ "*/" }
        file = { SOI ~ (call | raw)* ~ EOI }
        call = { name ~ "(" ~ (name ~ ("," ~ name)*)? ~ ")" }
        name = @{ !("if" ~ !ASCII_ALPHANUMERIC) ~ ASCII_ALPHA ~ (ASCII_ALPHA | pair)* }
        pair = { ASCII_DIGIT ~ ('a'..'f' | ^"X") }
        raw = ${ PUSH("#"+) ~ "\"" ~ (!("\"" ~ PEEK) ~ ANY)* ~ "\"" ~ POP }
    "##;
    let inputs = ["f ( a , b ) ", "a1a2X(/* ) */)", " #\"x\"y\"#", "", "if1a()"];
    language(Format::Pest, text, &inputs, &["f ( a b )", "a1 a()", "if()", "f(a,)"]);
    let codes: Vec<&str> = warnings(Format::Pest, text).iter().map(|warning| warning.0).collect();
    assert!(codes.contains(&"approximated-stack") && codes.contains(&"ordered-choice"), "{codes:?}");
    assert_eq!(defect(Format::Pest, "a = { 'b'..'a' }").0, "reversed-range");
    assert_eq!(defect(Format::Pest, "a = { b }"), ("undefined-name", "b".to_owned()));
}

#[test]
fn regular_expressions() {
    let token = |pattern: &str| format!("start: T\nT: {pattern}\n");
    for (pattern, inputs, others) in [
        (r"/a(?:b|c)?d{2,}/", &["add", "abddd"][..], &["ad", "abcdd"][..]),
        (r"/[^\]a-c\-]+/", &["xyz", "\n"], &["a", "-", "]"]),
        (r"/\/\*.*?\*\//s", &["/**/", "/* * \n */"], &["/**/*/"]),
        (r#"/"([^"\\]|\\.)*"/"#, &["\"\\\"\""], &["\"\"\""]),
        (r"/(?i:x)y/", &["Xy"], &["xY"]),
        (
            r"/a # one
             [ ] b/x",
            &["a b"],
            &["a  b", "ab"],
        ),
        (r"/\u0041\x42\t?\p{Lu}/", &["AB\tC", "ABÄ"], &["ABc"]),
        (r"/(?P<n>a)+\w/", &["aaß"], &["a-"]),
        (r#"/".*?(?<!\\)(\\\\)*?"/"#, &["\"a\"", "\"\\\"\"", "\"\\\\\""], &["\"a\"b\"", "\"\\\""]),
        (r"/x{,2}y{}/", &["xxy{}"], &["xxxy{}"]),
    ] {
        language(Format::Lark, &token(pattern), inputs, others);
    }
    assert_eq!(warnings(Format::Lark, &token(r"/(?!x)[a-z]\b(a)\1$/")).len(), 2);
    for pattern in ["/(/", "/[a/", "/*/", "/\\p{Foo}/", "/a)/", "/(?</", "/\\x4/"] {
        assert_eq!(defect(Format::Lark, &token(pattern)).0, "malformed-regex", "{pattern}");
    }
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// A sample with some pieces doubled, dropped, or put in from another.
fn mutated(numbers: &mut Numbers, samples: &[(Format, &str)]) -> (Format, String) {
    let (format, text) = samples[numbers.below(samples.len())];
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(characters.len());
        let end = (at + numbers.below(12)).min(characters.len());
        match numbers.below(6) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let piece = characters[at..end].repeat(1 + numbers.below(30));
                characters.splice(at..at, piece);
            }
            2 | 3 => {
                let signs: Vec<char> = "()[]{}<>\"'/\\|*+?!&~-,;:.=#%@_ \n0a\u{FEFF}\u{e4}".chars().collect();
                characters.insert(at, signs[numbers.below(signs.len())]);
            }
            4 => characters.truncate(at),
            _ => {
                let other: Vec<char> = samples[numbers.below(samples.len())].1.chars().collect();
                let from = numbers.below(other.len());
                let to = (from + numbers.below(20)).min(other.len());
                characters.splice(at..end, other[from..to].iter().copied());
            }
        }
        if characters.is_empty() {
            characters.push('a');
        }
    }
    (format, characters.into_iter().collect())
}

/// Reads a mutated sample, and what it comes to once more.
fn try_reading(format: Format, text: &str) {
    let before = std::time::Instant::now();
    let _ = super::detect::format(text);
    if let Ok(grammar) = load(format, text) {
        let written = grammar.to_ebnf();
        if let Err(error) = Grammar::read(&written, None) {
            panic!("what is written cannot be read: {error}\n{text}\n{written}");
        }
        let _ = grammar.to_fuzzingbook();
    }
    assert!(before.elapsed().as_secs() < 20, "{:?} for {format:?}\n{text}", before.elapsed());
}

#[test]
fn mutated_grammars_do_no_harm() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..5000 {
        let (format, text) = mutated(&mut numbers, &LISTS);
        try_reading(format, &text);
    }
}

/// `FUZZ_SECONDS=600 FUZZ_SEED=1 cargo test --release -- --ignored fuzz_readers`
#[test]
#[ignore = "as long as FUZZ_SECONDS says"]
fn fuzz_readers() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(number("FUZZ_SECONDS", 10));
    let mut numbers = Numbers(number("FUZZ_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    while std::time::Instant::now() < end {
        let (format, text) = mutated(&mut numbers, &LISTS);
        try_reading(format, &text);
    }
}
