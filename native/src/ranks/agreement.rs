//! Does a merge list give the ids of the rank file made of its tokens, on every text?
//!
//! Call the two R and M. Both work on a text by one rule: the pair with the lowest priority merges, leftmost on ties.
//! So what happens inside a span whose ends nothing crosses is what happens to that span alone. Three things follow.
//!
//! 1. Two neighbours that together are a token X stand in a text only if X alone leads to them: each token has one
//!    split at most that ever occurs, its *live* merge.
//! 2. If R and M give the same for the text of each token, and the live merges of M stand in the order of their ids,
//!    then R and M do the same steps on every text. (Where R joins `u v` to X, M can too: else M would leave X's text
//!    as `u v`. And M has nothing better to do: it would have a lower id, and R would have done it.)
//! 3. Where live merges stand in another order, but lead to the same splits, and priorities rise from parts to wholes,
//!    the shortest text that R and M treat differently is `y z t`, where `y z` and `z t` are live merges whose orders
//!    differ. So trying these decides.
//!
//! 4. Whatever the tables are, the shortest text that R and M treat differently is one token or two: a text comes out
//!    as `t u v ...` just if each two neighbours alone come out as themselves. Small tables are decided by trying these.
//!
//! Where none of this applies and no text is found, the verdict says that nothing was proved.

use hashbrown::{HashMap, HashSet};

use super::of_rank_file;
use super::run::Runner;
use crate::merges::Merges;
use crate::vocab::{TokenBytes, TokenId};
use crate::{Error, Result};

/// More texts than this aren't kept: the caller looks for one that its pipeline leaves whole.
const KEPT: usize = 256;

/// More pairs of merges than this aren't tried: a table where it takes more has no order at all.
const TRIED: usize = 50_000_000;

/// More texts than this aren't run.
const RUN: usize = 1_500_000;

/// What was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The same ids on every text.
    Equal,
    /// There is a text with other ids.
    Different,
    /// No such text was found, and no proof either.
    Unproved,
}

/// A verdict and its witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// What was found out.
    pub verdict: Verdict,
    /// Texts that come out differently, the shortest first.
    pub texts: Vec<Vec<u8>>,
    /// Tokens whose own text the merge list doesn't lead to, the shortest first. Only a look-up of whole pretokens
    /// (`ignore_merges`) yields them.
    pub dead: Vec<Vec<u8>>,
}

/// Compares `merges` with the rank file of `tokens`.
///
/// # Errors
/// [`Error::Value`] names a byte that no token stands for.
pub fn agreement(tokens: &TokenBytes, merges: &Merges) -> Result<Agreement> {
    let symbols = symbols_of_bytes(tokens)?;
    let mut check = Check {
        tokens,
        list: merges,
        file: of_rank_file(tokens),
        symbols,
        runners: Default::default(),
        texts: Vec::new(),
    };
    let (live, dead, regular) = check.each_token();
    let ordered = live.is_sorted_by_key(|merge| merge.id);
    let decided = ordered
        || match tokens.len().checked_mul(tokens.len()) {
            Some(pairs) if pairs <= RUN => check.each_pair(),
            _ => check.each_overlap(&live) && regular,
        };
    check.texts.sort_by_key(Vec::len);
    check.texts.dedup();
    let verdict = match (check.texts.is_empty(), decided) {
        (false, _) => Verdict::Different,
        (true, true) => Verdict::Equal,
        (true, false) => Verdict::Unproved,
    };
    check.texts.truncate(KEPT);
    Ok(Agreement {
        verdict,
        texts: check.texts,
        dead,
    })
}

fn symbols_of_bytes(tokens: &TokenBytes) -> Result<Vec<TokenId>> {
    let symbol = |byte: u8| {
        let missing = || Error::Value(format!("no token stands for the byte 0x{byte:02X}"));
        tokens.id(&[byte]).ok_or_else(missing)
    };
    (0..=255).map(symbol).collect()
}

/// A merge that occurs in texts.
struct Live {
    left: TokenId,
    right: TokenId,
    id: TokenId,
    rank: u32,
}

struct Check<'a> {
    tokens: &'a TokenBytes,
    list: &'a Merges,
    file: Merges,
    symbols: Vec<TokenId>,
    runners: [Runner; 2],
    texts: Vec<Vec<u8>>,
}

