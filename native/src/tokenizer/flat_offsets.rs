//! Many texts to ids in one row, with the offsets of each id in another.
//!
//! Guarantee: ids and offsets are those of [`Tokenizer::encode`]. Where tokens are bytes of the text, the way to them is
//! short: ids come as if nobody asked for offsets, cache and all, and offsets follow from the ids (see `widths.rs`), once it
//! is known how many there are. Anywhere else (another normal form, trimmed spaces, a template that turns parts around) the
//! text is encoded the long way.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::draw::Draw;
use super::widths::{Widths, characters};
use super::{EncodeOptions, Route, State, Tokenizer};
use crate::vocab::{TokenBytes, TokenId};
use crate::{Result, parallel};

/// Ids, the bounds of each text in them, and the start and end of each id in characters of its text, in turn.
pub type FlatOffsets = (Vec<TokenId>, Vec<u64>, Vec<u32>);

/// The ids of texts, and what is needed to tell where each stands.
pub struct Placed<'a> {
    /// The ids of all texts in a row.
    pub ids: Vec<TokenId>,
    /// Where each text begins in them, and where the last one ends.
    pub bounds: Vec<u64>,
    notes: Vec<Notes>,
    short: Option<Short<'a>>,
}

/// What the short way needs to know.
struct Short<'a> {
    widths: &'a Widths,
    tokens: &'a TokenBytes,
    /// What goes around each text.
    affixes: (Vec<TokenId>, Vec<TokenId>),
}

/// What one thread has made of its texts.
#[derive(Default)]
struct Run {
    ids: Vec<TokenId>,
    notes: Notes,
}

/// What ids don't tell of their places. All numbers count from the first text of a run, or the first id of it.
#[derive(Default)]
struct Notes {
    /// How many ids there were after each text.
    ends: Vec<usize>,
    /// The added tokens of texts that went the short way: which ids they are, and how many characters each was.
    added: Vec<(usize, u32)>,
    /// The texts that went the long way, with their offsets.
    long: Vec<(usize, Vec<[u32; 2]>)>,
}

