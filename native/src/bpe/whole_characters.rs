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

mod conflicts;
mod first_ranks;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use conflicts::Conflicts;
use first_ranks::{FirstRanks, MOST_IDS};

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
        let near = merges.select(|left, right| first.is_near(left) | first.is_near(right));
        for (left, right, rank) in near {
            if let Some(lead) = first.note(left, right, rank, tokens)
                && let Some(left) = tokens.bytes(left)
            {
                conflicts.insert(left, lead, rank);
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
