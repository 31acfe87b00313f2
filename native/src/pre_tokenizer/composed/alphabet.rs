//! The characters that a pattern tells apart, as a small alphabet of classes: two characters that are in the same sets of
//! the pattern are one class.

use super::node::Set;

/// The number of a class.
pub(super) type Class = u8;

const BLOCK: usize = 128;
const CODE_POINTS: usize = 0x11_0000;
/// One number is for the end of the text.
const MOST_CLASSES: usize = 255;
/// What stands in the table of bytes for those that begin a longer character.
const LONG: Class = Class::MAX;

/// The class of every code point: a block number for each 128 code points, and the distinct blocks.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// By byte; [`LONG`] for bytes beyond ASCII.
    ascii: [Class; 256],
    block_of: Vec<u16>,
    blocks: Vec<[Class; BLOCK]>,
    /// The class of the end of the text, the last one.
    end: Class,
}

/// Which sets a class is in, one bit each; the classes by number.
pub(super) type Members = Vec<u128>;

impl Alphabet {
    /// The alphabet that tells `sets` apart, if it is small enough, and which sets each class is in.
    pub(super) fn new(sets: &[Set]) -> Option<(Self, Members)> {
        let mut classes: Members = Vec::new();
        let mut flat: Vec<Class> = vec![0; CODE_POINTS];
        for (start, end, members) in stretches(sets) {
            let class = classes.iter().position(|&known| known == members);
            let class = class.unwrap_or_else(|| {
                classes.push(members);
                classes.len() - 1
            });
            if class + 1 >= MOST_CLASSES {
                return None;
            }
            flat[start..end].fill(class as Class);
        }
        Some((Self::pack(&flat, classes.len() as Class), classes))
    }

    fn pack(flat: &[Class], end: Class) -> Self {
        let mut alphabet = Self {
            ascii: [LONG; 256],
            block_of: Vec::with_capacity(CODE_POINTS / BLOCK),
            blocks: Vec::new(),
            end,
        };
        alphabet.ascii[..BLOCK].copy_from_slice(&flat[..BLOCK]);
        let mut numbers = rustc_hash::FxHashMap::default();
        for block in flat.as_chunks::<BLOCK>().0 {
            let number = *numbers.entry(block).or_insert_with(|| {
                alphabet.blocks.push(*block);
                alphabet.blocks.len() as u16 - 1
            });
            alphabet.block_of.push(number);
        }
        alphabet
    }

    /// The class of the character at `at` and its length in bytes; the class of the end and no length at the end of the text.
    #[inline(always)]
    pub(super) fn class(&self, text: &[u8], at: usize) -> (Class, usize) {
        let Some(&byte) = text.get(at) else {
            return (self.end, 0);
        };
        match self.ascii[byte as usize] {
            LONG => self.class_of_long(text, at, byte),
            class => (class, 1),
        }
    }

    #[inline]
    fn class_of_long(&self, text: &[u8], at: usize, lead: u8) -> (Class, usize) {
        let rest = |index: usize| text.get(at + index).map_or(0, |&byte| u32::from(byte & 0x3F));
        let lead = u32::from(lead);
        let (code_point, length) = match lead {
            0..0xE0 => ((lead & 0x1F) << 6 | rest(1), 2),
            0xE0..0xF0 => ((lead & 0x0F) << 12 | rest(1) << 6 | rest(2), 3),
            _ => ((lead & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4),
        };
        let block = self.block_of[code_point as usize / BLOCK];
        (self.blocks[block as usize][code_point as usize % BLOCK], length)
    }
}

/// The code points from 0 on in stretches whose members are in the same sets.
fn stretches(sets: &[Set]) -> Vec<(usize, usize, u128)> {
    let mut borders = vec![(0, 0), (CODE_POINTS, 0)];
    for (number, set) in sets.iter().enumerate() {
        for range in set.ranges() {
            borders.push((range.start() as usize, 1 << number));
            borders.push((range.end() as usize + 1, 1 << number));
        }
    }
    borders.sort_unstable();
    let mut members = 0;
    let stretch = |pair: &[(usize, u128)]| {
        members ^= pair[0].1;
        (pair[0].0, pair[1].0, members)
    };
    let stretches = borders.windows(2).map(stretch);
    stretches.filter(|(start, end, _)| start < end).collect()
}
