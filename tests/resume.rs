//! Whatever ends a run, the same command goes on from there and comes to the same end.

use crate::support::{Place, Ran, assert_verified};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A list of forty members, of which three matter, and an oracle slow enough to be caught at work.
fn place() -> Place {
    let place = Place::new();
    let members: Vec<String> = (0..40)
        .map(|n| match n {
            7 => "{\"bug\": [1, 2, {\"deep\": null}]}".to_owned(),
            23 => "[\"also\", true, [[3]]]".to_owned(),
            _ => format!("{{\"id\": {n}, \"tags\": [\"a{n}\", {n}.5, false]}}"),
        })
        .collect();
    place.write("input.json", format!("[\n  {}\n]\n", members.join(",\n  ")));
    place.script("run.sh", "sleep 0.02\ngrep -q '\"bug\"' \"$1\" && grep -q null \"$1\" && grep -q '\"also\"' \"$1\"");
    place
}

const REDUCE: [&str; 8] = ["reduce", "--grammar", "json", "--test", "run.sh", "--format", "json", "input.json"];

/// How many runs the journal of the only run holds.
fn journalled(place: &Place) -> usize {
    let folder = place.run_folders().pop();
    let journal = folder.and_then(|folder| fs::read_to_string(folder.join("journal")).ok());
    journal.map_or(0, |journal| journal.lines().count().saturating_sub(1))
}

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain for: {what}");
        sleep(Duration::from_millis(2));
    }
}

/// Starts the reduction and waits until so many runs are in the journal.
fn started(place: &Place, runs: usize) -> Child {
    let mut child = place.command(REDUCE).spawn().unwrap();
    wait_until("runs in the journal", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before there were {runs} runs");
        journalled(place) >= runs
    });
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The best input so far is there as a whole: the oracle says that it fails.
fn assert_best_fails(place: &Place) {
    let best = place.run_folder().join("best/input.json");
    assert!(Command::new(place.path("run.sh")).arg(&best).status().unwrap().success(), "{}", place.read(&best));
}

fn runs(ran: &Ran) -> (u64, u64) {
    let summary = ran.json();
    (summary["runs"]["total"].as_u64().unwrap(), summary["runs"]["replayed"].as_u64().unwrap())
}

