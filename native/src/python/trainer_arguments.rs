//! What the trainer is told, as Python has it.

use pyo3::prelude::*;

use crate::train::{Settings, Spelling, TokenRules, Unit};

/// The arguments of a training, by their names in a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TrainerArguments {
    pub vocab_size: usize,
    pub min_frequency: u64,
    pub max_token_length: Option<usize>,
    pub within_scripts: bool,
    pub max_digits: Option<usize>,
    pub characters: bool,
    pub initial_alphabet: Option<Vec<String>>,
    pub limit_alphabet: Option<usize>,
    pub continuing_subword_prefix: Option<String>,
    pub end_of_word_suffix: Option<String>,
    pub special_tokens: Vec<String>,
    pub reserved_tokens: Vec<String>,
    pub last_special_tokens: Vec<String>,
}

impl TrainerArguments {
    /// What the core is told. The initial alphabet is all bytes, or no characters, by default.
    pub fn settings(self) -> Settings {
        let (unit, defaults) = match self.characters {
            true => (Unit::Characters, Settings::characters(self.vocab_size)),
            false => (Unit::Bytes, Settings::byte_level(self.vocab_size)),
        };
        let prefix = self.continuing_subword_prefix.unwrap_or_default();
        let suffix = self.end_of_word_suffix.unwrap_or_default();
        let first = |texts: Vec<String>| texts.iter().filter_map(|text| text.chars().next()).collect();
        Settings {
            min_frequency: self.min_frequency,
            max_token_length: self.max_token_length,
            rules: TokenRules {
                within_scripts: self.within_scripts,
                max_digits: self.max_digits,
            },
            limit_alphabet: self.limit_alphabet,
            special_tokens: self.special_tokens,
            reserved_tokens: self.reserved_tokens,
            last_special_tokens: self.last_special_tokens,
            spelling: Spelling::new(unit, &prefix, &suffix),
            initial_alphabet: self.initial_alphabet.map_or(defaults.initial_alphabet, first),
            ..Settings::characters(self.vocab_size)
        }
    }
}
