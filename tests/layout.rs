//! Languages in which indentation counts: who runs `ddset` never sees a mark.

use crate::support::Place;
use snapbox::{assert_data_eq, str};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = r#"# A generator, hidden well.
import sys


class Reader:
    """Reads
  rows."""

    def __init__(self, path, *, sep=","):
        self.path = path   # where from
        self.sep = sep

    def rows(self, limit=None):
        if limit is None and \
                self.path:
            limit = max([1,
    2, 3])
        elif (self.sep or
              limit):
            pass

        # within
        def inner(row):
            for cell in row:
                # deep
                if cell:
                    yield cell.strip()
                else:
                    continue
            return [x for x in row]

        with open(self.path) as file:
            for line in file:
                yield from inner(line.split(self.sep))


if __name__ == "__main__":
	try:
		print(*Reader(sys.argv[1]).rows())
	except (OSError, IndexError) as error: raise SystemExit(1) from error
"#;

/// An oracle that keeps each input that it is given, in the order in which it comes.
fn place(test: &str) -> Place {
    let place = Place::new();
    place.write("input.py", PROGRAM);
    let seen = place.path("seen");
    fs::create_dir(&seen).unwrap();
    let seen = seen.display();
    place.script("run.sh", &format!("cp \"$1\" {seen}/$(ls {seen} | wc -l).py\n{test}"));
    place
}

fn seen(place: &Place) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(place.path("seen")).unwrap().map(|file| file.unwrap().path()).collect();
    let number = |file: &PathBuf| file.file_stem().unwrap().to_str().unwrap().parse::<u32>().unwrap();
    files.sort_by_key(number);
    files
}

const JUDGE: &str = "
import sys, warnings
warnings.simplefilter('ignore')
for name in sys.argv[1:]:
    try: compile(open(name, 'rb').read(), name, 'exec')
    except SyntaxError as error: print(type(error).__name__)
    else: print()
";

/// For each input, what `python3` says of its syntax: nothing, or the name of the error.
fn judged(files: &[PathBuf]) -> Vec<String> {
    let ran = Command::new("python3").args(["-c", JUDGE]).args(files).output().unwrap();
    let said: Vec<String> = String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(said.len(), files.len(), "{}", String::from_utf8_lossy(&ran.stderr));
    said
}

const NESTED_YIELD: &str = "tr '\\n' '~' <\"$1\" | grep -q 'def .*~  *def .*yield'";

#[test]
fn a_reduction_is_python_at_each_step() {
    let place = place(NESTED_YIELD);
    let ran = place.line("reduce --grammar python --jobs 1 --sandbox off --test run.sh input.py").exits(0);
    let ran = ran.says([&format!("reduced: {} to ", PROGRAM.len()), "(1-tree-minimal)"]);
    assert_data_eq!(
        ran.stdout.clone(),
        str![[r#"
def a():
    def a():yield
"#]]
    );
    let files = seen(&place);
    assert_eq!(fs::read_to_string(&files[0]).unwrap(), PROGRAM, "the first run is of the input itself");
    let said = judged(&files);
    let torn = said.iter().filter(|error| *error == "IndentationError" || *error == "TabError").count();
    assert!(files.len() > 40 && torn == 0, "{torn} of {}", files.len());
    for file in &files {
        let text = fs::read(file).unwrap();
        assert!(!text.iter().any(|byte| [0xE, 0xF, 0x1E].contains(byte)), "{}", file.display());
    }
    for kept in ["best/input.py", "reduced/input.py"] {
        assert_eq!(place.read(place.run_folder().join(kept)), ran.stdout);
    }
}

#[test]
fn a_killed_reduction_goes_on() {
    let place = place(NESTED_YIELD);
    let reduce = "reduce --grammar python --format json --test run.sh input.py";
    let first = place.line(&format!("{reduce} --max-runs 20")).exits(0);
    assert_eq!(first.json()["proven"], false);
    let again = place.line(reduce).exits(0).says(["going on in", "known from before"]);
    assert_eq!(again.json()["input"], "def a():\n    def a():yield");
}

#[test]
fn patterns_and_what_is_made_of_them_are_python() {
    let place = place("grep -q 'yield' \"$1\"");
    let ran = place.line("abstract --grammar python --test run.sh input.py").exits(0);
    assert!(ran.stdout.contains("yield") && !ran.stdout.contains(['\u{E}', '\u{F}', '\u{1E}']), "{ran}");
    place.line("generate -n 30 -o made").exits(0);
    let made: Vec<PathBuf> = fs::read_dir(place.path("made")).unwrap().map(|file| file.unwrap().path()).collect();
    let said = judged(&made);
    assert!(made.len() > 5 && !said.iter().any(|error| error == "IndentationError"), "{said:?}");
}

#[test]
fn errors_point_into_the_file() {
    let place = Place::new();
    let refused = |text: &str| {
        place.write("bad.py", text);
        place.line("parse --grammar python bad.py").exits(3).prints("").stderr
    };
    assert_data_eq!(
        refused("if a:\n    b = (1,\n  2)\n    c d\n"),
        str![[r#"
error[input-syntax]: the input is not in the grammar's language: expected NEWLINE, augassign, comparison_op, trailer, "%", "&" or 20 more, found `d`
 --> bad.py:4:7
  |
1 | if a:
  |      - while parsing `block` that began here, in `if_stmt` from 1:1
...
4 |     c d
  |     - ^ expected NEWLINE, augassign, comparison_op, trailer, "%", "&" or 20 more
  |     |
  |     while parsing `assignment` that began here

"#]]
    );
    assert_data_eq!(
        refused("def f():\n    a\n\ndef g():\n# nothing\nb\n"),
        str![[r#"
error[input-syntax]: the input is not in the grammar's language: expected INDENT, found `b`
 --> bad.py:6:1
  |
1 | def f():
  | - while parsing `file` that began here
...
4 | def g():
  |         - while parsing `block` that began here, in `function_def` from 4:1
5 | # nothing
6 | b
  | ^ expected INDENT

"#]]
    );
    assert_data_eq!(
        refused("a\n    # x\n    b\n"),
        str![[r#"
error[input-syntax]: the input is not in the grammar's language: expected statement, found INDENT
 --> bad.py:3:5
  |
3 |     b
  |     ^ expected statement

"#]]
    );
    assert_data_eq!(
        refused("if a:\n        b\n    c\n"),
        str![[r#"
error[input-indentation]: the line is indented less than its block, and more than what is around the block
 --> bad.py:3:5
  |
3 |     c
  |     ^ no block begins here
  |
  = help: indent it as a line above it

"#]]
    );
    assert_data_eq!(
        refused("a = \u{E}1\n"),
        str![[r#"
error[input-mark]: the input has the character U+000E outside of tokens, which stands for indentation in this grammar
 --> bad.py:1:5
  |
1 | a = ␎1
  |     ^ here
  |
  = help: remove it

"#]]
    );
}
