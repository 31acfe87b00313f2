//! The hash of 16 bytes.

/// Multiplies the halves of 16 bytes into each other: cheap, and every byte reaches both ends of the result.
#[inline]
pub(crate) fn fold(bytes: u128) -> u64 {
    let low = bytes as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let high = (bytes >> 64) as u64 ^ 0xd1b5_4a32_d192_ed03;
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}
