//! `ddset generate`: what comes out, in which form, and from which file.

use crate::support::{Place, Ran};
use ddset::grammar::{Grammar, bundled};
use ddset::parse::parse;
use std::collections::BTreeSet;
use std::fs;

/// A place in which `((<expr>))` was found. (The oracle's own parser does not matter here.)
fn abstracted() -> Place {
    let place = Place::new();
    place.write("input.expr", "1 + ((2 * 3 / 4))");
    place.script("run.sh", "grep -q '(('  \"$1\"");
    place.line("abstract --grammar expr --test run.sh -o pattern.json input.expr").exits(0).prints("((<expr>))\n");
    place
}

#[track_caller]
fn assert_valid<'a>(inputs: impl IntoIterator<Item = &'a str>) {
    let grammar = Grammar::read(bundled::find("expr").unwrap().source, None).unwrap();
    for input in inputs {
        assert!(parse(&grammar, input.as_bytes()).is_ok(), "{input}");
        assert!(input.starts_with("((") && input.ends_with("))"), "{input}");
    }
}

fn distinct(ran: &Ran) -> usize {
    ran.inputs().into_iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn inputs_are_distinct_and_in_the_language() {
    let place = abstracted();
    for options in ["generate -n 500 -0", "generate -n 500 -0 --uniform"] {
        let ran = place.line(options).exits(0);
        assert_eq!((ran.inputs().len(), distinct(&ran)), (500, 500), "{ran}");
        assert_valid(ran.inputs());
    }
}

#[test]
fn one_input_a_line_or_a_json_value_a_line() {
    let place = abstracted();
    let lines = place.line("generate -n 5").exits(0).stdout;
    let nul = place.line("generate -n 5 -0").exits(0);
    assert_eq!(lines, nul.inputs().iter().map(|input| format!("{input}\n")).collect::<String>());
    let json = place.line("generate -n 5 --format json --verify").exits(0).says(["verified: 5 of 5 fail"]).stdout;
    for (line, input) in json.lines().zip(nul.inputs()) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&value["input"], &value["outcome"]), (&input.into(), &"fail".into()));
    }
    assert_eq!(json.lines().count(), 5);
}

#[test]
fn a_corpus_as_fuzzers_have_it() {
    let place = abstracted();
    place.line("generate -n 3 -o afl --corpus afl").exits(0);
    assert!(place.path("afl/id:000000,src:ddset").exists() && place.path("afl/id:000002,src:ddset").exists());
    place.line("generate -n 3 -o libfuzzer --corpus libfuzzer").exits(0);
    let names = fs::read_dir(place.path("libfuzzer")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.len() == 40));
    place.line("generate -n 3 --corpus afl").exits(2);
}

#[test]
fn a_regression_test_to_fill_in() {
    let place = abstracted();
    let python = place.line("generate -n 2 --skeleton python").exits(0).stdout;
    assert!(python.contains("# Inputs of the pattern ((<expr>))") && python.contains("    b\"(("), "{python}");
}

#[test]
fn sizes_and_depths_are_bounds() {
    let place = abstracted();
    let longest = |options: &str| {
        let ran = place.line(&format!("generate -n 100 -0 {options}")).exits(0);
        ran.inputs().iter().map(|input| input.len()).max().unwrap()
    };
    assert!(longest("--size 2") < longest("--size 200"));
    let nested = place.line("generate -n 60 -0 --uniform --depth 4").exits(0);
    assert!(nested.inputs().iter().all(|input| input.matches('(').count() <= 8), "{nested}");
}

#[test]
fn what_was_reached_is_said() {
    let place = abstracted();
    place
        .line("generate -n 200 --coverage")
        .exits(0)
        .says(["coverage: ", "alternatives of what can stand in the holes"]);
}

