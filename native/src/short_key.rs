//! A few bytes in one integer: compared at once, and hashed without a loop.

/// The most bytes that a key holds.
pub(crate) const MOST_BYTES: usize = 15;

/// The bytes of `text[start..end]` and their number in one integer, or `None` if they are too many.
#[inline]
pub(crate) fn key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    if length > MOST_BYTES {
        return None;
    }
    let bytes = match text.get(start..start + 16) {
        // One load, where the text goes on for 16 bytes; the rest is masked off.
        Some(window) => {
            let window: [u8; 16] = window.try_into().expect("the range has 16 bytes");
            u128::from_le_bytes(window) & MASKS[length]
        }
        None => {
            let mut window = [0; 16];
            window[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(window)
        }
    };
    Some(bytes | (length as u128 + 1) << 120)
}

/// For each length the bytes of a window of 16 that count.
const MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};
