//! The texts of leaves: random words of a token's language.

use crate::grammar::charset::CharSet;
use crate::grammar::{Grammar, Kind, SymbolId, code};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

/// Chance of an optional part of a token: most names and numbers have none of what they could have.
const OPTIONAL: f64 = 0.12;
/// Chance of one more repetition in a token.
const REPEATED: f64 = 0.6;
/// How often a character is put in or left out in vain before a length counts as out of reach.
const RESIZES: u32 = 12;
/// How many recent names of a token may come again.
const REMEMBERED: usize = 6;

/// Draws the texts of tokens, literals and characters. Names recur, since a name that occurs once breaks no rule of a language
/// that asks for declarations or forbids repetition.
#[derive(Clone, Debug, Default)]
pub struct TokenSource {
    recent: FxHashMap<SymbolId, Vec<Vec<u8>>>,
    /// Texts of the input under test, by token: they are drawn now and then.
    own: FxHashMap<SymbolId, Vec<Vec<u8>>>,
    /// Whether the input under test has characters beyond ASCII. Where it has none, none are drawn if others will do: how a
    /// program decodes its input is another question than the one under test.
    beyond_ascii: bool,
}

impl TokenSource {
    /// Lets a text of the user's input come up again.
    pub fn remember(&mut self, token: SymbolId, text: &[u8]) {
        self.beyond_ascii |= !text.is_ascii();
        let own = self.own.entry(token).or_default();
        if !own.iter().any(|known| known == text) {
            own.push(text.to_vec());
        }
    }

    /// The text of a leaf of `symbol`.
    pub fn text(&mut self, grammar: &Grammar, symbol: SymbolId, rng: &mut ChaCha8Rng) -> Vec<u8> {
        if grammar.is_literal(symbol) {
            return grammar.least_leaf(symbol).to_vec();
        }
        if let Kind::Set(set) = grammar.kind(symbol) {
            return character(set, self.beyond_ascii, rng);
        }
        if rng.random_bool(0.15)
            && let Some(text) = pick(self.recent.get(&symbol), rng)
        {
            return text;
        }
        if rng.random_bool(0.1)
            && let Some(text) = pick(self.own.get(&symbol), rng)
        {
            return text;
        }
        let text = self.fresh(grammar, symbol, rng);
        let recent = self.recent.entry(symbol).or_default();
        recent.push(text.clone());
        if recent.len() > REMEMBERED {
            recent.remove(0);
        }
        text
    }

    /// A random word of the token's language that is no keyword.
    pub fn fresh(&self, grammar: &Grammar, token: SymbolId, rng: &mut ChaCha8Rng) -> Vec<u8> {
        // One word in ten repeats one character, which finds what depends on runs and lengths.
        let repeated = rng.random_bool(0.1);
        let mut strange = None;
        for _ in 0..12 {
            let word = word(grammar, token, repeated, self.beyond_ascii, rng);
            if grammar.lexicon().is_match(token, &word) {
                if word.is_ascii() || self.beyond_ascii {
                    return word;
                }
                strange = Some(word);
            }
        }
        strange.filter(|_| !grammar.least_leaf(token).is_ascii()).unwrap_or_else(|| grammar.least_leaf(token).to_vec())
    }
}

/// A word of the token's language of this many characters, made from another of its words: characters are put in or left out,
/// and then exchanged, as far as the language lets them. `None` if it does not come to that length.
pub fn resized(
    grammar: &Grammar,
    token: SymbolId,
    word: &[u8],
    length: usize,
    rng: &mut ChaCha8Rng,
) -> Option<Vec<u8>> {
    let fits = |word: &[char]| grammar.lexicon().is_match(token, word.iter().collect::<String>().as_bytes());
    let mut word: Vec<char> = std::str::from_utf8(word).ok()?.chars().collect();
    while word.len() != length {
        let from = word.len();
        for _ in 0..RESIZES {
            let mut other = word.clone();
            if from > length {
                other.remove(rng.random_range(0..from));
            } else {
                let more =
                    if from == 0 || rng.random_bool(0.5) { letter(rng) } else { word[rng.random_range(0..from)] };
                other.insert(rng.random_range(0..=from), more);
            }
            if fits(&other) {
                word = other;
                break;
            }
        }
        if word.len() == from {
            return None;
        }
    }
    for at in 0..word.len() {
        for _ in 0..3 {
            let before = word[at];
            word[at] = like(before, rng);
            if fits(&word) {
                break;
            }
            word[at] = before;
        }
    }
    Some(word.into_iter().collect::<String>().into_bytes())
}

