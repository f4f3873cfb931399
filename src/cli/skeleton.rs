//! Generated inputs as a regression test to fill in.

use clap::ValueEnum;
use std::fmt::Write;

/// The language of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Skeleton {
    Python,
    Rust,
    Shell,
}

/// A test that runs each input; `run` is what is to be filled in.
pub(crate) fn skeleton(language: Skeleton, pattern: &str, inputs: &[Vec<u8>]) -> String {
    let pattern = pattern.replace(['\n', '\r'], " ");
    let mut out = String::new();
    match language {
        Skeleton::Python => {
            let _ = writeln!(out, "# Inputs of the pattern {pattern}\n\nimport unittest\n\nINPUTS = [");
            out.push_str(&literals(inputs));
            out.push_str(
                "]\n\n\nclass Regression(unittest.TestCase):\n    def test_each_input(self):\n        for text in INPUTS:\n            \
                 with self.subTest(text=text):\n                self.fail(\"call what is under test\")\n\n\n\
                 if __name__ == \"__main__\":\n    unittest.main()\n",
            );
        }
        Skeleton::Rust => {
            let _ = writeln!(out, "// Inputs of the pattern {pattern}\n\nconst INPUTS: &[&[u8]] = &[");
            out.push_str(&literals(inputs));
            out.push_str(
                "];\n\n#[test]\nfn each_input() {\n    for input in INPUTS {\n        \
                 todo!(\"call what is under test with {input:?}\");\n    }\n}\n",
            );
        }
        Skeleton::Shell => {
            let _ = writeln!(
                out,
                "#!/bin/sh\n# Inputs of the pattern {pattern}\n# Usage: sh FILE PROGRAM ARGS; the input is on standard input\n\nfailed=0"
            );
            for input in inputs {
                let octal: String = input.iter().map(|byte| format!("\\{byte:03o}")).collect();
                let _ = writeln!(out, "printf '{octal}' | \"$@\" || failed=$((failed + 1))");
            }
            let _ = writeln!(out, "echo \"$failed of {} inputs fail\"\ntest \"$failed\" = 0", inputs.len());
        }
    }
    out
}

/// A byte string a line, as Python and Rust write them.
fn literals(inputs: &[Vec<u8>]) -> String {
    inputs.iter().map(|input| format!("    b\"{}\",\n", input.escape_ascii())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_stands_in_the_test() {
        let inputs = [b"a\"b".to_vec(), b"\xff\n".to_vec()];
        let python = skeleton(Skeleton::Python, "<x>", &inputs);
        assert!(python.contains("b\"a\\\"b\",") && python.contains("b\"\\xff\\n\","), "{python}");
        assert!(skeleton(Skeleton::Rust, "<x>", &inputs).contains("b\"a\\\"b\","));
        assert!(skeleton(Skeleton::Shell, "<x>", &inputs).contains("printf '\\377\\012' |"));
    }
}
