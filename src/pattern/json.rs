//! Patterns as JSON: one file that needs no other.

use super::{Case, Condition, Copy, Evidence, Filling, Hole, Pattern, Reason, core};
use crate::generate::validity::Validity;
use crate::grammar::{Grammar, SymbolId};
use crate::tree::{Builder, Tree};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version that is written. A reader refuses later ones.
const VERSION: u32 = 2;

/// A file that holds no pattern that can be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// Not the JSON of a pattern.
    #[error("this is no pattern file: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by a later version.
    #[error("the pattern was saved in format {0}; this version of ddset reads formats up to {VERSION}")]
    Version(u32),
    /// The grammar inside is broken.
    #[error("the grammar in the pattern file cannot be used: {0}")]
    Grammar(#[from] crate::grammar::GrammarError),
    /// Tree, holes and grammar do not fit together.
    #[error("the pattern file is inconsistent: {0}")]
    Inconsistent(&'static str),
}

#[derive(Serialize, Deserialize)]
struct File {
    format: u32,
    pattern: String,
    grammar: GrammarFile,
    tree: Vec<NodeFile>,
    trailing: Text,
    holes: Vec<HoleFile>,
    evidence: Evidence,
    reasons: Vec<(usize, Text)>,
    undecided: Vec<usize>,
    validity: Validity,
    #[serde(default)]
    free_space: bool,
}

#[derive(Serialize, Deserialize)]
struct GrammarFile {
    start: String,
    source: String,
}

/// A node: symbol, alternative, size, and for leaves what was skipped before it and its text.
#[derive(Serialize, Deserialize)]
struct NodeFile(SymbolId, u32, u32, Option<(Text, Text)>);

#[derive(Serialize, Deserialize)]
struct HoleFile {
    label: String,
    members: Vec<usize>,
    same: bool,
    words: Option<Vec<Vec<NodeFile>>>,
    failed: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<CopyFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<ConditionFile>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rarely_valid: bool,
    #[serde(default)]
    unresolved: u32,
}

#[derive(Serialize, Deserialize)]
struct CopyFile {
    before: Text,
    case: Case,
    after: Text,
}

/// A condition; the fields are those of [`Condition`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ConditionFile {
    Number { from: Option<u64>, to: Option<u64> },
    Length { from: Option<usize>, to: Option<usize> },
    Among(Vec<u32>),
    Differs(Vec<usize>),
    Except(Vec<Text>),
    Without(Vec<Text>),
}

impl From<&Condition> for ConditionFile {
    fn from(condition: &Condition) -> Self {
        let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| text.as_slice().into()).collect();
        match condition {
            Condition::Number { from, to } => ConditionFile::Number { from: *from, to: *to },
            Condition::Length { from, to } => ConditionFile::Length { from: *from, to: *to },
            Condition::Among(options) => ConditionFile::Among(options.clone()),
            Condition::Differs(places) => ConditionFile::Differs(places.clone()),
            Condition::Except(all) => ConditionFile::Except(texts(all)),
            Condition::Without(all) => ConditionFile::Without(texts(all)),
        }
    }
}

impl ConditionFile {
    fn condition(&self, nodes: usize, alternatives: u32) -> Result<Condition, PatternError> {
        let texts = |texts: &[Text]| texts.iter().map(Text::bytes).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            ConditionFile::Number { from, to } => Condition::Number { from: *from, to: *to },
            ConditionFile::Length { from, to } => Condition::Length { from: *from, to: *to },
            ConditionFile::Among(options) if options.iter().all(|option| *option < alternatives) => {
                Condition::Among(options.clone())
            }
            ConditionFile::Among(_) => {
                return Err(PatternError::Inconsistent("a condition names an alternative that its rule has not"));
            }
            ConditionFile::Differs(places) if places.iter().all(|place| *place < nodes) => {
                Condition::Differs(places.clone())
            }
            ConditionFile::Differs(_) => {
                return Err(PatternError::Inconsistent("a condition speaks of a node that is not there"));
            }
            ConditionFile::Except(all) => Condition::Except(texts(all)?),
            ConditionFile::Without(all) => Condition::Without(texts(all)?),
        })
    }
}

