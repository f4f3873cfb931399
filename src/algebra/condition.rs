//! Conditions on how often patterns occur in an input, and how their occurrences lie to each other.

use super::condition_reader;
use std::fmt;

/// Something that is counted, or seen, in a derivation tree. Patterns are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// How often the pattern occurs.
    Count(usize),
    /// Whether the first occurs somewhere below an occurrence of the second.
    Inside(usize, usize),
    /// Whether an occurrence of the first ends before one of the second begins.
    Before(usize, usize),
}

/// A condition that an input's tree meets or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The pattern occurs at least and at most so often; without an upper bound, any number of times more.
    Count {
        /// The pattern's number.
        pattern: usize,
        /// The least number of occurrences.
        min: u32,
        /// The greatest.
        max: Option<u32>,
    },
    /// The first pattern occurs inside of the second.
    Inside(usize, usize),
    /// The first pattern occurs before the second.
    Before(usize, usize),
    /// It does not hold.
    Not(Box<Condition>),
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// One of them holds, or both.
    Or(Box<Condition>, Box<Condition>),
    /// One of them holds, and not both.
    Xor(Box<Condition>, Box<Condition>),
}

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the condition cannot be read: {message}\n  {text}\n  {space}^", space = " ".repeat(text[..*at].chars().count()))]
pub struct ConditionError {
    /// The whole condition.
    pub text: String,
    /// The byte at which it goes wrong.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl Condition {
    /// Reads a condition: `A & !B`, `exactly 2 A | at most 1 B`, `(A inside B) ^ (A before B)`; `and`, `or`, `xor`, `not` will do
    /// as well. Of the operators `!` binds tightest, then `&`, `^`, `|`.
    ///
    /// # Errors
    /// When it is no condition, or names a pattern that is not there.
    pub fn read(text: &str, names: &[&str]) -> Result<Condition, ConditionError> {
        condition_reader::read(text, names)
    }

    /// That a pattern occurs.
    pub fn contains(pattern: usize) -> Condition {
        Condition::Count { pattern, min: 1, max: None }
    }

    /// That this one holds and the other too.
    #[must_use]
    pub fn and(self, other: Condition) -> Condition {
        Condition::And(Box::new(self), Box::new(other))
    }

    /// That it does not hold.
    #[must_use]
    pub fn negated(self) -> Condition {
        Condition::Not(Box::new(self))
    }

    /// Whether it holds where the features have these values. Counts must be exact up to [`Condition::cap`], and above it at
    /// least that.
    pub fn holds(&self, value: &impl Fn(Feature) -> u32) -> bool {
        match self {
            Condition::Count { pattern, min, max } => {
                let count = value(Feature::Count(*pattern));
                count >= *min && max.is_none_or(|max| count <= max)
            }
            Condition::Inside(inner, outer) => value(Feature::Inside(*inner, *outer)) > 0,
            Condition::Before(first, second) => value(Feature::Before(*first, *second)) > 0,
            Condition::Not(of) => !of.holds(value),
            Condition::And(a, b) => a.holds(value) && b.holds(value),
            Condition::Or(a, b) => a.holds(value) || b.holds(value),
            Condition::Xor(a, b) => a.holds(value) != b.holds(value),
        }
    }

