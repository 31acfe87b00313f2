//! Characters whose bytes merge before anything else can happen to them.
//!
//! Byte pair encoding begins with bytes, so a Chinese text has three symbols a character, and most of its merges do
//! nothing but put characters together again. Where nothing can come between the bytes of a character, they need not be
//! taken apart: it begins as what they become, one token or two or three.
//!
//! Guarantee: the result of merging is the same. Let `R` be the highest rank among the merges of the bytes of a character,
//! alone, until no more is left. The character is *whole* where each merge that could join a part of it with a neighbour,
//! and each merge of what it becomes, ranks after `R`. Then, lowest rank first, all its own merges happen before any
//! of those, and until then no other merge can tell whether they have happened yet. Which merges could, depends on the
//! neighbours: on the character before (a space joins the first byte of a Cyrillic letter, say), and on the first byte of
//! what follows.
//!
//! A character is looked into when it first comes: a text has a few hundred of the tens of thousands.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::merges::{Merges, Rank};
use crate::vocab::{TokenBytes, TokenId};

const BLOCK: usize = 128;

/// The characters beyond ASCII that may be whole, and what may come between their bytes.
pub struct WholeCharacters {
    blocks: Box<[OnceLock<Block>]>,
    first: FirstRanks,
    conflicts: Conflicts,
}

type Block = Box<[Place; BLOCK]>;

/// What is known of a character. Whoever asks first writes it; all write the same.
#[derive(Default)]
struct Place {
    // The tokens, twenty bits each, and their number; 0 where nothing is known yet.
    tokens: AtomicU64,
    // The highest rank of its merges, and two bits for each token: its bytes less one.
    rank: AtomicU64,
    // Before what it is not whole: a bit for each class of bytes.
    not_before: AtomicU64,
}

/// The class of a byte that a character begins with. All of ASCII is one; no character begins with 0xC0.
#[inline]
fn class(byte: u8) -> u64 {
    if byte < 0x80 { 1 } else { 1 << (byte & 63) }
}

const KNOWN: u64 = 1 << 63;

/// What a character becomes.
pub struct Whole {
    tokens: u64,
    rank: u64,
    not_before: u64,
}

impl Whole {
    const NONE: Self = Self {
        tokens: KNOWN,
        rank: 0,
        not_before: 0,
    };

    /// The tokens, none where the character may not be whole.
    #[inline]
    pub fn parts(&self) -> impl Iterator<Item = (TokenId, usize)> {
        (0..self.count()).map(|at| {
            let id = (self.tokens >> (20 * at)) as TokenId % MOST_IDS as TokenId;
            (id, (self.rank >> (32 + 2 * at)) as usize % 4 + 1)
        })
    }

    #[inline]
    /// How many tokens.
    pub fn count(&self) -> usize {
        (self.tokens >> 60) as usize % 4
    }

    fn new(parts: &[(TokenId, usize)], rank: Rank, not_before: u64) -> Self {
        let mut whole = Self {
            tokens: KNOWN | (parts.len() as u64) << 60,
            rank: u64::from(rank),
            not_before,
        };
        for (at, &(id, length)) in parts.iter().enumerate() {
            whole.tokens |= u64::from(id) << (20 * at);
            whole.rank |= (length as u64 - 1) << (32 + 2 * at);
        }
        whole
    }
}

impl WholeCharacters {
    /// Reads what there is to know of the tokens of a vocabulary that are near a character.
    pub fn new(tokens: &TokenBytes, merges: &Merges) -> Self {
        let mut first = FirstRanks::new(tokens);
        let mut conflicts = Conflicts::default();
        for (left, right, merge) in merges.iter() {
            if !first.is_near(left) && !first.is_near(right) {
                continue;
            }
            first.note(left, right, merge.rank);
            if let Some(lead) = first.lead_of_part(right)
                && let Some(left) = tokens.bytes(left)
            {
                conflicts.insert(left, lead, merge.rank);
            }
        }
        Self {
            blocks: (0..0x11_0000 / BLOCK).map(|_| OnceLock::new()).collect(),
            first,
            conflicts,
        }
    }

