//! What one run may take of the machine: memory, and room on the disk.
//!
//! Memory is measured and not reserved: sanitizers, Java and Node reserve far more address space than they use, so that a limit on
//! that (`RLIMIT_AS`) would stop healthy programs. The tree of processes is looked at while it runs, and killed if its own pages
//! (those without a file behind them) are too many.

use std::collections::VecDeque;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// How much memory one run may use, if nothing else is said and the machine has twice as much: 2 GiB.
pub const MEMORY: u64 = 2 << 30;

/// How large a file may get that a run writes: 1 GiB. Whoever writes on gets the signal XFSZ.
pub const FILE_SIZE: u64 = 1 << 30;

/// When memory is first looked at. Most runs have ended by then, and cost nothing.
pub(super) const FIRST_LOOK: Duration = Duration::from_millis(20);

/// How often it is looked at from then on.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// The default on this machine: [`MEMORY`], or half of what there is if that is less.
pub(super) fn default_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(MEMORY, |kib: u64| MEMORY.min(kib * 1024 / 2))
}

/// Limits files and forbids core dumps for a process that was just started, and for what it starts.
pub(super) fn restrict(pid: Pid) {
    let lower = |resource, most: u64| {
        let maximum = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        // A process that has ended already needs no limit.
        let _ = prlimit(Some(pid), resource, Rlimit { current: Some(maximum), maximum: Some(maximum) });
    };
    lower(Resource::Fsize, FILE_SIZE);
    // 0 would still let a core be piped to a program that collects them; 1 is too small for any.
    lower(Resource::Core, 1);
}

/// Limits this process as its runs are to be, so that they are from their first moment on. For programs that write no large file
/// themselves; runs of others are limited as soon as they have started.
pub fn inherit() {
    for (resource, most) in [(Resource::Fsize, FILE_SIZE), (Resource::Core, 1)] {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
        let _ = setrlimit(resource, Rlimit { current, maximum });
    }
}

/// What a tree of processes uses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Memory of its own, in bytes.
    pub(super) memory: u64,
    /// Time on processors.
    pub(super) cpu: Duration,
}

impl Usage {
    /// Of a process and those that descend from it. Zero where the system does not tell.
    pub(super) fn of(root: Pid) -> Usage {
        let page = rustix::param::page_size() as u64;
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        let mut usage = Usage::default();
        let mut open = VecDeque::from([root.as_raw_nonzero().get()]);
        while let Some(pid) = open.pop_front() {
            let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let sizes: Vec<u64> = file("statm").split(' ').filter_map(|field| field.parse().ok()).collect();
            if let [_, resident, with_file, ..] = sizes[..] {
                usage.memory += resident.saturating_sub(with_file) * page;
            }
            // The fields after the name: user and system time, of it and of its children that have ended.
            let stat = file("stat");
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(4);
            let spent: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
            usage.cpu += Duration::from_secs_f64(spent as f64 / ticks as f64);
            let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for thread in threads.flatten() {
                let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                open.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
            }
        }
        usage
    }
}
