//! `ByteFallback`: tokens such as `<0x0A>` back to the bytes they stand for.
//!
//! Guarantee: a run of byte tokens becomes one token where its bytes are valid UTF-8 as a whole; one bad byte makes each
//! byte of the run U+FFFD, as in stock.

use super::Tokens;

/// The byte that `token` stands for.
///
/// As in stock, two hexadecimal digits of either case; `<0x+A>` counts as well, since Rust's parser takes the sign.
pub fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}

/// Decodes the runs of byte tokens.
pub(super) fn run(tokens: &Tokens) -> Tokens {
    let mut decoded = Tokens::with_room_of(tokens);
    let mut bytes = Vec::new();
    for piece in tokens.pieces() {
        match byte_of(piece.text()) {
            Some(byte) => bytes.push(byte),
            None => {
                end_run(&mut bytes, &mut decoded);
                decoded.push(piece.text(), piece.is_added());
            }
        }
    }
    end_run(&mut bytes, &mut decoded);
    decoded
}

fn end_run(bytes: &mut Vec<u8>, decoded: &mut Tokens) {
    if bytes.is_empty() {
        return;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => decoded.push(text, false),
        Err(_) => bytes.iter().for_each(|_| decoded.push("\u{fffd}", false)),
    }
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(tokens: &[&str]) -> Vec<String> {
        let tokens = run(&tokens.iter().copied().collect());
        tokens.pieces().map(|piece| piece.text().to_owned()).collect()
    }

    #[test]
    fn a_run_of_bytes_is_one_token() {
        assert_eq!(
            decoded(&["<0xE5>", "<0x8f>", "<0xAb>", "a", "<0x0A>"]),
            ["叫", "a", "\n"]
        );
        assert_eq!(decoded(&[]), [""; 0]);
    }

    #[test]
    fn one_bad_byte_spoils_its_run_and_no_other() {
        let bad = "\u{fffd}";

        assert_eq!(
            decoded(&["<0x61>", "<0xFF>", "x", "<0x61>"]),
            [bad, bad, "x", "a"]
        );
        assert_eq!(decoded(&["<0xE5>", "", "<0x8F>"]), [bad, "", bad]);
    }

    #[test]
    fn what_only_looks_like_a_byte_is_text() {
        let texts = ["<0xG1>", "<0x1>", "<0x123>", "<0xé>", "<0x-1>", "0x41", "<0x41"];

        assert_eq!(decoded(&texts), texts);
        assert_eq!(decoded(&["<0x+A>"]), ["\n"]);
    }
}
