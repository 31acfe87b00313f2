//! The core of `hf_bpe`: text to the ids a model was trained on, exactly, and back.
//!
//! The modules carry the names of the keys of `tokenizer.json`. Nothing here knows Python except
//! `python`, which only converts types, releases the GIL and maps errors.

pub mod byte_alphabet;
pub mod config;
pub mod decode_stream;
pub mod decoder;
pub mod encoding;
pub mod error;
pub mod post_processor;
pub mod truncation;

pub use error::{Error, Result};
