//! Several sorted lists of pretokens as one: equal pretokens become one entry, and their counts are added.

use crate::train::sorted::Cursor;
use crate::{Error, Result};

/// Calls `visit` with each distinct pretoken of `cursors` and its count in all of them, in order of bytes.
///
/// Calls `poll` now and then, which returns whether to go on.
///
/// # Errors
/// What the cursors and `visit` report; [`Error::Value`] when counts add up to more than 64 bits hold;
/// [`Error::Interrupted`].
pub fn merge(
    cursors: Vec<Box<dyn Cursor>>,
    visit: &mut dyn FnMut(&[u8], u64) -> Result<()>,
    poll: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let mut heap = Vec::with_capacity(cursors.len());
    for mut cursor in cursors {
        if cursor.advance()? {
            heap.push(cursor);
        }
    }
    for at in (0..heap.len() / 2).rev() {
        sink(&mut heap, at);
    }
    let (mut pretoken, mut steps) = (Vec::new(), 0usize);
    while !heap.is_empty() {
        pretoken.clear();
        pretoken.extend_from_slice(heap[0].pretoken());
        let mut count = 0u64;
        while let Some(first) = heap.first_mut().filter(|first| first.pretoken() == pretoken) {
            count = count.checked_add(first.count()).ok_or_else(too_many)?;
            if !first.advance()? {
                heap.swap_remove(0);
            }
            sink(&mut heap, 0);
        }
        if count > 0 {
            visit(&pretoken, count)?;
        }
        steps += 1;
        if steps.is_multiple_of(1 << 16) && !poll() {
            return Err(Error::Interrupted);
        }
    }
    Ok(())
}

fn too_many() -> Error {
    Error::Value("the counts of a pretoken add up to more than 2^64 - 1".to_owned())
}

/// Moves the cursor at `at` down until none below it comes first.
fn sink(heap: &mut [Box<dyn Cursor>], mut at: usize) {
    loop {
        let mut first = at;
        for child in [2 * at + 1, 2 * at + 2] {
            if child < heap.len() && heap[child].pretoken() < heap[first].pretoken() {
                first = child;
            }
        }
        if first == at {
            return;
        }
        heap.swap(at, first);
        at = first;
    }
}
