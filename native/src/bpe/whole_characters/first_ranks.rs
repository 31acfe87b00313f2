//! When tokens that are characters, or parts of one, are first merged with a neighbour.

use super::class;
use crate::merges::Rank;
use crate::vocab::{TokenBytes, TokenId};

/// Whether `bytes` may be a character beyond ASCII, or a part of one.
pub(super) fn is_near_a_character(bytes: &[u8]) -> bool {
    // Both, without a branch between them: neither can be guessed.
    (bytes.len() <= 4) & bytes.first().is_some_and(|&first| first >= 0x80)
}

/// For the tokens that may be characters or parts of one: the lowest ranks at which one is merged with what is at its left and at
/// its right. Ids from [`MOST_IDS`] on are left out, so their characters are never whole.
pub(super) struct FirstRanks {
    are_near: Ids,
    // In order of id.
    tokens: Vec<Near>,
    rights: Vec<Right>,
}

struct Near {
    kind: Kind,
    // The first byte.
    lead: u8,
    as_right: Rank,
    as_left: Rank,
    // The last of its merges in `rights`.
    rights: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    // A whole character. What merges it with what follows is nearly always learned after it was made, so the lowest rank will do.
    Whole,
    // The start of a character and not all of it.
    Start,
    // What begins inside of a character.
    Inside,
}

/// A merge with what begins with a byte of this class.
struct Right {
    class: u64,
    rank: Rank,
    // The one before it of the same left token.
    next: u32,
}

pub(super) const MOST_IDS: usize = 1 << 20;
const NOWHERE: u32 = u32::MAX;

impl FirstRanks {
    pub(super) fn new(tokens: &TokenBytes) -> Self {
        let near = tokens.iter().map(|(bytes, id)| (id, is_near_a_character(bytes)));
        let are_near = Ids::new(near);
        let of_token = |id| {
            let bytes = tokens.bytes(id).unwrap_or_default();
            let lead = bytes.first().copied().unwrap_or_default();
            Near {
                kind: match lead {
                    0..0xC0 => Kind::Inside,
                    _ if bytes.len() < length_of(lead) => Kind::Start,
                    _ => Kind::Whole,
                },
                lead,
                as_right: Rank::MAX,
                as_left: Rank::MAX,
                rights: NOWHERE,
            }
        };
        Self {
            tokens: are_near.iter().map(of_token).collect(),
            are_near,
            rights: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn is_near(&self, id: TokenId) -> bool {
        self.are_near.contains(id)
    }

    /// Takes a merge; returns the first byte of the start of a character that is its right part.
    pub(super) fn note(
        &mut self,
        left: TokenId,
        right: TokenId,
        rank: Rank,
        tokens: &TokenBytes,
    ) -> Option<u8> {
        let (left, of_right) = (self.place(left), self.place(right));
        if let Some(left) = left {
            if self.tokens[left].kind == Kind::Whole {
                let near = &mut self.tokens[left];
                near.as_left = rank.min(near.as_left);
            } else {
                let lead = match of_right {
                    Some(right) => Some(self.tokens[right].lead),
                    None => tokens.bytes(right).and_then(|bytes| bytes.first().copied()),
                };
                self.note_right(left, lead, rank);
            }
        }
        let near = &mut self.tokens[of_right?];
        near.as_right = rank.min(near.as_right);
        (near.kind == Kind::Start).then_some(near.lead)
    }

    fn note_right(&mut self, left: usize, lead: Option<u8>, rank: Rank) {
        let class = match lead {
            // The inside of a character never follows its end; what is unknown may be anything.
            Some(0x80..0xC0) => return,
            Some(lead) => class(lead),
            None => u64::MAX,
        };
        let next = std::mem::replace(&mut self.tokens[left].rights, self.rights.len() as u32);
        self.rights.push(Right { class, rank, next });
    }

    #[inline]
    pub(super) fn place(&self, id: TokenId) -> Option<usize> {
        self.are_near.place(id)
    }

    /// Whether `id` is merged with nothing at its left up to `rank`.
    pub(super) fn left_is_later(&self, id: TokenId, rank: Rank) -> bool {
        self.place(id)
            .is_some_and(|place| self.tokens[place].as_right > rank)
    }

    /// The classes of bytes with which begins what may be merged with `id` at its left, up to `rank`.
    pub(super) fn rights_up_to(&self, id: TokenId, rank: Rank) -> Option<u64> {
        let near = &self.tokens[self.place(id)?];
        if near.as_left <= rank {
            return Some(u64::MAX);
        }
        let (mut classes, mut at) = (0, near.rights);
        while let Some(right) = self.rights.get(at as usize) {
            if right.rank <= rank {
                classes |= right.class;
            }
            at = right.next;
        }
        Some(classes)
    }
}

/// A set of ids below [`MOST_IDS`], and the place of each in it: a bit for each id, so that what is used stays in the nearest cache.
struct Ids {
    bits: Box<[u64; WORDS]>,
    // How many are in the words before.
    before: Vec<u32>,
}

const WORDS: usize = MOST_IDS / 64;

impl Ids {
    /// The ids for which it holds.
    fn new(ids: impl Iterator<Item = (TokenId, bool)>) -> Self {
        let bits = vec![0_u64; WORDS].into_boxed_slice();
        let mut bits: Box<[u64; WORDS]> = bits.try_into().expect("so many words");
        for (id, holds) in ids.filter(|(id, _)| (*id as usize) < MOST_IDS) {
            bits[id as usize / 64] |= u64::from(holds) << (id % 64);
        }
        let mut count = 0;
        let before = bits.iter().map(|word| {
            count += word.count_ones();
            count - word.count_ones()
        });
        Self {
            before: before.collect(),
            bits,
        }
    }

    #[inline]
    fn contains(&self, id: TokenId) -> bool {
        let id = id as usize;
        id < MOST_IDS && self.bits[id / 64] >> (id % 64) & 1 == 1
    }

    #[inline]
    fn place(&self, id: TokenId) -> Option<usize> {
        self.contains(id).then(|| {
            let word = id as usize / 64;
            let lower = self.bits[word] & ((1 << (id % 64)) - 1);
            (self.before[word] + lower.count_ones()) as usize
        })
    }

    /// All of them in order.
    fn iter(&self) -> impl Iterator<Item = TokenId> {
        self.bits
            .iter()
            .zip((0..).step_by(64))
            .flat_map(|(&word, first)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    let bit = rest.trailing_zeros();
                    rest &= rest.checked_sub(1)?;
                    Some(first + bit)
                })
            })
    }
}

/// How many bytes a character has that begins with `lead`.
fn length_of(lead: u8) -> usize {
    match lead {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
