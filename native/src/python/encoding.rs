//! `Encoding`: the columns of a text as Python lists, made when they are asked for.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::Result;
use crate::encoding::{Encoding, NoSpelling, Side, Spell};

/// Knows the token texts of an encoding: the tokenizer that made it.
pub type Speller = Arc<dyn Spell + Send + Sync>;

/// One window of one text (or pair).
#[pyclass(frozen, name = "Encoding", module = "hf_bpe._native")]
pub struct PyEncoding {
    encoding: Encoding,
    speller: Speller,
}

impl PyEncoding {
    /// Wraps `encoding`, whose token texts `speller` knows.
    pub fn new(encoding: Encoding, speller: Speller) -> Self {
        Self { encoding, speller }
    }

    /// The text of each token.
    pub fn token_texts(&self) -> Vec<String> {
        texts(&self.encoding, &*self.speller)
    }
}

#[pymethods]
impl PyEncoding {
    #[getter]
    fn ids(&self) -> &[u32] {
        &self.encoding.ids
    }

    #[getter]
    fn tokens(&self) -> Vec<String> {
        self.token_texts()
    }

    #[getter]
    fn offsets(&self) -> &[(usize, usize)] {
        &self.encoding.offsets
    }

    #[getter]
    fn word_ids(&self) -> &[Option<u32>] {
        &self.encoding.words
    }

    #[getter]
    fn words(&self) -> &[Option<u32>] {
        &self.encoding.words
    }

    #[getter]
    fn sequence_ids(&self) -> Vec<Option<usize>> {
        self.encoding.sequence_ids()
    }

    #[getter]
    fn type_ids(&self) -> &[u32] {
        &self.encoding.type_ids
    }

    #[getter]
    fn special_tokens_mask(&self) -> &[u32] {
        &self.encoding.special_tokens_mask
    }

    #[getter]
    fn attention_mask(&self) -> &[u32] {
        &self.encoding.attention_mask
    }

    #[getter]
    fn overflowing(&self) -> Vec<PyEncoding> {
        let windows = self.encoding.overflowing.iter().cloned();
        windows
            .map(|window| Self::new(window, Arc::clone(&self.speller)))
            .collect()
    }

    #[getter]
    fn n_sequences(&self) -> usize {
        self.encoding.n_sequences()
    }

    fn token_to_sequence(&self, token_index: usize) -> Option<usize> {
        self.encoding.token_to_sequence(token_index)
    }

    fn token_to_chars(&self, token_index: usize) -> Option<(usize, usize)> {
        self.encoding.token_to_chars(token_index).map(|(_, chars)| chars)
    }

    fn token_to_word(&self, token_index: usize) -> Option<u32> {
        self.encoding.token_to_word(token_index).map(|(_, word)| word)
    }

    #[pyo3(signature = (char_pos, sequence_index = 0))]
    fn char_to_token(&self, char_pos: usize, sequence_index: usize) -> Option<usize> {
        self.encoding.char_to_token(char_pos, sequence_index)
    }

    #[pyo3(signature = (char_pos, sequence_index = 0))]
    fn char_to_word(&self, char_pos: usize, sequence_index: usize) -> Option<u32> {
        self.encoding.char_to_word(char_pos, sequence_index)
    }

    #[pyo3(signature = (word_index, sequence_index = 0))]
    fn word_to_tokens(&self, word_index: u32, sequence_index: usize) -> Option<(usize, usize)> {
        self.encoding.word_to_tokens(word_index, sequence_index)
    }

    #[pyo3(signature = (word_index, sequence_index = 0))]
    fn word_to_chars(&self, word_index: u32, sequence_index: usize) -> Option<(usize, usize)> {
        self.encoding.word_to_chars(word_index, sequence_index)
    }

    #[pyo3(signature = (length, *, pad_id, pad_type_id, pad_token, side))]
    fn pad(
        &self,
        length: usize,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &str,
        side: &str,
    ) -> PyResult<PyEncoding> {
        let side = match side {
            "left" => Side::Left,
            "right" => Side::Right,
            other => {
                return Err(PyValueError::new_err(format!(
                    "side must be 'left' or 'right', got '{other}'"
                )));
            }
        };
        let mut padded = self.encoding.clone();
        padded.pad(length, pad_id, pad_type_id, &pad_token.into(), side)?;
        Ok(Self::new(padded, Arc::clone(&self.speller)))
    }

    fn __len__(&self) -> usize {
        self.encoding.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "Encoding(num_tokens={}, attributes=[ids, type_ids, tokens, offsets, attention_mask, \
             special_tokens_mask, overflowing])",
            self.encoding.len()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (State,))> {
        let rebuild = py.import("hf_bpe._native")?.getattr("_rebuild_encoding")?;
        Ok((rebuild, (State::new(&self.encoding, &*self.speller),)))
    }
}

fn texts(encoding: &Encoding, speller: &dyn Spell) -> Vec<String> {
    let texts = (0..encoding.len()).map(|index| encoding.token(index, speller));
    texts.map(|text| text.unwrap_or_default().into_owned()).collect()
}

/// What a pickle holds: the columns with all token texts, so that it needs no tokenizer.
#[derive(FromPyObject, IntoPyObject)]
pub struct State(
    Vec<u32>,
    Vec<u32>,
    Vec<String>,
    Vec<Option<u32>>,
    /// The starts and ends of the offsets in turn.
    Vec<usize>,
    Vec<u32>,
    Vec<u32>,
    Vec<State>,
    /// Sequence, start, end.
    Vec<(usize, usize, usize)>,
);

impl State {
    fn new(encoding: &Encoding, speller: &dyn Spell) -> Self {
        let ranges = encoding.sequence_ranges.iter();
        Self(
            encoding.ids.clone(),
            encoding.type_ids.clone(),
            texts(encoding, speller),
            encoding.words.clone(),
            encoding
                .offsets
                .iter()
                .flat_map(|&(start, end)| [start, end])
                .collect(),
            encoding.special_tokens_mask.clone(),
            encoding.attention_mask.clone(),
            encoding
                .overflowing
                .iter()
                .map(|window| Self::new(window, speller))
                .collect(),
            ranges
                .map(|(&sequence, range)| (sequence, range.start, range.end))
                .collect(),
        )
    }

    fn restore(self) -> Result<Encoding> {
        let Self(ids, type_ids, texts, words, offsets, special_tokens_mask, attention_mask, windows, ranges) =
            self;
        Encoding {
            ids,
            type_ids,
            spellings: texts.into_iter().map(|text| Some(text.into())).collect(),
            words,
            offsets: offsets
                .as_chunks()
                .0
                .iter()
                .map(|&[start, end]| (start, end))
                .collect(),
            special_tokens_mask,
            attention_mask,
            overflowing: windows.into_iter().map(Self::restore).collect::<Result<_>>()?,
            sequence_ranges: ranges
                .into_iter()
                .map(|(sequence, start, end)| (sequence, start..end))
                .collect(),
        }
        .checked()
    }
}

/// Makes an encoding of what `__reduce__` gave.
#[pyfunction(name = "_rebuild_encoding")]
pub fn rebuild_encoding(state: State) -> PyResult<PyEncoding> {
    Ok(PyEncoding::new(state.restore()?, Arc::new(NoSpelling)))
}
