//! Inputs without a grammar: one is taken by the input's name, else what is in every text.

use crate::support::Place;

#[test]
fn the_grammar_is_taken_by_the_name_of_the_input() {
    let place = Place::new();
    place.write("big.json", r#"{"a": [1, {"bug": "x"}], "b": null}"#);
    let ran = place.line("reduce big.json --fail-exit 0 -- grep -q bug {}").exits(0);
    ran.says(["grammar: json, JSON"]).prints("{\"bug\":0}");
}

#[test]
fn a_text_of_no_known_language_goes_by_brackets_lines_and_words() {
    let place = Place::new();
    let lines: String = (0..60).map(|n| format!("begin step{n} ( width={n}, [ {n} ] )\n  note{n}\nend\n")).collect();
    place.write("long.job", format!("{lines}begin odd ( width=7, (deep [bug]) ) end\n{lines}"));
    let ran = place
        .line("reduce long.job --fail-exit 0 -- grep -q \\[bug {}")
        .exits(0)
        .says(["grammar: any", "1-tree-minimal"]);
    ran.prints("[bug]");
    let runs = place.line("reduce --format json").exits(0).json()["runs"]["total"].as_u64().unwrap();
    assert!(runs <= 40, "{runs} runs");
}

#[test]
fn what_the_grammar_refuses_is_reduced_all_the_same() {
    let place = Place::new();
    place.write("bad.json", r#"{"a": [1, 2, {"bug": 3}], } ]"#);
    let command = "reduce --grammar json bad.json --fail-exit 0 -- grep -q bug.*] {}";
    let ran = place.line(command).exits(0);
    ran.says(["warning[input-syntax]", "bad.json:1:27", "going on without the grammar"]).prints("[\"bug\"]");
    // The run that goes on needs no grammar, either.
    place.line("reduce").exits(0).prints("[\"bug\"]");
    place.line("parse --grammar json bad.json").exits(3);
}

#[test]
fn bytes_that_are_no_text_are_reduced() {
    let place = Place::new();
    let mut bytes: Vec<u8> = (0..=255).cycle().take(2_000).collect();
    bytes.extend(b"\xFE\xED\xFA\xCE");
    bytes.extend((0..=255).rev().cycle().take(2_000));
    place.write("core.bin", bytes);
    place.script("test.sh", "LC_ALL=C grep -qaP '\\xFE\\xED\\xFA\\xCE' \"$1\"");
    place.line("reduce core.bin --test test.sh -o out.bin").exits(0);
    assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), b"\xFE\xED\xFA\xCE");
}

#[test]
fn a_pattern_comes_without_a_grammar_too() {
    let place = Place::new();
    place.write("x.conf", "alpha = (1, 2)\nbeta = ((3), {4})\ngamma = 5\n");
    let ran = place.line("abstract x.conf --fail-exit 0 -- grep -q (( {}").exits(0);
    assert!(ran.stdout.starts_with("(("), "{ran:?}");
}