/// Another character of the same kind.
fn like(character: char, rng: &mut ChaCha8Rng) -> char {
    match character {
        '0'..='9' => char::from(b'0' + rng.random_range(0..10)),
        'a'..='z' => char::from(b'a' + rng.random_range(0..26)),
        'A'..='Z' => char::from(b'A' + rng.random_range(0..26)),
        _ => letter(rng),
    }
}

fn letter(rng: &mut ChaCha8Rng) -> char {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char::from(LETTERS[rng.random_range(0..LETTERS.len())])
}

fn pick(texts: Option<&Vec<Vec<u8>>>, rng: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let texts = texts.filter(|texts| !texts.is_empty())?;
    Some(texts[rng.random_range(0..texts.len())].clone())
}

fn word(grammar: &Grammar, token: SymbolId, repeated: bool, beyond_ascii: bool, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut out = Vec::new();
    let mut chosen: FxHashMap<SymbolId, Vec<u8>> = FxHashMap::default();
    let mut todo = vec![token];
    // Tokens are regular, so this ends by itself; the allowance keeps nested repetitions short.
    let mut allowance = 40;
    while let Some(symbol) = todo.pop() {
        match grammar.kind(symbol) {
            Kind::Literal(bytes) => out.extend_from_slice(bytes),
            Kind::Set(set) if repeated => {
                out.extend_from_slice(chosen.entry(symbol).or_insert_with(|| character(set, beyond_ascii, rng)));
            }
            Kind::Set(set) => out.extend(character(set, beyond_ascii, rng)),
            Kind::Choice(alternatives) => {
                todo.extend(alternatives[short(grammar, alternatives, rng)].iter().rev());
            }
            Kind::Repeat { item, separator, min, max } => {
                let mut count = *min;
                let more = if *max == Some(1) { OPTIONAL } else { REPEATED };
                while allowance > 0 && max.is_none_or(|max| count < max) && rng.random_bool(more) {
                    count += 1;
                    allowance -= 1;
                }
                for n in 0..count {
                    todo.push(*item);
                    todo.extend(separator.filter(|_| n + 1 < count));
                }
            }
        }
    }
    out
}

/// An alternative, each byte that it is longer than the shortest making it four times rarer: names are mostly made of plain
/// characters, and escapes in them are mostly errors.
fn short(grammar: &Grammar, alternatives: &[Vec<SymbolId>], rng: &mut ChaCha8Rng) -> usize {
    let cost = |parts: &Vec<SymbolId>| parts.iter().map(|part| grammar.least_cost(*part)).sum::<u32>() / 2;
    let costs: Vec<u32> = alternatives.iter().map(cost).collect();
    let least = costs.iter().min().copied().unwrap_or(0);
    let weights = costs.iter().map(|cost| 4_u32.pow(6 - (cost - least).min(6)));
    let mut at = rng.random_range(0..weights.clone().sum::<u32>());
    for (number, weight) in weights.enumerate() {
        if at < weight {
            return number;
        }
        at -= weight;
    }
    0
}

/// Mostly letters and digits where the set has them: strange characters are valid, and rarely what a failure is about.
fn character(set: &CharSet, beyond_ascii: bool, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let alphanumeric = CharSet::from_ranges([(48, 57), (65, 90), (97, 122)]).intersection(set);
    let printable = CharSet::from_ranges([(32, 126)]).intersection(set);
    let from = match rng.random_range(0..100) {
        0..85 if !alphanumeric.is_empty() => &alphanumeric,
        0..97 if !printable.is_empty() => &printable,
        _ if !printable.is_empty() && !beyond_ascii => &printable,
        _ => set,
    };
    let mut out = Vec::new();
    if let Some(code) = from.nth(rng.random_range(0..from.len().max(1))) {
        code::encode(code, &mut out);
    }
    out
}
