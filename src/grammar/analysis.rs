//! What follows from a grammar alone: which symbols can be empty, and the cheapest text of each.

use super::lexicon::Lexicon;
use super::{Kind, Symbol, SymbolId, code};
use fixedbitset::FixedBitSet;

/// Stands for "derives no finite text".
const NEVER: u32 = u32::MAX / 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Analysis {
    pub nullable: FixedBitSet,
    pub cost: Vec<u32>,
    pub choice: Vec<u32>,
    pub height: Vec<u32>,
    pub leaf: Vec<Box<[u8]>>,
}

impl Analysis {
    pub(super) fn of(symbols: &[Symbol]) -> Self {
        let leaf: Vec<Box<[u8]>> = symbols.iter().map(|symbol| leaf(&symbol.kind)).collect();
        let mut analysis = Analysis {
            nullable: FixedBitSet::with_capacity(symbols.len()),
            cost: vec![NEVER; symbols.len()],
            choice: vec![0; symbols.len()],
            height: vec![NEVER; symbols.len()],
            leaf,
        };
        analysis.settle(symbols, |_| false);
        analysis
    }

    /// Tokens are leaves: their cost is that of their shortest text that is no keyword, which only the lexicon knows.
    pub(super) fn measure_tokens(&mut self, symbols: &[Symbol], lexicon: &Lexicon) {
        if !lexicon.is_lexical() {
            return;
        }
        let tokens: Vec<SymbolId> =
            (0..symbols.len() as u32).map(SymbolId).filter(|id| symbols[id.index()].role.token).collect();
        for id in &tokens {
            if let Some(text) = lexicon.shortest(*id, 1).pop() {
                self.leaf[id.index()] = text.into();
            }
        }
        self.cost.iter_mut().for_each(|cost| *cost = NEVER);
        self.height.iter_mut().for_each(|height| *height = NEVER);
        for id in &tokens {
            self.cost[id.index()] = cost(&self.leaf[id.index()]);
            self.height[id.index()] = 0;
        }
        self.settle(symbols, |id| symbols[id.index()].role.token);
    }

    /// Iterates to the least fixpoint of cost and height. Ties keep the earlier alternative.
    fn settle(&mut self, symbols: &[Symbol], fixed: impl Fn(SymbolId) -> bool) {
        let mut changed = true;
        while changed {
            changed = false;
            for (index, symbol) in symbols.iter().enumerate() {
                if fixed(SymbolId(index as u32)) {
                    continue;
                }
                let (cost, height, choice, nullable) = self.step(symbol, index);
                if cost < self.cost[index] || height < self.height[index] {
                    if cost < self.cost[index] {
                        self.choice[index] = choice;
                    }
                    self.cost[index] = self.cost[index].min(cost);
                    self.height[index] = self.height[index].min(height);
                    changed = true;
                }
                if nullable && !self.nullable.put(index) {
                    changed = true;
                }
            }
        }
    }

    fn step(&self, symbol: &Symbol, index: usize) -> (u32, u32, u32, bool) {
        let over = |parts: &[SymbolId], of: &[u32]| parts.iter().map(|part| of[part.index()]).collect::<Vec<_>>();
        match &symbol.kind {
            Kind::Literal(_) | Kind::Set(_) => (cost(&self.leaf[index]), 0, 0, false),
            Kind::Choice(alternatives) => {
                let mut best = (NEVER, NEVER, 0, false);
                for (number, parts) in alternatives.iter().enumerate() {
                    let cost = over(parts, &self.cost).into_iter().fold(0, u32::saturating_add).min(NEVER);
                    let height = (over(parts, &self.height).iter().max().unwrap_or(&0) + 1).min(NEVER);
                    if cost < best.0 {
                        (best.0, best.2) = (cost, number as u32);
                    }
                    best.1 = best.1.min(height);
                    best.3 |= parts.iter().all(|part| self.nullable.contains(part.index()));
                }
                best
            }
            Kind::Repeat { item, separator, min, .. } => {
                let between = separator.map_or(0, |separator| self.cost[separator.index()]);
                let cost = if *min == 0 {
                    0
                } else {
                    self.cost[item.index()]
                        .saturating_mul(*min)
                        .saturating_add(between.saturating_mul(min - 1))
                        .min(NEVER)
                };
                // Separators stand between two items: one item alone needs none.
                let between = separator.filter(|_| *min > 1);
                let parts = between.iter().chain([item]);
                let highest = parts.clone().map(|part| self.height[part.index()]).max().unwrap_or(0);
                // A repetition is as high as what it repeats: it must not make an alternative that holds one look costlier.
                let height = if *min == 0 { 0 } else { highest };
                let nullable = *min == 0 || parts.clone().all(|part| self.nullable.contains(part.index()));
                (cost, height, *min, nullable)
            }
        }
    }

    /// Whether no text at all is derived of the symbol, since each of its derivations goes on for ever.
    pub(super) fn is_endless(&self, symbol: SymbolId) -> bool {
        self.cost[symbol.index()] >= NEVER
    }
}

fn cost(text: &[u8]) -> u32 {
    2 * text.len() as u32 + u32::from(text.first().is_some_and(u8::is_ascii_alphabetic))
}

/// The text of a literal, or the best character of a set: a digit, else a printable one, else the first.
fn leaf(kind: &Kind) -> Box<[u8]> {
    match kind {
        Kind::Literal(bytes) => bytes.clone(),
        Kind::Set(set) => {
            let preferred = (48..58).chain(97..123).chain(33..127).chain(32..33).find(|code| set.contains(*code));
            let mut bytes = Vec::new();
            if let Some(found) = preferred.or_else(|| set.nth(0)) {
                code::encode(found, &mut bytes);
            }
            bytes.into()
        }
        Kind::Choice(_) | Kind::Repeat { .. } => Box::default(),
    }
}
