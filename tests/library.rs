//! The bundled grammars: what they accept and refuse, by the files in `corpora/grammars`, and that they are sound.

use crate::support::corpus;
use ddset::generate::Samples;
use ddset::grammar::bundled::{self, Bundled};
use ddset::grammar::{Grammar, SymbolId};
use ddset::layout::{Layout, LayoutError};
use ddset::parse::{ParseError, Parser};
use std::fs;
use std::path::PathBuf;

/// How many derivations of each grammar are parsed.
const SAMPLES: usize = 100;

/// Those of languages in which every text means something, so that there is none to refuse.
const TAKE_ANY_TEXT: [&str; 3] = ["any", "html", "markdown"];

/// Those whose tokens depend on what stands around them more than their grammars can say.
const HARD_TO_SPACE: [&str; 1] = ["yaml"];

/// An input as the parser gets it.
fn folded(grammar: &Grammar, input: &[u8]) -> Result<Vec<u8>, LayoutError> {
    Layout::of(grammar).fold(input).map(|folded| folded.text)
}

fn each_grammar(mut look: impl FnMut(&Bundled, &Grammar)) {
    for bundled in bundled::ALL {
        let grammar = Grammar::read(bundled.source, None).unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
        look(bundled, &grammar);
    }
}

/// The files of a kind, `accepted` or `rejected`, with their bytes.
fn files(grammar: &str, kind: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus("grammars").join(grammar).join(kind);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn accepted_files_parse_and_their_trees_spell_them() {
    each_grammar(|bundled, grammar| {
        let parser = Parser::new(grammar);
        let files = files(bundled.name, "accepted");
        assert!(files.len() >= 3, "{}: fewer than 3 accepted files", bundled.name);
        for (path, input) in files {
            let input = folded(grammar, &input).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            let tree = parser.parse(&input).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            assert!(tree.text() == input, "{}: the tree spells another text", path.display());
            assert!(tree.is_derivation(grammar, grammar.start()), "{}: the tree is no derivation", path.display());
        }
    });
}

#[test]
fn rejected_files_are_syntax_errors() {
    each_grammar(|bundled, grammar| {
        if TAKE_ANY_TEXT.contains(&bundled.name) {
            return;
        }
        let parser = Parser::new(grammar);
        let files = files(bundled.name, "rejected");
        assert!(files.len() >= 2, "{}: fewer than 2 rejected files", bundled.name);
        for (path, input) in files {
            // A layout that is none is refused before it is parsed.
            let Ok(input) = folded(grammar, &input) else { continue };
            let parsed = parser.parse(&input);
            assert!(matches!(parsed, Err(ParseError::Syntax(_))), "{}: is not refused", path.display());
        }
    });
}

#[test]
fn they_are_read_without_a_warning_and_name_their_source() {
    each_grammar(|bundled, grammar| {
        assert!(grammar.warnings().is_empty(), "{}: {:?}", bundled.name, grammar.warnings());
        assert!(bundled.origin().len() > 3, "{}: the comment at its head names no source", bundled.name);
    });
}

#[test]
fn written_and_read_again_they_are_the_same() {
    let symbols = |grammar: &Grammar| {
        let label = |id: SymbolId| format!("{:?} {}", grammar.symbol(id).role, grammar.label(id));
        let mut labels: Vec<String> = grammar.ids().map(label).collect();
        labels.sort();
        labels
    };
    each_grammar(|bundled, grammar| {
        let written = grammar.to_ebnf();
        let again = Grammar::read(&written, None).unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
        assert_eq!(again.to_ebnf(), written, "{}", bundled.name);
        assert_eq!(symbols(&again), symbols(grammar), "{}", bundled.name);
        assert_eq!(again.label(again.start()), grammar.label(grammar.start()), "{}", bundled.name);
    });
}

/// `generate` keeps apart what would run together. Of tokens that may hold nearly anything a few are read as others all the
/// same; `ddset grammar sample` and the abstraction leave those out.
#[test]
fn random_derivations_parse() {
    each_grammar(|bundled, grammar| {
        let parser = Parser::new(grammar);
        let mut refused = Vec::new();
        for size in [5, 20, 80] {
            for (number, sample) in Samples::new(grammar, size, 7).take(SAMPLES).enumerate() {
                assert!(sample.is_derivation(grammar, grammar.start()), "{} {size} {number}", bundled.name);
                if let Err(error) = parser.parse(sample.text()) {
                    let text = String::from_utf8_lossy(sample.text()).into_owned();
                    refused.push(format!("size {size}, number {number}: {error}\n{text}"));
                }
            }
        }
        let (name, count, all) = (bundled.name, refused.len(), 3 * SAMPLES);
        let most = if HARD_TO_SPACE.contains(&name) { all / 20 } else { 0 };
        assert!(count <= most, "{name}: {count} of {all} do not parse, such as\n{}", refused[0]);
    });
}

/// A part of a grammar that is shown by itself is a grammar, too.
#[test]
fn a_rule_and_what_it_uses_is_a_grammar() {
    each_grammar(|bundled, grammar| {
        for (name, id) in grammar.rules() {
            // What is made of characters stands in tokens only, and cannot be a whole input of a grammar with tokens.
            if grammar.is_lexical() && grammar.height(id) <= 1 && !grammar.symbol(id).role.token {
                continue;
            }
            let text = grammar.to_ebnf_of(id);
            match Grammar::read(&text, None) {
                Ok(part) => assert_eq!(part.label(part.start()), name, "{}", bundled.name),
                Err(error) => {
                    // A part of a token, or one of three marks, is no grammar by itself.
                    let alone = ["set-outside-token", "missing-mark"];
                    let only_characters = error.diagnostics.iter().all(|finding| alone.contains(&finding.code));
                    assert!(only_characters, "{} {name}: {error}\n{text}", bundled.name);
                }
            }
        }
    });
}
