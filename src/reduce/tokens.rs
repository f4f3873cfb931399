//! Tokens: names become one letter, all others their shortest text.
//!
//! Equal names stay equal and different ones different, so that what was declared stays declared. All are tried at once: one
//! run each for names and for the rest, if the failure does not depend on them; else halves. At the end one more run replaces
//! those, too, that become no shorter, only simpler (`0` for `7`).
//! What it can never do: shorten a token that must keep a part of its text.
//!
//! Where the grammar declares no tokens, the topmost rules that hold nothing but characters of sets take their place.

use super::order::simpler;
use super::work::{Pass, Work};
use crate::grammar::{Kind, SymbolId};
use crate::search::Stop;
use crate::tree::{Builder, Tree, least};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// A text that stands in the tree as a token, and what it becomes.
#[derive(Clone)]
struct Change {
    text: Vec<u8>,
    /// The symbols that it stands as.
    symbols: Vec<SymbolId>,
    into: Into,
    /// Whether it stands once, and the queue tried its least text there in vain: in a joint change it would spoil the rest.
    needed: bool,
}

#[derive(Clone)]
enum Into {
    Name(Vec<u8>),
    Least,
}

/// Shortens names and other tokens.
pub(super) fn shorten(work: &mut Work<'_, '_>) -> Result<(), Stop> {
    let (names, mut others) = changes(work);
    joint(work, names)?;
    others.retain(|change| !change.needed && shortens(work, change));
    joint(work, others)
}

/// Gives all tokens that could be simpler, but not shorter, their simplest text: in one run or not at all.
pub(super) fn simplify(work: &mut Work<'_, '_>) -> Result<(), Stop> {
    let (_, mut others) = changes(work);
    others.retain(|change| !shortens(work, change));
    apply(work, &others)?;
    Ok(())
}

fn shortens(work: &Work<'_, '_>, change: &Change) -> bool {
    change.symbols.iter().any(|symbol| least(work.grammar, *symbol).text().len() < change.text.len())
}

/// All changes in one run; without success, each half of them.
fn joint(work: &mut Work<'_, '_>, changes: Vec<Change>) -> Result<(), Stop> {
    let mut open = vec![changes];
    while let Some(changes) = open.pop() {
        if !changes.is_empty() && !apply(work, &changes)? && changes.len() > 1 {
            let (first, second) = changes.split_at(changes.len() / 2);
            open.extend([second.to_vec(), first.to_vec()]);
        }
    }
    Ok(())
}

fn apply(work: &mut Work<'_, '_>, changes: &[Change]) -> Result<bool, Stop> {
    let by_text: FxHashMap<&[u8], &Change> = changes.iter().map(|change| (change.text.as_slice(), change)).collect();
    let mut edits: Vec<(usize, Tree)> = Vec::new();
    for at in words(work) {
        let symbol = work.tree.node(at).symbol;
        let fragment = match by_text.get(work.tree.lexeme(at)).map(|change| &change.into) {
            Some(Into::Name(name)) => named(work, symbol, name),
            Some(Into::Least) => Some(least(work.grammar, symbol)),
            None => None,
        };
        edits.extend(fragment.map(|fragment| (at, fragment)));
    }
    if edits.is_empty() {
        return Ok(false);
    }
    let edits: Vec<(usize, &Tree)> = edits.iter().map(|(at, fragment)| (*at, fragment)).collect();
    work.attempt(Pass::Token, work.tree.replace(work.grammar.lexicon(), &edits))
}

