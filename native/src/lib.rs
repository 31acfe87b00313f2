//! The core of `hf_bpe`: text to the ids a model was trained on, exactly, and back.
//!
//! The modules carry the names of the keys of `tokenizer.json`. Nothing here knows Python except
//! `python`, which only converts types, releases the GIL and maps errors.

pub mod config;
pub mod encoding;
pub mod error;
pub mod train;

pub use error::{Error, Result};
