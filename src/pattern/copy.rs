//! Texts that follow from another: a name in quotes, an end tag, a name in capitals.

/// How the letters of a copy are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Case {
    /// As they are.
    #[default]
    Kept,
    /// In capitals.
    Upper,
    /// In small letters.
    Lower,
}

impl Case {
    pub(super) fn label(self) -> Option<&'static str> {
        match self {
            Case::Kept => None,
            Case::Upper => Some("upper case"),
            Case::Lower => Some("lower case"),
        }
    }

    fn of(self, text: &[u8]) -> Vec<u8> {
        match self {
            Case::Kept => text.to_vec(),
            Case::Upper => text.to_ascii_uppercase(),
            Case::Lower => text.to_ascii_lowercase(),
        }
    }
}

/// How the text at a member of a group follows from the group's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// What stands before it: a quote, `</`.
    pub before: Vec<u8>,
    /// How its letters are written.
    pub case: Case,
    /// What stands behind it.
    pub after: Vec<u8>,
}

impl Copy {
    /// How `text` follows from `base`, if it is a copy of it with nothing but marks around it.
    pub fn between(base: &[u8], text: &[u8]) -> Option<Copy> {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        let cases = [Case::Kept, Case::Upper, Case::Lower];
        let at = |case: Case| {
            let wanted = case.of(base);
            let at = text.windows(wanted.len().max(1)).position(|window| window == wanted)?;
            let (before, after) = (&text[..at], &text[at + wanted.len()..]);
            let marks = !before.iter().chain(after).any(word);
            marks.then(|| Copy { before: before.to_vec(), case, after: after.to_vec() })
        };
        cases.into_iter().find_map(at)
    }

    /// The copy of a text.
    pub fn of(&self, base: &[u8]) -> Vec<u8> {
        [self.before.as_slice(), &self.case.of(base), &self.after].concat()
    }

    /// The text that a copy is of, if it can be told: letters that were changed cannot be changed back.
    pub fn base(&self, copy: &[u8]) -> Option<Vec<u8>> {
        let inner = copy.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        (self.case == Case::Kept && !inner.is_empty()).then(|| inner.to_vec())
    }

    /// Whether it is the text itself.
    pub fn is_plain(&self) -> bool {
        *self == Copy::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_undo_what_was_found() {
        for (base, text) in [("ab", "ab"), ("ab", "'ab'"), ("b", "</b>"), ("ab", "AB"), ("Ab", "\"ab\"")] {
            let copy = Copy::between(base.as_bytes(), text.as_bytes()).expect("a copy");
            assert_eq!(copy.of(base.as_bytes()), text.as_bytes());
        }
        assert_eq!(Copy::between(b"ab", b"cab"), None);
    }
}
