//! placeholder
use crate::encoding::Encoding;
use crate::tokenizer::Tokenizer;
use pyo3::prelude::*;
use std::sync::Arc;
#[pyclass(frozen, name = "Encoding", module = "hf_bpe._native")]
pub struct PyEncoding {
    encoding: Encoding,
    core: Arc<Tokenizer>,
}
impl PyEncoding {
    pub fn new(encoding: Encoding, core: Arc<Tokenizer>) -> Self {
        Self { encoding, core }
    }
    pub fn token_texts(&self) -> Vec<String> {
        (0..self.encoding.len())
            .map(|i| {
                self.encoding
                    .token(i, &*self.core)
                    .unwrap_or_default()
                    .into_owned()
            })
            .collect()
    }
}
#[pymethods]
impl PyEncoding {
    #[getter]
    fn ids(&self) -> Vec<u32> {
        self.encoding.ids.clone()
    }
    #[getter]
    fn offsets(&self) -> Vec<(usize, usize)> {
        self.encoding.offsets.clone()
    }
    #[getter]
    fn word_ids(&self) -> Vec<Option<u32>> {
        self.encoding.words.clone()
    }
    #[getter]
    fn tokens(&self) -> Vec<String> {
        self.token_texts()
    }
}
