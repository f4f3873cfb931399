//! Findings about grammars and inputs: in the look that compilers have, or as JSON for programs.

use super::args::MessageFormat;
use super::exit::Message;
use super::tell_error;
use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use ddset::grammar::diagnostic::{Diagnostic, Label, Severity};
use ddset::grammar::sources::Sources;
use ddset::grammar::{Grammar, GrammarError};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// How far apart labels may stand to be shown in one picture, in bytes.
const NEAR: usize = 120;

/// Findings and the files that they speak of.
#[derive(Debug)]
pub(crate) struct Findings {
    diagnostics: Vec<Diagnostic>,
    files: Vec<File>,
}

/// A text that findings speak of. Their spans count from `start` on.
#[derive(Debug)]
struct File {
    name: String,
    text: Vec<u8>,
    start: usize,
}

impl Findings {
    /// What is wrong with a grammar.
    pub(crate) fn of_error(error: GrammarError) -> Self {
        Findings { files: files(&error.sources), diagnostics: error.diagnostics }
    }

    /// What is likely not meant in a grammar.
    pub(crate) fn of_grammar(grammar: &Grammar) -> Self {
        Findings { files: files(grammar.sources()), diagnostics: grammar.warnings().to_vec() }
    }

    /// What is wrong with an input.
    pub(crate) fn of_input(diagnostic: Diagnostic, name: &str, input: &[u8]) -> Self {
        let file = File { name: name.to_owned(), text: input.to_vec(), start: 0 };
        Findings { diagnostics: vec![diagnostic], files: vec![file] }
    }

    /// Writes them to standard error.
    pub(crate) fn tell(&self, format: MessageFormat) {
        match format {
            MessageFormat::Text if self.diagnostics.is_empty() => {}
            MessageFormat::Text => tell_error(self.rendered(is_colored()).trim_end()),
            MessageFormat::Json => {
                self.diagnostics.iter().for_each(|finding| tell_error(&self.json(finding).to_string()))
            }
        }
    }

    /// As text, each with the lines that it speaks of.
    fn rendered(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let files: Vec<Shown> = self.files.iter().map(Shown::of).collect();
        let mut out = String::new();
        for diagnostic in &self.diagnostics {
            let level = match diagnostic.severity {
                Severity::Error => Level::ERROR,
                Severity::Warning => Level::WARNING,
            };
            let mut group = level
                .primary_title(diagnostic.message.as_str())
                .id(diagnostic.code)
                .elements(files.iter().filter_map(|file| file.snippet(diagnostic)));
            if let Some(help) = &diagnostic.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            out.push_str(&renderer.render(&[group]).to_string());
            out.push_str("\n\n");
        }
        out
    }

    fn json(&self, finding: &Diagnostic) -> Value {
        let labels: Vec<Value> = finding.labels.iter().map(|label| self.label(label)).collect();
        let Diagnostic { code, severity, message, help, .. } = finding;
        json!({ "code": code, "severity": severity, "message": message, "labels": labels, "help": help })
    }

    /// A place: lines and columns count from 1, columns in characters; bytes from 0.
    fn label(&self, label: &Label) -> Value {
        let Some(file) = self.files.iter().rev().find(|file| file.start <= label.span.start) else {
            return json!({ "text": label.text });
        };
        let at = |offset: usize| (offset.max(file.start) - file.start).min(file.text.len());
        let (start, end) = (at(label.span.start), at(label.span.end));
        let ((line, column), (end_line, end_column)) = (position(&file.text[..start]), position(&file.text[..end]));
        json!({
            "file": file.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
            "start": start, "end": end, "text": label.text,
        })
    }
}

/// Writes what an error says to standard error.
pub(crate) fn tell(message: &Message, format: MessageFormat) {
    match (message, format) {
        (Message::Findings(findings), _) => findings.tell(format),
        (Message::Words(words), MessageFormat::Text) => tell_error(words),
        (Message::Words(words), MessageFormat::Json) => {
            let message = words.strip_prefix("error: ").unwrap_or(words);
            let none: [Value; 0] = [];
            let value = json!({ "code": null, "severity": "error", "message": message, "labels": none, "help": null });
            tell_error(&value.to_string());
        }
    }
}

/// Line and column of what comes after `before`.
fn position(before: &[u8]) -> (usize, usize) {
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, lossy(&before[line_start..]).0.chars().count() + 1)
}

/// Whether messages are coloured: on a terminal, unless the user said otherwise in the usual ways.
fn is_colored() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

fn files(sources: &Sources) -> Vec<File> {
    let files = sources.files().iter();
    files.map(|file| File { name: file.name.clone(), text: file.text.clone().into(), start: file.start }).collect()
}

/// A file as it is shown: what is no text in it is replaced.
struct Shown<'a> {
    file: &'a File,
    text: String,
    /// Where each of its valid stretches begins in the file and in the text.
    offsets: Vec<(usize, usize)>,
}

impl<'a> Shown<'a> {
    fn of(file: &'a File) -> Self {
        let (text, offsets) = lossy(&file.text);
        Shown { file, text, offsets }
    }

    /// The part of the file that the finding speaks of, if it does of any.
    fn snippet<'s>(&'s self, diagnostic: &'s Diagnostic) -> Option<Snippet<'s, Annotation<'s>>> {
        let own = self.file.start..=self.file.start + self.file.text.len();
        let labels = diagnostic.labels.iter().enumerate().filter(|(_, label)| own.contains(&label.span.start));
        // Long lines are cut to what is around the labels: labels far to the side of the main one would keep all of it.
        let main = labels.clone().next().map_or(0, |(_, label)| self.column(label.span.start));
        let labels = labels.filter(|(_, label)| self.column(label.span.start).abs_diff(main) < NEAR);
        let annotations: Vec<_> = labels
            .map(|(number, label)| {
                let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let span = self.at(label.span.start)..self.at(label.span.end.max(label.span.start));
                kind.span(span).label(label.text.as_str())
            })
            .collect();
        let snippet = Snippet::source(self.text.as_str()).path(self.file.name.as_str()).fold(true);
        (!annotations.is_empty()).then(|| snippet.annotations(annotations))
    }

    /// How many bytes of its line are before a place.
    fn column(&self, offset: usize) -> usize {
        let before = &self.file.text[..(offset - self.file.start).min(self.file.text.len())];
        before.iter().rev().take_while(|byte| **byte != b'\n').count()
    }

    fn at(&self, offset: usize) -> usize {
        let byte = offset - self.file.start;
        self.offsets.partition_point(|(original, _)| *original <= byte).checked_sub(1).map_or(0, |n| {
            let (original, shown) = self.offsets[n];
            (shown + (byte - original)).min(self.text.len())
        })
    }
}

/// Text that can be shown, and where each of its valid stretches begins in the source and in the text.
fn lossy(source: &[u8]) -> (String, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut offsets = Vec::new();
    let mut at = 0;
    for chunk in source.utf8_chunks() {
        offsets.push((at, text.len()));
        text.push_str(chunk.valid());
        at += chunk.valid().len();
        for _ in chunk.invalid() {
            offsets.push((at, text.len()));
            text.push('\u{FFFD}');
            at += 1;
        }
    }
    offsets.push((at, text.len()));
    (text, offsets)
}
