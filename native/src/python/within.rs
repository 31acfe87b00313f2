//! Texts of several writers: positions of a `str` to bytes of a text, and back.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::text::Text;
use crate::added_tokens::{Part, Within};
use crate::tokenizer::Tokenizer;

/// `start, end, list`: positions in the `str`, and which list of tokens may be found there, if not all may.
pub type GivenPart = (usize, usize, Option<usize>);

/// Reads where added tokens may be found.
pub fn read_within(
    core: &Tokenizer,
    text: &Text,
    parts: &[GivenPart],
    lists: &[Vec<String>],
    start: usize,
) -> PyResult<Within> {
    let ends = parts.iter().flat_map(|&(start, end, _)| [start, end]);
    let bytes = bytes_of(text, ends)?;
    let start = bytes_of(text, [start].into_iter())?[0];
    let parts = parts.iter().zip(bytes.chunks_exact(2));
    let parts = parts.map(|(&(_, _, list), bytes)| Part {
        range: bytes[0]..bytes[1],
        list,
    });
    Ok(core
        .added_tokens()
        .within(text.as_str(), parts.collect(), lists, start)?)
}

/// The bytes at which positions of the `str`, which ascend, lie in its text.
fn bytes_of(text: &Text, positions: impl Iterator<Item = usize>) -> PyResult<Vec<usize>> {
    let whole = text.as_str();
    let is_ascii = whole.is_ascii();
    let (mut char, mut byte) = (0, 0);
    let bytes = positions.map(|position| {
        let wanted = text.character(position);
        let skipped = wanted.checked_sub(char)?;
        byte = if is_ascii {
            wanted
        } else {
            byte + byte_of(&whole[byte..], skipped)?
        };
        char = wanted;
        (byte <= whole.len()).then_some(byte)
    });
    let bytes: Option<Vec<_>> = bytes.collect();
    bytes.ok_or_else(|| {
        PyValueError::new_err(
            "positions of parts must ascend and end with the text: each is (start, end, list)",
        )
    })
}

/// Where the character number `wanted` of `text` begins, or its end.
fn byte_of(text: &str, wanted: usize) -> Option<usize> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.chain([text.len()]).nth(wanted)
}

/// Moves ranges of bytes of the text to positions of the `str`; fast where they ascend.
pub fn positions_of<'a>(text: &Text, ranges: impl Iterator<Item = &'a Range<usize>>) -> Vec<(usize, usize)> {
    let whole = text.as_str();
    let is_ascii = whole.is_ascii();
    let count = |range: Range<usize>| {
        if is_ascii {
            range.len()
        } else {
            whole.get(range).map_or(0, |part| part.chars().count())
        }
    };
    let (mut char, mut byte) = (0, 0);
    let ranges = ranges.map(|range| {
        if range.start < byte {
            (char, byte) = (0, 0);
        }
        char += count(byte..range.start);
        byte = range.start;
        let mut positions = (char, char + count(range.clone()));
        text.restore(&mut positions);
        positions
    });
    ranges.collect()
}
