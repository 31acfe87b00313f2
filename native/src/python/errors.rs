//! Maps each [`Error`] of the core to the Python exception that names it.

use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::import_exception;
use pyo3::prelude::*;

use crate::Error;

import_exception!(hf_bpe.errors, SplitPatternError);
import_exception!(hf_bpe.errors, TokenizerFileError);
import_exception!(hf_bpe.errors, UnsupportedComponentError);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::UnsupportedComponent(message) => UnsupportedComponentError::new_err(message),
            Error::TokenizerFile(message) => TokenizerFileError::new_err(message),
            Error::SplitPattern(message) => SplitPatternError::new_err(message),
            Error::Value(message) => PyValueError::new_err(message),
            Error::UnknownToken(message) => PyKeyError::new_err(message),
            Error::Storage(message) => PyOSError::new_err(message),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        }
    }
}