impl Tokenizer {
    /// The ids of all texts in a row, where each text begins in them, and the offsets of each id.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_flat_with_offsets(&self, texts: &[&str], options: EncodeOptions) -> Result<FlatOffsets> {
        let placed = self.encode_flat_placed(texts, options)?;
        let mut offsets = vec![[0; 2]; placed.ids.len()];
        placed.offsets_into(&mut offsets);
        Ok((placed.ids, placed.bounds, offsets.into_flattened()))
    }

    /// The same with offsets that are still to be [written](Placed::offsets_into), to memory that can then be of the right size.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_flat_placed(&self, texts: &[&str], options: EncodeOptions) -> Result<Placed<'_>> {
        let sizes: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let draw = self.draw();
        let short = self.short_way(options);
        let runs = parallel::map_parts(&sizes, |part| {
            let bytes: usize = sizes[part.clone()].iter().sum();
            let mut run = Run {
                ids: Vec::with_capacity(bytes / 3 + 4 * part.len()),
                notes: Notes {
                    ends: Vec::with_capacity(part.len()),
                    ..Notes::default()
                },
            };
            for at in part {
                self.place_text(texts[at], options, short.as_ref(), draw.at(at), &mut run)?;
                run.notes.ends.push(run.ids.len());
            }
            Ok(run)
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        let mut bounds = Vec::with_capacity(texts.len() + 1);
        bounds.push(0);
        let mut before = 0;
        for run in &runs {
            bounds.extend(run.notes.ends.iter().map(|end| (before + end) as u64));
            before += run.ids.len();
        }
        let (ids, notes) = runs.into_iter().map(|run| (run.ids, run.notes)).unzip();
        Ok(Placed {
            ids: parallel::concat(ids),
            bounds,
            notes,
            short,
        })
    }

    /// The short way, where it is open to texts that the normalizer keeps.
    fn short_way(&self, options: EncodeOptions) -> Option<Short<'_>> {
        if self.route != (Route::Bytes { prefix_space: false }) || !self.added.none_normalized() {
            return None;
        }
        let affixes = match &self.post_processor {
            None => Default::default(),
            Some(processor) if processor.trims_offsets() => return None,
            Some(processor) => processor.affixes(options.add_special_tokens)?,
        };
        let widths = self.widths.get_or_init(|| Widths::new(&self.bpe));
        Some(Short {
            widths: widths.as_ref()?,
            tokens: self.bpe.token_bytes()?,
            affixes,
        })
    }

    fn place_text(
        &self,
        text: &str,
        options: EncodeOptions,
        short: Option<&Short>,
        draw: Draw,
        run: &mut Run,
    ) -> Result<()> {
        let (before, added_before) = (run.ids.len(), run.notes.added.len());
        if let Some(short) = short {
            run.ids.extend(&short.affixes.0);
            if self
                .states
                .with(|state| self.place_bytes(text, options, draw, state, run))?
            {
                run.ids.extend(&short.affixes.1);
                return Ok(());
            }
        }
        run.ids.truncate(before);
        run.notes.added.truncate(added_before);
        let encoding = self.encode_drawn(&text.into(), None, options, None, draw)?;
        run.ids.extend(&encoding.ids);
        let offsets = encoding.offsets.iter();
        let offsets = offsets.map(|&(start, end)| [start as u32, end as u32]);
        run.notes.long.push((run.notes.ends.len(), offsets.collect()));
        Ok(())
    }

    /// Appends the ids of a text; false where the short way doesn't lead to its end.
    fn place_bytes(
        &self,
        text: &str,
        options: EncodeOptions,
        draw: Draw,
        state: &mut State,
        run: &mut Run,
    ) -> Result<bool> {
        super::encode::check_length(text)?;
        let model = self.model(draw);
        state.cache.keep_to_share();
        draw.begin(text.as_bytes(), &mut state.symbols);
        let mut is_short = true;
        self.added.split_raw(text, options.allowed(), &mut |range, id| {
            if let Some(id) = id {
                let width = characters(&text.as_bytes()[range]);
                run.notes.added.push((run.ids.len(), width));
                run.ids.push(id);
                return Ok(());
            }
            let segment = &text[range];
            is_short = is_short
                && match &self.normalizer {
                    Some(normalizer) => normalizer.keeps(segment)?,
                    None => true,
                };
            match is_short {
                true => self.bytes_into(segment, &model, state, &mut run.ids),
                false => Ok(()),
            }
        })?;
        Ok(is_short)
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

    fn offsets_of_run(&self, notes: &Notes, ids: &[TokenId], offsets: &mut [[u32; 2]]) {
        let mut added = notes.added.iter().peekable();
        let mut long = notes.long.iter().peekable();
        let mut start = 0;
        for (text, &end) in notes.ends.iter().enumerate() {
            match (long.next_if(|(at, _)| *at == text), &self.short) {
                (Some((_, known)), _) => offsets[start..end].copy_from_slice(known),
                (None, Some(short)) => {
                    let (mut at, end) = (start + short.affixes.0.len(), end - short.affixes.1.len());
                    let mut character = 0;
                    while let Some(&(next, width)) = added.next_if(|(next, _)| *next < end) {
                        character = short.place(&ids[at..next], character, &mut offsets[at..next]);
                        offsets[next] = [character, character + width];
                        character += width;
                        at = next + 1;
                    }
                    short.place(&ids[at..end], character, &mut offsets[at..end]);
                }
                (None, None) => {}
            }
            start = end;
        }
    }
}

impl Short<'_> {
    fn place(&self, ids: &[TokenId], at: u32, offsets: &mut [[u32; 2]]) -> u32 {
        self.widths.place(ids, at, self.tokens, offsets)
    }
}
