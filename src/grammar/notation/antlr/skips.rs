//! What is skipped. ANTLR skips what a rule with `-> skip` matches only where no earlier rule matches as much, and only in the
//! rule's own mode; here it is skipped before any token.

use super::lexer::{Lexer, Tokens};
use super::losses::{Loss, Losses};
use super::syntax::RuleText;
use crate::grammar::ast::{Annotation, Expr, Rule};
use crate::grammar::charset::CharSet;
use crate::grammar::regular;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// A set of more characters than these is that of all others.
const MANY: u64 = 0x10_0000;

impl<'a> Lexer<'a> {
    /// Takes from what is skipped what earlier rules match, and texts in parser rules, which come before all. Returns what
    /// can be skipped in one mode only, since it is a token in another, with the mode.
    pub(super) fn restrict_skips(
        &self,
        texts: &[&str],
        tokens: &mut Tokens,
        losses: &mut Losses,
    ) -> Vec<(String, String)> {
        let shown = self.visible().filter(|(_, commands)| !commands.skip && !commands.more);
        let visible: Vec<&RuleText> = shown.map(|(rule, _)| rule).collect();
        let places: FxHashMap<&str, usize> = self.rules.iter().map(|rule| rule.name.as_str()).zip(0..).collect();
        let mut of_modes = Vec::new();
        let bodies: FxHashMap<String, Expr> =
            tokens.rules.iter().map(|rule| (rule.name.clone(), rule.body.clone())).collect();
        let lookup = |name: &str| bodies.get(name).or_else(|| self.bodies.get(name));
        let is_skip = |rule: &&Rule| rule.annotations.iter().any(|said| said.word == "skip");
        let mut restricted = Vec::new();
        for rule in tokens.rules.iter().filter(is_skip) {
            let Some(place) = places.get(rule.name.as_str()).copied() else { continue };
            let body = &bodies[&rule.name];
            let excluded = match body {
                // What may begin a token is not for a rule that takes any other character.
                Expr::Set(set) if set.len() > MANY => {
                    losses.note(Loss::CatchAll, rule.span.clone());
                    let first = |rival: &RuleText| self.first(0, self.bodies.get(&rival.name)?);
                    let rules = self.rules.iter().filter(|rival| !rival.fragment && rival.name != rule.name);
                    let texts = texts.iter().filter_map(|text| text.chars().next());
                    let texts = CharSet::from_ranges(texts.map(|c| (c.into(), c.into())));
                    Expr::Set(rules.filter_map(first).fold(texts, |set, first| set.union(&first)))
                }
                body => {
                    let own = &self.rules[place];
                    let (same, others): (Vec<&RuleText>, Vec<&RuleText>) =
                        visible.iter().partition(|rule| rule.mode == own.mode);
                    if !own.mode.is_empty() && !self.rivals(body, &others, &[], &bodies, &lookup).is_empty() {
                        of_modes.push((own.mode.clone(), rule.name.clone()));
                    }
                    let earlier: Vec<&RuleText> =
                        same.into_iter().filter(|other| places[other.name.as_str()] < place).collect();
                    let texts = if own.mode.is_empty() { texts } else { &[] };
                    match self.rivals(body, &earlier, texts, &bodies, &lookup) {
                        rivals if rivals.is_empty() => continue,
                        rivals => Expr::choice(rivals),
                    }
                }
            };
            let rest = Expr::Except(Box::new(body.clone()), Box::new(excluded), rule.span.clone());
            restricted.push((rule.name.clone(), rest));
        }
        for (name, rest) in &restricted {
            let Some(place) = tokens.rules.iter().position(|rule| rule.name == *name) else { continue };
            match regular::plain(rest, lookup) {
                Ok(rest) => tokens.rules[place].body = rest,
                Err(regular::Irregular::Empty) => {
                    losses.note(Loss::Unmatched, tokens.rules[place].span.clone());
                    tokens.rules.remove(place);
                }
                Err(_) => {}
            }
        }
        of_modes.retain(|(_, name)| tokens.rules.iter().any(|rule| rule.name == *name));
        of_modes
    }

