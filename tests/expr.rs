//! The calculator with doubled parentheses, from its corpus folder.

use crate::support::{Place, assert_evidence, assert_verified, corpus};

/// All runs before the first of the pattern's.
fn reduction_runs(summary: &serde_json::Value) -> u64 {
    let phases = summary["runs"]["phases"].as_object().unwrap();
    let counts = phases.iter().take_while(|(name, _)| !["readable", "leaves"].contains(&name.as_str()));
    counts.flat_map(|(_, counts)| counts.as_object().unwrap().values()).filter_map(serde_json::Value::as_u64).sum()
}

#[test]
fn the_pattern_is_a_pair_of_parentheses_around_any_expression() {
    let place = Place::new();
    place.ddset([&"abstract".into(), &corpus("expr")]).exits(0).prints("((<expr>))\n").says(["verified: 100 of 100"]);
    let generated = place.line("generate -n 100 --verify -0").exits(0);
    assert_eq!(generated.inputs().len(), 100);
    assert_verified(&generated, 100..=100, 100);
}

#[test]
fn a_thousand_characters_give_the_same_pattern() {
    let place = Place::new();
    let long = corpus("expr/long.expr");
    place.ddset([&"abstract".into(), &long]).exits(0).prints("((<expr>))\n");
    assert_verified(&place.line("generate -n 100 --verify").exits(0), 100..=100, 100);
}

#[test]
fn the_evidence_is_in_the_json() {
    let place = Place::new();
    let folder = corpus("expr");
    let summary = place.ddset(["abstract", "--format", "json", folder.to_str().unwrap()]).exits(0).json();
    assert_evidence(&summary);
    assert_eq!(summary["pattern"], "((<expr>))");
    assert_eq!(summary["holes"].as_array().unwrap().len(), 1);
    assert_eq!((&summary["holes"][0]["symbol"], &summary["holes"][0]["kind"]), (&"expr".into(), &"any".into()));
}

/// The published figure is 200 runs for an input of this kind.
#[test]
fn a_thousand_characters_reduce_in_a_few_runs() {
    let place = Place::new();
    let long = corpus("expr/long.expr");
    let summary = place.ddset(["reduce", "--format", "json", long.to_str().unwrap()]).exits(0).json();
    assert_eq!((&summary["bytes_after"], &summary["proven"]), (&5.into(), &true.into()));
    let runs = summary["runs"]["total"].as_u64().unwrap();
    assert!(runs <= 40, "{runs} runs");
}

/// Where the failure hides at the end of a long flat sum of deep terms, each of which looks like it until it is tried.
#[test]
fn a_long_expression_with_the_failure_at_its_far_end() {
    let place = Place::new();
    let deep = |n: usize| format!("{}{n}{}", "(1+".repeat(n % 7 + 1), ")".repeat(n % 7 + 1));
    let terms: Vec<String> = (0..300).map(deep).collect();
    let input = place.write("worst.expr", format!("{} + ( (2.50 *\n3))", terms.join(" - ")));
    let folder = corpus("expr");
    let test = folder.join("run.sh");
    // The folder's `prepare` builds the calculator.
    place.ddset(["oracle", "check", folder.to_str().unwrap()]).exits(0);
    let summary = place
        .ddset(
            ["abstract", "--format", "json", "--grammar", "expr", "--test"]
                .map(Into::into)
                .iter()
                .chain([&test, &input]),
        )
        .exits(0)
        .json();
    assert_eq!(summary["pattern"], "((<expr>))");
    assert_evidence(&summary);
    let runs = reduction_runs(&summary);
    assert!(runs < 200, "{runs} runs");
}