    /// What `char` becomes after the character `before`, and before the byte `after`, if it is whole there.
    #[inline]
    pub fn get(
        &self,
        char: char,
        before: Option<char>,
        after: Option<u8>,
        symbols_of_bytes: &[Option<TokenId>; 256],
        merges: &Merges,
    ) -> Whole {
        let block = &self.blocks[char as usize / BLOCK];
        let block = block.get_or_init(|| Box::new(std::array::from_fn(|_| Place::default())));
        let place = &block[char as usize % BLOCK];
        // Whoever sees the tokens sees the rest, which was written before.
        let mut tokens = place.tokens.load(Ordering::Acquire);
        if tokens == 0 {
            let whole = self.look_into(char, symbols_of_bytes, merges);
            place.rank.store(whole.rank, Ordering::Relaxed);
            place.not_before.store(whole.not_before, Ordering::Relaxed);
            place.tokens.store(whole.tokens, Ordering::Release);
            tokens = whole.tokens;
        }
        let rank = place.rank.load(Ordering::Relaxed);
        let not_before = place.not_before.load(Ordering::Relaxed);
        if tokens == KNOWN
            || after.is_some_and(|after| not_before & class(after) != 0)
            || self.conflicts.before(before, char, rank as Rank)
        {
            return Whole::NONE;
        }
        Whole {
            tokens,
            rank,
            not_before,
        }
    }

    #[cold]
    fn look_into(&self, char: char, symbols_of_bytes: &[Option<TokenId>; 256], merges: &Merges) -> Whole {
        let bytes = char.len_utf8();
        let mut parts = [(0, 1); 4];
        for (part, byte) in parts.iter_mut().zip(char.encode_utf8(&mut [0; 4]).bytes()) {
            let Some(id) = symbols_of_bytes[byte as usize] else {
                return Whole::NONE;
            };
            part.0 = id;
        }
        parts_of_whole(&mut parts[..bytes], merges, &self.first).unwrap_or(Whole::NONE)
    }
}

/// The merges that join what ends with a character and the first bytes of another one.
struct Conflicts {
    // The lowest rank, by the character and the first byte.
    ranks: HashMap<u32, Rank, FxBuildHasher>,
    // Which keys may be in `ranks`: one bit for each value of some bits of the character. Most have none.
    seldom: Box<[u64; SELDOM / 64]>,
    // The same for merges whose left part is itself only the end of a character, by its last byte and the first byte.
    partial: Vec<Rank>,
}

const SELDOM: usize = 1 << 14;

impl Default for Conflicts {
    fn default() -> Self {
        Self {
            ranks: HashMap::default(),
            seldom: Box::new([0; SELDOM / 64]),
            partial: vec![Rank::MAX; 64 * 64],
        }
    }
}

impl Conflicts {
    fn insert(&mut self, left: &[u8], lead: u8, rank: Rank) {
        let Some(last) = last_character(left) else {
            if let Some(&last) = left.last() {
                let lowest = &mut self.partial[partial(u32::from(last), lead)];
                *lowest = rank.min(*lowest);
            }
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
        let lead = lead_of(char);
        if !before.is_ascii() && self.partial[partial(before as u32, lead)] <= rank {
            return true;
        }
        self.seldom[bit / 64] >> (bit % 64) & 1 == 1
            && self
                .ranks
                .get(&key(before, lead))
                .is_some_and(|&lowest| lowest <= rank)
    }
}

fn key(last: char, lead: u8) -> u32 {
    (last as u32) << 8 | u32::from(lead)
}

/// Where the merges of a last byte, or of a character with that byte, and a first byte stand.
#[inline]
fn partial(last: u32, lead: u8) -> usize {
    (last as usize & 63) << 6 | (lead & 63) as usize
}

#[inline]
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
/// and all merges with what is at its right. Ids from [`MOST_IDS`] on are left out, so their characters are never whole.
struct FirstRanks {
    // Where a token stands in `tokens`, by its id.
    places: Vec<u32>,
    // The first byte of each token, by its id.
    leads: Vec<u8>,
    tokens: Vec<Near>,
    rights: Vec<Right>,
}

struct Near {
    as_right: Rank,
    // The last of its merges in `rights`.
    rights: u32,
    // The first byte, where the token is the start of a character and not all of it.
    lead: Option<u8>,
}

/// A merge with what begins with a byte of this class.
struct Right {
    class: u64,
    rank: Rank,
    // The one before it of the same left token.
    next: u32,
}

const MOST_IDS: usize = 1 << 20;
const NOWHERE: u32 = u32::MAX;

impl FirstRanks {
    fn new(tokens: &TokenBytes) -> Self {
        let most = tokens.iter().map(|(_, id)| id as usize + 1).max().unwrap_or(0);
        let mut first = Self {
            places: vec![NOWHERE; most.min(MOST_IDS)],
            leads: vec![0; most.min(MOST_IDS)],
            tokens: Vec::new(),
            rights: Vec::new(),
        };
        for (bytes, id) in tokens.iter().filter(|(_, id)| (*id as usize) < MOST_IDS) {
            first.leads[id as usize] = bytes.first().copied().unwrap_or(0);
            if !is_near_a_character(bytes) {
                continue;
            }
            first.places[id as usize] = first.tokens.len() as u32;
            first.tokens.push(Near {
                as_right: Rank::MAX,
                rights: NOWHERE,
                lead: (bytes[0] >= 0xC0 && bytes.len() < length_of(bytes[0])).then_some(bytes[0]),
            });
        }
        first
    }

