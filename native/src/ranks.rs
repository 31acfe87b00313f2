//! Rank files and merge lists: the two ways in which byte pair encoding is written down.
//!
//! A rank file lists token bytes with a rank, and any two neighbours that together are a token may merge, the lowest
//! rank first. A merge list names each pair that may. [`merges_of_ranks`] gives the list that equals a rank file;
//! [`agreement`] says whether a list equals the rank file of its own ids.

mod agreement;
mod run;

use hashbrown::HashSet;

pub use agreement::{Agreement, Verdict, agreement};

use crate::merges::{Merge, Merges, Rank};
use crate::vocab::{TokenBytes, TokenId};

/// A merge by the ids of its halves and of its result.
pub type Triple = (TokenId, TokenId, TokenId);

/// Every split of a token into two tokens, in the order of upstream's converter (`TikTokenConverter` of transformers):
/// by the rank of the token, then by the ranks of the halves. Ids are ranks.
///
/// This list gives the ids of the rank file on every text. Where lists rank splits of one token differently, only one
/// of these splits can ever stand in a text: what is left and right of the cut was merged without looking across it,
/// so the token's own text leads to the same two halves.
pub fn merges_of_ranks(tokens: &TokenBytes) -> Vec<Triple> {
    let lengths: HashSet<usize> = tokens.iter().map(|(bytes, _)| bytes.len()).collect();
    let mut found = Vec::new();
    for (bytes, id) in tokens.iter() {
        for cut in 1..bytes.len() {
            // Not only for speed: hashing all parts of one huge token would take its length squared.
            if !lengths.contains(&cut) || !lengths.contains(&(bytes.len() - cut)) {
                continue;
            }
            if let (Some(left), Some(right)) = (tokens.id(&bytes[..cut]), tokens.id(&bytes[cut..])) {
                found.push((id, left, right));
            }
        }
    }
    found.sort_unstable();
    found
        .into_iter()
        .map(|(id, left, right)| (left, right, id))
        .collect()
}

/// The merges of a list of [`Triple`]s, each ranked by its place.
pub fn ranked(triples: &[Triple]) -> Merges {
    let merges = triples.iter().enumerate();
    Merges::from_ids(merges.map(|(rank, &(left, right, id))| {
        let rank = rank as Rank;
        ((left, right), Merge { rank, id })
    }))
}

/// The merges of a rank file: each split of a token, ranked by the token's id, so that ties go to the leftmost.
pub fn of_rank_file(tokens: &TokenBytes) -> Merges {
    let splits = merges_of_ranks(tokens).into_iter();
    Merges::from_ids(splits.map(|(left, right, id)| ((left, right), Merge { rank: id, id })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_alphabet::bytes_to_token;
    use crate::vocab::Vocab;

    fn table(tokens: &[&str]) -> TokenBytes {
        let mut vocab = Vocab::default();
        for (id, token) in tokens.iter().enumerate() {
            vocab.insert(&bytes_to_token(token.as_bytes()), id as u32);
        }
        vocab.finish();
        TokenBytes::new(&vocab)
    }

    #[test]
    fn every_split_is_a_merge_by_rank_of_the_token_and_then_of_its_halves() {
        let merges = merges_of_ranks(&table(&["a", "b", "c", "bc", "ab", "abc", "x"]));

        assert_eq!(merges, [(1, 2, 3), (0, 1, 4), (0, 3, 5), (4, 2, 5)]);
    }

    #[test]
    fn a_huge_token_without_parts_takes_no_time() {
        let huge = "a".repeat(10_000_000);

        assert_eq!(merges_of_ranks(&table(&["a", "b", &huge])), []);
    }
}
