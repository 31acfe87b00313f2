//! `DecodeStream`: ids to text one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::ids::{id_from, ids_from};
use super::tokenizer::PyTokenizer;
use crate::decode_stream::DecodeStream;
use crate::tokenizer::Tokenizer;
use crate::vocab::TokenId;

/// Decodes ids one by one; never hands out half a character.
#[pyclass(frozen, name = "DecodeStream", module = "hf_bpe._native")]
pub struct PyDecodeStream {
    core: Arc<Tokenizer>,
    skip_special_tokens: bool,
    /// Behind a lock, so that a stream which threads share never raises "already borrowed".
    stream: Mutex<DecodeStream>,
}

#[pymethods]
impl PyDecodeStream {
    #[new]
    #[pyo3(signature = (tokenizer, *, skip_special_tokens = false))]
    fn new(tokenizer: &Bound<'_, PyTokenizer>, skip_special_tokens: bool) -> Self {
        let core = tokenizer.get().core();
        Self {
            stream: Mutex::new(DecodeStream::new(core.decoder())),
            core,
            skip_special_tokens,
        }
    }

    fn step(&self, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = one_or_more(ids)?;
        let pieces = ids
            .into_iter()
            .filter_map(|id| self.core.piece(id, self.skip_special_tokens));
        Ok(self.lock().step(pieces)?)
    }

    fn flush(&self) -> PyResult<String> {
        Ok(self.lock().flush()?)
    }
}

impl PyDecodeStream {
    fn lock(&self) -> MutexGuard<'_, DecodeStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an id or a sequence of ids.
fn one_or_more(ids: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    match ids.extract::<TokenId>() {
        Ok(id) => Ok(vec![id]),
        Err(_) if ids.try_iter().is_ok() => ids_from(ids),
        Err(_) => id_from(ids).map(|id| vec![id]),
    }
}