/// What names and other tokens should become, in the order of their first occurrence.
fn changes(work: &Work<'_, '_>) -> (Vec<Change>, Vec<Change>) {
    let mut symbols: IndexMap<Vec<u8>, Vec<SymbolId>, rustc_hash::FxBuildHasher> = IndexMap::default();
    let mut places: FxHashMap<Vec<u8>, Vec<usize>> = FxHashMap::default();
    for at in words(work) {
        places.entry(work.tree.lexeme(at).to_vec()).or_default().push(at);
        let known = symbols.entry(work.tree.lexeme(at).to_vec()).or_default();
        let symbol = work.tree.node(at).symbol;
        if !known.contains(&symbol) {
            known.push(symbol);
        }
    }
    let mut fresh = fresh_names();
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for (text, of) in &symbols {
        let needed = matches!(places[text].as_slice(), [single] if work.needed.contains(&work.tree.node(*single).id));
        let shortest: Vec<Tree> = of.iter().map(|symbol| least(work.grammar, *symbol)).collect();
        let is_name = of.iter().zip(&shortest).any(|(symbol, shortest)| {
            work.grammar.symbol(*symbol).role.identifier || shortest.text().first().is_some_and(u8::is_ascii_alphabetic)
        });
        if is_name && text.len() > 1 {
            let fits = |name: &Vec<u8>| {
                !symbols.contains_key(name) && of.iter().all(|symbol| named(work, *symbol, name).is_some())
            };
            // Letters that do not fit here (a keyword, a class of names that begin otherwise) are not kept for others.
            if let Some(name) = fresh.by_ref().take(2 * 26 * 26).find(fits).filter(|name| name.len() < text.len()) {
                names.push(Change { text: text.clone(), symbols: of.clone(), into: Into::Name(name), needed });
            }
        } else if !is_name && shortest.iter().any(|shortest| simpler(shortest.text(), text)) {
            others.push(Change { text: text.clone(), symbols: of.clone(), into: Into::Least, needed });
        }
    }
    (names, others)
}

/// a to z, then aa to zz.
fn fresh_names() -> impl Iterator<Item = Vec<u8>> {
    let single = (b'a'..=b'z').map(|letter| vec![letter]);
    single.chain((b'a'..=b'z').flat_map(|first| (b'a'..=b'z').map(move |second| vec![first, second])))
}

/// A fragment of the symbol that spells the name; `None` if there is none, or it would be a keyword.
fn named(work: &Work<'_, '_>, symbol: SymbolId, name: &[u8]) -> Option<Tree> {
    let mut builder = Builder::default();
    if work.grammar.is_leaf(symbol) {
        if !work.grammar.lexicon().is_match(symbol, name) {
            return None;
        }
        builder.leaf(symbol, &[], name);
        return Some(builder.fragment());
    }
    // Without tokens: the least fragment with another letter, where that is one character of a set.
    let shortest = least(work.grammar, symbol);
    let mut ends: Vec<usize> = Vec::new();
    for at in 0..shortest.len() {
        while ends.pop_if(|end| *end <= at).is_some() {
            builder.close();
        }
        let node = shortest.node(at);
        if work.grammar.is_leaf(node.symbol) {
            if !builder.text_len().eq(&0) || !work.grammar.lexicon().is_match(node.symbol, name) {
                return None;
            }
            builder.leaf(node.symbol, &[], name);
        } else {
            builder.open(node.symbol, node.alternative);
            ends.push(shortest.after(at));
        }
    }
    ends.iter().for_each(|_| builder.close());
    (builder.text_len() == name.len()).then(|| builder.fragment())
}

/// The places of tokens that have text; without tokens, of the topmost rules that hold only characters of sets.
fn words(work: &Work<'_, '_>) -> Vec<usize> {
    let (grammar, tree) = (work.grammar, &work.tree);
    let spelled = |at: &usize| work.view.length(*at) > 0;
    if grammar.is_lexical() {
        let token = |at: &usize| {
            let symbol = tree.node(*at).symbol;
            grammar.symbol(symbol).role.token && !grammar.is_literal(symbol)
        };
        return (0..tree.len()).filter(|at| token(at) && spelled(at)).collect();
    }
    // How many leaves that are no characters of sets stand before each place.
    let mut others = vec![0u32; tree.len() + 1];
    for at in 0..tree.len() {
        let node = tree.node(at);
        let other = node.size == 1 && node.end > node.start && !matches!(grammar.kind(node.symbol), Kind::Set(_));
        others[at + 1] = others[at] + u32::from(other);
    }
    let mut words = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        let named = grammar.symbol(tree.node(at).symbol).name.is_some();
        if at > 0 && named && spelled(&at) && others[tree.after(at)] == others[at] {
            words.push(at);
            at = tree.after(at);
        } else {
            at += 1;
        }
    }
    words
}
