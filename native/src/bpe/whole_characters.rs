//! Characters that become one token before anything else can happen to their bytes.
//!
//! Byte pair encoding begins with bytes, so a Chinese text has three symbols a character, and most of its merges do
//! nothing but put characters together again. Where nothing can come between the bytes of a character, they need not be
//! taken apart.
//!
//! Guarantee: the result of merging is the same. Let `R` be the highest rank among the merges that make a character out
//! of its bytes, alone. The character is *whole* where each merge that could join a part of it with a neighbour, and
//! each merge of the finished character, ranks after `R`. Then, lowest rank first, all its own merges happen before any
//! of those, and until then no other merge can tell whether they have happened yet. Parts at its end meet what follows
//! so seldom that a character with any such merge is never whole. Parts at its start do meet what comes before (a space
//! and the first byte of a Cyrillic letter, say): for those it depends on the character before.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::merges::{Merges, Rank};
use crate::vocab::{TokenBytes, TokenId};

const BLOCK: usize = 64;
/// No character: ids of whole characters are below it.
const NONE: TokenId = TokenId::MAX;

/// The characters beyond ASCII that may be whole, and what may come between their bytes.
#[derive(Clone)]
pub struct WholeCharacters {
    // For each 64 code points, the number of their block; blocks without a character share number 0.
    block_of: Vec<u16>,
    blocks: Vec<[Whole; BLOCK]>,
    conflicts: Conflicts,
}

#[derive(Clone, Copy)]
struct Whole {
    id: TokenId,
    // The highest rank of the merges that make it.
    rank: Rank,
}

impl WholeCharacters {
    /// Finds them among the tokens of a vocabulary.
    pub fn new(tokens: &TokenBytes, symbols_of_bytes: &[Option<TokenId>; 256], merges: &Merges) -> Self {
        let none = Whole { id: NONE, rank: 0 };
        let mut table = Self {
            block_of: vec![0; 0x11_0000 / BLOCK],
            blocks: vec![[none; BLOCK]],
            conflicts: Conflicts::default(),
        };
        let mut first = FirstRanks::new(tokens);
        for (left, right, merge) in merges.iter() {
            first.note(left, right, merge.rank);
            if let Some(lead) = first.lead_of_part(right)
                && let Some(left) = tokens.bytes(left)
            {
                table.conflicts.insert(left, lead, merge.rank);
            }
        }
        for (bytes, id) in tokens.iter().filter(|(bytes, _)| is_near_a_character(bytes)) {
            let Some(char) = only_character(bytes) else {
                continue;
            };
            let symbols: Option<Vec<_>> = bytes
                .iter()
                .map(|&byte| symbols_of_bytes[byte as usize])
                .collect();
            if let Some(rank) = symbols.and_then(|symbols| rank_of_whole(symbols, id, merges, &first)) {
                table.insert(char, Whole { id, rank });
            }
        }
        table
    }

    /// The token of `char` after `before`, if it is whole there.
    #[inline]
    pub fn get(&self, char: char, before: Option<char>) -> Option<TokenId> {
        let code_point = char as usize;
        let block = self.block_of[code_point / BLOCK];
        let whole = self.blocks[block as usize][code_point % BLOCK];
        (whole.id != NONE && !self.conflicts.before(before, char, whole.rank)).then_some(whole.id)
    }

    fn insert(&mut self, char: char, whole: Whole) {
        let block = &mut self.block_of[char as usize / BLOCK];
        if *block == 0 {
            *block = self.blocks.len() as u16;
            self.blocks.push([Whole { id: NONE, rank: 0 }; BLOCK]);
        }
        self.blocks[*block as usize][char as usize % BLOCK] = whole;
    }
}

/// The merges that join what ends with a character and the first bytes of another one.
#[derive(Clone)]
struct Conflicts {
    // The lowest rank, by the character and the first byte.
    ranks: HashMap<u32, Rank, FxBuildHasher>,
    // Which keys may be in `ranks`: one bit for each value of some bits of the character. Most have none.
    seldom: Box<[u64; SELDOM / 64]>,
    // The lowest rank of such a merge whose left part is itself only the end of a character.
    partial: Rank,
}

const SELDOM: usize = 1 << 14;

impl Default for Conflicts {
    fn default() -> Self {
        Self {
            ranks: HashMap::default(),
            seldom: Box::new([0; SELDOM / 64]),
            partial: Rank::MAX,
        }
    }
}

