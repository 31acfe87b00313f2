//! What a caller gives to be encoded: a text or its words, perhaps a second, perhaps a truncation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::text::{Text, wrong_type};
use crate::encoding::{Encoding, Side};
use crate::tokenizer::{Input, Sequence};
use crate::truncation::{Strategy, Truncation};

/// A text or a pair, read from Python objects that stay alive.
pub struct Given<'a> {
    first: GivenSequence<'a>,
    second: Option<GivenSequence<'a>>,
}

enum GivenSequence<'a> {
    Text(Text<'a>),
    Words(Vec<Text<'a>>),
}

impl<'a> Given<'a> {
    /// Reads a text (or list of words) and the second of a pair.
    pub fn new(first: &'a Bound<'_, PyAny>, second: Option<&'a Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Self {
            first: GivenSequence::new(first)?,
            second: second.map(GivenSequence::new).transpose()?,
        })
    }

    /// The input for the core.
    pub fn input(&self) -> Input<'_> {
        (
            self.first.sequence(),
            self.second.as_ref().map(GivenSequence::sequence),
        )
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.first.size() + self.second.as_ref().map_or(0, GivenSequence::size)
    }

    /// Moves offsets to positions of the `str` that was given, which may have held surrogates.
    pub fn restore(&self, mut encoding: Encoding) -> Encoding {
        let sequences = [Some(&self.first), self.second.as_ref()];
        if sequences.iter().flatten().any(|sequence| sequence.moves()) {
            restore(&mut encoding, sequences);
        }
        encoding
    }
}

fn restore(encoding: &mut Encoding, sequences: [Option<&GivenSequence>; 2]) {
    for token in 0..encoding.len() {
        let sequence = encoding
            .token_to_sequence(token)
            .and_then(|number| *sequences.get(number)?);
        let text = match sequence {
            Some(GivenSequence::Text(text)) => Some(text),
            Some(GivenSequence::Words(words)) => {
                encoding.words[token].and_then(|word| words.get(word as usize))
            }
            None => None,
        };
        if let Some(text) = text
            && encoding.special_tokens_mask[token] == 0
        {
            text.restore(&mut encoding.offsets[token]);
        }
    }
    encoding
        .overflowing
        .iter_mut()
        .for_each(|window| restore(window, sequences));
}

impl<'a> GivenSequence<'a> {
    fn new(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return Ok(Self::Text(Text::new(object, "text")?));
        }
        let words = object
            .try_iter()
            .map_err(|_| wrong_type(object, "text, or each of its words,"))?;
        let words = words.collect::<PyResult<Vec<_>>>()?;
        let words = words
            .iter()
            .map(|word| Ok(Text::new(word, "a word")?.into_owned()));
        Ok(Self::Words(words.collect::<PyResult<_>>()?))
    }

    fn sequence(&self) -> Sequence<'_> {
        match self {
            Self::Text(text) => Sequence::Text(text.as_str()),
            Self::Words(words) => Sequence::Words(words.iter().map(Text::as_str).collect()),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::Words(words) => words.iter().map(|word| word.as_str().len()).sum(),
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::Text(text) => text.moves(),
            Self::Words(words) => words.iter().any(Text::moves),
        }
    }
}

/// Reads `(max_length, stride, strategy, side)`.
pub fn read_truncation(given: (usize, usize, String, String)) -> PyResult<Truncation> {
    let (max_length, stride, strategy, side) = given;
    let strategy = match strategy.as_str() {
        "longest_first" => Strategy::LongestFirst,
        "only_first" => Strategy::OnlyFirst,
        "only_second" => Strategy::OnlySecond,
        other => {
            return Err(PyValueError::new_err(format!(
                "truncation strategy is '{other}'; it can be 'longest_first', 'only_first' or 'only_second'"
            )));
        }
    };
    Ok(Truncation {
        max_length,
        stride,
        strategy,
        side: read_side(&side)?,
    })
}

/// Reads `"left"` or `"right"`.
pub fn read_side(side: &str) -> PyResult<Side> {
    match side {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        other => Err(PyValueError::new_err(format!(
            "side is '{other}'; it can be 'left' or 'right'"
        ))),
    }
}
