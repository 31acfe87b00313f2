//! The offsets of ids that are known.
//!
//! Guarantee: offsets are those that [`Tokenizer::encode`](super::Tokenizer::encode) gives beside these ids.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::spaces::Spaces;
use super::widths::{Widths, characters};
use crate::parallel;
use crate::post_processor::ByteLevel;
use crate::vocab::{TokenBytes, TokenId};

/// The ids of texts, and what is needed to tell where each stands.
pub struct Placed<'a> {
    /// The ids of all texts in a row.
    pub ids: Vec<TokenId>,
    /// Where each text begins in them, and where the last one ends.
    pub bounds: Vec<u64>,
    pub(super) notes: Vec<Notes>,
    pub(super) short: Option<Short<'a>>,
}

/// What the short way needs to know.
pub(super) struct Short<'a> {
    pub(super) widths: &'a Widths,
    pub(super) tokens: &'a TokenBytes,
    /// What goes around each text.
    pub(super) affixes: (Vec<TokenId>, Vec<TokenId>),
    pub(super) trimming: Option<(ByteLevel, &'a Spaces)>,
}

/// What the ids of a thread don't tell of their places. Texts and ids count from the first of the thread.
#[derive(Default)]
pub(super) struct Notes {
    /// How many ids there were after each text.
    pub(super) ends: Vec<usize>,
    /// The added tokens of texts that went the short way.
    added: Vec<Added>,
    /// The texts that went the long way, with their offsets.
    long: Vec<(usize, Vec<[u32; 2]>)>,
}

/// An added token that a text spells.
struct Added {
    place: usize,
    characters: u32,
    /// How many of them the token before covers, too: blanks that it strips, with which this one begins.
    again: u32,
    /// What the text spells, where something may be trimmed off it.
    trimmed: Option<Box<str>>,
}

impl Notes {
    /// Notes the id at `place` as an added token, which the text spells `found`, and begins `again` before what ended last.
    pub(super) fn add(&mut self, place: usize, found: &str, again: &str, short: &Short) {
        self.added.push(Added {
            place,
            characters: characters(found.as_bytes()),
            again: characters(again.as_bytes()),
            trimmed: short.trimming.map(|_| found.into()),
        });
    }

    /// Notes the offsets of the text that ends next, whose ids begin at `place`; what was noted of it is forgotten.
    pub(super) fn take_long_way(&mut self, place: usize, offsets: &[(usize, usize)]) {
        while self.added.pop_if(|added| added.place >= place).is_some() {}
        let offsets = offsets.iter().map(|&(start, end)| [start as u32, end as u32]);
        self.long.push((self.ends.len(), offsets.collect()));
    }
}

impl Placed<'_> {
    /// Writes the start and end of each id, in characters of its text. What the post-processor adds stays as it is: (0, 0) in
    /// `offsets` that are all zero, as they have to be.
    pub fn offsets_into(&self, offsets: &mut [[u32; 2]]) {
        let mut works = Vec::with_capacity(self.notes.len());
        let (mut ids, mut offsets) = (self.ids.as_slice(), offsets);
        for notes in &self.notes {
            let count = notes.ends.last().copied().unwrap_or(0);
            let (ids_of_run, offsets_of_run);
            (ids_of_run, ids) = ids.split_at(count);
            (offsets_of_run, offsets) = offsets.split_at_mut(count);
            works.push((notes, ids_of_run, offsets_of_run));
        }
        let write =
            |(notes, ids, offsets): (&Notes, &[_], &mut [_])| self.offsets_of_run(notes, ids, offsets);
        match works.len() {
            0 | 1 => works.into_iter().for_each(write),
            _ => match parallel::pool(parallel::num_threads()) {
                Some(pool) => pool.install(|| works.into_par_iter().for_each(write)),
                None => works.into_iter().for_each(write),
            },
        }
    }

    /// Whether a text went the long way, of those that one thread encoded.
    #[cfg(test)]
    pub(super) fn is_long(&self, text: usize) -> bool {
        self.notes[0].long.iter().any(|(at, _)| *at == text)
    }

    fn offsets_of_run(&self, notes: &Notes, ids: &[TokenId], offsets: &mut [[u32; 2]]) {
        let mut added = notes.added.as_slice();
        let mut long = notes.long.iter().peekable();
        let mut start = 0;
        for (text, &end) in notes.ends.iter().enumerate() {
            match (long.next_if(|(at, _)| *at == text), &self.short) {
                (Some((_, known)), _) => offsets[start..end].copy_from_slice(known),
                (None, Some(short)) => {
                    let count = added.iter().take_while(|added| added.place < end).count();
                    let (of_text, rest) = added.split_at(count);
                    added = rest;
                    short.offsets_of_text(ids, offsets, (start, end), of_text);
                }
                (None, None) => {}
            }
            start = end;
        }
    }
}

impl Short<'_> {
    /// Writes the offsets of the text whose ids are from `start` to `end`.
    fn offsets_of_text(
        &self,
        ids: &[TokenId],
        offsets: &mut [[u32; 2]],
        (start, end): (usize, usize),
        added: &[Added],
    ) {
        let (mut at, end) = (start + self.affixes.0.len(), end - self.affixes.1.len());
        let mut character = 0;
        for next in added {
            let place = next.place;
            character = self.made(&ids[at..place], character, &mut offsets[at..place]);
            let start = character - next.again;
            character = start + next.characters;
            offsets[place] = [start, character];
            if let (Some((trimming, _)), Some(found)) = (self.trimming, &next.trimmed) {
                Spaces::trim_found(found, trimming, &mut offsets[place]);
            }
            at = place + 1;
        }
        self.made(&ids[at..end], character, &mut offsets[at..end]);
    }

    /// Writes the offsets of ids that the model made, from a character on; gives the character where they end.
    fn made(&self, ids: &[TokenId], character: u32, offsets: &mut [[u32; 2]]) -> u32 {
        let end = self.widths.place(ids, character, self.tokens, offsets);
        if let Some((trimming, spaces)) = self.trimming {
            spaces.trim(ids, self.tokens, trimming, offsets);
        }
        end
    }
}
