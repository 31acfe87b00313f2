//! Many texts, or a long one, to ids in one row, on all cores.

use std::ops::Range;

use super::draw::Draw;
use super::{EncodeOptions, State, Tokenizer};
use crate::bpe::Bpe;
use crate::vocab::TokenId;
use crate::{Result, parallel};

/// Parts of a text that is cut have at least this many bytes: starting one costs a microsecond.
const PART: usize = 256 << 10;

/// A buffer of more ids than this is not kept for the next text.
const KEPT_IDS: usize = 1 << 20;

/// Which rules for special tokens a call follows.
#[derive(Debug, Clone, Copy)]
pub enum Rules {
    /// Those of the post-processor and of added tokens.
    Usual(EncodeOptions),
    /// No special token comes out.
    Ordinary,
}

/// A text, or a part of one that was cut.
struct Part {
    text: usize,
    range: Range<usize>,
    is_first: bool,
    is_last: bool,
}

/// What all parts of a call share.
struct Job<'a> {
    rules: Rules,
    ordinary: Option<&'a Bpe>,
    draw: Draw,
}

impl Tokenizer {
    /// The ids of all texts in a row, and where each text begins in them (one more than there are texts).
    pub fn encode_flat(&self, texts: &[&str], rules: Rules) -> Result<(Vec<TokenId>, Vec<u64>)> {
        self.encode_flat_in_parts(texts, rules, cut_size(texts))
    }

    /// The same with texts cut into parts of at least `size` bytes, where that is possible; none is cut for 0.
    pub(super) fn encode_flat_in_parts(
        &self,
        texts: &[&str],
        rules: Rules,
        size: usize,
    ) -> Result<(Vec<TokenId>, Vec<u64>)> {
        let encoded = self.run_parts(texts, rules, size, |parts, job| {
            let bytes: usize = parts.iter().map(|part| part.range.len()).sum();
            let mut ids = Vec::with_capacity(bytes / 3 + 4 * parts.len());
            let mut ends = Vec::with_capacity(parts.len());
            self.states.with(|state| {
                for part in parts {
                    self.part_into(part, texts, job, state, &mut ids)?;
                    if part.is_last {
                        ends.push(ids.len());
                    }
                }
                Ok((ids, ends))
            })
        });
        let (ids, ends): (Vec<_>, Vec<_>) = encoded
            .into_iter()
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .unzip();
        let mut bounds = Vec::with_capacity(texts.len() + 1);
        bounds.push(0);
        let mut before = 0;
        for (ids, ends) in ids.iter().zip(ends) {
            bounds.extend(ends.into_iter().map(|end| (before + end) as u64));
            before += ids.len();
        }
        Ok((parallel::concat(ids), bounds))
    }

    /// The number of ids of each text. They pass through one buffer a thread, and are not kept.
    pub fn count_tokens(&self, texts: &[&str], rules: Rules) -> Result<Vec<u64>> {
        // Also on one thread a long text is counted in parts: so the buffer stays small.
        self.count_in_parts(texts, rules, PART)
    }

    pub(super) fn count_in_parts(&self, texts: &[&str], rules: Rules, size: usize) -> Result<Vec<u64>> {
        let counted = self.run_parts(texts, rules, size, |parts, job| {
            self.states.with(|state| {
                let mut ids = std::mem::take(&mut state.ids);
                let counts = parts.iter().map(|part| {
                    ids.clear();
                    self.part_into(part, texts, job, state, &mut ids)?;
                    Ok((part.text, ids.len() as u64))
                });
                let counts = counts.collect::<Result<Vec<_>>>();
                ids.clear();
                ids.shrink_to(KEPT_IDS);
                state.ids = ids;
                counts
            })
        });
        let mut counts = vec![0; texts.len()];
        for part in counted {
            part?.into_iter().for_each(|(text, count)| counts[text] += count);
        }
        Ok(counts)
    }

    /// Runs `work` on runs of parts, on all cores; results come in order.
    fn run_parts<T: Send>(
        &self,
        texts: &[&str],
        rules: Rules,
        size: usize,
        work: impl Fn(&[Part], &Job) -> T + Sync,
    ) -> Vec<T> {
        let ordinary = match rules {
            Rules::Ordinary => self.ordinary_bpe(),
            Rules::Usual(_) => None,
        };
        let job = Job {
            rules,
            ordinary,
            draw: self.draw(),
        };
        let parts = self.parts(texts, rules, size);
        let sizes: Vec<_> = parts.iter().map(|part| part.range.len()).collect();
        parallel::map_parts(&sizes, |run| work(&parts[run], &job))
    }

