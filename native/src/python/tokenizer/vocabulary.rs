//! What is known of tokens and ids, and of those that are added.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::PyTokenizer;
use crate::Error;
use crate::added_tokens::AddedToken;
use crate::python::ids::{id_from, ids_from};
use crate::python::text::Text;
use crate::vocab::TokenId;

/// `content, special, normalized, single_word, lstrip, rstrip`.
type Flags = (String, bool, bool, bool, bool, bool);

#[pymethods]
impl PyTokenizer {
    fn with_added_tokens(&self, py: Python<'_>, tokens: Vec<Flags>) -> PyResult<(Self, usize)> {
        let tokens = tokens
            .into_iter()
            .map(
                |(content, special, normalized, single_word, lstrip, rstrip)| AddedToken {
                    content,
                    special,
                    normalized,
                    single_word,
                    lstrip,
                    rstrip,
                },
            );
        let tokens = tokens.collect();
        let (core, added) = py.detach(|| self.core.with_added_tokens(tokens))?;
        Ok((core.into(), added))
    }

    fn added_tokens(&self) -> Vec<(TokenId, Flags)> {
        let flags = |token: &AddedToken| {
            let AddedToken {
                content,
                special,
                normalized,
                single_word,
                lstrip,
                rstrip,
            } = token.clone();
            (content, special, normalized, single_word, lstrip, rstrip)
        };
        self.core
            .added_tokens()
            .iter()
            .map(|(id, token)| (id, flags(token)))
            .collect()
    }

    /// The number of characters of the longest added token.
    #[getter]
    fn longest_added_token(&self) -> usize {
        self.core.added_tokens().longest()
    }

    fn warnings(&self) -> Vec<String> {
        self.core.warnings()
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.core.bpe().vocab.len()
    }

    #[getter]
    fn max_id(&self) -> i64 {
        self.core.max_id().map_or(-1, i64::from)
    }

    #[getter]
    fn is_byte_level(&self) -> bool {
        self.core.is_byte_level()
    }

    #[getter]
    fn unk_token(&self) -> Option<&str> {
        self.core.bpe().settings.unk_token.as_deref()
    }

    /// The settings of the model by their names in `tokenizer.json`.
    fn model_settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = &self.core.bpe().settings;
        let dict = PyDict::new(py);
        dict.set_item("dropout", self.core.bpe().dropout())?;
        dict.set_item("unk_token", &settings.unk_token)?;
        dict.set_item("continuing_subword_prefix", &settings.continuing_subword_prefix)?;
        dict.set_item("end_of_word_suffix", &settings.end_of_word_suffix)?;
        dict.set_item("fuse_unk", settings.fuse_unk)?;
        dict.set_item("byte_fallback", settings.byte_fallback)?;
        dict.set_item("ignore_merges", settings.ignore_merges)?;
        Ok(dict)
    }

    #[pyo3(signature = (*, with_added_tokens = true))]
    fn get_vocab<'py>(&self, py: Python<'py>, with_added_tokens: bool) -> PyResult<Bound<'py, PyDict>> {
        let vocab = PyDict::new(py);
        for (token, id) in self.core.bpe().vocab.iter() {
            vocab.set_item(token, id)?;
        }
        if with_added_tokens {
            for (id, token) in self.core.added_tokens().iter() {
                vocab.set_item(&token.content, id)?;
            }
        }
        Ok(vocab)
    }

    fn merges(&self) -> Vec<(&str, &str)> {
        let bpe = self.core.bpe();
        let text = |id| bpe.vocab.token(id).unwrap_or_default();
        let pairs = bpe.merges.pairs().into_iter();
        pairs.map(|(left, right)| (text(left), text(right))).collect()
    }

    fn token_to_id(&self, token: &Bound<'_, PyAny>) -> PyResult<Option<TokenId>> {
        Ok(self.core.token_to_id(Text::new(token, "token")?.as_str()))
    }

    fn id_to_token(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<&str>> {
        Ok(self.core.id_to_token(id_from(id)?))
    }

    fn tokens_to_ids(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Option<TokenId>>> {
        tokens.iter().map(|token| self.token_to_id(token)).collect()
    }

    fn ids_to_tokens(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<Option<&str>>> {
        let ids = ids_from(ids)?;
        Ok(ids.into_iter().map(|id| self.core.id_to_token(id)).collect())
    }

    fn get_token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = id_from(id)?;
        let bytes = self.core.token_bytes(id)?;
        let bytes = bytes.ok_or_else(|| Error::UnknownToken(format!("id {id} has no token")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (*, pair = false))]
    fn num_special_tokens_to_add(&self, pair: bool) -> usize {
        self.core
            .post_processor()
            .map_or(0, |processor| processor.added_tokens(pair))
    }

    fn is_special_token(&self, token: &Bound<'_, PyAny>) -> PyResult<bool> {
        let token = Text::new(token, "token")?;
        let added = self.core.added_tokens().token(token.as_str());
        Ok(added.is_some_and(|token| token.special))
    }
}
