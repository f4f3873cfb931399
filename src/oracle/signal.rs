//! Signals by name and number.

use rustix::process::Signal;

/// The signals that end programs under test, by the name that people use for them.
const NAMES: [(&str, Signal); 16] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("ILL", Signal::ILL),
    ("TRAP", Signal::TRAP),
    ("ABRT", Signal::ABORT),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("SEGV", Signal::SEGV),
    ("USR2", Signal::USR2),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("SYS", Signal::SYS),
];

/// The number of a signal written as `SEGV`, `SIGSEGV` or `11`; `None` if there is no such signal.
pub fn parse_signal(written: &str) -> Option<i32> {
    if let Ok(number) = written.parse::<i32>() {
        return (1..=64).contains(&number).then_some(number);
    }
    let upper = written.to_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, signal)| signal.as_raw())
}

/// How a signal is called: `SIGSEGV`, or `signal 40` if it has no name here.
pub fn signal_name(number: i32) -> String {
    let named = NAMES.iter().find(|(_, signal)| signal.as_raw() == number);
    named.map_or_else(|| format!("signal {number}"), |(name, _)| format!("SIG{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!(parse_signal("SEGV"), Some(11));
        assert_eq!(parse_signal("sigabrt"), Some(6));
        assert_eq!(parse_signal("9"), Some(9));
        assert_eq!(parse_signal("SEGFAULT"), None);
        assert_eq!(signal_name(11), "SIGSEGV");
    }
}
