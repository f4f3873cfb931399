//! Small languages, word by word.

use crate::grammar::{Grammar, Kind, SymbolId, code};
use crate::tree::{Builder, Tree};
use rustc_hash::FxHashMap;

type Known = FxHashMap<SymbolId, Option<Vec<Tree>>>;

/// Every word of the symbol, as a fragment, if there are at most `most` (white space aside); `None` if there are more.
pub fn words(grammar: &Grammar, symbol: SymbolId, most: usize) -> Option<Vec<Tree>> {
    language(grammar, symbol, most, &mut Known::default())
}

/// Whether the symbol has more than one word, white space aside.
pub fn has_choice(grammar: &Grammar, symbol: SymbolId) -> bool {
    words(grammar, symbol, 1).is_none()
}

/// The recursion follows the grammar's rules, and ends where one leads back to itself: such a language is not small.
fn language(grammar: &Grammar, symbol: SymbolId, most: usize, known: &mut Known) -> Option<Vec<Tree>> {
    if let Some(known) = known.get(&symbol) {
        return known.clone();
    }
    known.insert(symbol, None);
    let mut found = match grammar.kind(symbol) {
        _ if grammar.is_literal(symbol) => Some(vec![leaf(symbol, grammar.least_leaf(symbol))]),
        Kind::Literal(_) => None,
        Kind::Set(set) if set.len() <= most as u64 => {
            let characters = (0..set.len()).filter_map(|n| set.nth(n));
            Some(characters.map(|c| leaf(symbol, &encoded(c))).collect())
        }
        Kind::Set(_) => None,
        Kind::Choice(alternatives) => {
            let options = alternatives.iter().enumerate().map(|(option, parts)| (option as u32, parts.clone()));
            alternation(grammar, symbol, options, most, known)
        }
        Kind::Repeat { max: None, .. } => None,
        Kind::Repeat { item, separator, min, max: Some(max) } => {
            let parts = |count: u32| {
                let each = (0..count).flat_map(|n| separator.filter(|_| n > 0).into_iter().chain([*item]));
                (0, each.collect())
            };
            alternation(grammar, symbol, (*min..=*max).map(parts), most, known)
        }
    };
    if grammar.symbol(symbol).role.token {
        let words = found.into_iter().flatten().filter(|word| grammar.lexicon().is_match(symbol, word.text()));
        let words: Vec<Tree> = words.map(|word| leaf(symbol, word.text())).collect();
        found = (!words.is_empty()).then_some(words);
    }
    known.insert(symbol, found.clone());
    found
}

fn alternation(
    grammar: &Grammar,
    symbol: SymbolId,
    options: impl Iterator<Item = (u32, Vec<SymbolId>)>,
    most: usize,
    known: &mut Known,
) -> Option<Vec<Tree>> {
    let mut all: Vec<Tree> = Vec::new();
    for (option, parts) in options {
        let mut sequences: Vec<Vec<Tree>> = vec![Vec::new()];
        for part in parts {
            let words = language(grammar, part, most, known)?;
            if sequences.len() * words.len() > most {
                return None;
            }
            let longer = |before: &Vec<Tree>| {
                let before = before.clone();
                words
                    .iter()
                    .map(move |word| [before.as_slice(), std::slice::from_ref(word)].concat())
                    .collect::<Vec<_>>()
            };
            sequences = sequences.iter().flat_map(longer).collect();
        }
        for sequence in sequences {
            let mut builder = Builder::default();
            builder.open(symbol, option);
            sequence.iter().for_each(|part| builder.graft(part));
            builder.close();
            let word = builder.fragment();
            if !all.iter().any(|known| known.text() == word.text()) {
                all.push(word);
            }
        }
    }
    (all.len() <= most).then_some(all)
}

fn leaf(symbol: SymbolId, text: &[u8]) -> Tree {
    let mut builder = Builder::default();
    builder.leaf(symbol, b"", text);
    builder.fragment()
}

fn encoded(c: code::Code) -> Vec<u8> {
    let mut bytes = Vec::new();
    code::encode(c, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_languages_are_enumerated() {
        let source = "s ::= op 'x' op?  op ::= '+' | '-' | '+'  big ::= 'y'* | s";
        let grammar = Grammar::read(source, None).expect("valid");
        let texts = |name: &str| {
            let words = words(&grammar, grammar.rule(name).expect("rule"), 16)?;
            Some(words.iter().map(|w| String::from_utf8_lossy(w.text()).into_owned()).collect::<Vec<_>>())
        };
        assert_eq!(texts("op"), Some(vec!["+".to_owned(), "-".to_owned()]));
        assert_eq!(texts("s").map(|words| words.len()), Some(6));
        assert_eq!(texts("big"), None);
    }
}
