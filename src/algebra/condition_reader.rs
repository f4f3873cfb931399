//! Conditions as text.

use super::condition::{Condition, ConditionError};

/// How deep parentheses and negations may be nested.
const MAX_DEPTH: usize = 200;

pub(super) fn read(text: &str, names: &[&str]) -> Result<Condition, ConditionError> {
    let mut reader = Reader { text, names, at: 0, depth: 0 };
    let condition = reader.choice()?;
    match reader.word() {
        "" => Ok(condition),
        word => Err(reader.wrong(reader.at, format!("`{word}` cannot stand here: expected `&`, `|`, `^` or the end"))),
    }
}

struct Reader<'t> {
    text: &'t str,
    names: &'t [&'t str],
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn wrong(&self, at: usize, message: String) -> ConditionError {
        ConditionError { text: self.text.to_owned(), at: at.min(self.text.len()), message }
    }

    /// The next word or sign, which is not taken; empty at the end.
    fn word(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let in_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        match rest.chars().next() {
            Some(first) if end == 0 => &rest[..first.len_utf8()],
            _ => &rest[..end],
        }
    }

    fn take(&mut self, words: &[&str]) -> bool {
        let word = self.word();
        let found = !word.is_empty() && words.contains(&word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn choice(&mut self) -> Result<Condition, ConditionError> {
        let mut all = self.exclusive()?;
        while self.take(&["|", "or"]) {
            self.take(&["|"]);
            all = Condition::Or(Box::new(all), Box::new(self.exclusive()?));
        }
        Ok(all)
    }

    fn exclusive(&mut self) -> Result<Condition, ConditionError> {
        let mut all = self.both()?;
        while self.take(&["^", "xor"]) {
            all = Condition::Xor(Box::new(all), Box::new(self.both()?));
        }
        Ok(all)
    }

    fn both(&mut self) -> Result<Condition, ConditionError> {
        let mut all = self.one()?;
        while self.take(&["&", "and"]) {
            self.take(&["&"]);
            all = all.and(self.one()?);
        }
        Ok(all)
    }

    fn one(&mut self) -> Result<Condition, ConditionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong(self.at, "it is nested too deeply".to_owned()));
        }
        let found = if self.take(&["!", "not"]) {
            self.one()?.negated()
        } else if self.take(&["("]) {
            let inner = self.choice()?;
            if !self.take(&[")"]) {
                self.word();
                return Err(self.wrong(self.at, "expected `)`".to_owned()));
            }
            inner
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn atom(&mut self) -> Result<Condition, ConditionError> {
        let count = |min, max| move |pattern| Condition::Count { pattern, min, max };
        if self.take(&["exactly"]) {
            let number = self.number()?;
            return Ok(count(number, Some(number))(self.name()?));
        }
        if self.take(&["at"]) {
            let most = self.take(&["most"]);
            if !most && !self.take(&["least"]) {
                self.word();
                return Err(self.wrong(self.at, "expected `least` or `most`".to_owned()));
            }
            let number = self.number()?;
            let (min, max) = if most { (0, Some(number)) } else { (number, None) };
            return Ok(count(min, max)(self.name()?));
        }
        let pattern = self.name()?;
        if self.take(&["inside"]) {
            return Ok(Condition::Inside(pattern, self.name()?));
        }
        if self.take(&["before"]) {
            return Ok(Condition::Before(pattern, self.name()?));
        }
        Ok(Condition::contains(pattern))
    }

    /// A count; they are kept in a byte.
    fn number(&mut self) -> Result<u32, ConditionError> {
        let word = self.word();
        let number = word.parse::<u32>().ok().filter(|number| *number <= 100);
        let number = number.ok_or_else(|| self.wrong(self.at, "expected a number from 0 to 100".to_owned()))?;
        self.at += word.len();
        Ok(number)
    }

    fn name(&mut self) -> Result<usize, ConditionError> {
        let word = self.word();
        let found = self.names.iter().position(|name| *name == word).ok_or_else(|| {
            let known = self.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let what = if word.is_empty() { "the end".to_owned() } else { format!("`{word}`") };
            self.wrong(self.at, format!("expected a pattern ({known}), found {what}"))
        })?;
        self.at += word.len();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(text: &str) -> String {
        read(text, &["A", "B", "R-3"]).unwrap().to_string()
    }

    #[test]
    fn operators_bind_as_said() {
        assert_eq!(shown("A & !B | B ^ A"), "((P0 & !(P1)) | (P1 ^ P0))");
        assert_eq!(shown("not (A or B) and R-3"), "(!((P0 | P1)) & P2)");
        assert_eq!(
            shown("exactly 2 A && at most 1 B || at least 3 R-3"),
            "((exactly 2 P0 & at most 1 P1) | at least 3 P2)"
        );
        assert_eq!(shown("A inside B & B before A"), "(P0 inside P1 & P1 before P0)");
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        let wrong = |text: &str| {
            let error = read(text, &["A"]).unwrap_err();
            (error.at, error.message.clone())
        };
        assert_eq!(wrong("A & C").0, 4);
        assert!(wrong("A & C").1.contains("`A`"));
        assert_eq!(wrong("A A"), (2, "`A` cannot stand here: expected `&`, `|`, `^` or the end".to_owned()));
        assert_eq!(wrong("(A"), (2, "expected `)`".to_owned()));
        assert_eq!(wrong("exactly A").0, 8);
        assert_eq!(wrong("at A").1, "expected `least` or `most`");
        assert_eq!(wrong(""), (0, "expected a pattern (`A`), found the end".to_owned()));
        assert!(read(&"!".repeat(10_000), &["A"]).is_err());
        assert_eq!(wrong(&"(".repeat(10_000)).1, "it is nested too deeply");
        assert!(read("A & ä", &["A"]).unwrap_err().to_string().ends_with("A & ä\n      ^"));
    }
}
