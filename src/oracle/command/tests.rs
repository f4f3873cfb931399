use std::sync::atomic::Ordering;
use std::time::Instant;

use super::*;
use crate::oracle::{Outcome, Rules, Signal};

/// `sh -c SCRIPT`, with what else is to follow.
fn sh(script: &str) -> CommandSpec {
    CommandSpec::program(["sh", "-c", script])
}

fn failing_on(mut spec: CommandSpec, fail: Rules) -> CommandOracle {
    spec.fail = fail;
    CommandOracle::new(spec).unwrap()
}

fn exits(statuses: &[i32]) -> Rules {
    Rules { exit: statuses.to_vec(), ..Rules::default() }
}

fn prints(regex: &str) -> Rules {
    Rules { output: vec![regex.to_owned()], ..Rules::default() }
}

fn outcome(oracle: &CommandOracle, input: &[u8]) -> Outcome {
    oracle.run(input).unwrap().outcome
}

fn stdout(oracle: &CommandOracle, input: &[u8]) -> Vec<u8> {
    oracle.run(input).unwrap().process.unwrap().stdout
}

/// Processes whose command line holds the marker.
fn alive(marker: &str) -> usize {
    let lines =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(marker.len()).any(|part| part == marker.as_bytes())).count()
}

fn write_script(folder: &Path, text: &str, mode: u32) -> PathBuf {
    let path = folder.join("test.sh");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn exit_statuses() {
    let mut spec = sh("exit $(cat)");
    spec.unresolved.exit = vec![3];
    let oracle = failing_on(spec, exits(&[1, 2]));
    let outcomes = ["1", "2", "0", "3"].map(|input| outcome(&oracle, input.as_bytes()));
    assert_eq!(outcomes, [Outcome::Fail, Outcome::Fail, Outcome::Pass, Outcome::Unresolved]);
    assert_eq!(oracle.run(b"7").unwrap().reason, "exit status 7");
}

#[test]
fn signals() {
    let by_rule = failing_on(sh("kill -$(cat) $$"), Rules { signal: vec![Signal(11)], ..Rules::default() });
    assert_eq!([outcome(&by_rule, b"SEGV"), outcome(&by_rule, b"TERM")], [Outcome::Fail, Outcome::Pass]);
    assert_eq!(by_rule.run(b"SEGV").unwrap().reason, "signal SIGSEGV");
    let without_rule = CommandOracle::new(sh("kill -$(cat) $$")).unwrap();
    assert_eq!(outcome(&without_rule, b"TERM"), Outcome::Fail);
}

#[test]
fn output_of_both_kinds() {
    let on_stderr = failing_on(sh("cat >&2"), prints("panic(ked)? at"));
    assert_eq!([outcome(&on_stderr, b"panicked at 3"), outcome(&on_stderr, b"fine")], [Outcome::Fail, Outcome::Pass]);
    let on_stdout = failing_on(sh("cat"), prints("bug"));
    assert_eq!(outcome(&on_stdout, b"\xff a bug \xff"), Outcome::Fail);
}

#[test]
fn the_candidate_goes_to_stdin_without_a_place_for_it() {
    let oracle = failing_on(CommandSpec::program(["cat"]), exits(&[0]));
    assert_eq!(stdout(&oracle, b"\x00\xff"), b"\x00\xff");
}

#[test]
fn the_candidate_goes_where_its_place_is() {
    for place in ["{}", "@@"] {
        let script = "cat \"${1#--in=}\"; echo \"[$(cat)]${1##*/} $(ls)\"";
        let argument = format!("--in={place}");
        let mut spec = CommandSpec::program(["sh", "-c", script, "sh", &argument]);
        spec.file_name = "a {}@@.js".to_owned();
        let oracle = failing_on(spec, exits(&[0]));
        assert_eq!(stdout(&oracle, b"x"), b"x[]a {}@@.js a {}@@.js\n");
    }
}

#[test]
fn a_script_gets_both() {
    let folder = tempfile::tempdir().unwrap();
    write_script(folder.path(), "#!/bin/sh\ncat; cat \"$1\"; cat input.txt\ngrep -q bug \"$1\"\n", 0o755);
    let mut spec = CommandSpec::script("test.sh");
    spec.base = folder.path().to_owned();
    spec.file_name = "input.txt".to_owned();
    let oracle = CommandOracle::new(spec).unwrap();
    assert_eq!(stdout(&oracle, b"a bug."), b"a bug.a bug.a bug.");
    assert_eq!([outcome(&oracle, b"a bug."), outcome(&oracle, b"fine")], [Outcome::Fail, Outcome::Pass]);
    let described = oracle.describe().to_string();
    assert!(described.contains("test.sh") && described.contains("/N/input.txt"), "{described}");
}

#[test]
fn a_timeout_leaves_nothing() {
    let mut spec = sh("sleep 300.04211 & sleep 300.04211");
    spec.timeout = Some(Duration::from_millis(300));
    let started = Instant::now();
    let run = CommandOracle::new(spec).unwrap().run(b"").unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Unresolved, "timed out after 300ms"));
    assert!(run.process.unwrap().timed_out);
    assert_eq!(alive("300.04211"), 0);
}

