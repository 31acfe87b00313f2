//! The pipeline in reading order: added tokens, normalizer, pre-tokenizer, model, post-processor; and back.
//!
//! A [`Tokenizer`] never changes: what the Python side lets people change builds a new one. Only its caches change,
//! and they change speed, never results.

mod align;
mod decode;
mod encode;
mod pieces;
mod ranks;
mod state;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::added_tokens::{AddedToken, AddedTokens};
use crate::bpe::Bpe;
use crate::config::Node;
use crate::decoder::Decoder;
use crate::encoding::Spell;
use crate::merges::Merges;
use crate::normalizer::Normalizer;
use crate::post_processor::PostProcessor;
use crate::pre_tokenizer::{PreTokenizer, Step};
use crate::tokenizer_json::{Components, TokenizerFile, Writer};
use crate::vocab::TokenId;
use crate::{Error, Result};

pub use align::{Input, Sequence};
pub use encode::EncodeOptions;
pub use state::State;

/// Everything that a `tokenizer.json` says.
pub struct Tokenizer {
    bpe: Arc<Bpe>,
    added: Arc<AddedTokens>,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    post_processor: Option<PostProcessor>,
    decoder: Option<Decoder>,
    components: Components,
    route: Route,
    ordinary: OnceLock<Option<Arc<Bpe>>>,
    states: state::States,
}

/// How a segment becomes ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Pretokens are ranges of the segment and the model runs on their bytes. `prefix_space`: a space is put before
    /// each segment that doesn't begin with one.
    Bytes { prefix_space: bool },
    /// Pieces with alignments; any component in any order; the model runs on characters.
    Pieces,
}

impl Tokenizer {
    /// Reads the text of a `tokenizer.json`.
    ///
    /// # Errors
    /// [`Error::TokenizerFile`] or [`Error::UnsupportedComponent`], with the JSON path.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::from_file(TokenizerFile::parse(json)?)
    }

    /// Builds the pipeline of a file that was read.
    pub fn from_file(file: TokenizerFile) -> Result<Self> {
        let prefix = file
            .settings
            .continuing_subword_prefix
            .as_deref()
            .unwrap_or_default();
        let merges = Merges::new(&file.vocab, file.merges.iter(), prefix)?;
        let nodes = match &file.added_tokens {
            Value::Null => Vec::new(),
            list => Node::new("added_tokens", list).items()?,
        };
        let added = AddedTokens::from_nodes(&nodes, |content| file.vocab.id(content))?;
        let byte_level = writes_byte_alphabet(&file.components);
        let bpe = Bpe::new(file.vocab, merges, file.settings, byte_level);
        Self::assemble(Arc::new(bpe), added, file.components)
    }

    fn assemble(bpe: Arc<Bpe>, mut added: AddedTokens, components: Components) -> Result<Self> {
        let normalizer = read("normalizer", &components.normalizer, Normalizer::from_node)?;
        let pre_tokenizer = read(
            "pre_tokenizer",
            &components.pre_tokenizer,
            PreTokenizer::from_node,
        )?;
        added.finish(normalizer.as_ref())?;
        Ok(Self {
            route: route(pre_tokenizer.as_ref(), &bpe)?,
            post_processor: read(
                "post_processor",
                &components.post_processor,
                PostProcessor::from_node,
            )?,
            decoder: read("decoder", &components.decoder, Decoder::from_node)?,
            bpe,
            added: Arc::new(added),
            normalizer,
            pre_tokenizer,
            components,
            ordinary: OnceLock::new(),
            states: state::States::default(),
        })
    }

    /// The same tokenizer with one component replaced; `Value::Null` takes it away.
    pub fn with_component(&self, name: &str, value: Value) -> Result<Self> {
        let mut components = self.components.clone();
        *components.get_mut(name)? = value;
        let byte_level = writes_byte_alphabet(&components);
        let bpe = if byte_level == self.bpe.token_bytes().is_some() {
            Arc::clone(&self.bpe)
        } else {
            let bpe = &self.bpe;
            Arc::new(Bpe::new(
                bpe.vocab.clone(),
                bpe.merges.clone(),
                bpe.settings.clone(),
                byte_level,
            ))
        };
        Self::assemble(bpe, (*self.added).clone(), components)
    }

    /// The JSON of one component.
    pub fn component(&self, name: &str) -> Result<Value> {
        self.components.clone().get_mut(name).cloned()
    }

    /// The same tokenizer with more added tokens, and how many of them are new. A text that is known keeps its id and
    /// takes the new flags; new ids follow the highest one.
    pub fn with_added_tokens(&self, tokens: Vec<AddedToken>) -> Result<(Self, usize)> {
        let mut added = (*self.added).clone();
        let mut next = self.max_id().map_or(0, |id| id + 1);
        let mut count = 0;
        for token in tokens {
            let known = self.added.id(&token.content).or_else(|| added.id(&token.content));
            let same = known.and_then(|id| added.get(id)) == Some(&token);
            if token.content.is_empty() || same {
                continue;
            }
            count += 1;
            let id = known
                .or_else(|| self.bpe.vocab.id(&token.content))
                .unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
            added.insert(id, token);
        }
        let tokenizer = Self::assemble(Arc::clone(&self.bpe), added, self.components.clone())?;
        Ok((tokenizer, count))
    }

    /// This tokenizer as the text of a `tokenizer.json`, in the stock library's layout.
    pub fn to_json(&self, pretty: bool) -> String {
        let writer = Writer {
            components: &self.components,
            added: &self.added,
            bpe: &self.bpe,
        };
        let json = if pretty {
            serde_json::to_string_pretty(&writer)
        } else {
            serde_json::to_string(&writer)
        };
        json.expect("strings and numbers always serialize")
    }

    /// The model.
    pub fn bpe(&self) -> &Bpe {
        &self.bpe
    }

    /// The added tokens.
    pub fn added_tokens(&self) -> &AddedTokens {
        &self.added
    }

    /// The post-processor.
    pub fn post_processor(&self) -> Option<&PostProcessor> {
        self.post_processor.as_ref()
    }

    /// The decoder.
    pub fn decoder(&self) -> Option<&Decoder> {
        self.decoder.as_ref()
    }

    /// Whether tokens are written in the byte alphabet.
    pub fn is_byte_level(&self) -> bool {
        self.bpe.token_bytes().is_some()
    }

    /// The highest id, holes below it notwithstanding.
    pub fn max_id(&self) -> Option<TokenId> {
        self.bpe
            .vocab
            .max_id()
            .max(self.added.iter().map(|(id, _)| id).max())
    }

    /// The id of `token`: an added one first.
    pub fn token_to_id(&self, token: &str) -> Option<TokenId> {
        self.added.id(token).or_else(|| self.bpe.vocab.id(token))
    }

    /// The text of `id`.
    pub fn id_to_token(&self, id: TokenId) -> Option<&str> {
        self.added.spelling(id).or_else(|| self.bpe.vocab.token(id))
    }

    /// The bytes that `id` stands for: of an added token its text.
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        if let Some(token) = self.added.get(id) {
            return Some(token.content.as_bytes());
        }
        let bytes = self.bpe.token_bytes().and_then(|table| table.bytes(id));
        bytes.or_else(|| self.bpe.vocab.token(id).map(str::as_bytes))
    }

    /// What was odd about the file, without being wrong.
    pub fn warnings(&self) -> Vec<String> {
        let doubles = self.bpe.vocab.doubles().map(|(token, id)| {
            let first = self.bpe.vocab.token(id).unwrap_or_default();
            format!(
                "tokens '{}' and '{}' share id {id}: it decodes to the first",
                first.escape_debug(),
                token.escape_debug()
            )
        });
        self.added.warnings().iter().cloned().chain(doubles).collect()
    }

    /// Forgets what the caches hold.
    pub fn clear_cache(&self) {
        self.states.clear();
    }
}

