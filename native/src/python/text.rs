//! Python strings as UTF-8. A Python `str` may hold lone surrogates, which UTF-8 can't: a pair of them is joined, a
//! lone one becomes U+FFFD, and offsets still count positions of the original `str`.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A text, and where its characters stand in the `str` if that isn't where they stand in the text.
pub struct Text<'a> {
    text: Cow<'a, str>,
    positions: Option<Vec<usize>>,
}

impl<'a> Text<'a> {
    /// Reads a `str`; `what` names the argument in the error for anything else.
    pub fn new(object: &'a Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        Self::new_named(object, || what.to_owned())
    }

    /// The same for an argument whose name costs something to make.
    pub fn new_named(object: &'a Bound<'_, PyAny>, what: impl Fn() -> String) -> PyResult<Self> {
        let string = object
            .cast::<PyString>()
            .map_err(|_| wrong_type(object, &what()))?;
        match string.to_str() {
            Ok(text) => Ok(Self {
                text: Cow::Borrowed(text),
                positions: None,
            }),
            Err(_) => repair(string),
        }
    }

    /// The text, without surrogates.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether offsets have to be moved at all.
    pub fn moves(&self) -> bool {
        self.positions.is_some()
    }

    /// The text without the `str` that it was read from.
    pub fn into_owned(self) -> Text<'static> {
        Text {
            text: Cow::Owned(self.text.into_owned()),
            positions: self.positions,
        }
    }

    /// The character of the text that stands at a position of the `str`.
    pub fn character(&self, position: usize) -> usize {
        match &self.positions {
            None => position,
            Some(positions) => positions.partition_point(|&at| at < position),
        }
    }

    /// Moves offsets in characters of the text to positions of the `str`.
    pub fn restore(&self, offsets: &mut (usize, usize)) {
        if let Some(positions) = &self.positions {
            let position = |at: usize| positions.get(at).copied().unwrap_or(at);
            *offsets = (position(offsets.0), position(offsets.1));
        }
    }
}

/// Decoded bytes as a `str`. Python checks them while it reads them, so that whole text is looked at once.
pub fn string<'py>(py: Python<'py>, utf8: &[u8]) -> Bound<'py, PyString> {
    PyString::from_bytes(py, utf8).unwrap_or_else(|_| PyString::new(py, &String::from_utf8_lossy(utf8)))
}

/// The error for an argument that should be a `str`.
pub fn wrong_type(object: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let kind = object
        .get_type()
        .name()
        .map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let hint = match kind.as_str() {
        "bytes" => "; decode the bytes first or call encode_bytes()",
        _ => "",
    };
    PyTypeError::new_err(format!("{what} must be a str, got {kind}{hint}"))
}

fn repair<'a>(string: &Bound<'_, PyString>) -> PyResult<Text<'a>> {
    let encoded = string.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = encoded.cast::<PyBytes>()?.as_bytes();
    let units = units
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    // Which surrogates stood alone in the `str`, where an astral character is one position and not two.
    let scalars: Vec<u32> = string
        .call_method1("encode", ("utf-32-le", "surrogatepass"))?
        .cast::<PyBytes>()?
        .as_bytes()
        .chunks_exact(4)
        .map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]))
        .collect();
    let text: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    let mut positions = Vec::with_capacity(scalars.len() + 1);
    let mut at = 0;
    for char in text.chars() {
        positions.push(at);
        at += if scalars.get(at) == Some(&u32::from(char)) || char == char::REPLACEMENT_CHARACTER {
            1
        } else {
            2
        };
    }
    positions.push(at);
    Ok(Text {
        text: Cow::Owned(text),
        positions: Some(positions),
    })
}