    /// Has what is skipped in one mode only stand before the tokens of that mode.
    pub(super) fn skip_before(
        &self,
        of_modes: &[(String, String)],
        sources: &IndexMap<String, Vec<&'a RuleText>>,
        tokens: &mut Tokens,
    ) {
        for rule in tokens.rules.iter_mut().filter(|rule| of_modes.iter().any(|(_, name)| *name == rule.name)) {
            rule.annotations = vec![Annotation::new("token", rule.span.clone())];
        }
        for (name, rules) in sources {
            let modes = rules.iter().flat_map(|rule| match self.before(rule).0 {
                entries if entries.is_empty() => vec![&rule.mode],
                entries => entries.into_iter().map(|entry| &entry.mode).collect(),
            });
            let modes: Vec<&String> = modes.collect();
            let skipped = of_modes.iter().filter(|(mode, _)| modes.contains(&mode));
            let skipped: Vec<Expr> = skipped.map(|(_, name)| Expr::Name(name.clone(), rules[0].span.clone())).collect();
            let Some(form) = tokens.forms.get_mut(name).filter(|_| !skipped.is_empty()) else { continue };
            let longer = Expr::Sequence(vec![Expr::repeat(Expr::choice(skipped), 0, None), form.clone()]);
            let plain = std::mem::replace(form, longer.clone());
            tokens.by_text.values_mut().filter(|(_, form)| *form == plain).for_each(|(_, form)| *form = longer.clone());
        }
    }

    /// Those of the candidates that match some same text as what is skipped.
    fn rivals<'e>(
        &'e self,
        skipped: &'e Expr,
        candidates: &[&'a RuleText],
        texts: &[&str],
        bodies: &'e FxHashMap<String, Expr>,
        lookup: &impl Fn(&str) -> Option<&'e Expr>,
    ) -> Vec<Expr> {
        let mut words: Vec<&str> = texts.to_vec();
        let mut rivals = Vec::new();
        let first = self.first(0, skipped);
        for rule in candidates {
            match (self.words.get(rule.name.as_str()), self.bodies.get(&rule.name)) {
                (Some(own), _) => words.extend(own.iter().map(|word| word.text.as_str())),
                (None, Some(own)) => {
                    let own = bodies.get(&rule.name).unwrap_or(own);
                    let disjoint = match (&first, self.first(0, own)) {
                        (Some(first), Some(other)) => first.intersection(&other).is_empty(),
                        _ => false,
                    };
                    if !disjoint && regular::meet(skipped, own, lookup).unwrap_or(false) {
                        rivals.push(own.clone());
                    }
                }
                (None, None) => {}
            }
        }
        let derived = regular::derives(skipped, &words, lookup).unwrap_or_default();
        let derived = words.iter().zip(derived).filter(|(_, derived)| *derived);
        rivals.extend(derived.map(|(word, _)| Expr::Text((*word).to_owned())));
        rivals
    }

    /// The characters that an expression may begin with, if that is easy to tell.
    fn first(&self, depth: u32, expr: &Expr) -> Option<CharSet> {
        if self.is_too_far(depth) {
            return None;
        }
        match expr {
            Expr::Text(text) => Some(CharSet::single(text.chars().next()?.into())),
            Expr::Caseless(text) => {
                Some(CharSet::from_ranges(regular::cases(text.chars().next()?).map(|code| (code, code))))
            }
            Expr::Set(set) => Some(set.clone()),
            Expr::Name(name, _) => self.first(depth + 1, self.bodies.get(name)?),
            Expr::Sequence(parts) => {
                let mut set = CharSet::default();
                for part in parts {
                    set = set.union(&self.first(depth, part)?);
                    if !self.is_nullable(part) {
                        break;
                    }
                }
                Some(set)
            }
            Expr::Choice(parts) => {
                parts.iter().try_fold(CharSet::default(), |set, part| Some(set.union(&self.first(depth, part)?)))
            }
            Expr::Repeat { item: inner, .. } | Expr::Annotated(_, inner) | Expr::Lazy(inner) => {
                self.first(depth, inner)
            }
            Expr::Except(included, ..) => self.first(depth, included),
            Expr::Defect(_) => None,
        }
    }
}
