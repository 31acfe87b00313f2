//! Reads and writes a whole `tokenizer.json`: the only reader of the file.
//!
//! Vocabulary and merges stream straight into their tables; the small parts are kept as JSON, so that what comes in
//! goes out again unchanged.

mod added_list;
pub(crate) mod defaults;
mod merges;
mod model;
mod refuse;
mod text;
mod unique;
mod writer;

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use self::added_list::{AddedList, Listed};
pub use self::merges::MergeTexts;
use self::model::RawModel;
use self::refuse::refuse;
use self::unique::{Unique, twice};
pub use self::writer::Writer;
use crate::added_tokens::AddedToken;
use crate::bpe::BpeSettings;
use crate::config::Place;
use crate::quoted::{Bare, Escaped, Quoted};
use crate::vocab::{TokenId, Vocab};
use crate::{Error, Result};

/// The parts of the file that stay JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Components {
    /// `truncation`: a default that the Python side applies.
    pub truncation: Value,
    /// `padding`: likewise.
    pub padding: Value,
    /// `normalizer`.
    pub normalizer: Value,
    /// `pre_tokenizer`.
    pub pre_tokenizer: Value,
    /// `post_processor`.
    pub post_processor: Value,
    /// `decoder`.
    pub decoder: Value,
}

impl Components {
    /// The component that the file calls `name`.
    ///
    /// # Errors
    /// [`Error::Value`] for any other name.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut Value> {
        Ok(match name {
            "truncation" => &mut self.truncation,
            "padding" => &mut self.padding,
            "normalizer" => &mut self.normalizer,
            "pre_tokenizer" => &mut self.pre_tokenizer,
            "post_processor" => &mut self.post_processor,
            "decoder" => &mut self.decoder,
            other => {
                return Err(Error::Value(format!(
                    "{} is no component of a tokenizer.json",
                    Quoted(other)
                )));
            }
        })
    }
}

/// A file as it was read, before its components are built.
pub struct TokenizerFile {
    /// The parts that stay JSON.
    pub components: Components,
    /// `added_tokens`: the tokens, and the ids that they are listed with.
    pub added_tokens: Vec<(TokenId, AddedToken)>,
    /// The settings of the model.
    pub settings: BpeSettings,
    /// The vocabulary of the model.
    pub vocab: Vocab,
    /// The merges of the model, as texts.
    pub merges: MergeTexts,
}