    fn parts(&self, texts: &[&str], rules: Rules, size: usize) -> Vec<Part> {
        let size = match rules {
            Rules::Usual(options) if !self.only_puts_affixes(options) => 0,
            _ => size,
        };
        let mut parts = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let places = match text.len() / 2 < size || text.len() >= u32::MAX as usize {
                true => Vec::new(),
                false => self.cut_places(text, size),
            };
            let mut start = 0;
            for end in places.into_iter().chain([text.len()]) {
                parts.push(Part {
                    text: at,
                    range: start..end,
                    is_first: start == 0,
                    is_last: end == text.len(),
                });
                start = end;
            }
        }
        parts
    }

    fn part_into(
        &self,
        part: &Part,
        texts: &[&str],
        job: &Job,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let text = &texts[part.text][part.range.clone()];
        let draw = job.draw.at(part.text);
        match job.rules {
            Rules::Usual(options) => {
                self.part_of_text_into(text, (part.is_first, part.is_last), options, draw, state, ids)
            }
            Rules::Ordinary => self.ordinary_into(text, job.ordinary, draw, state, ids),
        }
    }
}

/// Whether a text alone is worth to be cut.
pub(super) fn is_long(text: &str) -> bool {
    text.len() >= 2 * PART
}

/// How long the parts of texts are to be: 0 where nothing is gained by cutting.
fn cut_size(texts: &[&str]) -> usize {
    let worth = texts.iter().any(|text| is_long(text)) && parallel::num_threads() > 1;
    if worth { PART } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer() -> Tokenizer {
        let bytes = (0..=255).map(crate::byte_alphabet::char_of);
        let vocab: serde_json::Map<_, _> = bytes
            .enumerate()
            .map(|(id, char)| (char.to_string(), serde_json::json!(id)))
            .collect();
        let special = |id: u32, content: &str| {
            serde_json::json!({
                "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": true,
                "normalized": false, "special": true
            })
        };
        let file = serde_json::json!({
            "version": "1.0",
            "added_tokens": [special(256, "<s>"), special(257, "</s>")],
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
            "post_processor": {"type": "BertProcessing", "sep": ["</s>", 257], "cls": ["<s>", 256]},
            "decoder": null,
            "model": {"type": "BPE", "vocab": vocab, "merges": []},
        });
        Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
    }

    const RULES: [Rules; 3] = [
        Rules::Ordinary,
        Rules::Usual(EncodeOptions {
            add_special_tokens: true,
            split_special_tokens: false,
        }),
        Rules::Usual(EncodeOptions {
            add_special_tokens: false,
            split_special_tokens: true,
        }),
    ];

    #[test]
    fn parts_of_any_size_give_the_ids_and_counts_of_the_whole() {
        let tokenizer = tokenizer();
        let text = "a line.\nAnother <s>\nwith, é\ne\u{301}nd \n\n b</s> \nl'été\n語。\n語\r\nx".repeat(3);
        let texts = ["", &text, "a\nb", "\n", &text[..20]];
        for rules in RULES {
            let whole = tokenizer.encode_flat_in_parts(&texts, rules, 0).unwrap();
            let counts: Vec<_> = whole.1.windows(2).map(|ends| ends[1] - ends[0]).collect();
            for size in [1, 2, 5, 30, 1000] {
                assert_eq!(
                    tokenizer.encode_flat_in_parts(&texts, rules, size).unwrap(),
                    whole
                );
                assert_eq!(tokenizer.count_in_parts(&texts, rules, size).unwrap(), counts);
            }
        }
        assert!(tokenizer.parts(&texts, RULES[0], 1).len() > 12);
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let tokenizer = tokenizer();
        let text = "語".repeat(KEPT_IDS);

        tokenizer.count_tokens(&[&text], RULES[0]).unwrap();

        tokenizer
            .states
            .with(|state| assert!(state.ids.capacity() <= KEPT_IDS));
    }
}
