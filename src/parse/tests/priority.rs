//! Operators with levels: against all derivations of the ambiguous rule, and against layers written by hand.

use super::{check, grammar, parse};
use crate::grammar::Grammar;
use crate::parse::{Parser, chart, flat::Flat};
use crate::tree::Tree;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
    Neither,
}

/// `E` in a shape stands for the rule, other letters for themselves.
struct Op {
    shape: &'static str,
    level: u32,
    side: Side,
}

impl Op {
    fn is_open_left(&self) -> bool {
        self.shape.starts_with('E')
    }

    fn is_open_right(&self) -> bool {
        self.shape.ends_with('E')
    }
}

/// An alternative over a text, with its operands.
#[derive(Clone, PartialEq, Debug)]
struct Group {
    op: usize,
    operands: Vec<Group>,
}

struct Table(Vec<Op>);

impl Table {
    fn random(rng: &mut ChaCha8Rng) -> Table {
        let shapes = ["EaE", "EbE", "EcE", "pE", "qE", "Es", "Et", "EmE", "mE", "E?E:E", "E[E]", "?E:E"];
        let ops = rng.random_range(1..6);
        let op = |rng: &mut ChaCha8Rng| Op {
            shape: shapes[rng.random_range(0..shapes.len())],
            level: rng.random_range(0..4),
            side: [Side::Left, Side::Right, Side::Left, Side::Right, Side::Neither][rng.random_range(0..5)],
        };
        let mut ops: Vec<Op> = (0..ops).map(|_| op(rng)).collect();
        ops.sort_by_key(|op| op.shape);
        ops.dedup_by_key(|op| op.shape);
        ops.extend(["x", "(E)"].map(|shape| Op { shape, level: 0, side: Side::Left }));
        Table(ops)
    }

    fn grammar(&self, with_levels: bool) -> Grammar {
        let alternative = |op: &Op| {
            let word = match op.side {
                Side::Left => "left",
                Side::Right => "right",
                Side::Neither => "nonassoc",
            };
            let part = |c: char| if c == 'E' { "e ".to_owned() } else { format!("'{c}' ") };
            let said = if with_levels && (op.is_open_left() || op.is_open_right()) {
                format!("/*@ {word}({}) */ ", op.level)
            } else {
                String::new()
            };
            said + &op.shape.chars().map(part).collect::<String>()
        };
        let all: Vec<String> = self.0.iter().map(alternative).collect();
        grammar(&format!("e ::= {}", all.join(" | ")))
    }

    fn may_be_left_of(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.0[first], &self.0[second]);
        let tie = first.side == Side::Left && second.side != Side::Neither;
        first.level > second.level || first.level == second.level && tie
    }

    fn may_be_right_of(&self, second: usize, first: usize) -> bool {
        let (first, second) = (&self.0[first], &self.0[second]);
        let tie = first.side == Side::Right && second.side != Side::Neither;
        second.level > first.level || first.level == second.level && tie
    }

    fn is_right(&self, group: &Group) -> bool {
        let op = &self.0[group.op];
        let mut left = group.operands.first().filter(|_| op.is_open_left());
        while let Some(first) = left.filter(|first| self.0[first.op].is_open_right()) {
            if !self.may_be_left_of(first.op, group.op) {
                return false;
            }
            left = first.operands.last();
        }
        let mut right = group.operands.last().filter(|_| op.is_open_right());
        while let Some(second) = right.filter(|second| self.0[second.op].is_open_left()) {
            if !self.may_be_right_of(second.op, group.op) {
                return false;
            }
            right = second.operands.first();
        }
        true
    }

    /// All derivations in which each operator stands as the levels want it.
    fn groups(&self, text: &[u8]) -> Vec<Group> {
        let n = text.len();
        let mut known: Vec<Vec<Vec<Group>>> = vec![vec![Vec::new(); n + 1]; n + 1];
        for length in 1..=n {
            for from in 0..=n - length {
                let mut found = Vec::new();
                for (op, Op { shape, .. }) in self.0.iter().enumerate() {
                    let operands = fillings(shape.as_bytes(), text, from, from + length, &known);
                    found.extend(operands.into_iter().map(|operands| Group { op, operands }));
                }
                found.retain(|group| self.is_right(group));
                known[from][from + length] = found;
            }
        }
        known[0][n].clone()
    }
}

