//! The core of `hf_bpe`: text to the ids a model was trained on, exactly, and back.
//!
//! The modules carry the names of the keys of `tokenizer.json`. Nothing here knows Python except
//! `python`, which only converts types, releases the GIL and maps errors.

pub mod added_tokens;
pub mod arrow;
pub mod bpe;
pub mod byte_alphabet;
pub mod cache;
pub mod compiled;
pub mod config;
pub mod decode_stream;
pub mod decoder;
pub mod encoding;
pub mod error;
mod hash;
pub mod merges;
pub mod normalized;
pub mod normalizer;
pub mod parallel;
pub mod pattern;
pub mod post_processor;
pub mod pre_tokenizer;
mod prefetch;
#[cfg(feature = "python")]
mod python;
mod quoted;
pub mod ranks;
mod short_key;
mod tier;
pub mod tokenizer;
pub mod tokenizer_json;
pub mod train;
pub mod truncation;
pub mod vocab;

pub use error::{Error, Result};