    #[inline]
    fn is_near(&self, id: TokenId) -> bool {
        self.place(id).is_some()
    }

    fn note(&mut self, left: TokenId, right: TokenId, rank: Rank) {
        if let Some(place) = self.place(left) {
            // The inside of a character never follows its end; what is unknown may be anything.
            let class = match self.leads.get(right as usize) {
                Some(0x80..0xC0) => 0,
                Some(&lead) => class(lead),
                None => u64::MAX,
            };
            let next = self.tokens[place].rights;
            self.tokens[place].rights = self.rights.len() as u32;
            self.rights.push(Right { class, rank, next });
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

    /// The classes of bytes with which begins what may be merged with `id` at its left, up to `rank`.
    fn rights_up_to(&self, id: TokenId, rank: Rank) -> Option<u64> {
        let (mut classes, mut at) = (0, self.tokens[self.place(id)?].rights);
        while let Some(right) = self.rights.get(at as usize) {
            if right.rank <= rank {
                classes |= right.class;
            }
            at = right.next;
        }
        Some(classes)
    }
}

/// What the bytes of a character become; none where that is more than three tokens, or where all of it may be merged with
/// what comes before sooner.
fn parts_of_whole(parts: &mut [(TokenId, usize)], merges: &Merges, first: &FirstRanks) -> Option<Whole> {
    let mut highest = 0;
    let mut count = parts.len();
    // The symbols that its end is, one after the other.
    let mut ends = [parts[count - 1].0; 4];
    let bytes = count;
    loop {
        // What joins a start with the character before it was looked for among the known tokens only.
        first.place(parts[0].0)?;
        ends[bytes - count] = parts[count - 1].0;
        let pairs = parts[..count].windows(2).enumerate();
        let next = pairs
            .filter_map(|(at, pair)| Some((merges.get(pair[0].0, pair[1].0)?, at)))
            .min_by_key(|(merge, at)| (merge.rank, *at));
        let Some((merge, at)) = next else { break };
        highest = highest.max(merge.rank);
        parts[at] = (merge.id, parts[at].1 + parts[at + 1].1);
        parts.copy_within(at + 2..count, at + 1);
        count -= 1;
    }
    let fits = |&(id, length): &(TokenId, usize)| (id as usize) < MOST_IDS && length <= 4;
    let whole = count <= 3
        && parts[..count].iter().all(fits)
        && (count > 1 || first.left_is_later(parts[0].0, highest));
    let mut not_before = 0;
    for end in ends {
        not_before |= first.rights_up_to(end, highest)?;
    }
    whole.then(|| Whole::new(&parts[..count], highest, not_before))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use crate::bpe::{Bpe, BpeSettings, Symbols};
    use crate::byte_alphabet::bytes_to_token;
    use crate::merges::Merges;
    use crate::vocab::Vocab;

    const CHARACTERS: [&str; 9] = ["a", " ", "é", "а", "р", "的", "是", "，", "😀"];

    /// A model whose merges join random parts of random texts: some make characters, some cross them, in any order. Some
    /// lack a byte, which texts then lose, so that its neighbours meet.
    fn random_model(numbers: &mut Rng, merges: usize) -> Bpe {
        let lost = CHARACTERS[numbers.usize(0..CHARACTERS.len())].as_bytes()[0];
        let lost = (numbers.u8(0..8) == 0).then_some(lost);
        let mut parts: Vec<Vec<u8>> = (0..=255)
            .filter(|&byte| lost != Some(byte))
            .map(|byte| vec![byte])
            .collect();
        let mut pairs = Vec::new();
        while pairs.len() < merges {
            let text = random_text(numbers, 3).into_bytes();
            let inside = |part: &Vec<u8>| text.windows(part.len()).any(|window| window == part);
            let found: Vec<_> = parts.iter().filter(|part| inside(part)).cloned().collect();
            if found.is_empty() {
                continue;
            }
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
        let mut whole = [0; 4];
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
                let mut rest = text.as_str();
                for (before, char) in chars() {
                    rest = &rest[char.len_utf8()..];
                    let after = rest.bytes().next();
                    let parts = table.get(char, before, after, &model.symbols_of_bytes, &model.merges);
                    whole[parts.parts().count()] += 1;
                }
            }
        }
        assert!(
            whole.iter().all(|&count| count > 300),
            "of 0 to 3 tokens: {whole:?}"
        );
    }
}
