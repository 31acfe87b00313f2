//! Many texts to ids in one row, with the offsets of each id in another.
//!
//! Guarantee: ids and offsets are those of [`Tokenizer::encode`]. Where tokens are bytes of the text, the way to them is
//! short: ids come as if nobody asked for offsets, cache and all, and offsets follow from the ids (see `widths.rs`), once it
//! is known how many there are. Anywhere else (another normal form, a space put before, a template that turns parts around)
//! the text is encoded the long way.

use super::draw::Draw;
use super::placed::{Notes, Placed, Short};
use super::spaces::Spaces;
use super::widths::Widths;
use super::{EncodeOptions, Route, State, Tokenizer};
use crate::vocab::TokenId;
use crate::{Result, parallel};

/// Ids, the bounds of each text in them, and the start and end of each id in characters of its text, in turn.
pub type FlatOffsets = (Vec<TokenId>, Vec<u64>, Vec<u32>);

/// What one thread has made of its texts.
struct Run {
    ids: Vec<TokenId>,
    notes: Notes,
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
                notes: Notes::default(),
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
        if self.route != (Route::Bytes { prefix_space: false }) {
            return None;
        }
        let mut steps = Vec::new();
        let affixes = match &self.post_processor {
            None => Default::default(),
            Some(processor) => {
                processor.trimming(&mut steps);
                processor.affixes(options.add_special_tokens)?
            }
        };
        // What is trimmed twice hangs on what is then the first token, in a way that nobody needs fast.
        if steps.len() > 1 {
            return None;
        }
        let widths = self.widths.get_or_init(|| Widths::new(&self.bpe)).as_ref()?;
        let tokens = self.bpe.token_bytes()?;
        let spaces = || self.spaces.get_or_init(|| Spaces::new(tokens));
        Some(Short {
            widths,
            tokens,
            affixes,
            trimming: steps.pop().map(|step| (step, spaces())),
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
        let before = run.ids.len();
        if let Some(short) = short {
            run.ids.extend(&short.affixes.0);
            if self
                .states
                .with(|state| self.place_bytes(text, options, short, draw, state, run))?
            {
                run.ids.extend(&short.affixes.1);
                return Ok(());
            }
        }
        run.ids.truncate(before);
        let encoding = self.encode_drawn(&text.into(), None, options, None, draw)?;
        run.ids.extend(&encoding.ids);
        run.notes.take_long_way(before, &encoding.offsets);
        Ok(())
    }

    /// Appends the ids of a text; false where the short way doesn't lead to its end.
    fn place_bytes(
        &self,
        text: &str,
        options: EncodeOptions,
        short: &Short,
        draw: Draw,
        state: &mut State,
        run: &mut Run,
    ) -> Result<bool> {
        super::encode::check_length(text)?;
        let model = self.model(draw);
        let allowed = options.allowed();
        state.cache.keep_to_share();
        draw.begin(text.as_bytes(), &mut state.symbols);
        let mut is_short = true;
        self.added.split_raw(text, allowed, &mut |range, id| {
            if let Some(id) = id {
                run.add(id, &text[range], short);
                return Ok(());
            }
            let segment = &text[range];
            is_short = is_short
                && match &self.normalizer {
                    Some(normalizer) => normalizer.keeps(segment)?,
                    None => true,
                };
            if !is_short {
                return Ok(());
            }
            self.added
                .split_normalized(segment, allowed, &mut |range, id| match id {
                    Some(id) => {
                        run.add(id, &segment[range], short);
                        Ok(())
                    }
                    None => self.bytes_into(&segment[range], &model, state, &mut run.ids),
                })
        })?;
        Ok(is_short)
    }
}

impl Run {
    /// Appends an added token that the text spells `found`.
    fn add(&mut self, id: TokenId, found: &str, short: &Short) {
        self.notes.add(self.ids.len(), found, short);
        self.ids.push(id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::byte_alphabet::char_of;

    const OPTIONS: EncodeOptions = EncodeOptions {
        add_special_tokens: true,
        split_special_tokens: false,
    };

    fn byte_level(add_prefix_space: bool, trim_offsets: bool) -> Value {
        json!({"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": true})
    }

    fn tokenizer(change: impl FnOnce(&mut Value)) -> Tokenizer {
        let bytes = (0..=255).map(|byte| (char_of(byte).to_string(), json!(byte)));
        let added = |id: u32, content: &str, normalized: bool| {
            json!({
                "id": id, "content": content, "single_word": false, "lstrip": true, "rstrip": false,
                "normalized": normalized, "special": true,
            })
        };
        let mut file = json!({
            "version": "1.0", "truncation": null, "padding": null, "normalizer": {"type": "NFC"},
            "added_tokens": [added(300, "<raw>", false), added(301, "<normal>", true)],
            "pre_tokenizer": byte_level(false, true), "post_processor": byte_level(false, true), "decoder": null,
            "model": {"type": "BPE", "vocab": bytes.collect::<serde_json::Map<_, _>>(), "merges": []},
        });
        change(&mut file);
        Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
    }

    fn ways(tokenizer: &Tokenizer, texts: &[&str]) -> Vec<bool> {
        let placed = tokenizer.encode_flat_placed(texts, OPTIONS).unwrap();
        (0..texts.len()).map(|at| placed.is_long(at)).collect()
    }

    #[test]
    fn texts_that_the_normalizer_keeps_go_the_short_way() {
        let tokenizer = tokenizer(|_| ());
        let texts = [
            "a é語🙂",
            "",
            " <raw> b <normal>",
            "a <raw> e\u{301}",
            "c <normal>",
            "e\u{301}",
        ];

        assert_eq!(ways(&tokenizer, &texts), [false, false, false, true, false, true]);
    }

    #[test]
    fn pipelines_whose_tokens_are_not_the_bytes_of_a_text_go_the_long_way() {
        let closed = |change: &dyn Fn(&mut Value)| ways(&tokenizer(change), &["a"]) == [true];

        assert!(!closed(&|file| file["post_processor"] = Value::Null));
        assert!(closed(&|file| file["pre_tokenizer"] = byte_level(true, true)));
        assert!(closed(&|file| file["pre_tokenizer"] = Value::Null));
        assert!(closed(
            &|file| file["model"]["vocab"]["b"] = json!(u32::from(b'a'))
        ));
        assert!(closed(&|file| {
            let steps = [byte_level(true, true), byte_level(true, true)];
            file["post_processor"] = json!({"type": "Sequence", "processors": steps});
        }));
    }

    #[test]
    fn a_model_whose_merges_make_other_texts_goes_the_long_way() {
        let bytes = tokenizer(|_| ());
        let halves = (u32::from(b'a'), u32::from(b'b'));
        let extended = |made: &str| {
            bytes
                .extended(&[(made.into(), 400)], &[(halves.0, halves.1, 400)], None)
                .unwrap()
        };

        assert_eq!(ways(&extended("ab"), &["ab"]), [false]);
        assert_eq!(ways(&extended("aé"), &["ab"]), [true]);
    }
}
