//! Many texts to ids in one row, with the offsets of each id in another.
//!
//! Guarantee: ids and offsets are those of [`Tokenizer::encode`]. Where tokens are bytes of the text, the way to them is
//! short: ids come as if nobody asked for offsets, cache and all, and each token covers as many bytes as it has. Anywhere
//! else (another normal form, trimmed spaces, a template that turns parts around) the text is encoded the long way.

use super::draw::Draw;
use super::{EncodeOptions, Route, State, Tokenizer};
use crate::vocab::TokenId;
use crate::{Result, parallel};

/// Ids, the bounds of each text in them, and the start and end of each id in characters of its text, in turn.
pub type FlatOffsets = (Vec<TokenId>, Vec<u64>, Vec<u32>);

/// What one thread has made of its texts: ids, offsets, and how many ids there were after each text.
#[derive(Default)]
struct Run {
    ids: Vec<TokenId>,
    offsets: Vec<u32>,
    ends: Vec<usize>,
}

impl Tokenizer {
    /// The ids of all texts in a row, where each text begins in them, and the offsets of each id.
    pub fn encode_flat_with_offsets(&self, texts: &[&str], options: EncodeOptions) -> Result<FlatOffsets> {
        let sizes: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let draw = self.draw();
        let affixes = self.affixes_of_offsets(options);
        let runs = parallel::map_parts(&sizes, |part| {
            let bytes: usize = sizes[part.clone()].iter().sum();
            let mut run = Run {
                ids: Vec::with_capacity(bytes / 3 + 4 * part.len()),
                offsets: Vec::with_capacity(2 * (bytes / 3 + 4 * part.len())),
                ends: Vec::with_capacity(part.len()),
            };
            for at in part {
                let affixes = affixes.as_ref();
                self.place_text(texts[at], options, affixes, draw.at(at), &mut run)?;
                run.ends.push(run.ids.len());
            }
            Ok(run)
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        let mut bounds = vec![0];
        let mut before = 0;
        for run in &runs {
            bounds.extend(run.ends.iter().map(|end| (before + end) as u64));
            before += run.ids.len();
        }
        let (ids, offsets) = runs.into_iter().map(|run| (run.ids, run.offsets)).unzip();
        Ok((parallel::concat(ids), bounds, parallel::concat(offsets)))
    }

    /// What goes around each text, where the short way is open to texts that the normalizer keeps.
    fn affixes_of_offsets(&self, options: EncodeOptions) -> Option<(Vec<TokenId>, Vec<TokenId>)> {
        let is_short = self.route == (Route::Bytes { prefix_space: false })
            && self.bpe.has_all_bytes()
            && self.added.none_normalized()
            // Of two texts with one id, the length would be a guess.
            && self.bpe.vocab.doubles().next().is_none();
        match &self.post_processor {
            _ if !is_short => None,
            None => Some(Default::default()),
            Some(processor) if processor.trims_offsets() => None,
            Some(processor) => processor.affixes(options.add_special_tokens),
        }
    }

    fn place_text(
        &self,
        text: &str,
        options: EncodeOptions,
        affixes: Option<&(Vec<TokenId>, Vec<TokenId>)>,
        draw: Draw,
        run: &mut Run,
    ) -> Result<()> {
        let before = run.ids.len();
        if let Some((first, last)) = affixes {
            run.put_around(first);
            if self
                .states
                .with(|state| self.place_bytes(text, options, draw, state, run))?
            {
                run.put_around(last);
                return Ok(());
            }
        }
        run.ids.truncate(before);
        run.offsets.truncate(2 * before);
        let encoding = self.encode_drawn(&text.into(), None, options, None, draw)?;
        run.ids.extend(&encoding.ids);
        let offsets = encoding.offsets.iter();
        run.offsets
            .extend(offsets.flat_map(|&(start, end)| [start as u32, end as u32]));
        Ok(())
    }

    /// Appends ids and offsets of a text; false where the short way doesn't lead to its end.
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
        let allowed = options.allowed();
        draw.begin(text.as_bytes(), &mut state.symbols);
        let lengths = self.token_lengths();
        let mut cursor = Cursor::new(text);
        let mut is_short = true;
        self.added.split_raw(text, allowed, &mut |range, id| {
            if let Some(id) = id {
                run.ids.push(id);
                cursor.push(range.len(), &mut run.offsets);
                return Ok(());
            }
            let kept = match &self.normalizer {
                Some(normalizer) => normalizer.keeps(&text[range.clone()])?,
                None => true,
            };
            is_short &= kept;
            if !is_short {
                return Ok(());
            }
            let before = run.ids.len();
            self.segment_into(text, range.clone(), allowed, &model, state, &mut run.ids)?;
            let tokens = run.ids[before..]
                .iter()
                .map(|&id| lengths.get(id as usize).copied().unwrap_or(0) as usize);
            cursor.push_all(tokens, &mut run.offsets);
            // Where tokens and bytes are one for one, this holds; it costs nothing to see.
            is_short = cursor.byte == range.end;
            Ok(())
        })?;
        Ok(is_short)
    }

    /// The number of bytes of each token of the model, by id.
    fn token_lengths(&self) -> &[u32] {
        self.lengths.get_or_init(|| {
            let mut lengths = vec![
                0;
                self.bpe
                    .vocab
                    .max_id()
                    .map_or(0, |id| id as usize + 1)
                    .min(1 << 24)
            ];
            for (bytes, id) in self.bpe.token_bytes().iter().flat_map(|bytes| bytes.iter()) {
                if let Some(length) = lengths.get_mut(id as usize) {
                    *length = bytes.len() as u32;
                }
            }
            lengths
        })
    }
}

impl Run {
    /// Special tokens that no text spells.
    fn put_around(&mut self, ids: &[TokenId]) {
        self.ids.extend(ids);
        self.offsets.extend(std::iter::repeat_n(0, 2 * ids.len()));
    }
}

/// A place in a text, in bytes and in characters.
struct Cursor<'a> {
    text: &'a [u8],
    is_ascii: bool,
    byte: usize,
    /// How many characters begin before `byte`.
    characters: u32,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text: text.as_bytes(),
            is_ascii: text.is_ascii(),
            byte: 0,
            characters: 0,
        }
    }

    fn push_all(&mut self, lengths: impl Iterator<Item = usize>, offsets: &mut Vec<u32>) {
        if !self.is_ascii {
            return lengths.for_each(|length| self.push(length, offsets));
        }
        offsets.extend(lengths.flat_map(|length| {
            let start = self.byte as u32;
            self.byte += length;
            [start, self.byte as u32]
        }));
        self.characters = self.byte as u32;
    }

    /// The characters of the next `length` bytes: those that the bytes touch, so that a part of one stands for the whole.
    fn push(&mut self, length: usize, offsets: &mut Vec<u32>) {
        let bytes = self.text.get(self.byte..self.byte + length).unwrap_or_default();
        self.byte += length;
        let begins = |byte: u8| byte & 0xC0 != 0x80;
        let inside = bytes.first().is_some_and(|&byte| !begins(byte));
        let start = self.characters - u32::from(inside);
        self.characters += bytes.iter().map(|&byte| u32::from(begins(byte))).sum::<u32>();
        offsets.extend([start, self.characters]);
    }
}
