//! `ByteLevel`: each byte as its character of the byte alphabet.

use super::changes::{Changes, spread};
use crate::byte_alphabet::char_of;

/// Whether each byte of `text` is its own stand-in: ASCII without spaces and controls.
pub(super) fn keeps(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Tells `changes` the stand-ins of `text`.
pub(super) fn rewrite(text: &str, changes: &mut impl Changes) {
    for char in text.chars() {
        spread(char.encode_utf8(&mut [0; 4]).bytes().map(char_of), changes);
    }
}
