//! Findings about grammars and inputs, in the look that compilers have.

use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use ddset::grammar::diagnostic::{Diagnostic, Severity};
use ddset::grammar::sources::{Source, Sources};

/// A text that findings speak of. Their spans count from `start` on.
pub(crate) struct File<'a> {
    pub name: &'a str,
    pub text: &'a [u8],
    pub start: usize,
}

/// The files of a grammar.
pub(crate) fn files(sources: &Sources) -> Vec<File<'_>> {
    fn file(source: &Source) -> File<'_> {
        File { name: &source.name, text: source.text.as_bytes(), start: source.start }
    }
    sources.files().iter().map(file).collect()
}

/// The findings as text, each with the lines that it speaks of.
pub(crate) fn render(diagnostics: &[Diagnostic], files: &[File], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let files: Vec<Shown> = files.iter().map(Shown::of).collect();
    let mut out = String::new();
    for diagnostic in diagnostics {
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

/// A file as it is shown: what is no text in it is replaced.
struct Shown<'a> {
    file: &'a File<'a>,
    text: String,
    /// Where each of its valid stretches begins in the file and in the text.
    offsets: Vec<(usize, usize)>,
}

impl<'a> Shown<'a> {
    fn of(file: &'a File<'a>) -> Self {
        let (text, offsets) = lossy(file.text);
        Shown { file, text, offsets }
    }

    /// The part of the file that the finding speaks of, if it does of any.
    fn snippet<'s>(&'s self, diagnostic: &'s Diagnostic) -> Option<Snippet<'s, Annotation<'s>>> {
        let own = self.file.start..=self.file.start + self.file.text.len();
        let labels = diagnostic.labels.iter().enumerate().filter(|(_, label)| own.contains(&label.span.start));
        let annotations: Vec<_> = labels
            .map(|(number, label)| {
                let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let span = self.at(label.span.start)..self.at(label.span.end.max(label.span.start));
                kind.span(span).label(label.text.as_str())
            })
            .collect();
        let snippet = Snippet::source(self.text.as_str()).path(self.file.name).fold(true);
        (!annotations.is_empty()).then(|| snippet.annotations(annotations))
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
