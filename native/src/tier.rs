//! What the processor can do beyond what each of its kind can.
//!
//! Guarantee: results are the same on every tier. Which one runs is decided once, at run time, so that one build serves every
//! processor.

pub(crate) mod sixteen;

use std::sync::LazyLock;

/// Sets of instructions that some loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Tier {
    /// The best tier that this processor has.
    #[inline]
    pub(crate) fn best() -> Self {
        static BEST: LazyLock<Tier> = LazyLock::new(|| Tier::all().pop().unwrap_or(Tier::Portable));
        *BEST
    }

    /// Every tier that this processor has, the best last.
    pub(crate) fn all() -> Vec<Self> {
        let mut tiers = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let bits = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            if bits && is_x86_feature_detected!("avx2") {
                tiers.push(Self::Avx2);
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                    tiers.push(Self::Avx512);
                }
            }
        }
        tiers
    }
}
