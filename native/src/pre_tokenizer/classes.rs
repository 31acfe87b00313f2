//! The Unicode classes that the published split patterns speak of, one lookup per character.
//!
//! Guarantee: for every code point the answer equals that of the stock library's regex engine (Oniguruma
//! 6.9.10, Unicode 16) for `\p{Lu}`, `\p{Ll}`, `\p{L}`, `\p{M}`, `\p{N}` and `\s`; `tests/pre_tokenizer.rs` compares
//! all of them. The tables come from the crate `regex-syntax`, which holds the same Unicode version.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// A set of classes, one bit each; a character has exactly one bit, so that any union is one `&`.
pub(super) type Mask = u8;

/// `[\p{Lu}\p{Lt}]`
pub(super) const UPPER: Mask = 1;
/// `\p{Ll}`
pub(super) const LOWER: Mask = 1 << 1;
/// `[\p{Lm}\p{Lo}]`
pub(super) const UNCASED: Mask = 1 << 2;
/// `\p{M}`
pub(super) const MARK: Mask = 1 << 3;
/// `\p{N}`
pub(super) const NUMBER: Mask = 1 << 4;
/// `\s` without `\r` and `\n`
pub(super) const BLANK: Mask = 1 << 5;
/// `[\r\n]`
pub(super) const NEWLINE: Mask = 1 << 6;
/// Everything else: punctuation, symbols, controls, unassigned.
pub(super) const OTHER: Mask = 1 << 7;

/// `\p{L}`
pub(super) const LETTER: Mask = UPPER | LOWER | UNCASED;
/// `\s`
pub(super) const SPACE: Mask = BLANK | NEWLINE;

const BLOCK: usize = 128;
const CODE_POINTS: usize = 0x11_0000;

/// The class of every code point: a block number for each 128 code points, and the distinct blocks.
pub(super) struct Classes {
    /// By byte; the bytes of longer characters have no class at all.
    ascii: [Mask; 256],
    block_of: Vec<u16>,
    blocks: Vec<[Mask; BLOCK]>,
}

impl Classes {
    /// The one table of the process, made at first use.
    pub(super) fn get() -> &'static Classes {
        static CLASSES: LazyLock<Classes> = LazyLock::new(Classes::build);
        &CLASSES
    }

    /// The class of an ASCII byte; nothing for the bytes of longer characters.
    #[inline(always)]
    pub(super) fn of_byte(&self, byte: u8) -> Mask {
        self.ascii[byte as usize]
    }

    /// The class of a code point.
    #[inline(always)]
    pub(super) fn of(&self, code_point: u32) -> Mask {
        let block = self.block_of[code_point as usize / BLOCK];
        self.blocks[block as usize][code_point as usize % BLOCK]
    }

    fn build() -> Classes {
        let flat = flat_table();
        let mut classes = Classes {
            ascii: [0; 256],
            block_of: Vec::with_capacity(CODE_POINTS / BLOCK),
            blocks: Vec::new(),
        };
        classes.ascii[..128].copy_from_slice(&flat[..128]);
        let mut numbers = rustc_hash::FxHashMap::default();
        for block in flat.as_chunks::<BLOCK>().0 {
            let number = *numbers.entry(block).or_insert_with(|| {
                classes.blocks.push(*block);
                classes.blocks.len() as u16 - 1
            });
            classes.block_of.push(number);
        }
        classes
    }
}

/// One byte for each code point; lives only while the compressed table is made.
fn flat_table() -> Vec<Mask> {
    let mut flat = vec![OTHER; CODE_POINTS];
    for (class, mask) in [
        (r"[\p{Lu}\p{Lt}]", UPPER),
        (r"\p{Ll}", LOWER),
        (r"[\p{Lm}\p{Lo}]", UNCASED),
        (r"\p{M}", MARK),
        (r"\p{N}", NUMBER),
        (r"\s", BLANK),
        (r"[\r\n]", NEWLINE),
    ] {
        for (start, end) in ranges(class) {
            flat[start as usize..=end as usize].fill(mask);
        }
    }
    flat
}

/// The code points of a class as `regex-syntax` knows it, as inclusive ranges.
pub(super) fn ranges(class: &str) -> Vec<(u32, u32)> {
    let hir = regex_syntax::parse(class).expect("the classes above are well formed");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        unreachable!("the classes above hold more than one character");
    };
    class
        .ranges()
        .iter()
        .map(|range| (range.start() as u32, range.end() as u32))
        .collect()
}
