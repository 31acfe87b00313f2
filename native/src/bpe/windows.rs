//! Merging of long pretokens window by window, each as a short one: what a step costs doesn't grow with the pretoken,
//! and all of it stays in the nearest cache. A tree of a million pairs took three to seven times as long (cl100k: Chinese without a
//! space, punctuation, random letters).
//!
//! Guarantee: the result is that of merging all at once, whatever the merges are. Let a window begin where a token of
//! what is already merged begins, and let `a` be a token that both have at the same place. Then what was merged stands up
//! to `a`, and what the window has stands behind it. For as long as no merge crosses the borders of three neighbours, each
//! goes its own way, and all that the others do is to make it wait: the lowest rank, leftmost on ties, of all is that of
//! one of them. So were a merge the first to cross the border before `a`, or the one behind it, the same pair would have
//! been the lowest in what was merged already, or in the window, where it crossed none.

use super::short::{LONGEST, Short};
use crate::merges::{Merges, Rank};
use crate::vocab::TokenId;

/// Tokens that a window begins with again: of two the first is nearly always the same in both.
const AGAIN: usize = 2;

/// A token and the symbol that it begins with.
type Start = (u32, TokenId);

/// The tokens of a pretoken as far as it is merged. Reused.
#[derive(Default)]
pub(super) struct Windows {
    tokens: Vec<Start>,
    window: Vec<Start>,
}

impl Windows {
    /// Merges symbols until no pair does, and returns true; or false where that takes more than a window can tell.
    /// `first` gives the ranks of the pairs as they stand, by the position of the left symbol, and the pair.
    pub(super) fn merge(
        &mut self,
        short: &mut Short,
        merges: &Merges,
        symbols: &[TokenId],
        first: impl Fn(usize, TokenId, TokenId) -> Rank,
    ) -> bool {
        self.merge_by(LONGEST, short, merges, symbols, first)
    }

    /// The same with windows of up to so many symbols.
    #[inline]
    fn merge_by(
        &mut self,
        longest: usize,
        short: &mut Short,
        merges: &Merges,
        symbols: &[TokenId],
        first: impl Fn(usize, TokenId, TokenId) -> Rank,
    ) -> bool {
        self.tokens.clear();
        let mut end = 0;
        while end < symbols.len() {
            let mut again = AGAIN;
            loop {
                let from = self.tokens.len().saturating_sub(again);
                let start = self.tokens.get(from).map_or(0, |token| token.0 as usize);
                let to = symbols.len().min(start + longest);
                if to <= end {
                    return false;
                }
                self.look(short, merges, &symbols[start..to], start, &first);
                if self.join(from, end, to) {
                    end = to;
                    break;
                }
                again *= 2;
            }
        }
        true
    }

    /// Each token that is left.
    pub(super) fn tokens(&self) -> &[Start] {
        &self.tokens
    }

    /// Merges the symbols of one window.
    #[inline]
    fn look(
        &mut self,
        short: &mut Short,
        merges: &Merges,
        symbols: &[TokenId],
        start: usize,
        first: impl Fn(usize, TokenId, TokenId) -> Rank,
    ) {
        let mut alive = short.merge(merges, symbols, |at, left, right| first(start + at, left, right));
        self.window.clear();
        while alive != 0 {
            let at = alive.trailing_zeros() as usize;
            alive &= alive - 1;
            self.window.push(((start + at) as u32, short.id(at)));
        }
    }

    /// Puts the window that begins with the token `from` and ends at the symbol `to` behind a token that both have; false
    /// where there is none. `end` is where the tokens end.
    fn join(&mut self, from: usize, end: usize, to: usize) -> bool {
        let Self { tokens, window } = self;
        let ends =
            |tokens: &[Start], at: usize, end: usize| tokens.get(at + 1).map_or(end as u32, |next| next.0);
        let (mut old, mut new) = (from, 0);
        while old < tokens.len() && new < window.len() {
            let order = tokens[old].0.cmp(&window[new].0);
            if order.is_eq() && ends(tokens, old, end) == ends(window, new, to) {
                tokens.truncate(old);
                tokens.extend_from_slice(&window[new..]);
                return true;
            }
            old += usize::from(order.is_le());
            new += usize::from(order.is_ge());
        }
        let is_first = tokens.is_empty();
        if is_first {
            tokens.extend_from_slice(window);
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::bpe::short::tests::{merged, random_merges};

    #[test]
    fn windows_become_what_replacing_pairs_makes_of_the_whole() {
        let mut numbers = Rng::with_seed(1);
        let (mut windows, mut short) = (Windows::default(), Short::default());
        let (mut whole, mut given_up) = (0, 0);
        for round in 0..20_000 {
            let merges = random_merges(&mut numbers, false);
            let letters = numbers.u32(1..5);
            let count = numbers.usize(1..200);
            // Texts that say the same again and again meet borders at which what came before still counts.
            let period = numbers.usize(1..20);
            let mut symbols: Vec<_> = (0..count).map(|_| numbers.u32(0..letters)).collect();
            if round % 2 == 0 {
                (period..count).for_each(|at| symbols[at] = symbols[at - period]);
            }

            // Small windows need a few tries, and often don't get through.
            let longest = numbers.usize(2..=LONGEST);
            let first = |_, left, right| merges.rank(left, right);
            if !windows.merge_by(longest, &mut short, &merges, &symbols, first) {
                given_up += 1;
                continue;
            }
            whole += 1;
            let starts = windows.tokens().iter().map(|token| token.0 as usize);
            let ends = starts.clone().skip(1).chain([count]);
            let lengths = starts.zip(ends).map(|(start, end)| end - start);
            let ids = windows.tokens().iter().map(|token| token.1);
            let parts = symbols.iter().map(|&id| (id, 1)).collect();
            assert_eq!(ids.zip(lengths).collect::<Vec<_>>(), merged(&merges, parts));
        }
        assert!(whole > 10_000 && given_up > 300, "{whole} {given_up}");
    }

    #[test]
    fn a_token_longer_than_a_window_is_given_up() {
        // Two letters make a token, two such the next: the last has 128.
        let pairs = (0..7).map(|at| (at, at));
        let merges = pairs.enumerate().map(|(rank, pair)| {
            let rank = rank as u32;
            (pair, crate::merges::Merge { rank, id: rank + 1 })
        });
        let merges = Merges::from_ids(merges);
        let first = |_, left, right| merges.rank(left, right);

        assert!(!Windows::default().merge(&mut Short::default(), &merges, &[0; 300], first));
        assert!(Windows::default().merge(&mut Short::default(), &merges, &[9; 300], first));
    }
}
