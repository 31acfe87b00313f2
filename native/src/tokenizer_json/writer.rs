//! Writes a whole `tokenizer.json` in stock's own layout.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use super::Components;
use super::added_list::Listed;
use crate::added_tokens::AddedTokens;
use crate::bpe::Bpe;
use crate::vocab::Vocab;

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
        file.serialize_field("added_tokens", &AddedTokenList(self.added))?;
        file.serialize_field("normalizer", &parts.normalizer)?;
        file.serialize_field("pre_tokenizer", &parts.pre_tokenizer)?;
        file.serialize_field("post_processor", &parts.post_processor)?;
        file.serialize_field("decoder", &parts.decoder)?;
        file.serialize_field("model", &Model(self.bpe))?;
        file.end()
    }
}

struct AddedTokenList<'a>(&'a AddedTokens);

impl Serialize for AddedTokenList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(id, token)| Listed(id, token)))
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
