//! Cuts a long pretoken where nothing ever merges: a text without pre-tokenizer is one pretoken of megabytes.
//!
//! Vocabularies that come from SentencePiece mark the start of a word, `▁` for a space, and have no merge across that
//! mark's left side. Where this can be proven, a text is cut before each mark that follows another character, and the
//! ids of the words in a row are those of the whole: no step of merging ever looks across a cut.
//!
//! The proof is a scan over the merges. Call a token a *head* if it may begin with the mark, and a *tail* if it may end with
//! another character. What merges across a cut is a tail with a head; so if no merge has a tail on the left and a
//! head on the right, no cut is ever crossed. Both sets are closed under merging and never too small.

use std::ops::Range;

use hashbrown::HashSet;
use memchr::memmem::Finder;

use super::BpeSettings;
use super::characters::Characters;
use crate::merges::Merges;
use crate::vocab::TokenId;

/// Marks of a word's start, by which vocabularies without pre-tokenizer are known to be cut.
const MARKS: [char; 2] = ['▁', ' '];

/// A mark before which a pretoken may be cut.
#[derive(Clone)]
pub struct Words {
    mark: Finder<'static>,
}

impl Words {
    /// The mark that a model may be cut at; none where the proof fails.
    pub fn new(
        characters: &Characters,
        merges: &Merges,
        settings: &BpeSettings,
        unk_id: Option<TokenId>,
    ) -> Option<Self> {
        let affix = |affix: &Option<String>| affix.as_deref().is_some_and(|text| !text.is_empty());
        // An affix tells the first or last character of a pretoken from others; a merge that is passed over by
        // chance comes back when another succeeds, wherever that one is.
        if affix(&settings.continuing_subword_prefix)
            || affix(&settings.end_of_word_suffix)
            || settings.dropout.is_some_and(|rate| rate != 0.0)
        {
            return None;
        }
        let safe = |mark: &char| is_safe(*mark, characters, merges, settings, unk_id);
        let mark = MARKS.into_iter().find(safe)?;
        Some(Self {
            mark: Finder::new(mark.encode_utf8(&mut [0; 4])).into_owned(),
        })
    }

    /// The words of `text` in order.
    pub fn ranges<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let (mut start, mut at) = (0, 0);
        std::iter::from_fn(move || {
            if start == text.len() {
                return None;
            }
            let end = self.next_cut(text.as_bytes(), &mut at).unwrap_or(text.len());
            Some(std::mem::replace(&mut start, end)..end)
        })
    }

    /// The next place before a mark that doesn't follow another one; `at` is the end of the last mark.
    fn next_cut(&self, text: &[u8], at: &mut usize) -> Option<usize> {
        loop {
            let found = *at + self.mark.find(&text[*at..])?;
            let follows = found == *at;
            *at = found + self.mark.needle().len();
            if !follows {
                return Some(found);
            }
        }
    }
}

fn is_safe(
    mark: char,
    characters: &Characters,
    merges: &Merges,
    settings: &BpeSettings,
    unk_id: Option<TokenId>,
) -> bool {
    // A mark that the vocabulary lacks would leave an unknown character before it waiting.
    let Some(mark_id) = characters.id(mark) else {
        return false;
    };
    let mut tails: HashSet<_> = characters.all_but(mark).chain(unk_id).collect();
    // Then this id says nothing about what it stands for.
    if tails.contains(&mark_id) {
        return false;
    }
    // A character that becomes nothing between two marks makes them neighbours across a cut.
    let every_byte = settings.byte_fallback && characters.has_all_bytes();
    if unk_id.is_none() && !every_byte {
        tails.insert(mark_id);
    }
    let mut heads = HashSet::from([mark_id]);
    close(&mut heads, merges, |(left, _, _)| left);
    close(&mut tails, merges, |(_, right, _)| right);
    !merges
        .triples()
        .any(|(left, right, _)| tails.contains(&left) && heads.contains(&right))
}

/// Adds what merges make of members of `set` on one side, until nothing new comes.
fn close(set: &mut HashSet<TokenId>, merges: &Merges, side: impl Fn((TokenId, TokenId, TokenId)) -> TokenId) {
    loop {
        let before = set.len();
        let made: Vec<_> = merges
            .triples()
            .filter(|&triple| set.contains(&side(triple)))
            .map(|(_, _, made)| made)
            .collect();
        set.extend(made);
        if set.len() == before {
            return;
        }
    }
}
