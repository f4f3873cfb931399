//! A grammar as it is written: what each notation's reader builds and [`super::lower`] makes a grammar of.

use super::charset::CharSet;
use super::diagnostic::Diagnostic;
use std::ops::Range;

/// A place in the source, in bytes.
pub type Span = Range<usize>;

/// What a reader finds in one or more texts.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The rules in the order in which they are written.
    pub rules: Vec<Rule>,
    /// What was left out or changed, and what is likely not meant.
    pub warnings: Vec<Diagnostic>,
}

impl Document {
    /// Takes in what another text holds.
    pub fn append(&mut self, other: Document) {
        self.rules.extend(other.rules);
        self.warnings.extend(other.warnings);
    }

    /// The same with all places `by` bytes later, for a text that does not stand at the beginning.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        let annotations = |annotations: &mut Vec<Annotation>| {
            annotations.iter_mut().for_each(|annotation| move_span(&mut annotation.span, by));
        };
        for rule in &mut self.rules {
            move_span(&mut rule.span, by);
            annotations(&mut rule.annotations);
            let mut open = vec![&mut rule.body];
            while let Some(expr) = open.pop() {
                match expr {
                    Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) => {}
                    Expr::Defect(problem) => **problem = problem.clone().moved(by),
                    Expr::Name(_, span) => move_span(span, by),
                    Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                    Expr::Annotated(said, inner) => {
                        annotations(said);
                        open.push(inner);
                    }
                    Expr::Repeat { item, .. } => open.push(item),
                    Expr::Except(included, excluded, span) => {
                        move_span(span, by);
                        open.extend([&mut **included, &mut **excluded]);
                    }
                }
            }
        }
        self.warnings = self.warnings.into_iter().map(|warning| warning.moved(by)).collect();
        self
    }
}

fn move_span(span: &mut Span, by: usize) {
    *span = span.start + by..span.end + by;
}

/// A rule as written.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The name, without angle brackets.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
    /// What it stands for.
    pub body: Expr,
}

/// A word such as `token` that says how a rule or an alternative is to be taken, without its `@`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The word.
    pub word: String,
    /// Where it stands.
    pub span: Span,
}

impl Annotation {
    /// The annotation `word`, for what stands at `span`.
    pub fn new(word: impl Into<String>, span: Span) -> Self {
        Annotation { word: word.into(), span }
    }
}

/// What may stand at the right of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The text itself; empty text derives nothing.
    Text(String),
    /// The text in upper or lower case, each letter by itself.
    Caseless(String),
    /// One character of a set.
    Set(CharSet),
    /// What another rule derives.
    Name(String, Span),
    /// One after the other.
    Sequence(Vec<Expr>),
    /// One of them; the earlier one is preferred.
    Choice(Vec<Expr>),
    /// An alternative of a choice, or the only one, with what is said of it.
    Annotated(Vec<Annotation>, Box<Expr>),
    /// The item, `min` to `max` times.
    Repeat {
        /// What is repeated.
        item: Box<Expr>,
        /// Least count.
        min: u32,
        /// Greatest count, if there is one.
        max: Option<u32>,
    },
    /// The first but not the second; both must be regular.
    Except(Box<Expr>, Box<Expr>, Span),
    /// What cannot be read, and why: it is reported with all else that is wrong with the grammar.
    Defect(Box<Diagnostic>),
}

impl Default for Expr {
    fn default() -> Self {
        Expr::nothing()
    }
}

impl Expr {
    /// The empty text.
    pub fn nothing() -> Self {
        Expr::Sequence(Vec::new())
    }

    /// What stands in the place of a part that cannot be read.
    pub fn defect(problem: Diagnostic) -> Self {
        Expr::Defect(Box::new(problem))
    }

    /// Any one character.
    pub fn any() -> Self {
        Expr::Set(CharSet::default().complement())
    }

    /// The item `min` to `max` times.
    pub fn repeat(item: Expr, min: u32, max: Option<u32>) -> Self {
        Expr::Repeat { item: Box::new(item), min, max }
    }

    /// The parts, one after the other; one alone stands for itself.
    pub fn sequence(mut parts: Vec<Expr>) -> Self {
        if parts.len() == 1 { parts.remove(0) } else { Expr::Sequence(parts) }
    }

    /// One of the alternatives; one alone stands for itself.
    pub fn choice(mut alternatives: Vec<Expr>) -> Self {
        if alternatives.len() == 1 { alternatives.remove(0) } else { Expr::Choice(alternatives) }
    }

    /// The names of the rules in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            while let Some(expr) = open.pop() {
                match expr {
                    Expr::Name(name, _) => return Some(name.as_str()),
                    Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Defect(_) => {}
                    Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                    Expr::Annotated(_, inner) => open.push(inner),
                    Expr::Repeat { item, .. } => open.push(item),
                    Expr::Except(included, excluded, _) => open.extend([&**included, &**excluded]),
                }
            }
            None
        })
    }

    /// Of what `self` derives, the texts of which no beginning is derived as well. So `("/*" any* "*/")` ends at the first
    /// `*/`, as with the non-greedy repetitions of scanner generators. It must be regular.
    pub fn shortest(self, span: Span) -> Self {
        let longer = Expr::Sequence(vec![self.clone(), Expr::repeat(Expr::any(), 1, None)]);
        Expr::Except(Box::new(self), Box::new(longer), span)
    }
}
