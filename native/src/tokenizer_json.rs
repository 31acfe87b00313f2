//! Reads and writes a whole `tokenizer.json`: the only reader of the file.
//!
//! Vocabulary and merges stream straight into their tables; the small parts are kept as JSON, so that what comes in
//! goes out again unchanged.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::added_tokens::AddedTokens;
use crate::bpe::{Bpe, BpeSettings};
use crate::config::Node;
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
                    "'{other}' is no component of a tokenizer.json"
                )));
            }
        })
    }
}

/// A file as it was read, before its components are built.
pub struct TokenizerFile {
    /// The parts that stay JSON.
    pub components: Components,
    /// `added_tokens`, as JSON.
    pub added_tokens: Value,
    /// The settings of the model.
    pub settings: BpeSettings,
    /// The vocabulary of the model.
    pub vocab: Vocab,
    /// The merges of the model, as texts.
    pub merges: MergeTexts,
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
        let mut raw: RawFile = serde_json::from_slice(json)
            .map_err(|error| Error::TokenizerFile(format!("tokenizer.json can't be read: {error}")))?;
        let version = raw.rest.remove("version");
        if let Some(version) = version.filter(|version| version != "1.0") {
            let message = format!("tokenizer.json: version is {version}; hf_bpe reads version '1.0'");
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
        let added_tokens = take("added_tokens");
        model.finish(components, added_tokens)
    }
}

/// The top level: the model streams, the rest is small.
#[derive(Default)]
struct RawFile {
    model: Option<RawModel>,
    rest: serde_json::Map<String, Value>,
}

impl<'de> Deserialize<'de> for RawFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct FileVisitor;
        impl<'de> Visitor<'de> for FileVisitor {
            type Value = RawFile;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object with a 'model'")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RawFile, A::Error> {
                let mut file = RawFile::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "model" {
                        file.model = Some(map.next_value()?);
                    } else {
                        file.rest.insert(key, map.next_value()?);
                    }
                }
                Ok(file)
            }
        }
        deserializer.deserialize_map(FileVisitor)
    }
}

#[derive(Default)]
struct RawModel {
    vocab: Option<VocabField>,
    merges: Option<MergeTexts>,
    rest: serde_json::Map<String, Value>,
}

impl RawModel {
    fn finish(self, components: Components, added_tokens: Value) -> Result<TokenizerFile> {
        let rest = Value::Object(self.rest);
        let node = Node::new("model", &rest);
        if let Some(kind) = node.optional("type")? {
            let kind = kind.str()?;
            if kind != "BPE" {
                return Err(node.unsupported(kind, &["BPE"]));
            }
        }
        let vocab = match self.vocab {
            Some(VocabField::Map(vocab)) => vocab,
            Some(VocabField::Wrong(message)) => return Err(Error::TokenizerFile(message)),
            None => return Err(node.error("lacks 'vocab'")),
        };
        let merges = self.merges.ok_or_else(|| node.error("lacks 'merges'"))?;
        if let Some(message) = merges.wrong {
            return Err(Error::TokenizerFile(message));
        }
        Ok(TokenizerFile {
            components,
            added_tokens,
            settings: settings(&node)?,
            vocab,
            merges,
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
            node.value()
        ))
    })
}

impl<'de> Deserialize<'de> for RawModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ModelVisitor;
        impl<'de> Visitor<'de> for ModelVisitor {
            type Value = RawModel;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("model to be an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RawModel, A::Error> {
                let mut model = RawModel::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "vocab" => model.vocab = Some(map.next_value()?),
                        "merges" => model.merges = Some(map.next_value()?),
                        _ => {
                            model.rest.insert(key, map.next_value()?);
                        }
                    }
                }
                Ok(model)
            }
        }
        deserializer.deserialize_map(ModelVisitor)
    }
}

/// `model.vocab` as far as it could be read: another model's list is looked at once its type is known.
enum VocabField {
    Map(Vocab),
    Wrong(String),
}

