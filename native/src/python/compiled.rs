//! Compiled forms of `tokenizer.json`. Which file lies where is the shell's business.

use std::fs::File;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::tokenizer::PyTokenizer;
use crate::compiled::{self, Digest};

/// The digest of a file's content.
#[pyfunction]
pub fn digest_of_file(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let digest = py.detach(|| compiled::digest(File::open(path)?))?;
    Ok(PyBytes::new(py, &digest))
}

/// The tokenizer of a `tokenizer.json`, the digest of its bytes, and its compiled form, where it has one.
#[pyfunction]
pub fn compile_json<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<(PyTokenizer, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
    let compiled = py.detach(|| compiled::compile(data))?;
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    let form = compiled.form.as_deref().map(bytes);
    Ok((compiled.tokenizer.into(), bytes(&compiled.source), form))
}

/// The tokenizer of a compiled form, or `None` where it isn't whole, or of another file or version.
#[pyfunction]
pub fn load_compiled(py: Python<'_>, form: &[u8], digest: &[u8]) -> Option<PyTokenizer> {
    let digest = Digest::try_from(digest).ok()?;
    py.detach(|| compiled::load(form, &digest)).map(Into::into)
}
