//! GPT-2's byte alphabet: one printable stand-in character for each byte, so that a space is `Ġ`.
//!
//! Bytes that print in Latin-1 stand for themselves; the other 68 get the code points from U+0100 up, in order.

use std::sync::LazyLock;

static CHARS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut next = 0x100;
    std::array::from_fn(|byte| {
        if prints(byte as u8) {
            return byte as u8 as char;
        }
        next += 1;
        char::from_u32(next - 1).expect("the stand-ins lie below U+0144")
    })
});

static BYTES: LazyLock<Vec<Option<u8>>> = LazyLock::new(|| {
    let mut bytes = vec![None; 0x144];
    for byte in 0..=255 {
        bytes[char_of(byte) as usize] = Some(byte);
    }
    bytes
});

fn prints(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff)
}

/// The stand-in character of `byte`.
pub fn char_of(byte: u8) -> char {
    CHARS[byte as usize]
}

/// The byte that `char` stands for.
pub fn byte_of(char: char) -> Option<u8> {
    BYTES.get(char as usize).copied().flatten()
}

/// Appends the bytes that `token` stands for. Returns false, and appends nothing, where a character lies outside
/// the alphabet.
pub fn extend_with_bytes(token: &str, bytes: &mut Vec<u8>) -> bool {
    let before = bytes.len();
    for char in token.chars() {
        let Some(byte) = byte_of(char) else {
            bytes.truncate(before);
            return false;
        };
        bytes.push(byte);
    }
    true
}

/// The way a byte-level vocabulary writes `bytes`.
pub fn bytes_to_token(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char_of(byte)).collect()
}

/// The bytes that `token` stands for, unless a character lies outside the alphabet.
pub fn token_to_bytes(token: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(token.len());
    extend_with_bytes(token, &mut bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character() {
        let all: Vec<u8> = (0..=255).collect();

        assert_eq!(token_to_bytes(&bytes_to_token(&all)), Some(all));
        assert_eq!(bytes_to_token(b" the\n"), "ĠtheĊ");
        assert_eq!(token_to_bytes("the cat"), None);
    }
}
