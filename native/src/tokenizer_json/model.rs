//! The part `model`: vocabulary and merges stream straight into their tables, the settings stay JSON until both are read.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::added_list::AddedList;
use super::merges::MergeTexts;
use super::refuse::refuse;
use super::text::Text;
use super::unique::{Unique, twice};
use super::{Components, TokenizerFile};
use crate::bpe::BpeSettings;
use crate::config::{Node, Place};
use crate::quoted::{Bare, Escaped};
use crate::vocab::{TokenId, Vocab};
use crate::{Error, Result};

/// The models that can be run.
pub const SUPPORTED: &[&str] = &["BPE"];

const WANTED_VOCAB: &str = "model.vocab should be an object of ids by token";

#[derive(Default)]
pub(super) struct RawModel {
    vocab: Option<VocabField>,
    merges: Option<MergeTexts>,
    rest: serde_json::Map<String, Value>,
}

impl RawModel {
    pub(super) fn finish(mut self, components: Components, added_tokens: AddedList) -> Result<TokenizerFile> {
        let rest = Value::Object(std::mem::take(&mut self.rest));
        let node = Node::new("model", &rest);
        let kind = match node.object()?.get("type") {
            Some(_) => node.kind()?,
            None => self.inferred_kind(&node)?,
        };
        if !SUPPORTED.contains(&kind) {
            return Err(node.unsupported_model(kind));
        }
        let vocab = match self.vocab {
            Some(VocabField::Map(vocab)) => vocab,
            Some(VocabField::List) => {
                let message = format!("tokenizer.json: {WANTED_VOCAB}, found an array");
                return Err(Error::TokenizerFile(message));
            }
            Some(VocabField::Wrong(message)) => return Err(Error::TokenizerFile(message)),
            None => return Err(node.error("lacks 'vocab'")),
        };
        let merges = self.merges.ok_or_else(|| node.error("lacks 'merges'"))?;
        if let Some(message) = merges.wrong {
            return Err(Error::TokenizerFile(message));
        }
        Ok(TokenizerFile {
            components,
            added_tokens: added_tokens.finish()?,
            settings: settings(&node)?,
            vocab,
            merges,
        })
    }
}

impl RawModel {
    /// The model of an old file, which names none: the first whose fields are all there, in stock's order.
    fn inferred_kind(&self, node: &Node) -> Result<&'static str> {
        let fields = node.object()?;
        let has = |name| fields.contains_key(name);
        let map = matches!(self.vocab, Some(VocabField::Map(_)));
        Ok(if self.merges.is_some() {
            "BPE"
        } else if map && has("max_input_chars_per_word") {
            "WordPiece"
        } else if map && has("unk_token") {
            "WordLevel"
        } else if matches!(self.vocab, Some(VocabField::List)) {
            "Unigram"
        } else {
            "BPE"
        })
    }
}

fn settings(node: &Node) -> Result<BpeSettings> {
    let text = |name| -> Result<Option<String>> {
        node.optional(name)?
            .map(|node| node.str().map(str::to_owned))
            .transpose()
    };
    Ok(BpeSettings {
        dropout: node.optional("dropout")?.map(|node| dropout(&node)).transpose()?,
        unk_token: text("unk_token")?,
        continuing_subword_prefix: text("continuing_subword_prefix")?,
        end_of_word_suffix: text("end_of_word_suffix")?,
        fuse_unk: node.bool_or("fuse_unk", false)?,
        byte_fallback: node.bool_or("byte_fallback", false)?,
        ignore_merges: node.bool_or("ignore_merges", false)?,
    })
}

/// In 32 bits, as stock keeps it.
fn dropout(node: &Node) -> Result<f32> {
    let rate = node.value().as_f64().map(|rate| rate as f32);
    rate.filter(|rate| (0.0..=1.0).contains(rate)).ok_or_else(|| {
        node.error(format_args!(
            "should be a number from 0 to 1, found {}",
            node.shown()
        ))
    })
}

impl<'de> Deserialize<'de> for RawModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ModelVisitor;
        impl ModelVisitor {
            fn wanted(&self) -> &'static str {
                "model should be an object"
            }
        }
        impl<'de> Visitor<'de> for ModelVisitor {
            type Value = RawModel;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.wanted())
            }

            refuse!(null bool number text array);

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RawModel, A::Error> {
                let mut model = RawModel::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "vocab" if model.vocab.is_none() => model.vocab = Some(map.next_value()?),
                        "merges" if model.merges.is_none() => model.merges = Some(map.next_value()?),
                        "vocab" | "merges" => return Err(twice("model", &key)),
                        _ if model.rest.contains_key(&key) => return Err(twice("model", &key)),
                        _ => {
                            let place = Place::Path("model");
                            let value = map.next_value_seed(Unique(Place::Key(&place, &key)))?;
                            model.rest.insert(key, value);
                        }
                    }
                }
                Ok(model)
            }
        }
        deserializer.deserialize_any(ModelVisitor)
    }
}

/// `model.vocab` as far as it could be read: another model's list is looked at once its type is known.
enum VocabField {
    Map(Vocab),
    List,
    Wrong(String),
}

impl<'de> Deserialize<'de> for VocabField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct VocabVisitor;
        impl VocabVisitor {
            fn wanted(&self) -> &'static str {
                WANTED_VOCAB
            }
        }
        impl<'de> Visitor<'de> for VocabVisitor {
            type Value = VocabField;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.wanted())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<VocabField, A::Error> {
                let mut vocab = Vocab::default();
                let mut wrong = None;
                while let Some(token) = map.next_key_seed(Text::Token)? {
                    let value = map.next_value::<Value>()?;
                    match value.as_u64().map(TokenId::try_from) {
                        Some(Ok(id)) if vocab.insert_new(&token, id) => {}
                        Some(Ok(_)) => return Err(twice("model.vocab", &token)),
                        _ => {
                            wrong.get_or_insert_with(|| wrong_id(&token, &value));
                        }
                    }
                }
                vocab.finish();
                Ok(wrong.map_or(VocabField::Map(vocab), VocabField::Wrong))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<VocabField, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(VocabField::List)
            }

            refuse!(null bool number text);
        }
        deserializer.deserialize_any(VocabVisitor)
    }
}

fn wrong_id(token: &str, found: &Value) -> String {
    format!(
        "tokenizer.json: model.vocab[{}] should be an id from 0 to {}, found {}",
        Escaped(token),
        TokenId::MAX,
        Bare(&found.to_string())
    )
}
