//! Sixty-four bytes compared at once, by the widest instructions that the processor has.
//!
//! Guarantee: every tier gives the same masks; [`Portable`], which runs everywhere, is the one that tests hold the others to.
//! Which tier runs is decided once, at run time, so that one build serves every processor.

use wide::{CmpEq, CmpGt, i8x16};

/// Bytes compared at once.
pub(super) const BYTES: usize = 64;
const QUARTER: usize = 16;

/// Sixty-four bytes. Masks have the lowest bit for the first byte.
pub(super) trait Lanes: Copy {
    fn new(bytes: &[u8; BYTES]) -> Self;

    /// Which bytes are this one.
    fn equal(self, byte: u8) -> u64;

    /// Which bytes lie between these two or are one of them. Both are ASCII, or neither is, nor is `low` 0x80.
    fn between(self, low: u8, high: u8) -> u64;

    /// Which bytes are not ASCII.
    fn beyond_ascii(self) -> u64;

    /// Which bytes continue a character.
    fn continues(self) -> u64;
}

/// Four registers of 16 bytes, which every processor of 64 bits has, or what the compiler makes of them.
#[derive(Clone, Copy)]
pub(super) struct Portable([i8x16; BYTES / QUARTER]);

impl Portable {
    /// The highest bit of each byte.
    #[inline(always)]
    fn mask(quarters: [i8x16; BYTES / QUARTER]) -> u64 {
        let bits = quarters.map(|quarter| u64::from(quarter.move_mask() as u16));
        bits[0] | bits[1] << QUARTER | bits[2] << (2 * QUARTER) | bits[3] << (3 * QUARTER)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn new(bytes: &[u8; BYTES]) -> Self {
        Self(std::array::from_fn(|quarter| {
            i8x16::new(std::array::from_fn(|at| bytes[QUARTER * quarter + at] as i8))
        }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        Self::mask(self.0.map(|quarter| quarter.cmp_eq(i8x16::splat(byte as i8))))
    }

    #[inline(always)]
    fn between(self, low: u8, high: u8) -> u64 {
        // As signed numbers, bytes beyond ASCII are below all others, in the same order among themselves.
        let (below, above) = (i8x16::splat(low as i8 - 1), i8x16::splat(high as i8 + 1));
        Self::mask(
            self.0
                .map(|quarter| quarter.cmp_gt(below) & above.cmp_gt(quarter)),
        )
    }

    #[inline(always)]
    fn beyond_ascii(self) -> u64 {
        Self::mask(self.0)
    }

    #[inline(always)]
    fn continues(self) -> u64 {
        Self::mask(self.0.map(|quarter| i8x16::splat(0xC0_u8 as i8).cmp_gt(quarter)))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{Avx2, Avx512};

/// Intrinsics of two tiers. Their types are made only in functions that run where the tier was found.
///
/// MB/s of encoding text whose pretokens are known, cl100k, AMD EPYC, portable, AVX2 and AVX-512: English 346, 368, 376;
/// Chinese 277, 300, 301; many languages 242, 256, 254.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{BYTES, Lanes};

    /// Two registers of 32 bytes.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2([__m256i; 2]);

    // No closure touches a register: it would be compiled without the tier's instructions, and each of them would be a call.
    impl Avx2 {
        #[inline(always)]
        fn mask(low: __m256i, high: __m256i) -> u64 {
            // SAFETY: the tier has AVX2, see `Lanes::new`.
            let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
            u64::from(low as u32) | u64::from(high as u32) << 32
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn new(bytes: &[u8; BYTES]) -> Self {
            // SAFETY: 32 bytes lie at either start, any alignment will do; only `fill_avx2` makes this type, and it runs where
            // `Tier::all` found AVX2.
            unsafe {
                Self([
                    _mm256_loadu_si256(bytes.as_ptr().cast()),
                    _mm256_loadu_si256(bytes[32..].as_ptr().cast()),
                ])
            }
        }

        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            let [low, high] = self.0;
            // SAFETY: as in `mask`.
            let (low, high) = unsafe {
                let byte = _mm256_set1_epi8(byte as i8);
                (_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
            };
            Self::mask(low, high)
        }

        #[inline(always)]
        fn between(self, low: u8, high: u8) -> u64 {
            let [first, second] = self.0;
            // SAFETY: as in `mask`.
            let (first, second) = unsafe {
                let (below, above) = (_mm256_set1_epi8(low as i8 - 1), _mm256_set1_epi8(high as i8 + 1));
                (
                    _mm256_and_si256(_mm256_cmpgt_epi8(first, below), _mm256_cmpgt_epi8(above, first)),
                    _mm256_and_si256(_mm256_cmpgt_epi8(second, below), _mm256_cmpgt_epi8(above, second)),
                )
            };
            Self::mask(first, second)
        }

        #[inline(always)]
        fn beyond_ascii(self) -> u64 {
            let [low, high] = self.0;
            Self::mask(low, high)
        }

        #[inline(always)]
        fn continues(self) -> u64 {
            let [low, high] = self.0;
            // SAFETY: as in `mask`.
            let (low, high) = unsafe {
                let first = _mm256_set1_epi8(0xC0_u8 as i8);
                (_mm256_cmpgt_epi8(first, low), _mm256_cmpgt_epi8(first, high))
            };
            Self::mask(low, high)
        }
    }

    /// One register of 64 bytes.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(__m512i);

    impl Lanes for Avx512 {
        #[inline(always)]
        fn new(bytes: &[u8; BYTES]) -> Self {
            // SAFETY: 64 bytes lie there, any alignment will do; only `fill_avx512` makes this type, and it runs where
            // `Tier::all` found AVX-512 with its instructions on bytes.
            Self(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
        }

        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the tier has AVX-512, see `Lanes::new`.
            unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
        }

        #[inline(always)]
        fn between(self, low: u8, high: u8) -> u64 {
            // SAFETY: as in `equal`.
            unsafe {
                let from_low = _mm512_sub_epi8(self.0, _mm512_set1_epi8(low as i8));
                _mm512_cmple_epu8_mask(from_low, _mm512_set1_epi8((high - low) as i8))
            }
        }

        #[inline(always)]
        fn beyond_ascii(self) -> u64 {
            // SAFETY: as in `equal`.
            unsafe { _mm512_movepi8_mask(self.0) }
        }

        #[inline(always)]
        fn continues(self) -> u64 {
            // SAFETY: as in `equal`.
            unsafe { _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(0xC0_u8 as i8)) }
        }
    }
}
