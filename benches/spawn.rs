//! What a run costs beyond the program itself: processor time of this process and of all that it starts, by `getrusage`.
//!
//! Prints, for each way to run `true`, the time of a run and the difference to a bare spawn with the same pipes.

use std::process::{Command, Stdio};

use ddset::oracle::{CommandOracle, CommandSpec, Oracle, Sandbox};

const RUNS: u32 = 2000;

/// Processor time so far, in microseconds: this process, and its children that have ended.
fn spent() -> u64 {
    // Of /proc/self/stat: user and system time, of it and of its children, in ticks of 10 ms.
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let fields = stat.rsplit_once(") ").expect("a stat").1.split(' ').skip(11).take(4);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("a number")).sum();
    ticks * 1_000_000 / rustix::param::clock_ticks_per_second()
}

fn measure(mut run: impl FnMut()) -> f64 {
    run();
    let before = spent();
    (0..RUNS).for_each(|_| run());
    (spent() - before) as f64 / f64::from(RUNS)
}

fn main() {
    let mut lines = Vec::new();
    let bare = measure(|| {
        let mut command = Command::new("/bin/true");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.output().expect("true");
    });
    lines.push(format!("bare spawn               {bare:6.0} µs of CPU a run"));
    for (name, argument, sandbox) in [
        ("standard input", None, Sandbox::Off),
        ("a file", Some("{}"), Sandbox::Off),
        ("a file, landlock", Some("{}"), Sandbox::Landlock),
    ] {
        let mut spec = CommandSpec::program(["/bin/true"].into_iter().chain(argument));
        spec.sandbox = sandbox;
        let oracle = CommandOracle::new(spec).expect("an oracle");
        let ours = measure(|| drop(oracle.run(b"input").expect("a run")));
        lines.push(format!("{name:24} {ours:6.0} µs, {:+.0} µs", ours - bare));
    }
    std::io::Write::write_all(&mut std::io::stdout(), (lines.join("\n") + "\n").as_bytes()).expect("standard output");
}
