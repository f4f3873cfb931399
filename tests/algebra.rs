//! Patterns at work: which inputs have them, and grammars of those that do.

use crate::support::{Place, corpus};

fn place() -> Place {
    let place = Place::new();
    place.write("in/a.expr", "1 +\n ((2))");
    place.write("in/b.expr", "(1) + 4/0");
    place.write("in/c.expr", "(1) * 3 / 0");
    place.write("in/d.expr", "1 +");
    place
}

#[test]
fn a_folder_of_inputs_is_told_apart() {
    let place = place();
    let command = "match --grammar expr -p ((<expr>)) -p DIV=<factor>/0";
    let ran = place.line(&format!("{command} in")).exits(1);
    for part in [
        "in/a.expr: A at 2:2\n",
        "in/b.expr: DIV at 1:7\n",
        "in/c.expr: none; A but for ",
        "in/d.expr: is no input of the grammar",
        "A     in 1 of 4 files\nDIV   in 1 of 4 files\nnone  in 1; 1 are no inputs",
    ] {
        assert!(ran.stdout.contains(part), "{part}\nis not in\n{}", ran.stdout);
    }
    place.line(&format!("{command} in/a.expr in/b.expr")).exits(0);
    let where_ = ["match", "--grammar", "expr", "-p", "((<expr>))", "-p", "B=(<expr>)", "--where", "B & !A", "in"];
    place.ddset(where_).exits(0).prints("in/b.expr\nin/c.expr\n");
    let json = place.line(&format!("{command} --format json in/b.expr")).exits(0).json();
    assert_eq!((&json["occurrences"][0]["pattern"], &json["occurrences"][0]["start"]), (&"DIV".into(), &6.into()));
}

#[test]
fn a_pattern_file_goes_before_the_inputs() {
    let place = place();
    place.ddset([&"abstract".into(), &corpus("expr")]).exits(0);
    let folder = std::fs::read_to_string(place.path(".ddset/latest")).unwrap();
    let pattern = place.path(format!(".ddset/{}/pattern.json", folder.trim()));
    let ran = place.ddset([&"match".into(), &pattern, &place.path("in/a.expr"), &place.path("in/b.expr")]).exits(1);
    assert!(ran.stdout.contains("a.expr: pattern at 2:2") && ran.stdout.contains("b.expr: none"), "{}", ran.stdout);
}

#[test]
fn a_refined_grammar_makes_what_the_condition_says() {
    let place = place();
    let combine = |condition: &str| {
        let patterns = ["A=((<expr>))", "B=<factor>/0"];
        let command = ["combine", condition, patterns[0], patterns[1], "--grammar", "expr", "-o", "refined.ebnf"];
        place.ddset(command)
    };
    combine("A & !B").exits(0);
    place.line("grammar check refined.ebnf").exits(0);
    for number in 0..50 {
        let text = place.line(&format!("grammar sample refined.ebnf -n 1 --seed {number}")).exits(0).stdout;
        place.write("made.expr", text);
        let check = [
            "match",
            "--grammar",
            "expr",
            "-p",
            "A=((<expr>))",
            "-p",
            "B=<factor>/0",
            "--where",
            "A & !B",
            "made.expr",
        ];
        place.ddset(check).exits(0);
    }
    combine("A & !A").exits(1).says(["no input of the grammar meets the condition"]);
    combine("A & C").exits(2).says(["expected a pattern (`A`, `B`), found `C`", "  A & C\n      ^"]);
    let names = ["combine", "N", "N=<$name1> = <$name1>", "--grammar", "assign"];
    place.ddset(names).exits(0).says(["tied names"]);
}

#[test]
fn one_pattern_is_a_case_of_another() {
    let place = place();
    let contains = |first: &str, second: &str| place.ddset(["contains", first, second, "--grammar", "expr"]);
    contains("((<expr>))", "(<expr>)").exits(0).prints("yes: every input with A has B\n");
    contains("(<expr>)", "((<expr>))").exits(1).prints("no: this has A, and not B:\n(0)\n");
    place.line("contains (<expr>) (<exp>) --grammar expr").exits(2).says(["no rule `exp`"]);
    place.line("contains (<expr>) (<expr>)").exits(2).says(["add --grammar"]);
}
