//! The bytes of a longer pretoken, 16 at a time: read from a text without a copy, kept as words.

/// Words that are compared at a time.
pub(super) const STRIDE: usize = 4;

/// The first and the last 16 bytes of `text[start..end]`, which overlap where it has less than 32; or all that it has, and nothing.
#[inline]
pub(super) fn ends(text: &[u8], start: usize, end: usize) -> [u128; 2] {
    if end - start >= 16 {
        return [window(text, start), window(text, end - 16)];
    }
    let mut bytes = [0; 16];
    bytes[..end - start].copy_from_slice(&text[start..end]);
    [u128::from_le_bytes(bytes), 0]
}

/// What lies between the first and the last 16 bytes, 16 at a time; the last of these may overlap with what follows.
#[inline]
pub(super) fn middle(text: &[u8], start: usize, end: usize) -> impl Iterator<Item = u128> {
    let places = (start + 16..end.saturating_sub(16)).step_by(16);
    places.map(move |at| window(text, at))
}

#[inline]
fn window(text: &[u8], at: usize) -> u128 {
    let window: [u8; 16] = text[at..at + 16].try_into().expect("the range has 16 bytes");
    u128::from_le_bytes(window)
}

/// Such a window as words.
#[inline]
pub(super) fn words_of(window: u128) -> [u32; STRIDE] {
    std::array::from_fn(|at| (window >> (32 * at)) as u32)
}

/// Words as such a window.
#[inline]
pub(super) fn window_of(words: [u32; STRIDE]) -> u128 {
    let places = words.into_iter().enumerate();
    places.fold(0, |window, (at, word)| window | u128::from(word) << (32 * at))
}
