//! Training: a corpus becomes a table of distinct pretokens, and the table becomes merges.
//!
//! Guarantee: the vocabulary and the merges are those of the stock `BpeTrainer` (tokenizers 0.23.3) for
//! vocabularies of bytes and of characters, and a pure function of the multiset of pretokens: threads, batches and
//! the order of documents make no difference. Where stock draws lots, order is by code point. Counts are 64-bit, where stock's wrap at 2^31: there ours are right.

mod alphabet;
pub mod chain;
pub mod counter;
pub mod counts;
pub mod cutting;
pub mod extend;
mod heap;
pub mod long_text;
pub mod merge;
mod merging;
mod neighbours;
mod old_words;
mod pairs;
mod quotas;
mod sequences;
pub mod sorted;
pub mod sources;
pub mod spelling;
pub mod spill;
mod token_rules;

pub use crate::arrow::ArrowStrings;
pub use alphabet::Alphabet;
pub use counter::Counter;
pub use counts::Counts;
pub use cutting::Cutting;
pub use extend::{Extended, Extension, NewToken, learn_on};
pub use long_text::LongText;
pub use merge::{Learned, Settings, learn, learn_from_sources};
pub use sorted::{MemoryLimit, Sorted};
pub use sources::{Quota, SourceCounts, SourceUse, SourcedWords};
pub use spelling::{Spelling, Unit};
pub use token_rules::TokenRules;

use crate::Result;
use crate::pre_tokenizer::Scratch;
use crate::tokenizer::Tokenizer;

/// Cuts a text into the pretokens that training counts.
///
/// The bytes handed out are those that the model sees: normalized, split, and not yet written in the byte
/// alphabet. Implemented by the pipeline, and by any closure of the same shape.
pub trait Pretokenize: Sync {
    /// Calls `emit` with each pretoken of `text`, in order.
    fn pretokens(&self, text: &str, emit: &mut dyn FnMut(&[u8])) -> Result<()>;
}

impl<F> Pretokenize for F
where
    F: Fn(&str, &mut dyn FnMut(&[u8])) -> Result<()> + Sync,
{
    fn pretokens(&self, text: &str, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self(text, emit)
    }
}

/// What sees each word with its count and its group.
pub type VisitInGroups<'a> = dyn FnMut(&[u8], u64, u32) -> Result<()> + 'a;

/// Words and how often each was seen, to be gone through several times, each time in the same order.
pub trait Words {
    /// Calls `visit` with each word and its count, until it fails.
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()>;

    /// Like [`Words::for_each`], with the group of each word: words of one group have equal counts, and come from the
    /// same sources.
    fn for_each_in_groups(&self, visit: &mut VisitInGroups<'_>) -> Result<()> {
        self.for_each(&mut |word, count| visit(word, count, 0))
    }
}

impl Words for [(&[u8], u64)] {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|&(word, count)| visit(word, count))
    }
}

impl<W: Words + ?Sized> Words for &W {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        (**self).for_each(visit)
    }

    fn for_each_in_groups(&self, visit: &mut VisitInGroups<'_>) -> Result<()> {
        (**self).for_each_in_groups(visit)
    }
}

/// Cuts a text into the words that an extension counts: added tokens are cut out, as when ids are made.
pub struct BetweenAddedTokens<'a>(pub &'a Tokenizer);

impl Pretokenize for BetweenAddedTokens<'_> {
    fn pretokens(&self, text: &str, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.0
            .words(text, &mut Scratch::default(), &mut |word| emit(word.as_bytes()))
    }
}

impl Pretokenize for Tokenizer {
    fn pretokens(&self, text: &str, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
        Tokenizer::pretokens(self, text, &mut Scratch::default(), emit)
    }
}