fn fillings(shape: &[u8], text: &[u8], from: usize, to: usize, known: &[Vec<Vec<Group>>]) -> Vec<Vec<Group>> {
    match shape.split_first() {
        None if from == to => vec![Vec::new()],
        None => Vec::new(),
        Some((b'E', rest)) => {
            let mut found = Vec::new();
            for middle in from + 1..=to {
                for first in &known[from][middle] {
                    for others in fillings(rest, text, middle, to, known) {
                        found.push([vec![first.clone()], others].concat());
                    }
                }
            }
            found
        }
        Some((c, rest)) if from < to && text[from] == *c => fillings(rest, text, from + 1, to, known),
        Some(_) => Vec::new(),
    }
}

fn group(g: &Grammar, tree: &Tree, at: usize) -> Group {
    let operands = tree.children(at).filter(|child| tree.node(*child).symbol == g.start());
    Group { op: tree.node(at).alternative as usize, operands: operands.map(|child| group(g, tree, child)).collect() }
}

fn random_text(rng: &mut ChaCha8Rng, table: &Table, fuel: &mut u32) -> String {
    let closed = table.0.len() - 2;
    let op = if *fuel == 0 { closed } else { rng.random_range(0..table.0.len()) };
    *fuel = fuel.saturating_sub(1);
    let part = |c: char| if c == 'E' { random_text(rng, table, fuel) } else { c.to_string() };
    table.0[op].shape.chars().map(part).collect()
}

#[test]
fn the_one_grouping_that_the_levels_give() {
    let mut compared = 0;
    let mut refused = 0;
    for seed in 0..400 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let table = Table::random(rng);
        let (levels, ambiguous) = (table.grammar(true), table.grammar(false));
        let (parser, plain) = (Parser::new(&levels), Parser::new(&ambiguous));
        for _ in 0..20 {
            let text = random_text(rng, &table, &mut 5);
            if text.len() > 11 {
                continue;
            }
            let right = table.groups(text.as_bytes());
            assert!(plain.parse(text.as_bytes()).is_ok(), "{text}");
            let what = || format!("seed {seed}: {text} of {}", levels.to_ebnf());
            match parser.parse(text.as_bytes()) {
                Ok(tree) => {
                    check(&levels, &tree, text.as_bytes());
                    assert!(right.contains(&group(&levels, &tree, 0)), "{}", what());
                    compared += 1;
                }
                Err(_) => {
                    assert!(right.is_empty() && table.0.iter().any(|op| op.side == Side::Neither), "{}", what());
                    refused += 1;
                }
            }
            // With a text for each operator, there is one way only.
            let shared = |c| table.0.iter().filter(|op| op.shape.contains(c)).count() > 1;
            if !shared('m') && !shared('?') {
                assert!(right.len() <= 1, "{} ways, {}", right.len(), what());
            }
        }
    }
    assert!(compared > 4000 && refused > 50, "{compared} {refused}");
}

/// Levels of binary operators below prefixes below suffixes, in layers; groups as text with parentheses.
#[test]
fn as_in_layers_written_by_hand() {
    let mut compared = 0;
    for seed in 0..100 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let kinds: Vec<usize> = (0..rng.random_range(1..5)).map(|_| rng.random_range(0..3)).collect();
        let (mut annotated, mut layered) = (String::from("e ::= "), String::new());
        for (level, kind) in kinds.iter().enumerate() {
            let (this, next) = (format!("l{level}"), format!("l{}", level + 1));
            let op = char::from(b'a' + level as u8);
            let word = ["left", "right", "nonassoc"][*kind];
            annotated += &format!("/*@ {word}({level}) */ e '{op}' e | ");
            let (left, right) = [(&this, &next), (&next, &this), (&next, &next)][*kind];
            layered += &format!("{this} ::= {left} '{op}' {right} | {next}\n");
        }
        let top = kinds.len();
        annotated += "/*@ right(8) */ '-' e | /*@ left(9) */ e '!' | 'x' | '(' e ')'";
        layered += &format!("l{top} ::= '-' l{top} | s\ns ::= s '!' | p\np ::= 'x' | '(' l0 ')'");
        let (annotated, layered) = (grammar(&annotated), grammar(&layered));
        for _ in 0..50 {
            let length = rng.random_range(1..12);
            let letters = ["x", "x", "x", "a", "b", "c", "-", "!", "(", ")"];
            let text: String = (0..length).map(|_| letters[rng.random_range(0..letters.len())]).collect();
            let text = if rng.random_bool(0.8) { well_formed(rng, top, 6) } else { text };
            let wanted = parse(&layered, text.as_bytes()).map(|tree| parenthesized(&tree, 0)).ok();
            let found = parse(&annotated, text.as_bytes()).map(|tree| parenthesized(&tree, 0)).ok();
            assert_eq!(found, wanted, "{text} of {}", annotated.to_ebnf());
            compared += usize::from(found.is_some());
        }
    }
    assert!(compared > 2000, "{compared}");
}

