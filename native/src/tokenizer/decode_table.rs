//! The bytes of every token by its id, where a text is nothing but the bytes of its tokens in a row.
//!
//! A token of up to 15 bytes lies in 16, beside its length: one look, and one copy of a fixed size. Taken through the
//! tables of the vocabulary, each token costs four looks and a copy of any size: 50 ns against 4 (cl100k, English).

use crate::vocab::TokenId;

/// Bytes, and in the last place how many of them count, or [`OTHER`].
type Entry = [u8; ENTRY];

const ENTRY: usize = 16;
/// In the last place of an entry: the token is longer or an added one, or there is none.
const OTHER: u8 = ENTRY as u8;
/// Ids that are written before the buffer is looked at again.
const TURN: usize = 256;
const ROOM: usize = ENTRY * TURN;

/// What most ids stand for.
pub(super) struct DecodeTable(Vec<Entry>);

impl DecodeTable {
    /// Takes the bytes of `tokens` whose ids are below `bound`, but for the ids in `others`.
    pub(super) fn new<'a>(
        bound: usize,
        tokens: impl Iterator<Item = (&'a [u8], TokenId)>,
        others: impl Iterator<Item = TokenId>,
    ) -> Self {
        let mut nothing = [0; ENTRY];
        nothing[ENTRY - 1] = OTHER;
        let mut table = vec![nothing; bound];
        for (bytes, id) in tokens.filter(|(bytes, _)| bytes.len() < ENTRY) {
            if let Some(entry) = table.get_mut(id as usize) {
                entry[..bytes.len()].copy_from_slice(bytes);
                entry[ENTRY - 1] = bytes.len() as u8;
            }
        }
        for id in others {
            if let Some(entry) = table.get_mut(id as usize) {
                *entry = nothing;
            }
        }
        Self(table)
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
        let tokens = texts.iter().map(Vec::as_slice).zip(0..);
        let table = DecodeTable::new(30, tokens, [3, 12, 25, 39].into_iter());
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
