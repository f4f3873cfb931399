//! Published failures of real programs. `corpora/setup.sh` installs the programs, as each subject's `prepare` does; one
//! that cannot be had is a failure of the test.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod support;

use support::{Place, assert_evidence, corpus, squeezed};

fn abstracted(place: &Place, subject: &str) -> serde_json::Value {
    let folder = corpus(subject);
    place.ddset(["abstract", "--format", "json", folder.to_str().unwrap()]).exits(0).json()
}

/// Holes of which all places must be equal: for each, the number of its places.
fn tied(summary: &serde_json::Value) -> Vec<usize> {
    let holes = summary["holes"].as_array().unwrap().iter().filter(|hole| hole["kind"] == "same");
    holes.map(|hole| hole["places"].as_array().unwrap().len()).collect()
}

/// CVE-2019-6706: the function that is joined to itself is named three times.
#[test]
fn lua_upvaluejoin() {
    let place = Place::new();
    let summary = abstracted(&place, "lua-upvaluejoin");
    let pattern = summary["pattern"].as_str().unwrap();
    assert_eq!(pattern.matches("<$Name1>").count(), 3, "{pattern}");
    assert!(squeezed(pattern).contains("debug.upvaluejoin(<$Name1>,"), "{pattern}");
    assert!(tied(&summary).contains(&3), "{summary}");
    assert_evidence(&summary);
}

/// Rhino issue 386: both names of the pattern are one. (It need not be a const: `let` fails in the same way, and is shorter.)
#[test]
fn rhino_const_pattern() {
    let place = Place::new();
    let summary = abstracted(&place, "rhino-const-pattern");
    let pattern = summary["pattern"].as_str().unwrap();
    assert!(squeezed(pattern).contains("[<$Id1>,<$Id1>]"), "{pattern}");
    assert_eq!(pattern.matches("<$Id1>").count(), 2, "{pattern}");
    assert_eq!(tied(&summary), [2], "{summary}");
    assert_evidence(&summary);
}

/// Programs that nobody has seen delete what they name: it stays.
#[test]
fn candidates_delete_nothing_outside() {
    let place = Place::new();
    let victim = place.write("victim/file", "here");
    let folder = place.path("victim");
    let setup = corpus("").join("setup.sh");
    assert!(std::process::Command::new(setup).arg("lua").status().unwrap().success());
    let programs = std::env::var("DDSET_PROGRAMS")
        .unwrap_or_else(|_| format!("{}/.cache/ddset/programs", std::env::var("HOME").unwrap()));
    let lua = format!("{programs}/lua-5.3.5/lua");
    place.write("input.lua", format!("os.remove('{}')\nerror('deleted')\n", victim.display()));
    let oracle = ["--sandbox", "on", "--fail-output", "deleted", "--", &lua, "{}"];
    place.ddset(["reduce", "-g", "lua", "input.lua"].iter().chain(&oracle)).exits(0);
    assert!(victim.exists());
    let find = format!("find {} -delete; grep -q '('", folder.display());
    place.write("input.expr", "1+(2)");
    let oracle = ["--sandbox", "on", "--fail-exit", "0", "--", "sh", "-c", &find];
    place.ddset(["reduce", "-g", "expr", "input.expr"].iter().chain(&oracle)).exits(0).prints("(0)");
    assert!(victim.exists());
}