fn well_formed(rng: &mut ChaCha8Rng, levels: usize, fuel: u32) -> String {
    let more = |rng: &mut ChaCha8Rng| well_formed(rng, levels, fuel / 2);
    match rng.random_range(0..if fuel == 0 { 1 } else { 6 }) {
        0 => "x".to_owned(),
        1 => format!("-{}", more(rng)),
        2 => format!("{}!", more(rng)),
        3 => format!("({})", more(rng)),
        _ => {
            let op = char::from(b'a' + rng.random_range(0..levels as u8));
            format!("{}{op}{}", more(rng), more(rng))
        }
    }
}

/// Every group that has an operator, in brackets.
fn parenthesized(tree: &Tree, at: usize) -> String {
    let children: Vec<usize> = tree.children(at).collect();
    match children.as_slice() {
        [] => String::from_utf8_lossy(tree.lexeme(at)).into_owned(),
        [only] => parenthesized(tree, *only),
        _ => format!("[{}]", children.into_iter().map(|child| parenthesized(tree, child)).collect::<String>()),
    }
}

const LEVELS: &str = "e ::= /*@ right */ '-' e | /*@ left */ e '*' e | /*@ left */ e '+' e | n\nn ::= [0-9]+";
const LAYERS: &str = "e ::= e '+' t | t\nt ::= t '*' f | f\nf ::= '-' f | n\nn ::= [0-9]+";

/// What the chart of a long expression holds with levels is near what it holds with layers.
#[test]
fn costs_what_layers_cost() {
    let text = "1+2*3*-4+56".repeat(100).replace("61", "6+1");
    let count = |source: &str| {
        let g = grammar(source);
        let text = g.lexicon().text(text.as_bytes());
        let flat = Flat::of(&g);
        let recognized = chart::recognize(&flat, g.lexicon(), &text, g.start().0, usize::MAX);
        let recognized = recognized.unwrap_or_else(|e| panic!("{e}"));
        assert!(recognized.end.is_some());
        recognized.chart.len()
    };
    let (levels, layers) = (count(LEVELS), count(LAYERS));
    assert!(levels * 10 <= layers * 12, "{levels} {layers}");
}

#[test]
fn weak_prefixes_take_all_that_follows() {
    let g = grammar("e ::= /*@ left */ e '*' e | /*@ left */ e '+' e | /*@ right */ 'not' e | 'x'");
    let show = |text: &str| parenthesized(&parse(&g, text.as_bytes()).unwrap_or_else(|e| panic!("{e}")), 0);
    assert_eq!(show("x*notx+x"), "[x*[not[x+x]]]");
    assert_eq!(show("notx*x"), "[not[x*x]]");
    assert_eq!(show("x+notx"), "[x+[notx]]");
}

/// An operator between nothing: as many copies as need be, and one finite tree.
#[test]
fn operators_without_text() {
    for source in ["e ::= /*@ left */ e e | 'a' | ''", "e ::= /*@ right */ e f e | 'a' | ''\nf ::= 'b'?"] {
        let g = grammar(source);
        for text in ["", "a", "aaa", "aaaaaaa"] {
            check(&g, &parse(&g, text.as_bytes()).unwrap_or_else(|e| panic!("{e}")), text.as_bytes());
        }
    }
}