impl Check<'_> {
    /// Runs both on `text`; whether they agree. If not, the text is kept.
    fn run(&mut self, text: &[u8]) -> bool {
        let [file, list] = &mut self.runners;
        let symbols = || text.iter().map(|&byte| self.symbols[byte as usize]);
        file.run(&self.file, symbols());
        list.run(self.list, symbols());
        let same = file.result == list.result;
        if !same {
            self.texts.push(text.to_vec());
            if self.texts.len() > 16 * KEPT {
                self.texts.sort_by_key(Vec::len);
                self.texts.truncate(KEPT);
            }
        }
        same
    }

    /// Runs both on the text of each token. Returns the live merges in the order of the list, the tokens that no
    /// merges lead to, and whether both take the same last step to each other token, with priorities that rise.
    fn each_token(&mut self) -> (Vec<Live>, Vec<Vec<u8>>, bool) {
        let (mut live, mut dead, mut regular) = (Vec::new(), Vec::new(), true);
        let tokens = self.tokens;
        for (text, id) in tokens.iter() {
            let same = self.run(text);
            let [file, list] = &self.runners;
            if list.result != [id] {
                dead.push(text.to_vec());
            } else if let Some((left, right)) = list.last {
                regular &= same && file.last == list.last && file.rising && list.rising;
                let rank = self.list.get(left, right).map_or(0, |merge| merge.rank);
                live.push(Live {
                    left,
                    right,
                    id,
                    rank,
                });
            }
        }
        live.sort_unstable_by_key(|merge| merge.rank);
        dead.sort_by_key(Vec::len);
        dead.truncate(KEPT);
        (live, dead, regular)
    }

    /// Runs both on the text of each two tokens.
    fn each_pair(&mut self) -> bool {
        let tokens = self.tokens;
        let mut text = Vec::new();
        for (first, _) in tokens.iter() {
            for (second, _) in tokens.iter() {
                text.clear();
                text.extend_from_slice(first);
                text.extend_from_slice(second);
                self.run(&text);
            }
        }
        true
    }

    /// Runs both on the text of each two overlapping live merges whose order differs. False where there are too many.
    fn each_overlap(&mut self, live: &[Live]) -> bool {
        let moved: Vec<&Live> = out_of_order(live);
        let mut by_left: HashMap<TokenId, Vec<&Live>> = HashMap::new();
        moved
            .iter()
            .for_each(|merge| by_left.entry(merge.left).or_default().push(merge));
        let mut seen = HashSet::new();
        let (mut tried, tokens) = (0, self.tokens);
        for first in &moved {
            for second in by_left.get(&first.right).into_iter().flatten() {
                tried += 1;
                if tried > TRIED || seen.len() > RUN {
                    return false;
                }
                if (first.rank < second.rank) == (first.id < second.id) {
                    continue;
                }
                let parts = [first.left, first.right, second.right];
                let text: Vec<u8> = parts
                    .iter()
                    .filter_map(|&id| tokens.bytes(id))
                    .flatten()
                    .copied()
                    .collect();
                if seen.insert(parts) {
                    self.run(&text);
                }
            }
        }
        true
    }
}

/// The merges that stand before one of a lower id, or behind one of a higher id.
fn out_of_order(live: &[Live]) -> Vec<&Live> {
    let mut lowest_behind = vec![TokenId::MAX; live.len() + 1];
    for (at, merge) in live.iter().enumerate().rev() {
        lowest_behind[at] = lowest_behind[at + 1].min(merge.id);
    }
    let mut highest_before = None;
    let moved = live.iter().enumerate().filter(|&(at, merge)| {
        let before = highest_before.is_some_and(|highest| highest > merge.id);
        highest_before = highest_before.max(Some(merge.id));
        before || lowest_behind[at + 1] < merge.id
    });
    moved.map(|(_, merge)| merge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_alphabet::bytes_to_token;
    use crate::vocab::Vocab;

    /// The 256 bytes, then `tokens`; merges by the texts of their halves.
    fn check(tokens: &[&str], merges: &[(&str, &str)]) -> Agreement {
        let mut vocab = Vocab::default();
        (0..=255u8).for_each(|byte| vocab.insert(&bytes_to_token(&[byte]), byte.into()));
        for (at, token) in tokens.iter().enumerate() {
            vocab.insert(&bytes_to_token(token.as_bytes()), 256 + at as u32);
        }
        vocab.finish();
        let merges = Merges::new(&vocab, merges.iter().copied(), "").expect("all parts are tokens");
        agreement(&TokenBytes::new(&vocab), &merges).expect("all bytes are tokens")
    }

    fn text(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[test]
    fn a_trained_list_equals_its_ranks() {
        let found = check(&["ab", "abc", "bc"], &[("a", "b"), ("ab", "c"), ("b", "c")]);

        assert_eq!((found.verdict, found.texts), (Verdict::Equal, vec![]));
        assert_eq!(found.dead, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_split_that_only_the_rank_file_has_is_found() {
        let found = check(&["bc", "ab", "abc"], &[("b", "c"), ("a", "b"), ("ab", "c")]);

        assert_eq!(
            (found.verdict, found.texts),
            (Verdict::Different, vec![text("abc")])
        );
        assert_eq!(found.dead, [text("abc")]);
    }

    #[test]
    fn merges_in_another_order_than_their_ids_differ_where_they_overlap() {
        let found = check(&["ab", "bc"], &[("b", "c"), ("a", "b")]);

        assert_eq!(
            (found.verdict, found.texts),
            (Verdict::Different, vec![text("abc")])
        );
    }

    #[test]
    fn merges_in_another_order_that_never_meet_are_equal() {
        let found = check(&["ab", "cd"], &[("c", "d"), ("a", "b")]);

        assert_eq!(found.verdict, Verdict::Equal);
    }

    #[test]
    fn another_way_to_the_same_token_is_decided_by_trying() {
        let found = check(&["ab", "bc", "abc"], &[("b", "c"), ("a", "bc"), ("a", "b")]);

        assert_eq!(found.verdict, Verdict::Equal);
    }

    #[test]
    fn a_missing_byte_is_named() {
        let mut vocab = Vocab::default();
        vocab.insert("a", 0);
        vocab.finish();

        let found = agreement(&TokenBytes::new(&vocab), &Merges::default());

        assert_eq!(
            found.unwrap_err().to_string(),
            "no token stands for the byte 0x00"
        );
    }
}
