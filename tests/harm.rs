//! Oracles that are bad in each known way, and what becomes of them: the table of docs/oracles.md.

use crate::support::{Place, Ran};
use ddset::oracle::{Oracle, Outcome, Rate, Voting};
use ddset::search::Search;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

fn place() -> Place {
    let place = Place::new();
    place.write("input.expr", "1 + (2)");
    place
}

fn reduce(place: &Place, more: &[&str]) -> Ran {
    place.ddset(["reduce", "--grammar", "expr", "input.expr"].iter().chain(more))
}

fn check(place: &Place, more: &[&str]) -> Ran {
    place.ddset(["oracle", "check", "input.expr"].iter().chain(more))
}

/// A failure of the input's parenthesis, with what else the program does before.
fn paren(place: &Place, body: &str) {
    place.script("run.sh", &format!("{body}\ngrep -q '(' \"$1\""));
}

#[test]
fn one_that_never_fails() {
    let place = place();
    place.script("run.sh", "exit 1");
    reduce(&place, &["--test", "run.sh"]).exits(1).says(["the input does not fail"]);
}

#[test]
fn one_that_always_fails() {
    let place = place();
    place.script("run.sh", "exit 0");
    reduce(&place, &["--test", "run.sh"]).exits(0).prints("0");
    // Without rules, it is found out.
    reduce(&place, &["--", "sh", "-c", "exit 3", "{}"]).exits(1).says(["every other input", "ends so, too"]);
}