impl<'de> Deserialize<'de> for VocabField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct VocabVisitor;
        impl<'de> Visitor<'de> for VocabVisitor {
            type Value = VocabField;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("model.vocab to be an object of ids by token")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<VocabField, A::Error> {
                let mut vocab = Vocab::default();
                let mut wrong = None;
                while let Some(token) = map.next_key_seed(Text)? {
                    match map.next_value::<Value>()?.as_u64().map(TokenId::try_from) {
                        Some(Ok(id)) => vocab.insert(&token, id),
                        _ => {
                            wrong.get_or_insert_with(|| {
                                let token = token.escape_debug();
                                format!(
                                    "tokenizer.json: model.vocab['{token}'] should be an id from 0 to 4294967295"
                                )
                            });
                        }
                    }
                }
                vocab.finish();
                Ok(wrong.map_or(VocabField::Map(vocab), VocabField::Wrong))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<VocabField, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                let message =
                    "tokenizer.json: model.vocab should be an object of ids by token, found an array";
                Ok(VocabField::Wrong(message.into()))
            }
        }
        deserializer.deserialize_any(VocabVisitor)
    }
}

/// A string that is borrowed from the input where JSON allows.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = std::borrow::Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = std::borrow::Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(text.into())
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
                Ok(text.to_owned().into())
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// The texts of `model.merges`, one behind the other in one string.
#[derive(Default)]
pub struct MergeTexts {
    texts: String,
    cuts: Vec<(u32, u32)>,
    wrong: Option<String>,
}

impl MergeTexts {
    /// Adds the pair of `left` and `right`.
    pub fn push(&mut self, left: &str, right: &str) {
        self.texts.push_str(left);
        let middle = self.texts.len() as u32;
        self.texts.push_str(right);
        self.cuts.push((middle, self.texts.len() as u32));
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        (0..self.cuts.len()).map(|at| {
            let start = if at == 0 { 0 } else { self.cuts[at - 1].1 };
            let (middle, end) = self.cuts[at];
            let text = |from: u32, to: u32| &self.texts[from as usize..to as usize];
            (text(start, middle), text(middle, end))
        })
    }

    /// Adds a merge written as in merges.txt; false if it isn't two parts.
    fn push_line(&mut self, line: &str) -> bool {
        // Old files may carry the header of merges.txt; stock drops it wherever it stands.
        if line.starts_with("#version") {
            return true;
        }
        let mut parts = line.split(' ');
        let (Some(left), Some(right), None) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        self.push(left, right);
        true
    }

    fn wrong(&mut self, at: usize, found: impl fmt::Display) {
        self.wrong.get_or_insert_with(|| {
            format!(
                "tokenizer.json: model.merges[{at}] should be a pair such as [\"t\", \"he\"] or \"t he\", found {found}"
            )
        });
    }
}

impl<'de> Deserialize<'de> for MergeTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MergesVisitor;
        impl<'de> Visitor<'de> for MergesVisitor {
            type Value = MergeTexts;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("model.merges to be an array of pairs")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<MergeTexts, A::Error> {
                let mut merges = MergeTexts::default();
                let mut at = 0;
                while seq
                    .next_element_seed(OneMerge {
                        merges: &mut merges,
                        at,
                    })?
                    .is_some()
                {
                    at += 1;
                }
                Ok(merges)
            }
        }
        deserializer.deserialize_seq(MergesVisitor)
    }
}

/// Reads one item of `model.merges` into the list: a line, or a pair. Anything else is noted as wrong.
struct OneMerge<'a> {
    merges: &'a mut MergeTexts,
    at: usize,
}