#[test]
fn a_program_that_ignores_signals_is_killed() {
    let mut spec = sh("trap '' TERM INT HUP; while :; do sleep 0.04212; done");
    spec.timeout = Some(Duration::from_millis(200));
    spec.timeout_is_fail = true;
    assert_eq!(outcome(&CommandOracle::new(spec).unwrap(), b""), Outcome::Fail);
    assert_eq!(alive("0.04212"), 0);
}

#[test]
fn background_processes_end_with_the_run() {
    let oracle = failing_on(sh("sleep 300.04213 & exit 1"), exits(&[1]));
    let started = Instant::now();
    assert_eq!(outcome(&oracle, b""), Outcome::Fail);
    assert!(started.elapsed() < Duration::from_secs(5), "waited for a pipe that a grandchild holds");
    assert_eq!(alive("300.04213"), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn daemons_end_with_the_run() {
    let daemon =
        "setsid sleep 300.04214 & (setsid sh -c 'sleep 300.04214 & cd /; sleep 300.04214' &) ; sleep 0.1; exit 1";
    let oracle = failing_on(sh(daemon), exits(&[1]));
    assert_eq!(outcome(&oracle, b""), Outcome::Fail);
    // Another test's run may overlap and be younger; a daemon that left the folder waits for that one's end.
    let deadline = Instant::now() + Duration::from_secs(20);
    while alive("300.04214") > 0 && Instant::now() < deadline {
        sleep(Duration::from_millis(50));
        outcome(&oracle, b"");
    }
    assert_eq!(alive("300.04214"), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn overlapping_runs_leave_each_other_alone() {
    // Each run makes an orphan in its own group, and needs it to the end.
    let oracle =
        failing_on(sh("(sleep 0.2; echo done >mark) & sleep 0.4; cat mark; setsid sleep 300.04215 &"), prints("done"));
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let oracle = &oracle;
            scope.spawn(move || {
                sleep(Duration::from_millis(70 * worker));
                for _ in 0..3 {
                    assert_eq!(outcome(oracle, b""), Outcome::Fail);
                }
            });
        }
    });
    assert_eq!(alive("300.04215"), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn children_of_the_host_program_are_left_alone() {
    let mut child = Command::new("sleep").arg("300.04216").spawn().unwrap();
    let oracle = failing_on(sh("exit 1"), exits(&[1]));
    for _ in 0..3 {
        outcome(&oracle, b"");
    }
    let running = child.try_wait().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(running, None);
}

#[test]
fn much_output_is_cut_and_does_not_block() {
    let oracle =
        failing_on(sh("head -c 100000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo last >&2"), prints("last"));
    let run = oracle.run(b"").unwrap();
    let process = run.process.unwrap();
    assert_eq!(run.outcome, Outcome::Fail);
    assert!(process.truncated && process.stdout.len() < (1 << 20) + 100 && process.stderr.len() < (1 << 20) + 100);
}

#[test]
fn a_large_candidate_need_not_be_read() {
    let input = vec![b'x'; 10_000_000];
    let closes = failing_on(sh("exec <&-; sleep 0.1; exit 1"), exits(&[1]));
    assert_eq!(outcome(&closes, &input), Outcome::Fail);
    let counts = failing_on(CommandSpec::program(["wc", "-c"]), exits(&[0]));
    assert_eq!(stdout(&counts, &input).trim_ascii(), b"10000000");
}

#[test]
fn each_run_has_a_fresh_folder_that_vanishes() {
    let oracle = failing_on(sh("pwd; ls | wc -l; touch more"), exits(&[0]));
    let outputs = [stdout(&oracle, b""), stdout(&oracle, b"")].map(|text| String::from_utf8(text).unwrap());
    let folders = outputs.each_ref().map(|text| text.lines().next().unwrap());
    assert!(folders[0] != folders[1] && outputs.iter().all(|text| text.lines().nth(1).unwrap().trim() == "0"));
    assert!(folders.iter().all(|folder| !Path::new(folder).exists()));
}

#[test]
fn a_script_may_delete_its_folder() {
    let oracle = failing_on(sh("rm -rf \"$PWD\"; rm -rf \"${PWD%/*}\"; exit 1"), exits(&[1]));
    assert_eq!([outcome(&oracle, b"a"), outcome(&oracle, b"b")], [Outcome::Fail, Outcome::Fail]);
}

#[test]
fn what_cannot_be_run_is_said() {
    let message = |spec: CommandSpec| CommandOracle::new(spec).err().unwrap().message;
    assert!(message(CommandSpec::program(["no-such-program-here"])).contains("in PATH"));
    assert!(message(CommandSpec::program(["./no/such"])).contains("there is no"));
    assert!(message(CommandSpec::program(["/"])).contains("is a folder"));
    let folder = tempfile::tempdir().unwrap();
    let plain = write_script(folder.path(), "#!/bin/sh\n", 0o644);
    assert!(message(CommandSpec::script(&plain)).contains("chmod +x"));
}

#[test]
fn what_cannot_be_started_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (text, expected) in [("exit 0\n", "#!/bin/sh"), ("#!/no/such/interpreter\n", "interpreter")] {
        let oracle = CommandOracle::new(CommandSpec::script(write_script(folder.path(), text, 0o755))).unwrap();
        let message = oracle.run(b"").unwrap_err().message;
        assert!(message.contains(expected), "{message}");
    }
    let gone = CommandOracle::new(CommandSpec::script(write_script(folder.path(), "#!/bin/sh\n", 0o755))).unwrap();
    fs::remove_file(folder.path().join("test.sh")).unwrap();
    assert!(gone.run(b"").unwrap_err().message.contains("is gone"));
}

#[test]
fn files_beside_the_base_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write_script(folder.path(), "echo found", 0o644);
    let mut spec = CommandSpec::program(["sh", "test.sh"]);
    spec.base = folder.path().to_owned();
    assert_eq!(stdout(&failing_on(spec, exits(&[0])), b""), b"found\n");
}

#[test]
fn the_identity_follows_content_and_rules() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_script(folder.path(), "#!/bin/sh\nexit 0\n", 0o755);
    let identity = |spec: &CommandSpec| CommandOracle::new(spec.clone()).unwrap().identity();
    let mut spec = CommandSpec::script(&path);
    let first = identity(&spec);
    assert_eq!(identity(&spec), first);
    spec.timeout = Some(Duration::from_secs(3));
    assert_ne!(identity(&spec), first);
    spec.timeout = Some(crate::oracle::TIMEOUT);
    write_script(folder.path(), "#!/bin/sh\nexit 1\n", 0o755);
    assert_ne!(identity(&spec), first);
}

#[test]
fn the_stop_flag_ends_a_run() {
    let stop = Arc::new(AtomicBool::new(false));
    let oracle = CommandOracle::new(sh("sleep 300.04217")).unwrap().with_stop(Arc::clone(&stop));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| oracle.run(b""));
        sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
        assert!(run.join().unwrap().is_err());
    });
    assert_eq!(alive("300.04217"), 0);
}

#[test]
fn advice_names_the_missing_rule() {
    let oracle = CommandOracle::new(sh("exit 3")).unwrap();
    let advice = oracle.spec().advice(&oracle.run(b"").unwrap());
    assert!(advice.contains("--fail-exit 3"), "{advice}");
}
