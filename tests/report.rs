//! What a run found, as people paste it into a bug tracker.

use crate::support::{Place, corpus};

#[test]
fn a_report_has_all_that_a_bug_tracker_wants() {
    let place = Place::new();
    place.ddset([&"abstract".into(), &corpus("expr")]).exits(0);
    let ran = place.line("report").exits(0);
    for part in [
        "## Smallest failing input\n\n```expr\n((0))\n```",
        "5 of 18 bytes (27.78 %); no single step makes it smaller (1-tree-minimal).",
        "Verified: ran 5 times, failed 5 times.",
        "run.sh",
        "- fail: exit status 0",
        "## What may vary\n\n```\n((<expr>))\n```",
        "verified: 100 of 100",
        "| run | step | bytes |",
        "| 1 | the original | 18 |",
        "1 + ((2 * 3 / 4))",
        "- platform: Linux",
    ] {
        assert!(ran.stdout.contains(part), "{part}\nis not in\n{}", ran.stdout);
    }
    let json = place.line("report --format json --runs 0").exits(0).json();
    assert_eq!((&json["minimal"]["bytes"], &json["verified"]), (&5.into(), &serde_json::Value::Null));
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["bytes"], 5);
    place.line("report --format text -o out.txt").exits(0).prints("");
    assert!(place.read("out.txt").starts_with("SMALLEST FAILING INPUT\n\n    ((0))\n"));
}

#[test]
fn the_output_and_the_program_are_in_it_and_a_fence_is_longer_than_any_inside() {
    let place = Place::new();
    place.script(
        "prog",
        "[ \"$1\" = --version ] && { echo prog 7.1; exit; }\necho \"panic: `cat $1`\" >&2; grep -q '```' $1 && exit 9",
    );
    place.write("a.txt", "one\n```` two\nthree");
    place.line("reduce a.txt --fail-exit 9 -- ./prog {}").exits(0);
    let ran = place.line("report").exits(0);
    for part in ["`````\n````\n`````", "/prog a.txt\n", "panic: ```", "(prog 7.1)", "- fail: exit status 9"] {
        assert!(ran.stdout.contains(part), "{part}\nis not in\n{}", ran.stdout);
    }
    // Replaced by a program that does not fail.
    place.script("prog", "true");
    place.line("report").exits(5);
}

#[test]
fn nothing_to_report() {
    Place::new().line("report").exits(2).says(["no earlier run"]);
}