/// Bytes as a JSON string where they are text, else as hexadecimal digits.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Utf8(String),
    Hex { hex: String },
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Text::Utf8(text.to_owned()),
            Err(_) => Text::Hex { hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect() },
        }
    }
}

impl Text {
    fn bytes(&self) -> Result<Vec<u8>, PatternError> {
        match self {
            Text::Utf8(text) => Ok(text.clone().into_bytes()),
            Text::Hex { hex } => (0..hex.len() / 2)
                .map(|n| hex.get(2 * n..2 * n + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
                .collect::<Option<_>>()
                .ok_or(PatternError::Inconsistent("a text has broken hexadecimal digits")),
        }
    }
}

impl Pattern {
    /// The pattern as JSON.
    ///
    /// # Errors
    /// Never in practice; serialisation has no case that fails.
    pub fn to_json(&self) -> Result<String, PatternError> {
        let copy = |copy: &Copy| CopyFile {
            before: copy.before.as_slice().into(),
            case: copy.case,
            after: copy.after.as_slice().into(),
        };
        let hole = |number: usize| {
            let hole = &self.holes[number];
            HoleFile {
                label: self.label(number),
                members: hole.members.clone(),
                same: hole.filling == Filling::Same,
                words: match &hole.filling {
                    Filling::OneOf(words) => Some(words.iter().map(|word| nodes(word, &self.grammar)).collect()),
                    Filling::Any | Filling::Same => None,
                },
                failed: hole.failed,
                copies: hole.copies.iter().map(copy).collect(),
                condition: hole.condition.as_ref().map(ConditionFile::from),
                rarely_valid: hole.rarely_valid,
                unresolved: hole.unresolved,
            }
        };
        let file = File {
            format: VERSION,
            pattern: String::from_utf8_lossy(&self.text()).into_owned(),
            grammar: GrammarFile {
                start: self.grammar.label(self.grammar.start()),
                source: self.grammar.source().to_owned(),
            },
            tree: nodes(&self.tree, &self.grammar),
            trailing: self.tree.trailing().into(),
            holes: (0..self.holes.len()).map(hole).collect(),
            evidence: self.evidence,
            reasons: self.reasons.iter().map(|r| (r.at, r.passes_with.as_slice().into())).collect(),
            undecided: self.undecided.clone(),
            validity: self.validity.clone(),
            free_space: self.free_space,
        };
        Ok(serde_json::to_string(&file)?)
    }

    /// Reads what [`Pattern::to_json`] writes.
    ///
    /// # Errors
    /// When it is not such a file, or its parts do not fit together.
    pub fn from_json(json: &str) -> Result<Pattern, PatternError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(json)?;
        if head.format > VERSION {
            return Err(PatternError::Version(head.format));
        }
        let file: File = serde_json::from_str(json)?;
        let grammar = Grammar::read(&file.grammar.source, Some(&file.grammar.start))?;
        let tree = tree(&file.tree, Some(&file.trailing.bytes()?), &grammar)?;
        if !tree.is_derivation(&grammar, grammar.start()) {
            return Err(PatternError::Inconsistent("the tree is no derivation of the grammar"));
        }
        let mut holes = Vec::new();
        let mut taken = vec![false; tree.len()];
        for hole in &file.holes {
            for &member in &hole.members {
                let free = member < tree.len() && tree.subtree(member).all(|at| !taken[at]);
                if !free {
                    return Err(PatternError::Inconsistent("two holes overlap, or one lies outside the tree"));
                }
                tree.subtree(member).for_each(|at| taken[at] = true);
            }
            let first = hole.members.first().ok_or(PatternError::Inconsistent("a hole has no member"))?;
            let symbol = tree.node(*first).symbol;
            if !hole.same && hole.members.len() > 1 {
                return Err(PatternError::Inconsistent("a hole that is no group has several members"));
            }
            if !hole.copies.is_empty() && hole.copies.len() != hole.members.len() {
                return Err(PatternError::Inconsistent("a hole has not as many copies as members"));
            }
            let alternatives = grammar.alternatives(tree.node(core(&grammar, &tree, *first)).symbol);
            let copy = |copy: &CopyFile| {
                Ok(Copy { before: copy.before.bytes()?, case: copy.case, after: copy.after.bytes()? })
            };
            holes.push(Hole {
                members: hole.members.clone(),
                copies: hole.copies.iter().map(copy).collect::<Result<_, PatternError>>()?,
                filling: filling(hole, symbol, &grammar)?,
                condition: hole
                    .condition
                    .as_ref()
                    .map(|condition| condition.condition(tree.len(), alternatives))
                    .transpose()?,
                rarely_valid: hole.rarely_valid,
                failed: hole.failed,
                unresolved: hole.unresolved,
            });
        }
        let inside = |at: &usize| *at < tree.len();
        let reasons: Vec<Reason> = file
            .reasons
            .iter()
            .map(|(at, text)| Ok(Reason { at: *at, passes_with: text.bytes()? }))
            .collect::<Result<_, PatternError>>()?;
        if !file.undecided.iter().all(inside) || !reasons.iter().all(|reason| inside(&reason.at)) {
            return Err(PatternError::Inconsistent("it speaks of a node that is not there"));
        }
        Ok(Pattern {
            grammar: Arc::new(grammar),
            tree,
            holes,
            evidence: file.evidence,
            reasons,
            undecided: file.undecided,
            validity: file.validity,
            free_space: file.free_space,
        })
    }
}

fn filling(hole: &HoleFile, symbol: SymbolId, grammar: &Grammar) -> Result<Filling, PatternError> {
    let Some(words) = &hole.words else { return Ok(if hole.same { Filling::Same } else { Filling::Any }) };
    let words = words.iter().map(|word| tree(word, None, grammar)).collect::<Result<Vec<_>, _>>()?;
    if words.is_empty() || !words.iter().all(|word| word.is_derivation(grammar, symbol)) {
        return Err(PatternError::Inconsistent("a hole's words are no derivations of its symbol"));
    }
    Ok(Filling::OneOf(words))
}

fn nodes(tree: &Tree, grammar: &Grammar) -> Vec<NodeFile> {
    let node = |at: usize| {
        let node = tree.node(at);
        let leaf = grammar.is_leaf(node.symbol).then(|| {
            let skipped = &tree.text_of(at)[..node.trivia as usize];
            (skipped.into(), tree.lexeme(at).into())
        });
        NodeFile(node.symbol, node.alternative, node.size, leaf)
    };
    (0..tree.len()).map(node).collect()
}

fn tree(nodes: &[NodeFile], trailing: Option<&[u8]>, grammar: &Grammar) -> Result<Tree, PatternError> {
    let broken = PatternError::Inconsistent("the tree's nodes do not form a tree");
    let mut builder = Builder::default();
    let mut open: Vec<usize> = Vec::new();
    for (at, NodeFile(symbol, alternative, size, leaf)) in nodes.iter().enumerate() {
        while open.last().is_some_and(|end| *end <= at) {
            open.pop();
            builder.close();
        }
        let end = at + *size as usize;
        let fits = open.last().map_or(at == 0 && end == nodes.len(), |outer| end <= *outer);
        if !fits || *size == 0 || symbol.index() >= grammar.len() || leaf.is_some() && *size != 1 {
            return Err(broken);
        }
        match leaf {
            Some((skipped, text)) => builder.leaf(*symbol, &skipped.bytes()?, &text.bytes()?),
            None => {
                builder.open(*symbol, *alternative);
                open.push(end);
            }
        }
    }
    open.iter().for_each(|_| builder.close());
    if builder.is_empty() {
        return Err(broken);
    }
    Ok(match trailing {
        Some(trailing) => builder.finish(trailing),
        None => builder.fragment(),
    })
}