/// As the model writes what it made, even where an added token of this id has another normalized form.
impl Spell for Tokenizer {
    fn spell(&self, id: u32) -> Option<Cow<'_, str>> {
        let token = self.bpe.vocab.token(id).or_else(|| self.added.spelling(id));
        token.map(Cow::Borrowed)
    }
}

fn read<T>(name: &str, value: &Value, from_node: impl Fn(&Node) -> Result<T>) -> Result<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    from_node(&Node::new(name, value)).map(Some)
}

/// Whether any component maps bytes to the byte alphabet or back: then tokens are read through it.
fn writes_byte_alphabet(components: &Components) -> bool {
    fn holds_byte_level(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(holds_byte_level),
            Value::Object(map) => {
                map.get("type").is_some_and(|kind| kind == "ByteLevel") || map.values().any(holds_byte_level)
            }
            _ => false,
        }
    }
    holds_byte_level(&components.pre_tokenizer) || holds_byte_level(&components.decoder)
}

fn route(pre_tokenizer: Option<&PreTokenizer>, bpe: &Bpe) -> Result<Route> {
    let steps = pre_tokenizer.map_or(&[][..], PreTokenizer::steps);
    let byte_levels = steps
        .iter()
        .filter(|step| matches!(step, Step::ByteLevel(_)))
        .count();
    if byte_levels == 0 {
        let found = if pre_tokenizer.is_some() {
            "holds no 'ByteLevel'"
        } else {
            "is null"
        };
        return Err(Error::UnsupportedComponent(format!(
            "tokenizer.json: pre_tokenizer {found}; hf_bpe supports byte-level BPE. \
             Load this file with tokenizers.Tokenizer.from_file instead."
        )));
    }
    Ok(match steps {
        [Step::ByteLevel(only)] if bpe.runs_on_bytes() => Route::Bytes {
            prefix_space: only.add_prefix_space,
        },
        [.., Step::ByteLevel(last)] if byte_levels == 1 && !last.add_prefix_space && bpe.runs_on_bytes() => {
            Route::Bytes { prefix_space: false }
        }
        _ => Route::Pieces,
    })
}