impl Conflicts {
    fn insert(&mut self, left: &[u8], lead: u8, rank: Rank) {
        let Some(last) = last_character(left) else {
            self.partial = self.partial.min(rank);
            return;
        };
        let bit = last as usize % SELDOM;
        self.seldom[bit / 64] |= 1 << (bit % 64);
        let lowest = self.ranks.entry(key(last, lead)).or_insert(rank);
        *lowest = rank.min(*lowest);
    }

    /// Whether anything up to `rank` may join what ends with `before` and a part of `char`.
    #[inline]
    fn before(&self, before: Option<char>, char: char, rank: Rank) -> bool {
        let Some(before) = before else { return false };
        let bit = before as usize % SELDOM;
        if self.partial <= rank {
            return true;
        }
        self.seldom[bit / 64] >> (bit % 64) & 1 == 1
            && self
                .ranks
                .get(&key(before, lead_of(char)))
                .is_some_and(|&lowest| lowest <= rank)
    }
}

fn key(last: char, lead: u8) -> u32 {
    (last as u32) << 8 | u32::from(lead)
}

fn lead_of(char: char) -> u8 {
    let mut bytes = [0; 4];
    char.encode_utf8(&mut bytes);
    bytes[0]
}

/// How many bytes a character has that begins with `lead`.
fn length_of(lead: u8) -> usize {
    match lead {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

/// The character that `bytes` end with.
fn last_character(bytes: &[u8]) -> Option<char> {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    only_character(&bytes[start..])
}

/// The character that `bytes` consist of.
fn only_character(bytes: &[u8]) -> Option<char> {
    let mut chars = std::str::from_utf8(bytes).ok()?.chars();
    let char = chars.next()?;
    chars.next().is_none().then_some(char)
}

/// Whether `bytes` may be a character beyond ASCII, or a part of one.
fn is_near_a_character(bytes: &[u8]) -> bool {
    bytes.len() <= 4 && bytes.first().is_some_and(|&first| first >= 0x80)
}

/// For the tokens that may be characters or parts of one: the lowest rank at which one is merged with anything at its left,
/// and at its right. Ids from [`MOST_IDS`] on are left out, so their characters are never whole.
struct FirstRanks {
    // Where a token stands in `tokens`, by its id.
    places: Vec<u32>,
    tokens: Vec<Near>,
}

struct Near {
    as_right: Rank,
    as_left: Rank,
    // The first byte, where the token is the start of a character and not all of it.
    lead: Option<u8>,
}

const MOST_IDS: usize = 1 << 20;
const NOWHERE: u32 = u32::MAX;

impl FirstRanks {
    fn new(tokens: &TokenBytes) -> Self {
        let mut first = Self {
            places: Vec::new(),
            tokens: Vec::new(),
        };
        let near = |(bytes, id): &(&[u8], TokenId)| is_near_a_character(bytes) && (*id as usize) < MOST_IDS;
        for (bytes, id) in tokens.iter().filter(near) {
            let length = first.places.len().max(id as usize + 1);
            first.places.resize(length, NOWHERE);
            first.places[id as usize] = first.tokens.len() as u32;
            first.tokens.push(Near {
                as_right: Rank::MAX,
                as_left: Rank::MAX,
                lead: (bytes[0] >= 0xC0 && bytes.len() < length_of(bytes[0])).then_some(bytes[0]),
            });
        }
        first
    }

    fn note(&mut self, left: TokenId, right: TokenId, rank: Rank) {
        if let Some(place) = self.place(left) {
            let near = &mut self.tokens[place];
            near.as_left = rank.min(near.as_left);
        }
        if let Some(place) = self.place(right) {
            let near = &mut self.tokens[place];
            near.as_right = rank.min(near.as_right);
        }
    }

    #[inline]
    fn place(&self, id: TokenId) -> Option<usize> {
        let place = *self.places.get(id as usize)?;
        (place != NOWHERE).then_some(place as usize)
    }

    fn lead_of_part(&self, id: TokenId) -> Option<u8> {
        self.tokens[self.place(id)?].lead
    }

    /// Whether `id` is merged with nothing at its left up to `rank`.
    fn left_is_later(&self, id: TokenId, rank: Rank) -> bool {
        self.place(id)
            .is_some_and(|place| self.tokens[place].as_right > rank)
    }

    fn right_is_later(&self, id: TokenId, rank: Rank) -> bool {
        self.place(id)
            .is_some_and(|place| self.tokens[place].as_left > rank)
    }
}

/// The highest rank of the merges that make `id` out of `symbols`, the bytes of a character; none where they don't, or
/// where the end of the character or the whole of it may be merged with something else sooner.
fn rank_of_whole(
    mut symbols: Vec<TokenId>,
    id: TokenId,
    merges: &Merges,
    first: &FirstRanks,
) -> Option<Rank> {
    let mut highest = 0;
    let mut ends = vec![id];
    while symbols.len() > 1 {
        ends.extend(symbols.last());
        // What joins a start with the character before it was looked for among the known tokens only.
        first.place(symbols[0])?;
        let pairs = symbols.windows(2).enumerate();
        let (merge, at) = pairs
            .filter_map(|(at, pair)| Some((merges.get(pair[0], pair[1])?, at)))
            .min_by_key(|(merge, at)| (merge.rank, *at))?;
        highest = highest.max(merge.rank);
        symbols[at] = merge.id;
        symbols.remove(at + 1);
    }
    let whole = symbols == [id]
        && first.left_is_later(id, highest)
        && ends.iter().all(|&end| first.right_is_later(end, highest));
    whole.then_some(highest)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use crate::bpe::{Bpe, BpeSettings, Symbols};
    use crate::byte_alphabet::bytes_to_token;
    use crate::merges::Merges;
    use crate::vocab::Vocab;

    const CHARACTERS: [&str; 9] = ["a", " ", "é", "а", "р", "的", "是", "，", "😀"];

    /// A model whose merges join random parts of random texts: some make characters, some cross them, in any order.
    fn random_model(numbers: &mut Rng, merges: usize) -> Bpe {
        let mut parts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut pairs = Vec::new();
        while pairs.len() < merges {
            let text = random_text(numbers, 3).into_bytes();
            let inside = |part: &Vec<u8>| text.windows(part.len()).any(|window| window == part);
            let found: Vec<_> = parts.iter().filter(|part| inside(part)).cloned().collect();
            let (left, right) = (
                &found[numbers.usize(0..found.len())],
                &found[numbers.usize(0..found.len())],
            );
            let whole = [left.as_slice(), right].concat();
            let pair = (bytes_to_token(left), bytes_to_token(right));
            if text.windows(whole.len()).any(|window| window == whole) && !pairs.contains(&pair) {
                pairs.push(pair);
                if !parts.contains(&whole) {
                    parts.push(whole);
                }
            }
        }
        if numbers.bool() {
            numbers.shuffle(&mut pairs);
        }
        let mut vocab = Vocab::default();
        for (part, id) in parts.iter().zip(0..) {
            vocab.insert(&bytes_to_token(part), id);
        }
        vocab.finish();
        let texts = pairs.iter().map(|(left, right)| (left.as_str(), right.as_str()));
        let merges = Merges::new(&vocab, texts, "").expect("the vocabulary holds every part");
        Bpe::new(vocab, merges, BpeSettings::default(), true)
    }

    fn random_text(numbers: &mut Rng, longest: usize) -> String {
        let length = numbers.usize(1..=longest);
        (0..length)
            .map(|_| CHARACTERS[numbers.usize(0..CHARACTERS.len())])
            .collect()
    }

    #[test]
    fn characters_that_stay_whole_give_the_ids_of_their_bytes() {
        let mut numbers = Rng::with_seed(1);
        let mut symbols = Symbols::default();
        let mut whole = 0;
        for _ in 0..600 {
            let merges = numbers.usize(1..40);
            let model = random_model(&mut numbers, merges);
            for _ in 0..40 {
                let text = random_text(&mut numbers, 12);
                let (mut ids, mut expected) = (Vec::new(), Vec::new());

                model.encode_pretoken(&text, &mut symbols, &mut ids);
                model.encode_bytes(text.as_bytes(), &mut symbols, &mut expected);

                assert_eq!(ids, expected, "{text:?} with {:?}", model.merges.pairs());
                let chars = || {
                    std::iter::once(None)
                        .chain(text.chars().map(Some))
                        .zip(text.chars())
                };
                let table = model.whole_characters();
                whole += chars()
                    .filter(|&(before, char)| table.get(char, before).is_some())
                    .count();
            }
        }
        assert!(whole > 1000, "only {whole} characters were whole");
    }
}