/// The kinds of components that can run, by the part of the file that holds them. The README's table is made of them.
pub fn supported_components() -> [(&'static str, &'static [&'static str]); 5] {
    [
        ("normalizer", crate::normalizer::SUPPORTED),
        ("pre_tokenizer", crate::pre_tokenizer::SUPPORTED),
        ("model", model::SUPPORTED),
        ("post_processor", crate::post_processor::SUPPORTED),
        ("decoder", crate::decoder::SUPPORTED),
    ]
}

impl TokenizerFile {
    /// Reads the text of a `tokenizer.json`.
    ///
    /// # Errors
    /// [`Error::TokenizerFile`] with the JSON path or the line, [`Error::UnsupportedComponent`] for another model.
    pub fn parse(json: &[u8]) -> Result<Self> {
        if u32::try_from(json.len()).is_err() {
            return Err(Error::TokenizerFile(
                "tokenizer.json: more than 4 GiB can't be read".into(),
            ));
        }
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let raw = match simdutf8::basic::from_utf8(json) {
            // Checked as a whole, its strings need not be checked one by one, which took an eighth of a load.
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(json),
        };
        let mut raw: RawFile = raw.map_err(unreadable)?;
        let version = raw.rest.remove("version");
        if let Some(version) = version.filter(|version| version != "1.0") {
            let message = format!(
                "tokenizer.json: version is {}; hf_bpe reads version '1.0'",
                Bare(&version.to_string())
            );
            return Err(Error::TokenizerFile(message));
        }
        let Some(model) = raw.model else {
            return Err(Error::TokenizerFile("tokenizer.json: lacks 'model'".into()));
        };
        let mut take = |name: &str| raw.rest.remove(name).unwrap_or_default();
        let components = Components {
            truncation: take("truncation"),
            padding: take("padding"),
            normalizer: take("normalizer"),
            pre_tokenizer: take("pre_tokenizer"),
            post_processor: take("post_processor"),
            decoder: take("decoder"),
        };
        // As stock, which has a default for a list that is absent alone.
        model.finish(components, raw.added_tokens.unwrap_or_default())
    }

    /// The text of this file without its vocabulary and merges, which [`Self::parse`] reads; `None` where it would not
    /// read the same again, such as a number that no 64 bits hold.
    pub(crate) fn head(&self) -> Option<String> {
        let (parts, settings) = (&self.components, &self.settings);
        let added: Vec<_> = self
            .added_tokens
            .iter()
            .map(|(id, token)| Listed(*id, token))
            .collect();
        let head = serde_json::json!({
            "truncation": parts.truncation,
            "padding": parts.padding,
            "added_tokens": added,
            "normalizer": parts.normalizer,
            "pre_tokenizer": parts.pre_tokenizer,
            "post_processor": parts.post_processor,
            "decoder": parts.decoder,
            "model": {
                "type": "BPE",
                "dropout": settings.dropout,
                "unk_token": settings.unk_token,
                "continuing_subword_prefix": settings.continuing_subword_prefix,
                "end_of_word_suffix": settings.end_of_word_suffix,
                "fuse_unk": settings.fuse_unk,
                "byte_fallback": settings.byte_fallback,
                "ignore_merges": settings.ignore_merges,
                "vocab": {},
                "merges": [],
            },
        });
        let text = head.to_string();
        let again = Self::parse(text.as_bytes()).ok()?;
        let same = again.components == self.components
            && again.added_tokens == self.added_tokens
            && again.settings == self.settings;
        same.then_some(text)
    }
}

/// What is wrong with the text: it is no JSON, or holds something at a place where that can't stand.
fn unreadable(error: serde_json::Error) -> Error {
    Error::TokenizerFile(match error.classify() {
        serde_json::error::Category::Data => format!("tokenizer.json: {error}"),
        _ => format!("tokenizer.json can't be read: {error}"),
    })
}

/// What stands at the top of a file; stock refuses all else.
const KEYS: [&str; 9] = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
];

fn unknown<E: serde::de::Error>(key: &str) -> E {
    E::custom(format_args!(
        "the file has {}, which no tokenizer.json has; expected '{}'",
        Escaped(key),
        KEYS.join("', '")
    ))
}

/// The top level: the model and the added tokens stream, the rest is small.
#[derive(Default)]
struct RawFile {
    model: Option<RawModel>,
    added_tokens: Option<AddedList>,
    rest: serde_json::Map<String, Value>,
}

impl<'de> Deserialize<'de> for RawFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct FileVisitor;
        impl FileVisitor {
            fn wanted(&self) -> &'static str {
                "the file should hold an object with a 'model'"
            }
        }
        impl<'de> Visitor<'de> for FileVisitor {
            type Value = RawFile;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.wanted())
            }

            refuse!(null bool number text array);

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RawFile, A::Error> {
                let mut file = RawFile::default();
                while let Some(key) = map.next_key::<String>()? {
                    let known = match key.as_str() {
                        "model" => file.model.is_some(),
                        "added_tokens" => file.added_tokens.is_some(),
                        _ => file.rest.contains_key(&key),
                    };
                    if known {
                        return Err(twice("the file", &key));
                    }
                    if !KEYS.contains(&key.as_str()) {
                        return Err(unknown(&key));
                    }
                    match key.as_str() {
                        "model" => file.model = Some(map.next_value()?),
                        "added_tokens" => file.added_tokens = Some(map.next_value()?),
                        _ => {
                            let value = map.next_value_seed(Unique(Place::Path(&key)))?;
                            file.rest.insert(key, value);
                        }
                    }
                }
                Ok(file)
            }
        }
        deserializer.deserialize_any(FileVisitor)
    }
}
