//! A tree for any input, by the bundled grammar `any`: brackets, lines, words.
//!
//! Every input is in that grammar in many ways, so no search for a derivation is needed, only one pass that makes a good one: in
//! time and space in proportion to the input. What is good is said at the head of the grammar.

use crate::grammar::{Grammar, Kind, SymbolId, bundled};
use crate::tree::{Builder, Tree};

/// Whether a grammar is the one that every input is in.
pub fn is_rough(grammar: &Grammar) -> bool {
    bundled::any().source == grammar.source()
}

/// The tree of an input; `None` for another grammar than `any`.
pub(super) fn parse(grammar: &Grammar, input: &[u8]) -> Option<Tree> {
    if !is_rough(grammar) {
        return None;
    }
    let symbols = Symbols::of(grammar)?;
    let (lexemes, trailing) = lexemes(grammar, &symbols, input);
    let partners = partners(&lexemes);
    let mut maker = Maker { symbols: &symbols, builder: Builder::default(), frames: Vec::new() };
    maker.text(None);
    for (at, lexeme) in lexemes.iter().enumerate() {
        maker.add(lexeme, partners[at], at.checked_sub(1).map(|before| &lexemes[before]));
    }
    while !maker.frames.is_empty() {
        maker.end_frame();
    }
    Some(maker.builder.finish(&input[trailing..]))
}

/// The grammar's symbols, by what they are called there.
struct Symbols {
    text: SymbolId,
    statements: SymbolId,
    statement: SymbolId,
    /// `(end block?)?`, what is in it, and `block?`.
    ended: [SymbolId; 3],
    list: SymbolId,
    cells: SymbolId,
    comma: SymbolId,
    cell: SymbolId,
    parts: SymbolId,
    end: SymbolId,
    semicolon: SymbolId,
    block: SymbolId,
    inner: SymbolId,
    part: SymbolId,
    group: SymbolId,
    /// For each alternative of a group, its two brackets.
    brackets: [[SymbolId; 2]; 3],
    tokens: [SymbolId; 4],
    newline: SymbolId,
}

impl Symbols {
    fn of(grammar: &Grammar) -> Option<Symbols> {
        let rule = |name: &str| grammar.rule(name);
        let first = |symbol: SymbolId| grammar.alternative(symbol, 0).first().copied();
        let (text, list, cell, block) = (rule("text")?, rule("list")?, rule("cell")?, rule("block")?);
        let (cells, statement, end) = (first(list)?, rule("statement")?, rule("end")?);
        let bracket = |alternative: u32| match grammar.alternative(rule("group")?, alternative) {
            [open, _, close] => Some([*open, *close]),
            _ => None,
        };
        let ended = *grammar.alternative(statement, 0).get(1)?;
        let Kind::Repeat { item: pair, .. } = grammar.kind(ended) else { return None };
        let Kind::Repeat { separator: Some(comma), .. } = grammar.kind(cells) else { return None };
        Some(Symbols {
            text,
            statements: first(text)?,
            statement,
            ended: [ended, *pair, *grammar.alternative(*pair, 0).get(1)?],
            list,
            cells,
            comma: *comma,
            cell,
            parts: first(cell)?,
            end,
            semicolon: *grammar.alternative(end, 1).first()?,
            block,
            inner: first(block)?,
            part: rule("part")?,
            group: rule("group")?,
            brackets: [bracket(0)?, bracket(1)?, bracket(2)?],
            tokens: [rule("number")?, rule("word")?, rule("string")?, rule("sign")?],
            newline: rule("newline")?,
        })
    }
}

/// A token with what is skipped before it.
struct Lexeme<'i> {
    trivia: &'i [u8],
    text: &'i [u8],
    /// Which of [`Symbols::tokens`].
    kind: usize,
    /// How far its line is indented, in bytes, if it is the first on its line.
    indent: Option<usize>,
}

/// All tokens, and where what is skipped at the end begins.
fn lexemes<'i>(grammar: &Grammar, symbols: &Symbols, input: &'i [u8]) -> (Vec<Lexeme<'i>>, usize) {
    let lexicon = grammar.lexicon();
    let text = lexicon.text(input);
    let mut found = Vec::new();
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        let begin = lexicon.skip_end(&text, at);
        let token = |(kind, symbol): (usize, &SymbolId)| Some((kind, lexicon.leaf_end(*symbol, &text, begin)?));
        let Some((kind, to)) = symbols.tokens.iter().enumerate().find_map(token) else { break };
        let trivia = &input[end..text.offset(begin)];
        let line = trivia.iter().rposition(|byte| *byte == b'\n').map(|newline| newline + 1);
        let line = line.or((end == 0).then_some(0));
        end = text.offset(to);
        let indent = line.map(|line| trivia.len() - line);
        found.push(Lexeme { trivia, text: &input[text.offset(begin)..end], kind, indent });
        at = to;
    }
    (found, end)
}

/// Whether each lexeme is a bracket that has a partner, and which way it looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    None,
    Opens(u32),
    Closes,
}

