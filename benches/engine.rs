//! How fast the parts are that the oracle does not wait for, and how many oracle runs a reduction takes.
//!
//! The number of runs is exact and the same on every machine; times are not.

#![allow(clippy::print_stdout, reason = "a program of its own, not part of the library")]

use ddset::algebra::{Condition, Matcher, pattern_of, refine};
use ddset::generate::{Derivation, Plain, Slot, TokenSource, derive, stream};
use ddset::grammar::{Grammar, bundled};
use ddset::oracle::Outcome;
use ddset::parse::Parser;
use ddset::pattern::Pattern;
use ddset::reduce::{Reduction, reduce};
use ddset::search::Search;
use ddset::tree::Tree;
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use std::fmt::Write;
use std::sync::Arc;

const LONG: &[u8] = include_bytes!("../corpora/expr/long.expr");

fn main() {
    let grammar = grammar("expr");
    let reduction = reduced(&grammar, parsed(&grammar, LONG));
    let Reduction { before, after, runs, proven, .. } = reduction;
    println!("reduce long.expr: {before} to {after} bytes in {runs} runs, proven minimal: {proven}");
    divan::main();
}

#[divan::bench]
fn parse_100_kb_json(bencher: Bencher) {
    let (grammar, input) = (grammar("json"), json(100_000));
    let parser = Parser::new(&grammar);
    bencher.counter(BytesCount::of_slice(input.as_bytes())).bench_local(|| parser.parse(black_box(input.as_bytes())));
}

/// Character by character; the rules recurse on the left, on the right, and on both sides with levels.
#[divan::bench(args = [LEFT, RIGHT, LEVELS])]
fn parse_100_kb_arithmetic(bencher: Bencher, rules: &str) {
    let grammar = Grammar::read(rules, None).expect("it is well-formed");
    let input = "12*(3+45)*6+".repeat(8_333) + "7";
    let parser = Parser::new(&grammar);
    bencher.counter(BytesCount::of_slice(input.as_bytes())).bench_local(|| parser.parse(black_box(input.as_bytes())));
}

const LEFT: &str = "e ::= e '+' t | t; t ::= t '*' f | f; f ::= '(' e ')' | n; n ::= n [0-9] | [0-9]";
const RIGHT: &str = "e ::= t '+' e | t; t ::= f '*' t | f; f ::= '(' e ')' | n; n ::= [0-9] n | [0-9]";
const LEVELS: &str = "e ::= /*@ left */ e '*' e | /*@ left */ e '+' e | '(' e ')' | n; n ::= n [0-9] | [0-9]";

#[divan::bench]
fn generate_1000_expr(bencher: Bencher) {
    let grammar = grammar("expr");
    bencher.counter(ItemsCount::new(1_000_usize)).bench_local(|| {
        let mut tokens = TokenSource::default();
        (0..1_000).map(|number| expression(&grammar, &mut tokens, number).text().len()).sum::<usize>()
    });
}

#[divan::bench]
fn reduce_long_expr(bencher: Bencher) {
    let grammar = grammar("expr");
    let tree = parsed(&grammar, LONG);
    bencher.with_inputs(|| tree.clone()).bench_local_values(|tree| reduced(&grammar, tree));
}

fn grammar(name: &str) -> Grammar {
    let bundled = bundled::find(name).expect("a bundled grammar");
    Grammar::read(bundled.source, None).expect("it is well-formed")
}

fn parsed(grammar: &Grammar, input: &[u8]) -> Tree {
    Parser::new(grammar).parse(input).expect("an input of the grammar")
}

/// The corpus's calculator, without the process: it fails on a pair of parentheses directly in another.
fn reduced(grammar: &Grammar, tree: Tree) -> Reduction {
    let oracle = |input: &[u8]| if doubled(input) { Outcome::Fail } else { Outcome::Pass };
    reduce(grammar, tree, &mut Search::new(&oracle))
}

fn doubled(input: &[u8]) -> bool {
    let tight: Vec<u8> = input.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut open = Vec::new();
    // The pair that was closed last: where it begins and ends.
    let mut inner = None;
    for (at, byte) in tight.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let start = open.pop().unwrap_or(0);
                if inner == Some((start + 1, at - 1)) {
                    return true;
                }
                inner = Some((start, at));
            }
            _ => {}
        }
    }
    false
}

fn expression(grammar: &Grammar, tokens: &mut TokenSource, number: u64) -> Tree {
    let what = Derivation { grammar, tokens, slot: Slot::Hole(0), allowance: 12, first: None };
    derive(what, grammar.start(), &mut Plain, &mut stream(1, "bench", number))
}

/// An array of records, of at least `size` bytes.
fn json(size: usize) -> String {
    let mut text = String::from("[");
    let mut number = 0;
    while text.len() < size {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n  {{\"id\": {number}, \"name\": \"item \\\"{number}\\\"\", \"price\": {number}.5e-1, \
             \"tags\": [\"a\", null, true, {{}}]}}"
        );
        number += 1;
    }
    text + "\n]\n"
}

fn patterns(grammar: &Arc<Grammar>, texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| pattern_of(grammar, text.as_bytes()).expect("a pattern of the grammar")).collect()
}

const ARITHMETIC: [&str; 3] = ["((<expr>))", "<factor> / 0", "<term> + <term>"];
const SCRIPT: [&str; 3] = [
    "let [<$Id1>, <$Id1>] = <AssignmentExpression>;",
    "class <Id> extends class {} {}",
    "for (const <Id> of <AssignmentExpression>) <Statement>",
];

/// Three patterns of arithmetic, combined into a grammar.
#[divan::bench]
fn combine_expr(bencher: Bencher) {
    let grammar = Arc::new(grammar("expr"));
    let patterns = patterns(&grammar, &ARITHMETIC);
    let condition = Condition::read("A & !B & exactly 1 C", &["A", "B", "C"]).expect("a condition");
    let patterns: Vec<&Pattern> = patterns.iter().collect();
    bencher.bench_local(|| refine(&grammar, &patterns, &condition).expect("not empty").source.len());
}

/// Three patterns of JavaScript, combined into a grammar.
#[divan::bench]
fn combine_javascript(bencher: Bencher) {
    let grammar = Arc::new(grammar("javascript"));
    let patterns = patterns(&grammar, &SCRIPT);
    let condition = Condition::read("(A | B) & !C", &["A", "B", "C"]).expect("a condition");
    let patterns: Vec<&Pattern> = patterns.iter().collect();
    bencher.bench_local(|| refine(&grammar, &patterns, &condition).expect("not empty").source.len());
}

/// Nodes of a tree looked at for three patterns.
#[divan::bench]
fn match_javascript(bencher: Bencher) {
    let grammar = Arc::new(grammar("javascript"));
    let patterns = patterns(&grammar, &SCRIPT);
    let patterns: Vec<&Pattern> = patterns.iter().collect();
    let script =
        "class C extends class {} { m(a) { for (const x of [1, 2, a]) f(x + 1, `t`); return a.b[3] } }\n".repeat(500);
    let tree = parsed(&grammar, script.as_bytes());
    let mut matcher = Matcher::new(&patterns).expect("some patterns");
    bencher.counter(ItemsCount::new(tree.len())).bench_local(|| matcher.occurrences(&tree).len());
}
