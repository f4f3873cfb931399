//! Patterns as people write them: a text with holes, read by a grammar.

use crate::generate::validity::Validity;
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::{Grammar, GrammarError, SymbolId};
use crate::layout::Layout;
use crate::parse::Parser;
use crate::pattern::notation::{self, Segment, UnclosedHole, unquoted};
use crate::pattern::{Condition, Evidence, Filling, Hole, Pattern};
use crate::tree::{Builder, Tree, least};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The characters that stand for holes while a pattern is parsed: from here on, in a plane for private use.
const FIRST: u32 = 0xF_0000;
/// How many there are at most.
const MOST: usize = 60_000;

/// Why a text is no pattern of a grammar.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A hole has no end.
    #[error(transparent)]
    Unclosed(#[from] UnclosedHole),
    /// A hole's rule is not in the grammar.
    #[error("`<{hole}>`: the grammar has no rule `{rule}`{hint}; a literal `<` is written `\\<`")]
    NoRule {
        /// What stands in the hole.
        hole: String,
        /// The rule that it names.
        rule: String,
        /// The nearest name, if there is one.
        hint: String,
    },
    /// A word of a hole is none of its rule.
    #[error("`<{hole}>`: `{word}` is no text of `{rule}`")]
    Word {
        /// What stands in the hole.
        hole: String,
        /// The word.
        word: String,
        /// The rule.
        rule: String,
    },
    /// The text is not in the grammar's language, whatever the holes are.
    #[error("`{text}` is no text of `{start}`: {problem}")]
    Syntax {
        /// The pattern.
        text: String,
        /// What was expected.
        problem: String,
        /// The symbol that it was read as.
        start: String,
    },
    /// The grammar does not take holes.
    #[error("the grammar cannot take holes: {0}")]
    Grammar(#[from] GrammarError),
    /// There are too many holes, or a character of the pattern is one of those that stand for holes.
    #[error("a pattern has at most {MOST} holes, and no characters from U+F0000 on")]
    Holes,
}

/// A hole as written.
struct Written {
    label: String,
    rule: SymbolId,
    character: char,
    words: Vec<Vec<u8>>,
    condition: Option<Condition>,
}

/// The pattern that a text with holes is, such as `((<expr>))` or `let [<$Id1>, <$Id1>] = <op: "+" | "-">`. It is read as a
/// whole input, else as a text of any rule, in the order of the grammar.
///
/// # Errors
/// When a hole names no rule, or the text is not in the grammar's language.
pub fn pattern_of(grammar: &Arc<Grammar>, text: &[u8]) -> Result<Pattern, TextError> {
    let (mut plain, mut holes) = (Vec::new(), Vec::<Written>::new());
    for segment in notation::read(text)? {
        match segment {
            Segment::Text(bytes) => plain.extend(bytes),
            Segment::Hole(label) => {
                let character = char::from_u32(FIRST + holes.len() as u32).filter(|_| holes.len() < MOST);
                let hole = written(grammar, label, character.ok_or(TextError::Holes)?)?;
                plain.extend(hole.character.encode_utf8(&mut [0; 4]).as_bytes());
                holes.push(hole);
            }
        }
    }
    let used = String::from_utf8_lossy(&plain)
        .chars()
        .filter(|c| (*c as u32) >= FIRST && (*c as u32) < FIRST + MOST as u32)
        .count();
    if used != holes.len() {
        return Err(TextError::Holes);
    }
    let characters: Vec<(SymbolId, char)> = holes.iter().map(|hole| (hole.rule, hole.character)).collect();
    let holed = grammar.with_holes(&characters)?;
    let tree = parsed(&holed, grammar, text, &plain).map_err(|error| named(error, &holes))?;
    let fillings = fillings(grammar, &holes)?;
    Ok(filled(grammar, &holed, &tree, &holes, fillings))
}

fn written(grammar: &Grammar, label: String, character: char) -> Result<Written, TextError> {
    let (name, rest) = label.split_once(':').unwrap_or((&label, ""));
    let (name, condition) = (name.trim().to_owned(), Condition::read(rest));
    let words = if rest.trim_start().starts_with(['"', '\'']) { unquoted(rest) } else { Vec::new() };
    let bare = match name.strip_prefix('$') {
        Some(tied) => grammar.rule(tied).map_or(tied.trim_end_matches(|c: char| c.is_ascii_digit()), |_| tied),
        None => &name,
    };
    let Some(rule) = grammar.rule(bare) else {
        let close = |known: &&str| known.eq_ignore_ascii_case(bare) || known.contains(bare) || bare.contains(*known);
        let hint = grammar.rules().map(|(name, _)| name).find(close);
        let hint = hint.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
        return Err(TextError::NoRule { hole: label.clone(), rule: bare.to_owned(), hint });
    };
    Ok(Written { label, rule, character, words, condition })
}

/// The text's tree, as a whole input, else as a text of the first rule that it is one of.
fn parsed(holed: &Grammar, grammar: &Grammar, text: &[u8], plain: &[u8]) -> Result<Tree, TextError> {
    let parser = Parser::new(holed);
    let layout = Layout::of(holed);
    let shown = || String::from_utf8_lossy(text).into_owned();
    let start = grammar.label(grammar.start());
    let syntax =
        |problem: Diagnostic| TextError::Syntax { text: shown(), problem: problem.message, start: start.clone() };
    let folded = layout.fold(plain).map_err(|error| syntax(error.diagnostic()))?;
    let problem = match parser.parse(&folded.text) {
        Ok(tree) => return Ok(tree),
        Err(error) => error.diagnostic(),
    };
    let rules = holed.rules().map(|(_, id)| id).filter(|id| !holed.is_lexical() || !holed.is_leaf(*id));
    rules.into_iter().find_map(|rule| parser.parse_as(rule, plain).ok()).ok_or_else(|| syntax(problem))
}

/// The same error, with holes in the place of the characters that stood for them.
fn named(error: TextError, holes: &[Written]) -> TextError {
    let TextError::Syntax { text, problem, start } = error else { return error };
    let name = |problem: String, hole: &Written| problem.replace(hole.character, &format!("<{}>", hole.label));
    TextError::Syntax { problem: holes.iter().fold(problem, name), text, start }
}

/// What stands in each hole at first: tied ones hold the same.
fn fillings(grammar: &Grammar, holes: &[Written]) -> Result<Vec<Vec<Tree>>, TextError> {
    let parser = Parser::new(grammar);
    let words = |hole: &Written| {
        let tree = |word: &Vec<u8>| {
            parser.parse_as(hole.rule, word).map_err(|_| TextError::Word {
                hole: hole.label.clone(),
                word: String::from_utf8_lossy(word).into_owned(),
                rule: grammar.label(hole.rule),
            })
        };
        hole.words.iter().map(tree).collect::<Result<Vec<_>, _>>()
    };
    holes
        .iter()
        .map(|hole| {
            let words = words(hole)?;
            Ok(if words.is_empty() { vec![least(grammar, hole.rule)] } else { words })
        })
        .collect()
}

fn filled(
    grammar: &Arc<Grammar>,
    holed: &Grammar,
    tree: &Tree,
    holes: &[Written],
    fillings: Vec<Vec<Tree>>,
) -> Pattern {
    let by_label: FxHashMap<String, SymbolId> = grammar.ids().map(|id| (grammar.label(id), id)).collect();
    let own = |id: SymbolId| by_label.get(&holed.label(id)).copied().unwrap_or(grammar.start());
    let hole_of = |at: usize| {
        let text = std::str::from_utf8(tree.lexeme(at)).ok()?;
        let mut characters = text.chars();
        let first = characters.next().filter(|_| characters.next().is_none())?;
        // The lowest node of the hole's rule: what is above it has the same text.
        let hole = holes.iter().position(|hole| hole.character == first)?;
        let last = |at: usize| {
            !tree
                .children(at)
                .any(|child| own(tree.node(child).symbol) == holes[hole].rule && !tree.is_leaf(holed, child))
        };
        (own(tree.node(at).symbol) == holes[hole].rule && last(at)).then_some(hole)
    };
    // The same tree in the grammar's own symbols; a hole is a leaf until it is filled.
    let mut builder = Builder::default();
    let mut ends: Vec<usize> = Vec::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        while ends.last().is_some_and(|end| *end <= at) {
            ends.pop();
            builder.close();
        }
        let node = tree.node(at);
        let trivia = &tree.text_of(at)[..tree.text_of(at).len() - tree.lexeme(at).len()];
        if let Some(hole) = hole_of(at) {
            places.push((builder.len(), hole));
            builder.leaf(own(node.symbol), trivia, tree.lexeme(at));
            at = tree.after(at);
        } else if tree.is_leaf(holed, at) {
            builder.leaf(own(node.symbol), trivia, tree.lexeme(at));
            at += 1;
        } else {
            builder.open(own(node.symbol), node.alternative);
            ends.push(tree.after(at));
            at += 1;
        }
    }
    ends.iter().for_each(|_| builder.close());
    let mapped = builder.finish(tree.trailing());
    let edits: Vec<(usize, &Tree)> = places.iter().map(|(at, hole)| (*at, &fillings[*hole][0])).collect();
    let whole = mapped.replace(grammar.lexicon(), &edits);
    let mut moved = 0;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); holes.len()];
    for (at, hole) in &places {
        members[*hole].push(at + moved);
        moved += fillings[*hole][0].len() - 1;
    }
    Pattern {
        grammar: grammar.clone(),
        tree: whole,
        holes: grouped(holes, &members, fillings),
        evidence: Evidence::default(),
        reasons: Vec::new(),
        undecided: Vec::new(),
        validity: Validity::default(),
        free_space: false,
    }
}

fn grouped(holes: &[Written], members: &[Vec<usize>], fillings: Vec<Vec<Tree>>) -> Vec<Hole> {
    let mut found: Vec<(String, Hole)> = Vec::new();
    for ((hole, members), words) in holes.iter().zip(members).zip(fillings) {
        let tied = hole.label.starts_with('$');
        if let Some((_, known)) = found.iter_mut().find(|(label, _)| tied && *label == hole.label) {
            known.members.extend(members);
            continue;
        }
        let filling = match (tied, hole.words.is_empty()) {
            (true, _) => Filling::Same,
            (false, true) => Filling::Any,
            (false, false) => Filling::OneOf(words),
        };
        found.push((
            hole.label.clone(),
            Hole { condition: hole.condition.clone(), ..Hole::new(members.clone(), filling) },
        ));
    }
    found.into_iter().map(|(_, hole)| hole).collect()
}
