//! The pipeline in reading order: added tokens, normalizer, pre-tokenizer, model, post-processor; and back.
//!
//! A [`Tokenizer`] never changes: what the Python side lets people change builds a new one. Only its caches change,
//! and they change speed, never results.

mod align;
mod columns;
mod cuts;
mod decode;
mod decode_table;
mod draw;
mod encode;
mod extend;
mod flat;
mod flat_offsets;
mod in_parts;
mod ordinary;
mod pieces;
mod placed;
mod ranks;
mod segments;
mod spaces;
mod state;
mod widths;
mod within;
mod words;

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
use crate::quoted::Escaped;
use crate::tokenizer_json::{Components, TokenizerFile, Writer, defaults};
use crate::vocab::TokenId;
use crate::{Error, Result};

pub use align::{Input, Sequence};
pub use columns::{Bounds, Lists};
pub use encode::EncodeOptions;
pub use extend::MergeOfIds;
pub use flat::Rules;
pub use flat_offsets::FlatOffsets;
pub use placed::Placed;
pub use state::State;
pub use within::Anchor;

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
    dropout_seed: Option<u64>,
    ordinary: OnceLock<Option<Arc<Bpe>>>,
    decode_table: OnceLock<decode_table::DecodeTable>,
    widths: OnceLock<Option<widths::Widths>>,
    spaces: OnceLock<spaces::Spaces>,
    states: state::States,
}

/// How a segment becomes ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Pretokens are ranges of the segment and the model runs on their bytes. `prefix_space`: a space is put before
    /// each segment that doesn't begin with one.
    Bytes { prefix_space: bool },
    /// Any component in any order: pieces of text, with alignments where someone asks for offsets; the model runs on
    /// characters.
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
        Self::with_merges(file, merges)
    }

    /// The same with merges whose ids are known, whatever the file lists.
    pub(crate) fn with_merges(file: TokenizerFile, merges: Merges) -> Result<Self> {
        let added = AddedTokens::from_list(file.added_tokens, |content| file.vocab.id(content));
        let byte_level = writes_byte_alphabet(&file.components);
        let bpe = Bpe::new(file.vocab, merges, file.settings, byte_level);
        Self::assemble(Arc::new(bpe), added, file.components, None)
    }

    fn assemble(
        bpe: Arc<Bpe>,
        mut added: AddedTokens,
        components: Components,
        dropout_seed: Option<u64>,
    ) -> Result<Self> {
        defaults::check(&components)?;
        let normalizer = read("normalizer", &components.normalizer, Normalizer::from_node)?;
        let pre_tokenizer = read(
            "pre_tokenizer",
            &components.pre_tokenizer,
            PreTokenizer::from_node,
        )?;
        added.finish(normalizer.as_ref())?;
        Ok(Self {
            route: route(pre_tokenizer.as_ref(), &bpe),
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
            dropout_seed,
            ordinary: OnceLock::new(),
            decode_table: OnceLock::new(),
            widths: OnceLock::new(),
            spaces: OnceLock::new(),
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
        Self::assemble(bpe, (*self.added).clone(), components, self.dropout_seed)
    }

    /// The JSON of one component.
    pub fn component(&self, name: &str) -> Result<Value> {
        self.components.clone().get_mut(name).cloned()
    }

    /// The same tokenizer with more added tokens, and how many of them are new. A text that is known keeps its id and
    /// takes the new flags; new ids follow the highest one.
    pub fn with_added_tokens(&self, tokens: Vec<AddedToken>) -> Result<(Self, usize)> {
        let mut added = (*self.added).clone();
        let mut next = self.max_id().map_or(Some(0), |id| id.checked_add(1));
        let mut count = 0;
        for token in tokens {
            let known = added.id(&token.content);
            if token.content.is_empty() || added.token(&token.content) == Some(&token) {
                continue;
            }
            count += 1;
            let id = match known.or_else(|| self.bpe.vocab.id(&token.content)) {
                Some(id) => id,
                None => {
                    let free = next.ok_or_else(|| no_id_left(&token.content))?;
                    next = free.checked_add(1);
                    free
                }
            };
            added.insert(id, token);
        }
        let tokenizer = Self::assemble(
            Arc::clone(&self.bpe),
            added,
            self.components.clone(),
            self.dropout_seed,
        )?;
        Ok((tokenizer, count))
    }

    /// The same tokenizer with another seed for dropout; without one, each call draws its own.
    pub fn with_dropout_seed(&self, seed: Option<u64>) -> Result<Self> {
        let added = (*self.added).clone();
        Self::assemble(Arc::clone(&self.bpe), added, self.components.clone(), seed)
    }

    /// Sets the seed for dropout while a tokenizer is made.
    pub fn set_dropout_seed(&mut self, seed: Option<u64>) {
        self.dropout_seed = seed;
    }

    /// The seed for dropout.
    pub fn dropout_seed(&self) -> Option<u64> {
        self.dropout_seed
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

    /// What was odd about the file, without being wrong.
    pub fn warnings(&self) -> Vec<String> {
        let doubles = self.bpe.vocab.doubles().map(|(token, id)| {
            let first = self.bpe.vocab.token(id).unwrap_or_default();
            format!(
                "tokens {} and {} share id {id}: it decodes to the first",
                Escaped(first),
                Escaped(token)
            )
        });
        let steps = self.pre_tokenizer.iter().flat_map(PreTokenizer::warnings);
        let read = self.added.warnings().iter().chain(steps);
        read.cloned().chain(doubles).collect()
    }

    /// How many bytes the caches hold that no thread uses right now.
    pub fn cache_bytes(&self) -> usize {
        self.states.cache_bytes()
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

fn no_id_left(content: &str) -> Error {
    Error::Value(format!(
        "no id is left for {}: the highest one, {}, is taken",
        Escaped(content),
        TokenId::MAX
    ))
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

fn route(pre_tokenizer: Option<&PreTokenizer>, bpe: &Bpe) -> Route {
    let steps = pre_tokenizer.map_or(&[][..], PreTokenizer::steps);
    match steps {
        [Step::ByteLevel(only)] if bpe.runs_on_bytes() => Route::Bytes {
            prefix_space: only.add_prefix_space,
        },
        [before @ .., Step::ByteLevel(last)]
            if !before.iter().any(Step::changes_text) && !last.add_prefix_space && bpe.runs_on_bytes() =>
        {
            Route::Bytes { prefix_space: false }
        }
        _ => Route::Pieces,
    }
}
