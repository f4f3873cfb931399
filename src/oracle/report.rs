//! What a program says of its own failure: the reports of sanitizers and of language runtimes, failed assertions, internal
//! errors. They are read out of its output, so that one failure can be told from another.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

/// A failure in a program's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What wrote it, as `Python exception`.
    pub kind: String,
    /// The class of exception, or the kind of error; may be empty.
    pub class: String,
    /// What it says, without the class; may be empty, may have several lines.
    pub message: String,
    /// The functions that were open, the innermost first, without places in files.
    pub frames: Vec<String>,
}

impl Report {
    /// The report in a run's outputs, if there is one: standard error is looked at first.
    pub fn find(stdout: &[u8], stderr: &[u8]) -> Option<Report> {
        [stderr, stdout].into_iter().find_map(|output| {
            let text = String::from_utf8_lossy(output);
            let lines: Vec<&str> = text.lines().collect();
            READERS.iter().find_map(|read| read(&lines))
        })
    }

    fn new(kind: &str, class: &str, message: &str, frames: Vec<String>) -> Report {
        Report { kind: kind.to_owned(), class: class.to_owned(), message: message.trim().to_owned(), frames }
    }
}

/// Finds one kind of report among the lines of an output.
type Reader = fn(&[&str]) -> Option<Report>;

/// The surest first: a runtime's report may quote a line that looks like another's.
const READERS: [Reader; 9] = [sanitizer, assertion, rust, go, dotnet, python, java, node, internal_error];

/// How many frames are kept.
const FRAMES: usize = 32;

macro_rules! pattern {
    ($name:ident = $text:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

fn captures<'t>(pattern: &LazyLock<Option<Regex>>, line: &'t str) -> Option<Captures<'t>> {
    pattern.as_ref().and_then(|pattern| pattern.captures(line))
}

/// The first line that matches, from `from` on, and what it holds.
fn first<'t>(pattern: &LazyLock<Option<Regex>>, lines: &[&'t str], from: usize) -> Option<(usize, Captures<'t>)> {
    (from..lines.len()).find_map(|at| Some((at, captures(pattern, lines[at])?)))
}

/// What the lines hold as frames, up to the first that is neither a frame nor beside one.
fn frames(lines: &[&str], pattern: &LazyLock<Option<Regex>>) -> Vec<String> {
    let mut found = Vec::new();
    let mut strange = 0;
    for line in lines {
        match captures(pattern, line) {
            Some(frame) => {
                let parts = frame.iter().skip(1).flatten().map(|part| part.as_str());
                found.push(steady(&parts.collect::<Vec<_>>().join(" ")));
                strange = 0;
            }
            None => strange += 1,
        }
        if found.len() >= FRAMES || strange > 3 {
            break;
        }
    }
    found
}

/// A function's name without the numbers that compilers put into it (`lambda$main$3`, `f::h0123456789abcdef`).
fn steady(name: &str) -> String {
    pattern!(NUMBERED = r"::h[0-9a-f]{16}$|[$#.]?\d+");
    NUMBERED.as_ref().map_or_else(|| name.to_owned(), |numbered| numbered.replace_all(name, "").into_owned())
}

fn sanitizer(lines: &[&str]) -> Option<Report> {
    pattern!(HEAD = r"(?:ERROR|WARNING): (\w*Sanitizer): ([\w-]+(?: \w+){0,2}?)(?: on | \(|:|$)");
    pattern!(UNDEFINED = r"^\S+:\d+:\d+: runtime error: (.*)");
    pattern!(FRAME = r"^\s*#\d+ 0x[0-9a-f]+ in (.+?)(?: [^ ]+:\d+.*| \([^)]*\).*|$)");
    if let Some((at, head)) = first(&HEAD, lines, 0) {
        return Some(Report::new(&head[1], &head[2], "", frames(&lines[at + 1..], &FRAME)));
    }
    let (at, head) = first(&UNDEFINED, lines, 0)?;
    Some(Report::new("UndefinedBehaviorSanitizer", "runtime error", &head[1], frames(&lines[at + 1..], &FRAME)))
}