#[test]
fn one_file_each() {
    let place = abstracted();
    let printed = place.line("generate -n 12 -0").exits(0);
    place.line("generate -n 12 -o some/inputs").exits(0).prints("").says(["12 inputs in some/inputs"]);
    let mut names: Vec<String> = fs::read_dir(place.path("some/inputs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!((names.len(), names[0].as_str(), names[11].as_str()), (12, "00001.expr", "00012.expr"));
    let read: Vec<String> = names.iter().map(|name| place.read(format!("some/inputs/{name}"))).collect();
    assert_eq!(read, printed.inputs());
}

#[test]
fn the_seed_decides() {
    let place = abstracted();
    let generate = |options: &str| place.line(&format!("generate -n 50 {options}")).exits(0).stdout;
    assert_eq!(generate("--seed 7"), generate("--seed 7"));
    assert_ne!(generate("--seed 7"), generate("--seed 8"));
    assert_eq!(generate("--uniform --seed 7"), generate("--uniform --seed 7"));
    // Fewer are the first of more.
    assert!(generate("--seed 7").starts_with(&place.line("generate -n 5 --seed 7").stdout));
}

#[test]
fn a_pattern_file_needs_no_other() {
    let place = abstracted();
    let there = place.line("generate -n 50").exits(0).stdout;
    let alone = Place::new();
    alone.write("pattern.json", place.read("pattern.json"));
    alone.line("generate pattern.json -n 50").exits(0).prints(&there);
    assert!(!alone.path(".ddset").exists());
    alone.line("generate pattern.json -n 5 --verify").exits(2).says(["no oracle was given"]);
    alone.script("run.sh", "grep -q '((' \"$1\"");
    alone.line("generate pattern.json -n 5 --verify --test run.sh").exits(0).says(["verified: 5 of 5 fail"]);
    alone.script("other.sh", "exit 1");
    alone
        .line("generate pattern.json -n 5 --verify --test other.sh")
        .exits(1)
        .says(["verified: 0 of 5 fail, 5 do not"]);
}

#[test]
fn a_pattern_with_few_inputs_gives_what_it_has() {
    let place = Place::new();
    place.write("bits.ebnf", "bits ::= '#' bit bit\nbit ::= '0' | '1'\n");
    place.write("input", "#01");
    place.script("run.sh", "grep -q '#' \"$1\"");
    place.line("abstract --grammar bits.ebnf --test run.sh input").exits(0);
    let ran = place.line("generate -n 100 -0").exits(0).says(["only 4 distinct inputs"]);
    assert_eq!((ran.inputs().len(), distinct(&ran)), (4, 4));
}

#[test]
fn broken_pattern_files() {
    let place = abstracted();
    let whole = place.read("pattern.json");
    place.line("generate nothing.json").exits(2).says(["nothing.json"]);
    let broken = |content: &str, says: &str| {
        place.write("broken.json", content);
        place.line("generate broken.json").exits(2).prints("").says(["broken.json", says]);
    };
    broken("", "this is no pattern file");
    broken("{\"a\": 1}", "this is no pattern file");
    broken(&whole[..whole.len() / 2], "this is no pattern file");
    broken(
        &whole.replacen("\"format\":2", "\"format\":99", 1),
        "format 99; this version of ddset reads formats up to 2",
    );
    broken(&whole.replacen("expr   ::=", "expr   ::= nothing", 1), "the grammar in the pattern file cannot be used");
    broken(&whole.replacen("\"members\":[", "\"members\":[100000,", 1), "inconsistent");
    // Half of a file, cut anywhere, is never taken for a pattern, nor does it make the program fall over.
    for cut in (0..whole.len()).step_by(whole.len() / 40 + 1).filter(|cut| whole.is_char_boundary(*cut)) {
        broken(&whole[..cut], "this is no pattern file");
    }
}

#[test]
fn a_folder_that_cannot_be_written() {
    let place = abstracted();
    place.write("taken", "");
    place.line("generate -n 2 -o taken").exits(2).says(["taken"]);
}