/// Pairs of brackets. One that stands between the two of a pair without a partner of its own there has none.
fn partners(lexemes: &[Lexeme<'_>]) -> Vec<Bracket> {
    let mut found = vec![Bracket::None; lexemes.len()];
    let mut open: Vec<(usize, u32)> = Vec::new();
    // How many of each kind are open, so that one without a partner costs no search.
    let mut count = [0_usize; 3];
    for (at, lexeme) in lexemes.iter().enumerate() {
        let kind = |brackets: &[u8]| brackets.iter().position(|bracket| lexeme.text == [*bracket]);
        if let Some(kind) = kind(b"([{") {
            open.push((at, kind as u32));
            count[kind] += 1;
        } else if let Some(kind) = kind(b")]}").filter(|kind| count[*kind] > 0) {
            while let Some((opener, other)) = open.pop() {
                count[other as usize] -= 1;
                if other as usize == kind {
                    (found[opener], found[at]) = (Bracket::Opens(other), Bracket::Closes);
                    break;
                }
            }
        }
    }
    found
}

/// A row of statements that is being made: a group's text, or a block.
struct Frame {
    /// For what is in a group, which alternative that is: `(` 0, `[` 1, `{` 2.
    group: Option<u32>,
    is_block: bool,
    /// How far its lines are indented; not known before the first.
    indent: Option<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No statement is open.
    Between,
    /// A statement is open, and a cell of it.
    Within,
    /// A statement is open that has its end: a block may follow.
    Ended,
}

struct Maker<'s> {
    symbols: &'s Symbols,
    builder: Builder,
    /// From the outermost in; the first is the whole text.
    frames: Vec<Frame>,
}

