#![allow(clippy::unwrap_used)]

use super::*;
use crate::generate::Samples;
use crate::grammar::bundled;
use crate::parse::Parser;
use crate::tree::Tree;
use std::sync::Arc;

/// Arithmetic by characters, without a list: every node is a choice.
const PLAIN: &str = "expr ::= term '+' expr | term '-' expr | term\nterm ::= factor '*' term | factor '/' term | factor\n\
                     factor ::= '-' factor | '(' expr ')' | integer\ninteger ::= digit integer | digit\ndigit ::= [0-3]";

fn read(source: &str) -> Arc<Grammar> {
    Arc::new(Grammar::read(source, None).unwrap())
}

fn known(name: &str) -> Arc<Grammar> {
    read(bundled::find(name).unwrap().source)
}

fn pattern(grammar: &Arc<Grammar>, text: &str) -> Pattern {
    let pattern = pattern_of(grammar, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8_lossy(&pattern.text()), text);
    assert!(pattern.tree.is_derivation(grammar, pattern.tree.node(0).symbol));
    pattern
}

fn tree(grammar: &Grammar, text: &str) -> Tree {
    Parser::new(grammar).parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// How often a pattern occurs, by a search that knows nothing of automata.
fn count_plainly(pattern: &Pattern, tree: &Tree) -> usize {
    fn fits(pattern: &Pattern, at: usize, tree: &Tree, place: usize, bound: &mut Vec<(usize, Vec<u8>)>) -> bool {
        let (own, node) = (pattern.tree.node(at), tree.node(place));
        if own.symbol != node.symbol {
            return false;
        }
        if let Some(hole) = pattern.hole_at(at) {
            return match &pattern.holes[hole].filling {
                crate::pattern::Filling::OneOf(words) => words.iter().any(|word| word.lexeme(0) == tree.lexeme(place)),
                crate::pattern::Filling::Same => {
                    let text = tree.lexeme(place).to_vec();
                    match bound.iter().find(|(known, _)| *known == hole) {
                        Some((_, known)) => *known == text,
                        None => {
                            bound.push((hole, text));
                            true
                        }
                    }
                }
                _ => true,
            };
        }
        if pattern.grammar.is_leaf(own.symbol) {
            return pattern.tree.lexeme(at) == tree.lexeme(place);
        }
        let (ours, theirs): (Vec<_>, Vec<_>) = (pattern.tree.children(at).collect(), tree.children(place).collect());
        own.alternative == node.alternative
            && ours.len() == theirs.len()
            && ours.iter().zip(&theirs).all(|(at, place)| fits(pattern, *at, tree, *place, bound))
    }
    let core = shape::core(pattern);
    (0..tree.len()).filter(|place| fits(pattern, core, tree, *place, &mut Vec::new())).count()
}

#[test]
fn a_pattern_is_found_where_it_is() {
    let grammar = known("expr");
    let doubled = pattern(&grammar, "((<expr>))");
    let mut matcher = Matcher::new(&[&doubled]).unwrap();
    for (text, times) in [("1 + ((2))", 1), ("(1)+(2)", 0), ("(((1)))", 2), ("((1)+2)", 0), ("((1 + 2))*((3))", 2)] {
        assert_eq!(matcher.occurrences(&tree(&grammar, text)).len(), times, "{text}");
    }
    let near = matcher.near_miss(0, &tree(&grammar, "4 + ((1) + 2)")).unwrap();
    assert!(near.agreeing > 2 && near.wanted.contains("(\"+\" | \"-\") term"), "{near:?}");
}

#[test]
fn tied_holes_are_equal_and_words_are_of_the_list() {
    let grammar = known("javascript");
    let twice = pattern(&grammar, "let [<$Id1>, <$Id1>] = <AssignmentExpression>;");
    let mut matcher = Matcher::new(&[&twice]).unwrap();
    let mut found = |text: &str| matcher.occurrences(&tree(&grammar, text)).len();
    assert_eq!(found("f(); let [ab, ab] = [1];"), 1);
    assert_eq!(found("let [ab, ac] = [1];"), 0);
    assert_eq!(found("const [ab, ab] = [1];"), 0);
    let grammar = known("expr");
    let sum = pattern(&grammar, "<number: \"1\" | \"2\"> + 0");
    let mut matcher = Matcher::new(&[&sum]).unwrap();
    let mut found = |text: &str| matcher.occurrences(&tree(&grammar, text)).len();
    assert_eq!((found("2+0"), found("(1 + 0)"), found("3+0")), (1, 1, 0));
}

#[test]
fn hand_written_patterns_that_are_none() {
    let grammar = known("expr");
    let wrong = |text: &str| pattern_of(&grammar, text.as_bytes()).unwrap_err().to_string();
    assert!(wrong("((<exp>))").contains("no rule `exp` (did you mean `expr`?)"));
    assert!(wrong("((<expr>)").contains("is no text of"));
    assert!(wrong("((<expr").contains("does not end"));
    assert!(wrong("<number: \"x\">").contains("`x` is no text of `number`"));
}

/// For each condition and input: it is in the refined grammar, with as many derivations as it has in the whole, if and only if
/// the condition holds of it, by a plain search.
fn splits(grammar: &Arc<Grammar>, texts: &[&str], conditions: &[&str], sizes: &[i32]) {
    let patterns: Vec<Pattern> = texts.iter().map(|text| pattern(grammar, text)).collect();
    let patterns: Vec<&Pattern> = patterns.iter().collect();
    let names = ["A", "B", "C"];
    let parser = Parser::new(grammar);
    for text in conditions {
        let condition = Condition::read(text, &names[..patterns.len()]).unwrap();
        let refined = refine(grammar, &patterns, &condition).unwrap();
        assert!(refined.is_exact);
        let narrow = Grammar::read(&refined.source, None).unwrap_or_else(|e| panic!("{text}: {e}\n{}", refined.source));
        let narrow_parser = Parser::new(&narrow);
        let mut matcher = Matcher::new(&patterns).unwrap();
        let mut both = [0, 0];
        for size in sizes {
            for sample in Samples::new(grammar, *size, 3).take(150) {
                let tree = parser.parse(sample.text()).unwrap();
                let counts: Vec<usize> = patterns.iter().map(|pattern| count_plainly(pattern, &tree)).collect();
                let found = matcher.occurrences(&tree);
                for (number, count) in counts.iter().enumerate() {
                    assert_eq!(found.iter().filter(|o| o.pattern == number).count(), *count);
                }
                let holds = matcher.holds(&condition, &tree);
                both[usize::from(holds)] += 1;
                let shown = String::from_utf8_lossy(sample.text()).into_owned();
                let count = narrow_parser.count(sample.text()).unwrap_or(Some(0));
                let wanted = if holds { parser.count(sample.text()).unwrap() } else { Some(0) };
                assert_eq!(count, wanted, "{text}: {shown}\n{}", refined.source);
            }
        }
        // And the other way: what the refined grammar makes meets the condition.
        for sample in Samples::new(&narrow, 12, 5).take(200) {
            let shown = String::from_utf8_lossy(sample.text()).into_owned();
            let tree =
                parser.parse(sample.text()).unwrap_or_else(|e| panic!("{text}: {shown}: {e}\n{}", refined.source));
            assert!(matcher.holds(&condition, &tree), "{text}: {shown}\n{}", refined.source);
        }
    }
}

const CONDITIONS: [&str; 12] = [
    "A",
    "!A",
    "exactly 1 A",
    "at most 1 A",
    "at least 2 A",
    "A & !B",
    "A ^ B",
    "A | B",
    "exactly 1 A & exactly 1 B",
    "A inside B",
    "A before B",
    "!(A before B) & B",
];

#[test]
fn each_derivation_is_on_one_side_by_characters() {
    splits(&read(PLAIN), &["((<expr>))", "<term>+<term>"], &CONDITIONS, &[6, 15, 40]);
}

#[test]
fn each_derivation_is_on_one_side_with_tokens_and_lists() {
    splits(&known("expr"), &["(<expr>)", "<factor> + <factor>"], &CONDITIONS, &[6, 15, 40]);
    splits(&known("json"), &["[<value>, <value>]", "{\"\": <value>}"], &CONDITIONS, &[10, 30]);
    let few = read("list ::= '[' (item (',' item)*)? ']'; item ::= 'a' | 'b'{1,3} | list | 'c'+");
    splits(&few, &["bb", "[a,<item>]"], &CONDITIONS, &[4, 10, 30]);
}

#[test]
fn what_the_condition_does_not_ask_for_stays_as_it_was() {
    let grammar = known("expr");
    let doubled = pattern(&grammar, "((<expr>))");
    let condition = Condition::contains(0);
    let refined = refine(&grammar, &[&doubled], &condition).unwrap();
    let narrow = Grammar::read(&refined.source, None).unwrap();
    assert!(narrow.rules().count() <= 3 * grammar.rules().count(), "{}", refined.source);
    // A condition that says nothing is the grammar itself.
    let all = Condition::Or(Box::new(condition.clone()), Box::new(condition.negated()));
    assert_eq!(refine(&grammar, &[&doubled], &all).unwrap().source, format!("/* EBNF */\n{}", grammar.to_ebnf()));
}

#[test]
fn one_pattern_is_a_case_of_another() {
    let grammar = known("expr");
    let (two, one) = (pattern(&grammar, "((<expr>))"), pattern(&grammar, "(<expr>)"));
    let but = |a: &Pattern, b: &Pattern| {
        refine(&grammar, &[a, b], &Condition::contains(0).and(Condition::contains(1).negated()))
    };
    assert!(matches!(but(&two, &one), Err(RefineError::Empty)));
    assert!(but(&one, &two).is_ok());
}

#[test]
fn made_inputs_meet_the_condition_also_with_tied_names() {
    let grammar = known("assign");
    let patterns = [pattern(&grammar, "<$name1> = <$name1>"), pattern(&grammar, "<summand> + <summand>")];
    for text in ["A", "A & !B", "!A & B", "exactly 2 A"] {
        let patterns: Vec<&Pattern> = patterns.iter().collect();
        let condition = Condition::read(text, &["A", "B"]).unwrap();
        let made: Vec<Vec<u8>> = Where::new(&patterns, condition.clone(), 12, 1).unwrap().take(50).collect();
        assert_eq!(made.len(), 50, "{text}");
        let mut matcher = Matcher::new(&patterns).unwrap();
        for input in made {
            let tree = Parser::new(&grammar).parse(&input).unwrap();
            assert!(matcher.holds(&condition, &tree), "{text}: {}", String::from_utf8_lossy(&input));
        }
    }
}