/// The assertions of C libraries: glibc, musl, BSD.
fn assertion(lines: &[&str]) -> Option<Report> {
    pattern!(GLIBC = r"[^ :]+:\d+: (.*): Assertion [`'](.*)' failed");
    pattern!(
        OTHERS = r"[Aa]ssertion failed: \(?(.*?)\)?(?: \(|, (?:function|file) |$)(?:[^:)]*: (\w+): \d+|(\w+), file)?"
    );
    if let Some((_, found)) = first(&GLIBC, lines, 0) {
        return Some(Report::new("assertion", "", &found[2], vec![found[1].to_owned()]));
    }
    let (_, found) = first(&OTHERS, lines, 0)?;
    let function = found.get(2).or(found.get(3)).map(|name| name.as_str().to_owned());
    Some(Report::new("assertion", "", &found[1], function.into_iter().collect()))
}

fn rust(lines: &[&str]) -> Option<Report> {
    pattern!(HEAD = r"^thread '.*' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^:']+):\d+:\d+:?$");
    pattern!(FRAME = r"^\s*\d+: (?:0x[0-9a-f]+ - )?(.+)$");
    let (at, head) = first(&HEAD, lines, 0)?;
    let message = head.get(1).map(|message| message.as_str()).or(lines.get(at + 1).copied()).unwrap_or("");
    let mut open = frames(&lines[at + 1..], &FRAME);
    let own = |frame: &String| {
        !["rust_begin_unwind", "core::panicking", "std::", "core::", "__rust"].iter().any(|own| frame.starts_with(own))
    };
    open.retain(own);
    open.insert(0, head[2].to_owned());
    Some(Report::new("Rust panic", "", message, open))
}

fn go(lines: &[&str]) -> Option<Report> {
    pattern!(HEAD = r"^(panic|fatal error): (.*)$");
    pattern!(FRAME = r"^([\w./*()\[\]-]+\.[\w.*()\[\]-]+)\(.*\)$");
    let (at, head) = first(&HEAD, lines, 0)?;
    let running = (at + 1..lines.len()).find(|at| lines[*at].starts_with("goroutine "))?;
    let mut open = frames(&lines[running + 1..], &FRAME);
    open.retain(|frame| !frame.starts_with("runtime.") && !frame.starts_with("panic"));
    let message = head[2].trim_end_matches(" [recovered]");
    Some(Report::new(&format!("Go {}", &head[1]), "", message, open))
}

fn dotnet(lines: &[&str]) -> Option<Report> {
    pattern!(HEAD = r"^Unhandled exception\. ([\w.]+): (.*)$");
    pattern!(FRAME = r"^\s+at ([\w.<>`+\[\],]+)\(");
    let (at, head) = first(&HEAD, lines, 0)?;
    Some(Report::new(".NET exception", &head[1], &head[2], frames(&lines[at + 1..], &FRAME)))
}