#[test]
fn one_that_hangs() {
    let place = place();
    place.script("run.sh", "sleep 100");
    let begin = Instant::now();
    reduce(&place, &["--timeout", "200ms", "--test", "run.sh"]).exits(1).says(["timed out after 200ms"]);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn one_that_hangs_on_candidates_takes_no_longer_than_the_original_tells() {
    let place = place();
    paren(&place, "grep -q '2' \"$1\" || while :; do :; done");
    let begin = Instant::now();
    reduce(&place, &["--test", "run.sh"]).exits(0).prints("(2)");
    assert!(begin.elapsed() < Duration::from_secs(100), "{:?}", begin.elapsed());
}

#[test]
fn one_that_fills_the_disk() {
    let place = place();
    paren(
        &place,
        "grep -q '+' \"$1\" || dd if=/dev/zero of=large bs=1M seek=1023 count=3 2>/dev/null || kill -XFSZ $$",
    );
    reduce(&place, &["--test", "run.sh"]).exits(0);
    let run = check(
        &place,
        &["--fail-exit", "3", "--", "sh", "-c", "exec dd if=/dev/zero of=large bs=1M seek=1023 count=3", "{}"],
    )
    .exits(1);
    run.outputs(["it wrote too large a file (signal SIGXFSZ)"]);
}

#[test]
fn one_that_eats_memory() {
    let place = place();
    let eat = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 20";
    check(&place, &["--max-memory", "100M", "--sandbox", "off", "--fail-exit", "3", "--", "sh", "-c", eat, "{}"])
        .exits(1)
        .outputs(["unresolved", "out of memory", "100 MiB of memory"]);
}

#[test]
fn one_that_prints_a_gigabyte() {
    let place = place();
    let print = "head -c 1000000000 /dev/zero; exit 3";
    let run =
        check(&place, &["--fail-exit", "3", "--sandbox", "off", "--format", "json", "--", "sh", "-c", print, "{}"]);
    let run = run.exits(0).json();
    assert!(run["truncated"] == true && run["stdout"].as_str().unwrap().len() < 1_100_000);
}

#[test]
fn one_that_needs_its_own_folder() {
    let place = place();
    place.write("table.txt", "(");
    place.script("run.sh", "grep -qFf \"${0%/*}/table.txt\" \"$1\"");
    reduce(&place, &["--test", "run.sh"]).exits(0).prints("(0)");
}

#[test]
fn one_that_writes_into_its_folder_and_its_temporary_folder() {
    let place = place();
    paren(&place, "[ -e left ] && exit 1; echo >left; t=$(mktemp) || exit 1; [ \"${t%/*}\" = \"$PWD\" ] || exit 1");
    reduce(&place, &["--sandbox", "on", "--test", "run.sh"]).exits(0).prints("(0)");
    assert!(fs::read_dir(place.path("tmp")).unwrap().next().is_none());
}

#[test]
fn one_that_dies_by_each_signal() {
    for sandbox in ["on", "off"] {
        let place = place();
        for signal in
            ["HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "PIPE", "TERM"]
        {
            let script = format!("kill -{signal} $$");
            check(&place, &["--sandbox", sandbox, "--fail-signal", signal, "--", "sh", "-c", &script, "{}"])
                .exits(0)
                .outputs([format!("it fails (signal SIG{signal})")]);
        }
        // It is not taken for a signal.
        check(&place, &["--sandbox", sandbox, "--fail-exit", "139", "--", "sh", "-c", "exit 139", "{}"]).exits(0);
    }
}

#[test]
fn one_whose_message_changes_by_address_pid_path_and_time() {
    let place = place();
    let script = "grep -q '(' $1 || exit 0\n\
                  echo \"$1:$$: internal error: cell 0x$$ of $(date +%N) ms in $PWD\" >&2; exit 70";
    reduce(&place, &["--", "sh", "-c", script, "sh", "{}"]).exits(0).prints("(0)");
}

#[test]
fn one_that_forks_and_daemonises() {
    for sandbox in ["on", "off"] {
        let place = place();
        let seconds = format!("300.{}77", std::process::id());
        paren(&place, &format!("(setsid sh -c 'sleep {seconds}; :' >/dev/null 2>&1 &)"));
        reduce(&place, &["--sandbox", sandbox, "--test", "run.sh"]).exits(0).prints("(0)");
        assert_eq!(running(&seconds), 0);
    }
}

fn running(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(word.len()).any(|part| part == word.as_bytes())).count()
}

/// Whatever the number that its random seed gives it, as often as not in three runs it does not fail.
#[test]
fn one_that_fails_at_30_percent() {
    let flaky = "[ $(($(od -An -N2 -tu2 /dev/urandom) % 100)) -lt 30 ] || exit 1";
    let mut right = 0;
    for _ in 0..3 {
        let place = place();
        paren(&place, flaky);
        let ran = reduce(&place, &["--sandbox", "off", "--test", "run.sh"])
            .exits(0)
            .says(["runs failed", "confirmed: 3 of 3"]);
        right += usize::from(ran.stdout == "(0)");
    }
    assert!(right >= 2, "{right} of 3");
}

/// With its own random numbers, of which twenty seeds are tried.
#[test]
fn a_reduction_by_votes_comes_to_the_same_as_a_steady_one() {
    let grammar = {
        let text = ddset::grammar::bundled::find("expr").unwrap().source;
        ddset::grammar::Grammar::read(text, None).unwrap()
    };
    let input = b"1 + (2 * (3 + 4)) - (5 / 6) + 7 * (8)";
    let fails = |input: &[u8]| input.contains(&b'(') && input.contains(&b'*');
    let reduced = |oracle: &dyn Oracle| {
        let mut search = Search::new(oracle);
        let tree = ddset::parse::parse(&grammar, input).unwrap();
        let text = ddset::reduce::reduce(&grammar, tree, &mut search).tree.text().to_vec();
        (text, search.runs())
    };
    let steady = |input: &[u8]| if fails(input) { Outcome::Fail } else { Outcome::Pass };
    let (expected, votes) = reduced(&steady);
    let (mut same, mut runs) = (0, 0);
    for seed in 0..20 {
        let random = Mutex::new((ChaCha8Rng::seed_from_u64(seed), 0u64));
        let flaky = |input: &[u8]| {
            let mut random = random.lock().unwrap();
            random.1 += 1;
            if random.0.random_range(0..100) < 30 && fails(input) { Outcome::Fail } else { Outcome::Pass }
        };
        let rate = Rate::of(&flaky, input).unwrap();
        let need = if rate.is_steady() { None } else { rate.need() };
        let found = reduced(&Voting { oracle: flaky, need }).0;
        same += usize::from(found == expected);
        runs += random.lock().unwrap().1;
    }
    let runs = runs / 20;
    assert!(same >= 19 && runs < 60 * votes, "{same} of 20 are the same; {runs} runs each instead of {votes}");
}

#[test]
fn one_that_fails_too_seldom_for_a_vote() {
    let place = place();
    let count = place.path("count");
    // Twice in the first twenty runs, and then never more.
    place.script("run.sh", &format!("echo >>{0}\nn=$(wc -l <{0}); [ $n = 2 ] || [ $n = 9 ]", count.display()));
    reduce(&place, &["--test", "run.sh"]).exits(5).says(["too seldom: 2 of 100", "--need"]);
}

#[test]
fn a_need_may_be_said() {
    let place = place();
    let count = place.path("count");
    paren(&place, &format!("echo >>{0}; [ $(($(wc -l <{0}) % 3)) = 0 ] || exit 1", count.display()));
    reduce(&place, &["--need", "1/3", "--jobs", "1", "--sandbox", "off", "--test", "run.sh"]).exits(0).prints("(0)");
}

/// A candidate deletes what it finds, and what lies outside stays.
#[test]
fn one_that_deletes_what_it_finds() {
    let place = place();
    let victim = place.write("victim/file", "here");
    let script = format!("find {} -delete 2>/dev/null\ngrep -q '(' \"$1\"", place.path("victim").display());
    place.script("run.sh", &script);
    reduce(&place, &["--sandbox", "on", "--test", "run.sh"]).exits(0).prints("(0)");
    assert!(victim.exists());
    reduce(&place, &["--sandbox", "off", "--test", "run.sh"]).exits(0);
    assert!(!victim.exists(), "the test is able to fail");
}

#[test]
fn without_a_sandbox_it_is_said_why() {
    let place = place();
    // What it writes outside is what makes it fail.
    let outside = place.path("outside");
    paren(&place, &format!("echo >{} || exit 1", outside.display()));
    reduce(&place, &["--test", "run.sh"]).exits(0).says(["sandbox:  off", "bubblewrap: ", "landlock: "]);
    reduce(&place, &["--run", "other", "--sandbox", "on", "--test", "run.sh"])
        .exits(1)
        .says(["does not fail there", "--sandbox off"]);
}

#[test]
fn the_environment_is_the_same_everywhere() {
    let place = place();
    let script = "[ \"$LC_ALL$TZ$TMPDIR\" = \"C.UTF-8UTC$PWD\" ] && [ \"$MODE\" = a ] && [ \"$KEPT\" = b ]";
    place.script("run.sh", script);
    let check = |more: &[&str]| {
        let arguments = ["oracle", "check", "input.expr", "--test", "run.sh"].iter().chain(more);
        Ran::new(place.command(arguments).env("TZ", "Asia/Tokyo").env("KEPT", "b").output().unwrap())
    };
    check(&["--env", "MODE=a"]).exits(0).outputs(["TZ=UTC", "MODE=a"]);
    check(&["--env", "MODE=a", "--env", "TZ"]).exits(1);
}

#[test]
fn the_failure_is_shown_and_no_more() {
    let place = place();
    let script = "grep -q '(' $1 || exit 0; echo 'Assertion failed: depth > 3' >&2; kill -ABRT $$";
    reduce(&place, &["--signature", "show", "--", "sh", "-c", script, "sh", "{}"])
        .exits(0)
        .prints("")
        .says(["failure:  signal SIGABRT, assertion: depth > 3", "rate:     5 of 5"]);
    assert!(!place.path(".ddset").exists());
}

#[test]
fn a_program_that_changes_meanwhile_is_an_error_and_nothing_is_lost() {
    let place = place();
    place.write("input.expr", "1 + 2 + 3 + 4 + (2) + 5 + 6 + 7 + 8");
    // It rewrites itself when it sees a small input.
    let script = "grep -q '(' \"$1\" || exit 1\n[ $(wc -c <\"$1\") -gt 8 ] || echo '# changed' >>\"$0\"";
    place.script("run.sh", script);
    reduce(&place, &["--sandbox", "off", "--test", "run.sh"]).exits(4).says(["run.sh was changed", "is kept"]);
    assert!(place.read(place.run_folder().join("best/input.expr")).len() < 35);
}

/// What ran when the process was killed ends soon.
#[test]
fn killed_it_leaves_nothing_running() {
    for sandbox in ["on", "off"] {
        let place = place();
        let seconds = format!("300.{}88", std::process::id());
        place.script(
            "run.sh",
            &format!("[ -e {0} ] && setsid sleep {seconds}\n:>{0}", place.path("tmp/second").display()),
        );
        let arguments = ["reduce", "-g", "expr", "--sandbox", sandbox, "--test", "run.sh", "input.expr"];
        let mut child = place.command(arguments).spawn().unwrap();
        wait_for("the run", || running(&seconds) > 0 || child.try_wait().unwrap().is_some());
        let _ = child.kill();
        child.wait().unwrap();
        wait_for("the end of the run", || running(&seconds) == 0);
    }
}

#[track_caller]
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A file system of 256 KiB for the run's folder, where the tests may make one.
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let place = place();
    let folder = place.path("small");
    fs::create_dir(&folder).unwrap();
    if !mount(&folder) {
        return;
    }
    let long: Vec<String> = (1..300).map(|n| format!("({n})")).collect();
    place.write("input.expr", long.join(" + "));
    place.script("run.sh", "grep -q '(' \"$1\" && dd if=/dev/zero of=\"${0%/*}/small/fill\" bs=4k count=100 2>/dev/null; grep -q '(' \"$1\"");
    let ran = reduce(&place, &["--run", "small/runs", "--sandbox", "off", "--test", "run.sh"]);
    let _ = Command::new("umount").arg("-l").arg(&folder).status();
    ran.exits(2).says(["cannot be", "make room"]);
}

fn mount(folder: &Path) -> bool {
    let status = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(folder).output();
    status.is_ok_and(|output| output.status.success())
}
