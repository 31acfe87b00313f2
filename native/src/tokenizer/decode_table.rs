//! The bytes of every token by its id, where a text is nothing but the bytes of its tokens in a row.
//!
//! A token of up to 15 bytes lies in 16, beside its length: one look, and one copy of a fixed size. Taken through the
//! tables of the vocabulary, each token costs four looks and a copy of any size: 50 ns against 4 (cl100k, English).

use crate::vocab::TokenId;

/// Bytes, and in the last place how many of them count, or [`OTHER`].
type Entry = [u8; ENTRY];

const ENTRY: usize = 16;
/// In the last place of an entry: the token is longer, special, or there is none.
const OTHER: u8 = ENTRY as u8;
/// Ids that are written before the buffer is looked at again.
const TURN: usize = 256;
const ROOM: usize = ENTRY * TURN;

/// What most ids stand for.
pub(super) struct DecodeTable(Vec<Entry>);

impl DecodeTable {
    /// Takes the bytes of the ids below `bound`; `None` for those that need a second look.
    pub(super) fn new<'a>(bound: usize, bytes_of: impl Fn(TokenId) -> Option<&'a [u8]>) -> Self {
        let entry = |id: usize| {
            let mut entry = [0; ENTRY];
            entry[ENTRY - 1] = OTHER;
            if let Some(bytes) = bytes_of(id as TokenId).filter(|bytes| bytes.len() < ENTRY) {
                entry[..bytes.len()].copy_from_slice(bytes);
                entry[ENTRY - 1] = bytes.len() as u8;
            }
            entry
        };
        Self((0..bound).map(entry).collect())
    }

    /// The bytes of `ids` in a row; `other` appends those of an id that the table doesn't answer.
    pub(super) fn decode(&self, ids: &[TokenId], mut other: impl FnMut(TokenId, &mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(5 * ids.len() + ROOM);
        let (mut end, mut long) = (0, Vec::new());
        for turn in ids.chunks(TURN) {
            // Room for the fixed copies of a turn; what is over is cut off at the end.
            bytes.resize(bytes.len().max(end + ROOM), 0);
            for &id in turn {
                if let Some(entry) = self.0.get(id as usize).filter(|entry| entry[ENTRY - 1] != OTHER) {
                    bytes[end..end + ENTRY].copy_from_slice(entry);
                    end += entry[ENTRY - 1] as usize;
                    continue;
                }
                long.clear();
                other(id, &mut long);
                bytes.resize(bytes.len().max(end + long.len() + ROOM), 0);
                bytes[end..end + long.len()].copy_from_slice(&long);
                end += long.len();
            }
        }
        bytes.truncate(end);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_come_out_in_order() {
        let texts: Vec<Vec<u8>> = (0..40_u8)
            .map(|length| vec![b'a' + length % 26; length as usize])
            .collect();
        let bytes_of = |id: TokenId| (id % 7 != 3).then(|| texts[id as usize].as_slice());
        let table = DecodeTable::new(30, bytes_of);
        let mut numbers = fastrand::Rng::with_seed(1);
        for length in [0, 1, 2, 255, 256, 257, 5_000] {
            let ids: Vec<TokenId> = (0..length).map(|_| numbers.u32(0..40)).collect();

            let bytes = table.decode(&ids, |id, bytes| bytes.extend_from_slice(&texts[id as usize]));

            assert_eq!(
                bytes,
                ids.iter()
                    .flat_map(|&id| texts[id as usize].clone())
                    .collect::<Vec<_>>()
            );
        }
    }
}
