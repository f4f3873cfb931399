//! Oracles that are wrong, missing, slow, or leave processes behind.

use crate::support::{Place, Ran};
use std::fs;
use std::path::Path;

fn place() -> Place {
    let place = Place::new();
    place.write("input.expr", "1 + (2)");
    place
}

/// `ddset reduce --grammar expr input.expr` with further arguments.
fn reduce(place: &Place, more: &[&str]) -> Ran {
    place.ddset(["reduce", "--grammar", "expr", "input.expr"].iter().chain(more))
}

#[test]
fn an_input_that_does_not_fail() {
    let place = place();
    reduce(&place, &["--", "sh", "-c", "exit 3", "{}"]).exits(1).prints("").says([
        "the input does not fail",
        "exit status 3",
        "add `--fail-exit 3`",
        "next: `ddset oracle check`",
    ]);
    reduce(&place, &["--fail-exit", "0", "--", "sh", "-c", "kill -SEGV $$", "{}"])
        .exits(1)
        .says(["signal SIGSEGV", "add `--fail-signal SIGSEGV`"]);
    place.script("run.sh", "exit 1");
    reduce(&place, &["--test", "run.sh"]).exits(1).says(["exit status 1", "run.sh must exit with status 0"]);
}

#[test]
fn a_command_that_the_script_does_not_find() {
    let place = place();
    place.script("run.sh", "no-such-program \"$1\"");
    reduce(&place, &["--test", "run.sh"]).exits(1).says(["exit status 127", "a command was not found"]);
}

#[test]
fn a_program_that_is_not_there() {
    let place = place();
    reduce(&place, &["--", "no-such-program", "{}"]).exits(4).says(["no-such-program", "PATH"]);
    reduce(&place, &["--", "./no/such/program", "{}"]).exits(4).says(["no/such/program"]);
    reduce(&place, &["--test", "no-such.sh"]).exits(4).says(["no-such.sh", "check the path"]);
}

#[test]
fn a_script_that_is_not_executable() {
    let place = place();
    let script = place.write("run.sh", "#!/bin/sh\nexit 0\n");
    reduce(&place, &["--test", "run.sh"]).exits(4).says([&format!("chmod +x {}", script.display())]);
}

#[test]
fn a_script_whose_interpreter_is_not_there() {
    let place = place();
    place.script("run.sh", "exit 0");
    place.write("run.sh", "#!/no/such/interpreter\n");
    reduce(&place, &["--test", "run.sh"]).exits(4).says(["run.sh"]);
}

/// Processes with this word among their arguments.
fn running(word: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(word)).collect()
}

#[test]
fn a_hang_says_nothing_and_leaves_nothing_running() {
    let place = place();
    // A number that no other process has among its arguments.
    let seconds = format!("300.{}1234", std::process::id());
    place.script(
        "run.sh",
        &format!("sleep {seconds} &\nsetsid sleep {seconds} &\n(setsid sh -c 'sleep {seconds}; :' &)\nsleep {seconds}"),
    );
    reduce(&place, &["--timeout", "500ms", "--test", "run.sh"]).exits(1).says([
        "the input does not fail",
        "timed out after 500ms",
        "a timeout is a failure",
    ]);
    assert_eq!(running(&seconds), [""; 0]);
}

#[test]
fn a_program_that_ends_leaves_nothing_running() {
    let place = place();
    let seconds = format!("300.{}5678", std::process::id());
    place.script("run.sh", &format!("sleep {seconds} &\nsetsid sleep {seconds} >/dev/null 2>&1 &\nexit 1"));
    reduce(&place, &["--test", "run.sh"]).exits(1);
    assert_eq!(running(&seconds), [""; 0]);
}

#[test]
fn a_hang_may_be_the_failure() {
    let place = place();
    place.script("run.sh", "grep -q '(' \"$1\" && sleep 30\nexit 1");
    reduce(&place, &["--timeout", "200ms", "--timeout-is", "fail", "--test", "run.sh"]).exits(0).prints("(0)");
}

#[test]
fn the_input_reaches_the_program_in_the_place_that_is_asked_for() {
    for place_of_file in ["{}", "@@", "--file={}"] {
        let place = place();
        let script = "f=${1#--file=}; [ \"${f##*/}\" = input.expr ] && ! grep -q . && grep -q '(' \"$f\"";
        reduce(&place, &["--fail-exit", "0", "--", "sh", "-c", script, "sh", place_of_file]).exits(0).prints("(0)");
    }
    reduce(&place(), &["--fail-exit", "0", "--", "grep", "("]).exits(0).prints("(0)");
}