    /// What it asks for, each once.
    pub fn features(&self) -> Vec<Feature> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(condition) = open.pop() {
            let feature = match condition {
                Condition::Count { pattern, .. } => Feature::Count(*pattern),
                Condition::Inside(inner, outer) => Feature::Inside(*inner, *outer),
                Condition::Before(first, second) => Feature::Before(*first, *second),
                Condition::Not(of) => {
                    open.push(of);
                    continue;
                }
                Condition::And(a, b) | Condition::Or(a, b) | Condition::Xor(a, b) => {
                    open.extend([&**b, &**a]);
                    continue;
                }
            };
            if !found.contains(&feature) {
                found.push(feature);
            }
        }
        found
    }

    /// Up to where a feature must be counted: greater counts need not be told apart.
    pub fn cap(&self, feature: Feature) -> u32 {
        let mut cap = 1;
        let mut open = vec![self];
        while let Some(condition) = open.pop() {
            match condition {
                Condition::Count { pattern, min, max } if Feature::Count(*pattern) == feature => {
                    cap = cap.max(*min).max(max.map_or(0, |max| max + 1));
                }
                Condition::Not(of) => open.push(of),
                Condition::And(a, b) | Condition::Or(a, b) | Condition::Xor(a, b) => open.extend([&**a, &**b]),
                Condition::Count { .. } | Condition::Inside(..) | Condition::Before(..) => {}
            }
        }
        cap
    }

    /// What must hold at least where this does, if nothing is known of the patterns that `vague` names but where their shapes
    /// are: a pattern with equal parts occurs only where its shape does, and need not occur there.
    #[must_use]
    pub fn loosened(&self, vague: &impl Fn(usize) -> bool) -> Condition {
        self.bound(vague, true).unwrap_or(Condition::Count { pattern: 0, min: 0, max: None })
    }

    /// A condition on shapes that holds wherever this one does (`above`), or only where it does. `None` is true for the first and
    /// false for the second.
    fn bound(&self, vague: &impl Fn(usize) -> bool, above: bool) -> Option<Condition> {
        let pair = |a: &Condition, b: &Condition| (a.bound(vague, above), b.bound(vague, above));
        match self {
            Condition::Count { pattern, min, max } if vague(*pattern) => {
                // Its shape occurs at least as often as it does.
                (above && *min > 0).then_some(Condition::Count { pattern: *pattern, min: *min, max: None }).or_else(
                    || {
                        (!above && *min == 0).then_some(()).and(max.map(|max| Condition::Count {
                            pattern: *pattern,
                            min: 0,
                            max: Some(max),
                        }))
                    },
                )
            }
            Condition::Inside(a, b) | Condition::Before(a, b) if vague(*a) || vague(*b) => above.then(|| self.clone()),
            Condition::Count { .. } | Condition::Inside(..) | Condition::Before(..) => Some(self.clone()),
            Condition::Not(of) => of.bound(vague, !above).map(Condition::negated),
            Condition::And(a, b) => match (pair(a, b), above) {
                ((Some(a), Some(b)), _) => Some(a.and(b)),
                ((Some(one), None) | (None, Some(one)), true) => Some(one),
                _ => None,
            },
            Condition::Or(a, b) => match (pair(a, b), above) {
                ((Some(a), Some(b)), _) => Some(Condition::Or(Box::new(a), Box::new(b))),
                ((Some(one), None) | (None, Some(one)), false) => Some(one),
                _ => None,
            },
            Condition::Xor(a, b) => {
                let exactly = |not: &Condition, other: &Condition| other.clone().and(not.clone().negated());
                Condition::Or(Box::new(exactly(a, b)), Box::new(exactly(b, a))).bound(vague, above)
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Count { pattern, min: 1, max: None } => write!(f, "P{pattern}"),
            Condition::Count { pattern, min, max: None } => write!(f, "at least {min} P{pattern}"),
            Condition::Count { pattern, min, max: Some(max) } if min == max => write!(f, "exactly {min} P{pattern}"),
            Condition::Count { pattern, min: 0, max: Some(max) } => write!(f, "at most {max} P{pattern}"),
            Condition::Count { pattern, min, max: Some(max) } => {
                write!(f, "(at least {min} P{pattern} & at most {max} P{pattern})")
            }
            Condition::Inside(inner, outer) => write!(f, "P{inner} inside P{outer}"),
            Condition::Before(first, second) => write!(f, "P{first} before P{second}"),
            Condition::Not(of) => write!(f, "!({of})"),
            Condition::And(a, b) => write!(f, "({a} & {b})"),
            Condition::Or(a, b) => write!(f, "({a} | {b})"),
            Condition::Xor(a, b) => write!(f, "({a} ^ {b})"),
        }
    }
}
