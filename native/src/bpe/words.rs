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
    close(&mut heads, merges, |(left, _)| left);
    close(&mut tails, merges, |(_, right)| right);
    !merges
        .iter()
        .any(|(left, right, _)| tails.contains(&left) && heads.contains(&right))
}

/// Adds what merges make of members of `set` on one side, until nothing new comes.
fn close(set: &mut HashSet<TokenId>, merges: &Merges, side: impl Fn((TokenId, TokenId)) -> TokenId) {
    loop {
        let before = set.len();
        let made: Vec<_> = merges
            .iter()
            .filter(|&(left, right, _)| set.contains(&side((left, right))))
            .map(|(_, _, merge)| merge.id)
            .collect();
        set.extend(made);
        if set.len() == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::{Bpe, Symbols};
    use crate::vocab::Vocab;

    const ALPHABET: [&str; 6] = ["▁", "a", "b", "é", " ", "?"];

    /// A random model over some of the alphabet, byte tokens and merges of what there is.
    fn random_model(numbers: &mut fastrand::Rng) -> Bpe {
        let mut tokens: Vec<String> = ALPHABET
            .iter()
            .filter(|_| numbers.u8(0..10) < 8)
            .map(|&char| char.into())
            .collect();
        tokens.push("<unk>".into());
        if numbers.bool() {
            tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
        }
        let crossing = numbers.u8(0..4) == 0;
        let mut pairs = Vec::new();
        for _ in 0..numbers.usize(0..24) {
            let (left, right) = (
                numbers.choice(&tokens).unwrap().clone(),
                numbers.choice(&tokens).unwrap().clone(),
            );
            let joins = ["▁", " "]
                .iter()
                .all(|mark| !right.starts_with(mark) || left.chars().all(|char| mark.starts_with(char)));
            if joins || crossing {
                let whole = format!("{left}{right}");
                pairs.push((left, right));
                if !tokens.contains(&whole) {
                    tokens.push(whole);
                }
            }
        }
        let mut vocab = Vocab::default();
        tokens
            .iter()
            .zip(0..)
            .for_each(|(token, id)| vocab.insert(token, id));
        vocab.finish();
        let texts = pairs.iter().map(|(left, right)| (left.as_str(), right.as_str()));
        let merges = Merges::new(&vocab, texts, "").unwrap();
        let unk = [None, Some("<unk>"), Some("a"), Some("▁")][numbers.usize(0..4)];
        let settings = BpeSettings {
            unk_token: unk.filter(|unk| vocab.id(unk).is_some()).map(str::to_owned),
            fuse_unk: numbers.bool(),
            byte_fallback: numbers.bool(),
            ..BpeSettings::default()
        };
        Bpe::new(vocab, merges, settings, false)
    }

    #[test]
    fn words_give_the_ids_of_the_whole() {
        let mut numbers = fastrand::Rng::with_seed(1);
        let mut symbols = Symbols::default();
        let mut cut = 0;
        for _ in 0..20_000 {
            let bpe = random_model(&mut numbers);
            let Some(words) = bpe.words() else { continue };
            for _ in 0..4 {
                let length = numbers.usize(0..40);
                let text: String = (0..length).map(|_| *numbers.choice(&ALPHABET).unwrap()).collect();
                let mut whole = Vec::new();
                bpe.encode_word(&text, &mut symbols, &mut whole).unwrap();
                let mut by_words = Vec::new();
                for range in words.ranges(&text) {
                    bpe.encode_word(&text[range], &mut symbols, &mut by_words)
                        .unwrap();
                    cut += 1;
                }
                assert_eq!(by_words, whole, "{text:?}");
            }
        }
        assert!(cut > 50_000, "{cut}");
    }

    #[test]
    fn a_run_of_marks_is_one_cut() {
        let mark = Finder::new("▁").into_owned();
        let words = Words { mark };
        let parts = |text: &'static str| words.ranges(text).map(|range| &text[range]).collect::<Vec<_>>();

        assert_eq!(parts("▁a▁▁▁b c▁"), ["▁a", "▁▁▁b c", "▁"]);
        assert_eq!(
            (parts(""), parts("▁▁"), parts("ab")),
            (vec![], vec!["▁▁"], vec!["ab"])
        );
    }

    fn model(tokens: &[&str], pairs: &[(&str, &str)], unk: Option<&str>) -> Bpe {
        let mut vocab = Vocab::default();
        tokens
            .iter()
            .zip(0..)
            .for_each(|(token, id)| vocab.insert(token, id));
        vocab.finish();
        let merges = Merges::new(&vocab, pairs.iter().copied(), "").unwrap();
        let unk_token = unk.map(str::to_owned);
        Bpe::new(
            vocab,
            merges,
            BpeSettings {
                unk_token,
                ..BpeSettings::default()
            },
            false,
        )
    }

    #[test]
    fn a_model_is_cut_only_where_nothing_crosses() {
        let llama = model(
            &["<unk>", "▁", "a", "▁▁", "▁a"],
            &[("▁", "▁"), ("▁", "a")],
            Some("<unk>"),
        );
        let crossing = model(
            &["<unk>", "▁", "a", "▁a", "a▁a"],
            &[("▁", "a"), ("a", "▁a")],
            Some("<unk>"),
        );
        // Without unk_token an unknown character vanishes, and the marks around it meet.
        let vanishing = model(&["▁", "a", "▁▁"], &[("▁", "▁")], None);
        let unknown_mark = model(&["<unk>", "a"], &[], Some("<unk>"));

        assert!(llama.words().is_some());
        for unsafe_one in [crossing, vanishing, unknown_mark] {
            assert!(unsafe_one.words().is_none());
        }
    }
}
