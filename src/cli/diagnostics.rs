//! Findings about grammars and inputs, in the look that compilers have.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use ddset::grammar::diagnostic::{Diagnostic, Severity};

/// The findings as text, each with the lines that it speaks of.
pub(crate) fn render(diagnostics: &[Diagnostic], source: &[u8], path: &str, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let (text, offsets) = lossy(source);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut snippet = Snippet::source(text.as_str()).path(path).fold(true);
        for (number, label) in diagnostic.labels.iter().enumerate() {
            let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let at = |byte: usize| {
                offsets.partition_point(|(original, _)| *original <= byte).checked_sub(1).map_or(0, |n| {
                    let (original, shown) = offsets[n];
                    (shown + (byte - original)).min(text.len())
                })
            };
            let span = at(label.span.start)..at(label.span.end.max(label.span.start));
            snippet = snippet.annotation(kind.span(span).label(label.text.as_str()));
        }
        let mut group = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code).element(snippet);
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        out.push_str(&renderer.render(&[group]).to_string());
        out.push_str("\n\n");
    }
    out
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