#[test]
fn outputs_and_exits_can_be_told_apart() {
    let place = place();
    let script = "if grep -q '(' \"$1\"; then echo 'error: group 17' >&2; exit 3; fi; echo 'error: other' >&2; exit 3";
    let run = |rule: [&str; 2]| reduce(&place, &[&rule[..], &["--", "sh", "-c", script, "sh", "{}"]].concat());
    run(["--fail-output", "error: group [0-9]+"]).exits(0).prints("(0)");
    run(["--fail-exit", "3"]).exits(0).prints("0");
    let unresolved = ["--fail-exit", "3", "--unresolved-exit", "4", "--", "sh", "-c"];
    let script = "grep -q '(' \"$1\" && exit 3; exit 4";
    reduce(&place, &[&unresolved[..], &[script, "sh", "{}"]].concat()).exits(0).prints("(0)");
}

#[test]
fn a_script_gets_file_and_standard_input_in_a_fresh_folder() {
    let place = place();
    // Not in the fresh folder, or it would not be fresh.
    let script = "cmp - \"$1\" || exit 1\n[ \"$(ls -A)\" = input.expr ] || exit 1\n[ \"$1\" -ef input.expr ] || exit 1\n\
                  echo left >behind\ngrep -q '(' \"$1\"";
    place.script("run.sh", script);
    reduce(&place, &["--test", "run.sh"]).exits(0).prints("(0)");
    assert!(fs::read_dir(place.path("tmp")).unwrap().next().is_none(), "a folder was left behind");
    assert!(!place.path("behind").exists());
    assert_eq!(place.read("input.expr"), "1 + (2)");
}

#[test]
fn wrong_usage() {
    let place = place();
    place.script("run.sh", "exit 0");
    place.line("reduce --grammar expr input.expr").exits(2).says(["no oracle was given", "--test", "--fail-exit"]);
    place
        .line("reduce --grammar expr input.expr --test run.sh --fail-ext 1")
        .exits(2)
        .says(["--fail-ext", "--fail-exit"]);
    place.line("reduce --grammar expr input.expr --test run.sh --fail-exit 1").exits(2).says(["exit status 0"]);
    place.line("reduce --grammar expr input.expr --test run.sh -- cat").exits(2).says(["cannot be used with"]);
    place.line("reduce --grammar expr none.expr --test run.sh").exits(2).says(["none.expr"]);
    place.line("reduce --grammar expr input.expr --timeout soon -- cat").exits(2).says(["soon", "10s"]);
    place.line("reduce --grammar expr input.expr --fail-signal FOO -- cat").exits(2).says(["FOO", "SEGV"]);
    place.line("reduce --grammar expr input.expr --fail-output ( -- cat").exits(2).says(["regular expression"]);
    place.line("reduc").exits(2).says(["reduce"]);
    assert!(!place.path(".ddset").exists(), "nothing was asked that makes sense, and yet there is a run");
}

#[test]
fn a_folder_must_have_a_configuration_that_can_be_read() {
    let place = place();
    fs::create_dir(place.path("subject")).unwrap();
    place.line("reduce subject").exits(2).says(["subject/ddset.toml", "write one"]);
    place.write("subject/ddset.toml", "gramar = \"expr\"\n");
    place.line("reduce subject").exits(2).says(["subject/ddset.toml", "line 1", "unknown field `gramar`", "`grammar`"]);
    place.write("subject/ddset.toml", "grammar = \"expr\"\n[oracle]\ntest = \"run.sh\"\n");
    place.line("reduce subject").exits(2).says(["names no input", "input = "]);
    place.write("subject/ddset.toml", "grammar = \"expr\"\ninput = \"a.expr\"\n[oracle]\ntest = \"run.sh\"\n");
    place.line("reduce subject").exits(2).says(["subject/a.expr"]);
}