#[test]
fn killed_at_any_moment_it_comes_to_the_same_end() {
    let whole = place();
    let unkilled = whole.ddset(REDUCE).exits(0);
    let (total, replayed) = runs(&unkilled);
    assert!(total > 40 && replayed == 0, "{unkilled}");
    let result = unkilled.json()["input"].clone();
    for moment in [1, 2, 7, 19, 37] {
        let place = place();
        let mut child = started(&place, moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = journalled(&place) as u64;
        if place.run_folder().join("best/input.json").exists() {
            assert_best_fails(&place);
        }
        let again = place.ddset(REDUCE).exits(0).says(["going on in", "known from before"]);
        assert_eq!(again.json()["input"], result, "killed after {moment} runs");
        let (resumed_total, resumed_replayed) = runs(&again);
        assert_eq!(resumed_total, total, "killed after {moment} runs");
        // The last line may be torn; all others spare a run.
        assert!(resumed_replayed + 1 >= kept && kept >= moment as u64, "{resumed_replayed} of {kept} replayed");
        assert_best_fails(&place);
    }
}

#[test]
fn killed_again_and_again() {
    let whole = place();
    let result = whole.ddset(REDUCE).exits(0).json()["input"].clone();
    let place = place();
    for moment in [3, 8, 13, 21, 30] {
        let mut child = started(&place, moment);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(place.ddset(REDUCE).exits(0).json()["input"], result);
    // What the killed ones left in the temporary folder was cleared away.
    let left: Vec<_> = fs::read_dir(place.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A crash of the machine may cut the journal anywhere.
#[test]
fn a_torn_journal_costs_only_what_was_torn() {
    let place = place();
    let first = place.ddset(REDUCE).exits(0);
    let journal = place.run_folder().join("journal");
    let whole = fs::read(&journal).unwrap();
    for cut in [whole.len() - 1, whole.len() * 2 / 3, whole.len() / 3, 17, 5, 0] {
        fs::write(&journal, &whole[..cut]).unwrap();
        let again = place.ddset(REDUCE).exits(0);
        assert_eq!(again.json()["input"], first.json()["input"], "cut at {cut}");
        assert_eq!(runs(&again).0, runs(&first).0, "cut at {cut}");
        assert_eq!(
            fs::read_to_string(&journal).unwrap().lines().count(),
            whole.split(|byte| *byte == b'\n').count() - 1
        );
    }
}

#[test]
fn an_interrupt_keeps_the_best() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = place();
        let child = started(&place, 12);
        send(&child, signal);
        Ran::new(child.wait_with_output().unwrap()).exits(130).prints("").says([
            "interrupted",
            "best/input.json",
            "the same command goes on from there",
        ]);
        assert_best_fails(&place);
        place.ddset(REDUCE).exits(0).says(["known from before"]);
    }
}

#[test]
fn a_limit_of_runs_ends_with_the_best_so_far() {
    let place = place();
    place.ddset(REDUCE.iter().chain(&["--max-time", "0s", "--run", "timed"])).exits(0).says(["the time is used up"]);
    let ran = place.ddset(REDUCE.iter().chain(&["--max-runs", "12"])).exits(0).says(["12 runs", "goes on from there"]);
    assert_eq!(ran.json()["proven"], false);
    assert_best_fails(&place);
    let (_, replayed) = runs(&place.ddset(REDUCE).exits(0).says(["going on in"]));
    assert!(replayed >= 10, "{replayed}");
}

#[test]
fn one_at_a_time_in_a_folder() {
    let place = place();
    let mut child = started(&place, 2);
    place
        .ddset(REDUCE)
        .exits(2)
        .prints("")
        .says([&format!("another ddset (process {}) works in", child.id()), "wait for it, or stop it first"]);
    assert!(child.try_wait().unwrap().is_none(), "the second one disturbed the first");
    Ran::new(child.wait_with_output().unwrap()).exits(0);
}

#[test]
fn two_requests_do_not_disturb_each_other() {
    let place = place();
    let command = |pattern: &str| {
        let fails = format!("sleep 0.01; grep -q '{pattern}' \"$1\"");
        let mut command =
            place.command(["reduce", "--grammar", "json", "--fail-exit", "0", "input.json", "--", "sh", "-c"]);
        command.args([&fails, "sh", "{}"]).spawn().unwrap()
    };
    let both = [command("null"), command("true")].map(|child| Ran::new(child.wait_with_output().unwrap()).exits(0));
    assert_eq!((both[0].stdout.trim(), both[1].stdout.trim()), ("null", "true"));
    let mut kept: Vec<String> = place
        .run_folders()
        .iter()
        .map(|folder| place.read(folder.join("reduced/input.json")).trim().to_owned())
        .collect();
    kept.sort();
    assert_eq!(kept, ["null", "true"]);
}

#[test]
fn each_command_goes_on_from_the_one_before() {
    let place = place();
    place.script("run.sh", "grep -q '\"bug\" *:' \"$1\"");
    let reduced = place.ddset(REDUCE).exits(0).says(["next: ddset abstract"]);
    let (needed, _) = runs(&reduced);
    let abstracted = place.line("abstract --format json").exits(0).says(["going on in", "next: ddset generate"]);
    let (_, replayed) = runs(&abstracted);
    // The first run and the three confirmations are always fresh.
    assert_eq!(replayed, needed - 4, "{abstracted}");
    assert_eq!(abstracted.json()["reduced"]["input"], reduced.json()["input"]);
    let pattern = abstracted.json()["pattern"].clone();
    assert_verified(&place.line("generate -n 10 --verify").exits(0), 10..=10, 10);
    // From anywhere, if the folder is said.
    let elsewhere = Place::new();
    let root = place.path(".ddset");
    let again = elsewhere.ddset(["abstract", "--format", "json", "--run", root.to_str().unwrap()]).exits(0);
    assert_eq!(again.json()["pattern"], pattern);
    assert_verified(
        &elsewhere.ddset(["generate", "-n", "5", "--verify", "--run", root.to_str().unwrap()]).exits(0),
        5..=5,
        5,
    );
}

#[test]
fn nothing_to_go_on_from() {
    let place = Place::new();
    for command in ["reduce", "abstract", "generate"] {
        place.line(command).exits(2).prints("").says(["no earlier run in .ddset"]);
    }
    assert!(!place.path(".ddset").exists());
    place.write("input.json", "[1]");
    place.line("reduce --grammar json --fail-exit 0 input.json -- true {}").exits(0);
    place.line("generate").exits(2).says(["no pattern yet", "ddset abstract"]);
}

#[test]
fn the_same_seed_gives_the_same() {
    let results = [1, 2].map(|_| {
        let place = place();
        place.script("run.sh", "grep -q '\"bug\" *:' \"$1\"");
        let mut ran = Vec::new();
        for seed in ["7", "8"] {
            let arguments = ["abstract", "--grammar", "json", "--test", "run.sh", "--seed", seed, "input.json"];
            let abstracted = place.ddset(arguments).exits(0);
            let pattern = abstracted.stdout;
            let generated = place.line("generate -n 30").exits(0).stdout;
            ran.push((pattern, generated));
        }
        ran
    });
    assert_eq!(results[0], results[1]);
    assert_ne!(results[0][0].1, results[0][1].1, "the seed changes nothing");
}

/// A script that was edited is another question: old outcomes do not count.
#[test]
fn a_changed_oracle_is_asked_afresh() {
    let place = place();
    place.script("run.sh", "grep -q null \"$1\"");
    assert_eq!(place.ddset(REDUCE).exits(0).json()["input"], "null");
    place.script("run.sh", "grep -q true \"$1\"");
    let again = place.ddset(REDUCE).exits(0);
    assert_eq!((&again.json()["input"], runs(&again).1), (&"true".into(), 0));
    let changed = place.line("reduce --format json").exits(0);
    assert_eq!(changed.json()["input"], "true");
}

/// With runs ahead, at any moment, and with another number of jobs after it.
#[test]
fn killed_at_fifty_random_moments_it_comes_to_the_same_end() {
    use rand::{RngExt, SeedableRng};
    let quick = || {
        let place = place();
        place.script(
            "run.sh",
            "sleep 0.005\ngrep -q '\"bug\"' \"$1\" && grep -q null \"$1\" && grep -q '\"also\"' \"$1\"",
        );
        place
    };
    let with = |jobs: &'static str| REDUCE.into_iter().chain(["--jobs", jobs]);
    let begin = Instant::now();
    let unkilled = quick().ddset(with("2")).exits(0);
    let whole = begin.elapsed();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let moments: Vec<f64> = (0..50).map(|_| random.random_range(0.0..1.0)).collect();
    let killed = |number: usize| {
        let moment = whole.mul_f64(moments[number]);
        let place = quick();
        let mut child = place.command(with("2")).spawn().unwrap();
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let again = place.ddset(with(["1", "2", "4"][number % 3])).exits(0);
        assert_eq!(again.json()["input"], unkilled.json()["input"], "killed after {moment:?}");
        assert_eq!(runs(&again).0, runs(&unkilled).0, "killed after {moment:?}");
        assert_best_fails(&place);
        usize::from(runs(&again).1 > 0)
    };
    // They mostly sleep.
    let halves = [0..25, 25..50];
    let at_work: usize = std::thread::scope(|scope| {
        let threads = halves.map(|half| scope.spawn(|| half.map(killed).sum::<usize>()));
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert!(at_work > 25, "only {at_work} were killed at work");
}