impl Maker<'_> {
    fn text(&mut self, group: Option<u32>) {
        self.builder.open(self.symbols.text, 0);
        self.builder.open(self.symbols.statements, 0);
        self.frames.push(Frame { group, is_block: false, indent: None, state: State::Between });
    }

    fn add(&mut self, lexeme: &Lexeme<'_>, bracket: Bracket, before: Option<&Lexeme<'_>>) {
        let mut trivia = lexeme.trivia;
        if let Some(indent) = lexeme.indent {
            let goes_on = bracket == Bracket::Closes || before.is_none_or(|before| before.text == b",");
            if !goes_on {
                trivia = self.line_break(trivia);
            }
            self.line(indent);
        }
        if self.state() == State::Ended {
            self.end_statement();
        }
        match (bracket, lexeme.text) {
            (Bracket::Closes, text) => self.close_group(trivia, text),
            (Bracket::Opens(kind), text) => self.open_group(kind, lexeme.indent, trivia, text),
            (Bracket::None, b",") => {
                self.in_statement(lexeme.indent);
                self.close(2);
                self.builder.leaf(self.symbols.comma, trivia, lexeme.text);
                self.open(&[self.symbols.cell, self.symbols.parts]);
            }
            (Bracket::None, b";") => {
                self.in_statement(lexeme.indent);
                self.end_of_statement(1, self.symbols.semicolon, trivia, lexeme.text);
            }
            (Bracket::None, text) => {
                self.in_statement(lexeme.indent);
                self.builder.open(self.symbols.part, lexeme.kind as u32 + 1);
                self.builder.leaf(self.symbols.tokens[lexeme.kind], trivia, text);
                self.close(1);
            }
        }
    }

    /// A line break ends a statement, but not in `( )` and `[ ]`. What of the trivia is left is returned.
    fn line_break<'t>(&mut self, trivia: &'t [u8]) -> &'t [u8] {
        let ends = self
            .frames
            .last()
            .is_some_and(|frame| frame.state == State::Within && frame.group.is_none_or(|group| group == 2));
        match trivia.iter().position(|byte| *byte == b'\n').filter(|_| ends) {
            Some(at) => {
                self.end_of_statement(0, self.symbols.newline, &trivia[..at], b"\n");
                &trivia[at + 1..]
            }
            None => trivia,
        }
    }

    /// A line that is indented so far begins: it ends blocks, or begins one.
    fn line(&mut self, indent: usize) {
        if self.state() == State::Within {
            return;
        }
        while self.frames.last().is_some_and(|frame| frame.is_block && frame.indent.is_some_and(|own| indent < own)) {
            self.end_frame();
        }
        let deeper = self
            .frames
            .last()
            .is_some_and(|frame| frame.state == State::Ended && frame.indent.is_some_and(|own| indent > own));
        if deeper {
            let group = self.frames.last().and_then(|frame| frame.group);
            self.open(&[self.symbols.ended[2], self.symbols.block, self.symbols.inner]);
            self.frames.push(Frame { group, is_block: true, indent: Some(indent), state: State::Between });
        }
    }

    fn open_group(&mut self, kind: u32, indent: Option<usize>, trivia: &[u8], text: &[u8]) {
        self.in_statement(indent);
        self.builder.open(self.symbols.part, 0);
        self.builder.open(self.symbols.group, kind);
        self.builder.leaf(self.symbols.brackets[kind as usize][0], trivia, text);
        self.text(Some(kind));
    }

    fn close_group(&mut self, trivia: &[u8], text: &[u8]) {
        while self.frames.last().is_some_and(|frame| frame.is_block) {
            self.end_frame();
        }
        let kind = self.frames.last().and_then(|frame| frame.group).unwrap_or(0);
        self.end_frame();
        self.builder.leaf(self.symbols.brackets[kind as usize][1], trivia, text);
        self.close(2);
    }

    fn state(&self) -> State {
        self.frames.last().map_or(State::Between, |frame| frame.state)
    }

    fn set(&mut self, state: State) {
        if let Some(frame) = self.frames.last_mut() {
            frame.state = state;
        }
    }

    fn open(&mut self, symbols: &[SymbolId]) {
        symbols.iter().for_each(|symbol| self.builder.open(*symbol, 0));
    }

    fn close(&mut self, nodes: usize) {
        (0..nodes).for_each(|_| self.builder.close());
    }

    /// Begins a statement if none is open.
    fn in_statement(&mut self, indent: Option<usize>) {
        if self.state() == State::Within {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.indent = frame.indent.or(indent);
        }
        let Symbols { statement, list, cells, cell, parts, .. } = *self.symbols;
        self.open(&[statement, list, cells, cell, parts]);
        self.set(State::Within);
    }

    fn end_of_statement(&mut self, alternative: u32, symbol: SymbolId, trivia: &[u8], text: &[u8]) {
        self.close(4);
        let [ended, pair, _] = self.symbols.ended;
        self.open(&[ended, pair]);
        self.builder.open(self.symbols.end, alternative);
        self.builder.leaf(symbol, trivia, text);
        self.close(1);
        self.set(State::Ended);
    }

    /// Ends the statement that is open, if one is.
    fn end_statement(&mut self) {
        let [ended, _, block] = self.symbols.ended;
        match self.state() {
            State::Between => return,
            State::Within => {
                self.close(4);
                self.open(&[ended]);
                self.close(2);
            }
            State::Ended => {
                self.open(&[block]);
                self.close(4);
            }
        }
        self.set(State::Between);
    }

    /// Ends the row of statements; of a block, also the statement that it belongs to.
    fn end_frame(&mut self) {
        self.end_statement();
        if self.frames.pop().is_some_and(|frame| frame.is_block) {
            self.close(6);
            self.set(State::Between);
        } else {
            self.close(2);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::tree::to_sexp;

    fn any() -> Grammar {
        Grammar::read(bundled::any().source, None).unwrap()
    }

    fn tree(input: &[u8]) -> Tree {
        let grammar = any();
        let tree = parse(&grammar, input).unwrap();
        assert_eq!(tree.text(), input);
        assert!(tree.is_derivation(&grammar, grammar.start()), "{}", to_sexp(&grammar, &tree));
        tree
    }

    /// The texts of all nodes of a symbol, without what is skipped before them.
    fn texts(input: &str, rule: &str) -> Vec<String> {
        let (grammar, tree) = (any(), tree(input.as_bytes()));
        let symbol = grammar.rule(rule).unwrap();
        let found = (0..tree.len()).filter(|at| tree.node(*at).symbol == symbol);
        found.map(|at| String::from_utf8_lossy(tree.lexeme(at)).into_owned()).collect()
    }

    #[test]
    fn pairs_of_brackets_are_groups_and_lone_ones_signs() {
        assert_eq!(texts("f(a[1], {b)", "group"), ["(a[1], {b)", "[1]"]);
        assert_eq!(texts("f(a[1], {b)", "sign"), ["{"]);
        assert_eq!(texts("{\"a\": [1, 2],\n \"b\": 0\n}", "cell").len(), 5);
        assert_eq!(texts(")](", "sign"), [")", "]", "("]);
        assert_eq!(texts("don't \"a'\" it's", "string"), ["'t \"a'"]);
    }

    #[test]
    fn lines_end_statements_and_indented_lines_are_blocks() {
        let python = "if x:\n    f(a,\n      b)\n    g\n\n    h\nelse:\n  i\n";
        assert_eq!(texts(python, "block"), ["f(a,\n      b)\n    g\n\n    h\n", "i"]);
        assert_eq!(texts("a; b\nc", "statement"), ["a;", "b\n", "c"]);
        assert_eq!(texts("{\n  a,\n  b\n}", "end").len(), 0);
        assert_eq!(texts("{\n  a\n  b\n}", "end").len(), 1);
    }

    #[test]
    fn any_bytes_are_a_text() {
        let mut state = 1_u64;
        for length in 0..300 {
            let mut byte = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let alike = b"([{}]),;\n\n  ab1\"'`\\\xFF\x00\xC3\xA9\r\t.";
                if length % 3 == 0 { (state >> 33) as u8 } else { alike[(state >> 33) as usize % alike.len()] }
            };
            let input: Vec<u8> = (0..length).map(|_| byte()).collect();
            tree(&input);
        }
    }

    #[test]
    fn a_million_brackets_do_no_harm() {
        let deep = [b"(".repeat(300_000), b")".repeat(300_000)].concat();
        let grammar = any();
        assert_eq!(parse(&grammar, &deep).unwrap().text(), deep);
        assert_eq!(parse(&grammar, &b"([{".repeat(300_000)).unwrap().text().len(), 900_000);
    }
}
