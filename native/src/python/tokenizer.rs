//! `Tokenizer`: the pipeline, immutable, shared between threads, pickled by content.

mod decode;
mod encode;
mod encodings;
mod flat;
mod making;
mod vocabulary;
mod within;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::ids::SharedInts;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Texts below this many bytes are encoded without giving the GIL to another thread: handing it over costs more.
const WORTH_RELEASING: usize = 2048;

/// How to build a pickled tokenizer: `from_json`, the JSON and the seed for dropout.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<u64>));

/// The pipeline that a `tokenizer.json` describes.
#[pyclass(frozen, name = "Tokenizer", module = "hf_bpe._native")]
pub struct PyTokenizer {
    core: Arc<Tokenizer>,
    ints: SharedInts,
}

impl From<Tokenizer> for PyTokenizer {
    fn from(core: Tokenizer) -> Self {
        Self {
            ints: SharedInts::new(core.max_id()),
            core: Arc::new(core),
        }
    }
}

impl PyTokenizer {
    /// The core behind this object.
    pub fn core(&self) -> Arc<Tokenizer> {
        Arc::clone(&self.core)
    }

    fn run<T: Send>(&self, py: Python<'_>, bytes: usize, work: impl FnOnce(&Tokenizer) -> T + Send) -> T {
        let core = &*self.core;
        if bytes < WORTH_RELEASING {
            work(core)
        } else {
            py.detach(|| work(core))
        }
    }
}

fn options(add_special_tokens: bool, split_special_tokens: bool) -> EncodeOptions {
    EncodeOptions {
        add_special_tokens,
        split_special_tokens,
    }
}

#[pymethods]
impl PyTokenizer {
    fn clear_cache(&self) {
        self.core.clear_cache();
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        let core = slf.get().core();
        let json = py.detach(|| core.to_json(false));
        let class: Bound<'_, PyType> = slf.get_type();
        let arguments = (PyBytes::new(py, json.as_bytes()), core.dropout_seed());
        Ok((class.getattr("from_json")?, arguments))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let other = other.get();
        Arc::ptr_eq(&self.core, &other.core)
            || (self.core.dropout_seed() == other.core.dropout_seed()
                && py.detach(|| self.core.to_json(false) == other.core.to_json(false)))
    }

    fn __hash__(&self) -> u64 {
        let bpe = self.core.bpe();
        let mut hasher = DefaultHasher::new();
        (bpe.vocab.len(), bpe.merges.len(), self.core.added_tokens().len()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let bpe = self.core.bpe();
        let (tokens, merges, added) = (bpe.vocab.len(), bpe.merges.len(), self.core.added_tokens().len());
        format!("Tokenizer({tokens} tokens, {merges} merges, {added} added tokens)")
    }
}