/// The last traceback: the others are what led to it.
fn python(lines: &[&str]) -> Option<Report> {
    pattern!(FRAME = r#"^\s+File "(?:.*/)?([^"/]+)", line \d+(?:, in (.+))?$"#);
    pattern!(END = r"^((?:\w+\.)*\w+)(?:: (.*))?$");
    let at = lines.iter().rposition(|line| line.trim() == "Traceback (most recent call last):")?;
    let (end, found) = first(&END, lines, at + 1)?;
    let mut open = frames(&lines[at + 1..end], &FRAME);
    open.reverse();
    let rest = lines[end + 1..].iter().take_while(|line| !line.trim().is_empty()).take(4);
    let message = found.get(2).map_or("", |message| message.as_str());
    let message = std::iter::once(message).chain(rest.copied()).collect::<Vec<_>>().join("\n");
    Some(Report::new("Python exception", &found[1], &message, open))
}

/// The innermost cause: what stands above it only wraps it.
fn java(lines: &[&str]) -> Option<Report> {
    pattern!(
        HEAD = r#"(?:^|Exception in thread "[^"]*" |Caused by: |: )((?:[\w$]+\.)+[\w$]*(?:Exception|Error|Failure|Throwable|Throw)[\w$]*)(?:: (.*))?$"#
    );
    pattern!(FRAME = r"^\s+at (?:[\w.@-]+/)*([\w.$<>]+)\(");
    let head = |at: &usize| {
        let framed = (at + 1..lines.len().min(at + 30)).find(|at| captures(&FRAME, lines[*at]).is_some());
        framed.filter(|_| captures(&HEAD, lines[*at]).is_some())
    };
    let outer = (0..lines.len()).find(|at| head(at).is_some())?;
    let mut causes = (outer + 1..lines.len()).filter(|at| lines[*at].starts_with("Caused by: "));
    let at = causes.rfind(|at| head(at).is_some()).unwrap_or(outer);
    let (found, framed) = (captures(&HEAD, lines[at])?, head(&at)?);
    let message = found.get(2).map_or("", |message| message.as_str());
    let message = std::iter::once(message).chain(lines[at + 1..framed].iter().copied()).collect::<Vec<_>>().join("\n");
    Some(Report::new("Java exception", &found[1], &message, frames(&lines[framed..], &FRAME)))
}

fn node(lines: &[&str]) -> Option<Report> {
    pattern!(HEAD = r"^(?:Uncaught )?(\w*(?:Error|Exception))(?: \[\w+\])?(?:: (.*))?$");
    pattern!(FRAME = r"^\s+at (?:async )?(?:new )?([^ (]+)(?: \[as \w+\])?(?: \(.*\))?$");
    let is_head = |at: &usize| {
        captures(&HEAD, lines[*at]).is_some()
            && lines.iter().skip(at + 1).take(8).any(|line| captures(&FRAME, line).is_some())
    };
    let at = (0..lines.len()).find(is_head)?;
    let found = captures(&HEAD, lines[at])?;
    let message = found.get(2).map_or("", |message| message.as_str());
    Some(Report::new("JavaScript exception", &found[1], message, frames(&lines[at + 1..], &FRAME)))
}

/// A line by which a program says that it is at fault itself.
fn internal_error(lines: &[&str]) -> Option<Report> {
    pattern!(
        LINE = r"(?i)(internal (?:compiler )?error|unreachable|stack overflow|should not happen|this is a bug|please report)"
    );
    pattern!(FRAME = r"^0x[0-9a-f]+ (.+)$");
    let (at, found) = first(&LINE, lines, 0)?;
    let class = found[1].to_lowercase();
    Some(Report::new("message", &class, lines[at], frames(&lines[at + 1..], &FRAME)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(output: &str) -> Report {
        Report::find(b"", output.as_bytes()).unwrap()
    }

    #[track_caller]
    fn is(output: &str, kind: &str, class: &str, message: &str, top: &[&str]) {
        let found = report(output);
        assert_eq!((found.kind.as_str(), found.class.as_str(), found.message.as_str()), (kind, class, message));
        assert_eq!(found.frames[..top.len()], *top, "{found:?}");
    }

    #[test]
    fn sanitizers() {
        let address = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x4 bp 0x7 sp 0x7\n\
            READ of size 1 at 0x602 thread T0\n    #0 0x4f in png_read(int) /src/png.c:10:3\n    #1 0x50 in main (/bin/tool+0x50)\n";
        is(address, "AddressSanitizer", "heap-buffer-overflow", "", &["png_read(int)", "main"]);
        is(
            "x.c:3:9: runtime error: signed integer overflow: 2147483647 + 1\n",
            "UndefinedBehaviorSanitizer",
            "runtime error",
            "signed integer overflow: 2147483647 + 1",
            &[],
        );
    }

    #[test]
    fn assertions() {
        is(
            "jq: jv.c:717: jv_string_implode: Assertion `kind == JV_KIND_NUMBER' failed.\nAborted\n",
            "assertion",
            "",
            "kind == JV_KIND_NUMBER",
            &["jv_string_implode"],
        );
        is("Assertion failed: (n > 0), function grow, file a.c, line 3.\n", "assertion", "", "n > 0", &["grow"]);
        is("Assertion failed: n > 0 (a.c: grow: 3)\n", "assertion", "", "n > 0", &["grow"]);
    }

    #[test]
    fn runtimes() {
        let python = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    f()\n  File \"/a/c.py\", line 9, in load_array\n    x[0]\n    ~^^^\nIndexError: list index out of range\n";
        is(python, "Python exception", "IndexError", "list index out of range", &["c.py load_array", "b.py <module>"]);
        let java = "Exception in thread \"main\" java.lang.RuntimeException: INTERNAL COMPILER ERROR.\nat line 3\n\tat a.B.run(B.java:3)\nCaused by: java.lang.IllegalStateException: bad\n\tat com.x.Check.lambda$fail$12(Check.java:7)\n\tat com.x.Main.main(Main.java:1)\n\t... 3 more\n";
        is(
            java,
            "Java exception",
            "java.lang.IllegalStateException",
            "bad",
            &["com.x.Check.lambda$fail", "com.x.Main.main"],
        );
        let node = "/x/y.js:3\n    foo();\n    ^\n\nTypeError: Cannot read properties of null (reading '_walk')\n    at AST_Node.walk (/x/y.js:3:5)\n    at /x/z.js:1:1\n";
        is(
            node,
            "JavaScript exception",
            "TypeError",
            "Cannot read properties of null (reading '_walk')",
            &["AST_Node.walk"],
        );
        let rust = "\nthread 'main' (12) panicked at src/parser.rs:84:9:\nindex out of bounds: the len is 0\nnote: run with `RUST_BACKTRACE=1`\n";
        is(rust, "Rust panic", "", "index out of bounds: the len is 0", &["src/parser.rs"]);
        is(
            "thread 'main' panicked at 'internal error: entered unreachable code', src/x.rs:3:9\n",
            "Rust panic",
            "",
            "internal error: entered unreachable code",
            &["src/x.rs"],
        );
        let go = "panic: runtime error: index out of range [recovered]\n\ngoroutine 1 [running]:\nmain.(*T).f(0xc0)\n\t/a/b.go:3 +0x1\nmain.main()\n\t/a/b.go:9\n";
        is(go, "Go panic", "", "runtime error: index out of range", &["main.(*T).f", "main.main"]);
        let dotnet = "Unhandled exception. System.NullReferenceException: Object reference not set\n   at A.B.C(String x) in /a/b.cs:line 3\n";
        is(dotnet, ".NET exception", "System.NullReferenceException", "Object reference not set", &["A.B.C"]);
    }

    #[test]
    fn compilers() {
        let gcc = "input.c: In function 'f':\ninput.c:3:1: internal compiler error: in fold_convert, at fold-const.c:2384\n0x60a2c0 fold_convert_loc(unsigned int)\n\t../../src/gcc/fold-const.c:2384\n";
        is(
            gcc,
            "message",
            "internal compiler error",
            "input.c:3:1: internal compiler error: in fold_convert, at fold-const.c:2384",
            &["fold_convert_loc(unsigned int)"],
        );
    }

    #[test]
    fn ordinary_messages_are_no_reports() {
        for output in
            ["", "lua: input:1: unexpected symbol near '<eof>'\n", "error: expected `;`\n", "    at the end\n"]
        {
            assert_eq!(Report::find(b"", output.as_bytes()), None, "{output}");
        }
    }
}
