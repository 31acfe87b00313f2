//! Ids to text and bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::PyTokenizer;
use crate::python::ids::ids_from;
use crate::python::text::Text;

#[pymethods]
impl PyTokenizer {
    #[pyo3(signature = (ids, *, skip_special_tokens = false))]
    fn decode(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, skip_special_tokens: bool) -> PyResult<String> {
        let ids = ids_from(ids)?;
        Ok(self.run(py, 4 * ids.len(), |core| core.decode(&ids, skip_special_tokens))?)
    }

    #[pyo3(signature = (batch, *, skip_special_tokens = false))]
    fn decode_batch(
        &self,
        py: Python<'_>,
        batch: Vec<Bound<'_, PyAny>>,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<String>> {
        let batch = batch.iter().map(ids_from).collect::<PyResult<Vec<_>>>()?;
        Ok(py.detach(|| self.core.decode_batch(&batch, skip_special_tokens))?)
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.core.decode_bytes(&ids_from(ids)?)?))
    }

    fn decode_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
        let tokens = tokens
            .iter()
            .map(|token| Text::new(token, "token"))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(self.core.decode_tokens(tokens.iter().map(Text::as_str))?)
    }
}
