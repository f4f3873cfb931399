//! Worked examples, with their runs.

use super::outcome;
use crate::grammar::{Grammar, SymbolId, bundled};
use crate::oracle::{Oracle, Outcome};
use crate::parse::parse;
use crate::reduce::{Reduction, reduce};
use crate::search::Search;
use crate::tree::{Builder, Tree};

/// A search that stops after so many runs.
pub(super) fn limited(oracle: &dyn Oracle, runs: u64) -> Search<'_> {
    Search::new(oracle).with_budget(crate::search::Budget { max_runs: Some(runs), deadline: None })
}

fn read(source: &str) -> Grammar {
    Grammar::read(source, None).unwrap_or_else(|error| panic!("{error}"))
}

fn reduced(grammar: &Grammar, input: &str, interesting: impl Fn(&str) -> bool + Send + Sync) -> Reduction {
    let tree = parse(grammar, input.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let oracle = |text: &[u8]| -> Outcome { outcome(std::str::from_utf8(text).is_ok_and(&interesting)) };
    assert!(interesting(input));
    let found = reduce(grammar, tree, &mut Search::new(&oracle));
    assert!(found.proven);
    found
}

fn text(found: &Reduction) -> &str {
    std::str::from_utf8(found.tree.text()).unwrap_or_default()
}

const JSON: &str = r#"
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (member ("," member)*)? "}"
member ::= string ":" value
array  ::= "[" (value ("," value)*)? "]"
/*@ token */
string ::= #x22 [^#x22\]* #x22
/*@ token */
number ::= "-"? [0-9]+
/*@ skip */
space  ::= [ #x9#xA#xD]+
"#;

/// An expression of about a thousand characters with one pair of double parentheses.
fn long_expression() -> String {
    let mut inner = "((17 - 4))".to_owned();
    for n in 0..46 {
        let (left, right) = (n * 7 % 100, n * 13 % 90);
        inner = match n % 4 {
            0 => format!("{left}.5 * (3 + {inner}) - {right} / 2"),
            1 => format!("-{left} + 2 * ({right} - {inner} * 8)"),
            2 => format!("{inner} + +{left} - 6 * {right}"),
            _ => format!("(1 + {left}) / (4 * {inner} - {right}.25)"),
        };
    }
    inner
}

#[test]
fn nested_parentheses_take_few_runs() {
    let grammar = read(bundled::find("expr").map_or("", |found| found.source));
    let input = long_expression();
    assert!((600..1400).contains(&input.len()), "{}", input.len());
    let found = reduced(&grammar, &input, |text| text.contains("((") && text.contains("))"));
    assert_eq!(text(&found), "((0))");
    assert!(found.runs <= 20, "{} runs", found.runs);
}

#[test]
fn a_member_deep_in_json_takes_few_runs() {
    let grammar = read(JSON);
    let user = |n: u32| format!(r#"{{"name": "u{n}", "tags": ["a", {n}, null], "meta": {{"y": {n}}}}}"#);
    let users: Vec<String> = (0..40).map(user).collect();
    let culprit = r#"{"name": "bad", "meta": {"x": {"deep": [1, 2]}, "z": 3}, "tags": []}"#;
    let input =
        format!(r#"{{"version": 3, "users": [{}, {culprit}, {}]}}"#, users[..23].join(", "), users[23..].join(", "));
    let interesting = |text: &str| {
        fn walk(value: &serde_json::Value) -> bool {
            match value {
                serde_json::Value::Object(members) => {
                    members.get("meta").is_some_and(|meta| meta.get("x").is_some()) || members.values().any(walk)
                }
                serde_json::Value::Array(items) => items.iter().any(walk),
                _ => false,
            }
        }
        serde_json::from_str(text).is_ok_and(|value| walk(&value))
    };
    let found = reduced(&grammar, &input, interesting);
    assert_eq!(text(&found), r#"{"meta":{"x":0}}"#);
    assert!(found.runs <= 50, "{} runs", found.runs);
    let small = reduced(&grammar, r#"{"users": [{"meta": {"x": 0}}]}"#, interesting);
    assert_eq!(text(&small), r#"{"meta":{"x":0}}"#);
    assert!(small.runs <= 24, "{} runs", small.runs);
}

#[test]
fn an_item_goes_with_its_separator() {
    let grammar = read("list ::= '[' item (',' item)* ']'\nitem ::= 'a' | 'b' | 'cc'");
    let found = reduced(&grammar, "[a,cc,b,a,a]", |text| text.contains("cc") && text.contains(",a"));
    assert_eq!(text(&found), "[cc,a]");
}

#[test]
fn what_must_stay_apart_stays() {
    let grammar = read(JSON);
    let input = r#"{"left": [1, "pin", 2], "mid": {"a": [true, {"b": 3}]}, "right": {"needle": [4]}}"#;
    let found = reduced(&grammar, input, |text| text.contains("pin") && text.contains("needle"));
    assert_eq!(text(&found), r#"{"":"pin","needle":0}"#);
}

#[test]
fn a_part_stands_for_a_whole_in_its_least_context() {
    let grammar = read(
        "program ::= statement*\nstatement ::= expr ';' | 'if' '(' expr ')' statement | '{' statement* '}'\n\
                        expr ::= '(' expr ')' | name | 'g' '(' expr ')'\nname ::= [x-z]",
    );
    let found = reduced(&grammar, "if(((g((x)))))if(x){{y;}{}}", |text| text.contains("g("));
    assert_eq!(text(&found), "g(x);");
}

const NAMES: &str = r#"
program ::= (statement ";")*
statement ::= "let" NAME "=" value | "use" NAME
value ::= NUMBER | NAME
/*@ token identifier */
NAME ::= [a-z]+
/*@ token */
NUMBER ::= [0-9]+
/*@ skip */
space ::= [ #xA]+
"#;

#[test]
fn names_are_shortened_together() {
    let grammar = read(NAMES);
    let interesting = |text: &str| {
        let declared = |name: &str| text.contains(&format!("let {name}="));
        let mut used = text.split(';').filter_map(|statement| statement.strip_prefix("use "));
        text.contains(';') && used.clone().count() >= 2 && used.all(declared) && {
            let mut names: Vec<&str> = text.split(';').filter_map(|s| s.strip_prefix("use ")).collect();
            names.dedup();
            names.len() == 2
        }
    };
    let found = reduced(&grammar, "let alpha=12;let beta=345;let gamma=6;use alpha;use beta;", interesting);
    assert_eq!(text(&found), "let a=0;let b=0;use a;use b;");
}

#[test]
fn white_space_that_counts_is_kept_and_the_rest_goes() {
    let grammar = read(NAMES);
    let found = reduced(&grammar, "let  a = 1 ;\n use  a ;  let b=2 ;", |text| text.contains(";\n"));
    assert_eq!(text(&found), "use a;\n use a;");
}

#[test]
fn characters_are_reduced_without_tokens() {
    let grammar = read("sum ::= number ('+' number)*\nnumber ::= digit+\ndigit ::= [0-9]");
    let found = reduced(&grammar, "123+4567+89", |text| text.contains('+'));
    assert_eq!(text(&found), "0+0");
    let found = reduced(&grammar, "123+4567+89", |text| text.contains('6'));
    assert_eq!(text(&found), "6");
}

/// `n` pairs of parentheses around an x.
fn nested(grammar: &Grammar, n: usize) -> Tree {
    let literal = |text: &str| -> SymbolId {
        let found = grammar.ids().find(|id| grammar.least_leaf(*id) == text.as_bytes());
        found.unwrap_or_else(|| panic!("{text}"))
    };
    let mut builder = Builder::default();
    for _ in 0..n {
        builder.open(grammar.start(), 0);
        builder.leaf(literal("("), b"", b"(");
    }
    builder.open(grammar.start(), 1);
    builder.leaf(literal("x"), b"", b"x");
    builder.close();
    for _ in 0..n {
        builder.leaf(literal(")"), b"", b")");
        builder.close();
    }
    builder.finish(b"")
}

#[test]
fn depth_costs_no_stack() {
    let grammar = read("nest ::= '(' nest ')' | 'x'");
    let input = nested(&grammar, 100_000);
    let oracle = |text: &[u8]| outcome(text.len() >= 7);
    let found = reduce(&grammar, input.clone(), &mut Search::new(&oracle));
    assert_eq!(found.tree.text(), b"(((x)))");
    assert!(found.proven);
    assert!(found.runs < 60, "{} runs", found.runs);
    // Nothing can go, and the oracle may not be asked for long.
    let input = nested(&grammar, 3000);
    let whole = input.text().to_vec();
    let stubborn = move |text: &[u8]| outcome(text == whole);
    let found = reduce(&grammar, input, &mut limited(&stubborn, 30));
    assert_eq!(found.after, 6001);
    assert!(found.stopped.is_some() && !found.proven && found.runs == 30);
}

#[test]
fn a_deep_result_ends_though_it_is_not_proven() {
    let grammar = read("nest ::= '(' nest ')' | 'x'");
    let oracle = |text: &[u8]| outcome(text.len() > 1200);
    let found = reduce(&grammar, nested(&grammar, 2000), &mut Search::new(&oracle));
    assert_eq!(found.after, 1201);
    assert!(!found.proven && found.stopped.is_none());
}
