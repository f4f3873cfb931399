//! Characters as numbers: Unicode scalar values, and bytes that are no text.

/// A character of an input: a Unicode scalar value, or [`RAW`]` + b` for a byte `b` that is not part of valid UTF-8.
///
/// Text that is not UTF-8 is data, not an error: such bytes are characters of their own, members of every negated set.
pub type Code = u32;

/// Where raw bytes lie in the space of [`Code`]s: just above the last scalar value.
pub const RAW: Code = 0x11_0000;

/// The greatest code there is.
pub const MAX: Code = RAW + 0xFF;

/// The codes of `bytes`, each with the offset of its first byte.
pub fn decode(bytes: &[u8]) -> impl Iterator<Item = (usize, Code)> + '_ {
    let mut at = 0;
    bytes.utf8_chunks().flat_map(move |chunk| {
        let start = at;
        let raw_start = start + chunk.valid().len();
        at = raw_start + chunk.invalid().len();
        let scalars = chunk.valid().char_indices().map(move |(offset, c)| (start + offset, Code::from(c)));
        let raw = chunk.invalid().iter().enumerate().map(move |(i, b)| (raw_start + i, RAW + Code::from(*b)));
        scalars.chain(raw)
    })
}

/// Appends the bytes of `code`. Codes that are no character (surrogates) add nothing.
pub fn encode(code: Code, out: &mut Vec<u8>) {
    if code >= RAW {
        out.push((code - RAW) as u8);
    } else if let Some(c) = char::from_u32(code) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_string_survives() {
        for bytes in [&b"plain"[..], "é\u{10FFFF}".as_bytes(), b"\xFF\xC3", b"a\xE2\x82b", b""] {
            let mut out = Vec::new();
            for (offset, code) in decode(bytes) {
                assert_eq!(offset, out.len());
                encode(code, &mut out);
            }
            assert_eq!(out, bytes);
        }
    }
}
