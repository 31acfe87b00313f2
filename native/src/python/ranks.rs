//! Ranks and special tokens as Python dicts.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::ids::id_from;
use super::text::Text;
use crate::ranks::{Agreement, Verdict};
use crate::vocab::TokenId;

/// The verdict, texts with other ids, dead tokens.
pub type PyAgreement = (&'static str, Vec<Py<PyBytes>>, Vec<Py<PyBytes>>);

/// What [`Agreement`] says.
pub fn agreement(py: Python<'_>, found: &Agreement) -> PyAgreement {
    let verdict = match found.verdict {
        Verdict::Equal => "equal",
        Verdict::Different => "different",
        Verdict::Unproved => "unproved",
    };
    let bytes = |texts: &[Vec<u8>]| texts.iter().map(|text| PyBytes::new(py, text).unbind()).collect();
    (verdict, bytes(&found.texts), bytes(&found.dead))
}

/// Reads the rank of each token's bytes.
pub fn read_ranks<'py>(ranks: &Bound<'py, PyDict>) -> PyResult<Vec<(Vec<u8>, TokenId)>> {
    ranks
        .iter()
        .map(|(token, rank)| Ok((token.cast::<PyBytes>()?.as_bytes().to_vec(), id_from(&rank)?)))
        .collect()
}

/// Reads the id of each special token.
pub fn read_special_tokens(tokens: &Bound<'_, PyDict>) -> PyResult<Vec<(String, TokenId)>> {
    tokens
        .iter()
        .map(|(token, id)| {
            let text = Text::new(&token, "a special token")?.as_str().to_owned();
            Ok((text, id_from(&id)?))
        })
        .collect()
}