impl<'de> DeserializeSeed<'de> for OneMerge<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneMerge<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "model.merges[{}] to be a pair of strings", self.at)
    }

    fn visit_str<E>(self, line: &str) -> std::result::Result<(), E> {
        if !self.merges.push_line(line) {
            self.merges.wrong(self.at, format_args!("{line:?}"));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let left = seq.next_element_seed(Text)?;
        let right = seq.next_element_seed(Text)?;
        let mut more = 0;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        match (left, right, more) {
            (Some(left), Some(right), 0) => self.merges.push(&left, &right),
            (left, right, more) => {
                let parts = usize::from(left.is_some()) + usize::from(right.is_some()) + more;
                self.merges.wrong(self.at, format_args!("an array of {parts}"));
            }
        }
        Ok(())
    }
}

/// Everything that a file holds, borrowed for writing in stock's own layout.
pub struct Writer<'a> {
    /// The parts that stay JSON.
    pub components: &'a Components,
    /// The added tokens.
    pub added: &'a AddedTokens,
    /// The model.
    pub bpe: &'a Bpe,
}

impl Serialize for Writer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parts = self.components;
        let mut file = serializer.serialize_struct("Tokenizer", 9)?;
        file.serialize_field("version", "1.0")?;
        file.serialize_field("truncation", &parts.truncation)?;
        file.serialize_field("padding", &parts.padding)?;
        file.serialize_field("added_tokens", &AddedList(self.added))?;
        file.serialize_field("normalizer", &parts.normalizer)?;
        file.serialize_field("pre_tokenizer", &parts.pre_tokenizer)?;
        file.serialize_field("post_processor", &parts.post_processor)?;
        file.serialize_field("decoder", &parts.decoder)?;
        file.serialize_field("model", &Model(self.bpe))?;
        file.end()
    }
}

struct AddedList<'a>(&'a AddedTokens);

impl Serialize for AddedList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Item<'a> {
            id: TokenId,
            content: &'a str,
            single_word: bool,
            lstrip: bool,
            rstrip: bool,
            normalized: bool,
            special: bool,
        }
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (id, token) in self.0.iter() {
            list.serialize_element(&Item {
                id,
                content: &token.content,
                single_word: token.single_word,
                lstrip: token.lstrip,
                rstrip: token.rstrip,
                normalized: token.normalized,
                special: token.special,
            })?;
        }
        list.end()
    }
}

struct Model<'a>(&'a Bpe);

impl Serialize for Model<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let settings = &self.0.settings;
        let mut model = serializer.serialize_struct("BPE", 10)?;
        model.serialize_field("type", "BPE")?;
        model.serialize_field("dropout", &settings.dropout)?;
        model.serialize_field("unk_token", &settings.unk_token)?;
        model.serialize_field("continuing_subword_prefix", &settings.continuing_subword_prefix)?;
        model.serialize_field("end_of_word_suffix", &settings.end_of_word_suffix)?;
        model.serialize_field("fuse_unk", &settings.fuse_unk)?;
        model.serialize_field("byte_fallback", &settings.byte_fallback)?;
        model.serialize_field("ignore_merges", &settings.ignore_merges)?;
        model.serialize_field("vocab", &VocabMap(&self.0.vocab))?;
        model.serialize_field("merges", &MergeList(self.0))?;
        model.end()
    }
}

struct VocabMap<'a>(&'a Vocab);

impl Serialize for VocabMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut tokens: Vec<_> = self.0.iter().collect();
        tokens.sort_by_key(|&(_, id)| id);
        let mut map = serializer.serialize_map(Some(tokens.len()))?;
        for (token, id) in tokens {
            map.serialize_entry(token, &id)?;
        }
        map.end()
    }
}

struct MergeList<'a>(&'a Bpe);

impl Serialize for MergeList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let pairs = self.0.merges.pairs();
        let text = |id| self.0.vocab.token(id).unwrap_or_default();
        let mut list = serializer.serialize_seq(Some(pairs.len()))?;
        for (left, right) in pairs {
            list.serialize_element(&[text(left), text(right)])?;
        }
        list.end()
    }
}