#[test]
fn a_configuration_is_used_from_anywhere() {
    let place = place();
    place.script("subject/run.sh", "[ -e \"${0%/*}/built\" ] && grep -q '(' \"$1\"");
    place.write("subject/own.ebnf", "sum ::= part ('+' part)*\npart ::= [0-9] | '(' sum ')'\n");
    place.write("subject/a.expr", "1+(2+3)");
    place.write(
        "subject/ddset.toml",
        "grammar = \"own.ebnf\"\ninput = \"a.expr\"\nprepare = [\"touch\", \"built\"]\n[oracle]\ntest = \"run.sh\"\n",
    );
    place.line("reduce subject").exits(0).prints("(0)");
    assert!(Path::new(&place.path("subject/built")).exists());
    // An input beside a ddset.toml is read with it.
    place.write("subject/b.expr", "(1)+(2)");
    place.line("reduce subject/b.expr").exits(0).prints("(0)");
    place.write(
        "subject/ddset.toml",
        "grammar = \"own.ebnf\"\ninput = \"a.expr\"\nprepare = [\"false\"]\n[oracle]\ntest = \"run.sh\"\n",
    );
    place.line("reduce subject").exits(4).says(["`prepare`", "exit status: 1"]);
}

#[test]
fn the_check_explains_a_run() {
    let place = place();
    let check =
        |status: i32, more: &[&str]| place.ddset(["oracle", "check", "input.expr"].iter().chain(more)).exits(status);
    let run = check(0, &["--fail-exit", "3", "--", "sh", "-c", "echo words; exit 3", "{}"]);
    for expected in ["it fails (exit status 3)", "words", "fail: exit status 3"] {
        assert!(run.stdout.contains(expected), "{run}");
    }
    let run = check(1, &["--", "sh", "-c", "exit 3", "{}"]);
    assert!(run.stdout.contains("it does not fail (exit status 3)") && run.stdout.contains("--fail-exit 3"), "{run}");
    let run = check(1, &["--timeout", "100ms", "--format", "json", "--", "sleep", "20"]).json();
    assert_eq!((&run["outcome"], &run["timed_out"]), (&"unresolved".into(), &true.into()));
    check(4, &["--", "no-such-program"]);
}

#[test]
fn a_failure_that_comes_and_goes_is_said() {
    let place = place();
    let counter = place.path("count");
    // Fails eight times, and then never more.
    let script = format!("echo >>{0}\n[ $(wc -l <{0}) -le 8 ]", counter.display());
    place.script("run.sh", &script);
    reduce(&place, &["--sandbox", "off", "--test", "run.sh"]).exits(5).says(["comes and goes", "0 of 10 fresh runs"]);
}

/// A loader with two bugs, which rejects what is no expression; it tells of the input in its message.
fn loader(place: &Place) {
    place.script(
        "load.sh",
        r#"text=$(cat "$1")
case $text in
*[!0-9+*/\ \(\)-]* | *'('*'('*'('*'('* | "") echo "load: syntax error near '$text'" >&2; exit 2 ;;
*'(7'*) printf 'Traceback (most recent call last):\n  File "/a/load.py", line %s, in term\n' "$$" >&2
        echo "KeyError: $text" >&2; exit 1 ;;
*7*) echo "load.c:$$: next: Assertion \`depth > $$' failed." >&2; kill -ABRT $$ ;;
esac"#,
    );
}

#[test]
fn the_failure_is_found_out_and_another_is_kept_aside() {
    let place = Place::new();
    loader(&place);
    place.write("input.expr", "(1 + 2) * (7) - 3");
    let ran = place.line("reduce -g expr input.expr -- ./load.sh {}").exits(0).prints("(7)");
    ran.says([
        "failure:  exit status 1, Python exception KeyError: (1 + 2) * (7) - 3, in load.py term",
        "rejected: exit status 2, as for invalid input; such runs say nothing",
        "another failure: signal SIGABRT, assertion: depth > ",
        "smallest input so far: ",
    ]);
    let others: Vec<_> = fs::read_dir(place.run_folder().join("others")).unwrap().flatten().collect();
    let [other] = others.as_slice() else { panic!("{others:?}") };
    assert!(fs::read_to_string(other.path().join("failure.txt")).unwrap().starts_with("signal SIGABRT"));
    assert!(fs::read_to_string(other.path().join("input.expr")).unwrap().contains('7'));
}

#[test]
fn how_alike_failures_must_be() {
    let place = Place::new();
    loader(&place);
    place.write("input.expr", "(1 + 2) * (7) - 3");
    let check = |how: &str| place.line(&format!("oracle check --signature {how} input.expr -- ./load.sh {{}}"));
    check("exact").exits(0).outputs(["in load.py term", "steady:   3 of 3 runs ended alike"]);
    check("loose").exits(0).outputs(["Python exception KeyError"]);
    check("7").exits(0);
    check("strict").exits(2).says(["write `loose`, `exact` or a number of functions"]);
}
