//! Which pair is merged next where a share of the tokens is one source's: see [`Quota`].

use crate::train::heap::{Candidate, Candidates, unpack};
use crate::train::merging::Merging;
use crate::train::sources::{Quota, SourceCounts};

/// What is still to be learned for each source, and the pairs that wait because other sources come first.
pub struct Quotas {
    needs: Vec<usize>,
    given_up: Vec<usize>,
    /// Pairs by the source that uses them most, with the count they had then.
    waiting: Vec<Candidates>,
    are_set: bool,
}

impl Quotas {
    /// Quotas of `room` tokens: each rounded up, or down where together they would be more than all.
    pub fn new(sources: usize, quotas: &[Quota], room: usize) -> Self {
        let mut needs = vec![0; sources];
        let mut rests = Vec::new();
        for quota in quotas {
            let (numerator, denominator) = (u128::from(quota.share.0), u128::from(quota.share.1.max(1)));
            let wanted = numerator * room as u128;
            needs[quota.source] = wanted.div_ceil(denominator).min(room as u128) as usize;
            // What was rounded up most is rounded down first, of equals the last.
            if !wanted.is_multiple_of(denominator) {
                rests.push((denominator - wanted % denominator, denominator, quota.source));
            }
        }
        rests.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)).then(a.2.cmp(&b.2)));
        while needs.iter().sum::<usize>() > room {
            let Some((.., source)) = rests.pop() else { break };
            needs[source] -= 1;
        }
        Self {
            are_set: !quotas.is_empty(),
            given_up: vec![0; sources],
            waiting: vec![Candidates::new(); sources],
            needs,
        }
    }

    /// Whether there are any.
    pub fn are_set(&self) -> bool {
        self.are_set
    }

    /// Notes a new token that `source` uses most.
    pub fn met(&mut self, source: usize) {
        let lacking = [&mut self.needs[source], &mut self.given_up[source]];
        if let Some(number) = lacking.into_iter().find(|number| **number > 0) {
            *number -= 1;
        }
    }

    /// How many tokens each source lacks.
    pub fn missing(&self) -> Vec<usize> {
        let both = self.needs.iter().zip(&self.given_up);
        both.map(|(needed, given_up)| needed + given_up).collect()
    }

    /// Takes out the best pair, or, where the quotas take all the `room` that is left, the best of a source that lacks some.
    pub fn pop(
        &mut self,
        words: &mut Merging,
        counts: &SourceCounts,
        room: usize,
    ) -> Option<((u32, u32), Vec<u32>)> {
        loop {
            let needed: usize = self.needs.iter().sum();
            let is_forced = needed > 0 && needed >= room;
            let Some((candidate, queue)) = self.best(words, is_forced) else {
                if !is_forced {
                    return None;
                }
                self.give_up();
                continue;
            };
            match queue {
                Some(source) => self.waiting[source].pop(),
                None => words.pairs.pop_candidate(),
            };
            let Some(positions) = words.pairs.positions_of(candidate) else {
                words.pairs.requeue(candidate);
                continue;
            };
            if !is_forced {
                return words.pairs.take(candidate.pair);
            }
            // A count that stayed the same means that all occurrences did, unless pairs come back.
            let most = match queue {
                Some(source) if !words.pairs.come_back() => source,
                _ => counts.most(&counts.of_pair(words, positions, unpack(candidate.pair))),
            };
            if self.needs[most] > 0 {
                return words.pairs.take(candidate.pair);
            }
            self.waiting[most].push(candidate);
        }
    }

    /// The best of all queues that count now, and which of them it is in: a source's, or the common one.
    fn best(&self, words: &Merging, is_forced: bool) -> Option<(Candidate, Option<usize>)> {
        let lacking = (0..self.needs.len()).filter(|&source| !is_forced || self.needs[source] > 0);
        let waiting = lacking.filter_map(|source| Some((*self.waiting[source].peek()?, Some(source))));
        let common = words.pairs.peek().map(|candidate| (candidate, None));
        waiting.chain(common).max_by_key(|&(candidate, _)| candidate)
    }

    /// No source that lacks tokens has a pair left: the others go on.
    fn give_up(&mut self) {
        for (needed, given_up) in self.needs.iter_mut().zip(&mut self.given_up) {
            *given_up += std::mem::take(needed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(shares: &[(u64, u64)], room: usize) -> Vec<usize> {
        let quotas: Vec<_> = shares
            .iter()
            .enumerate()
            .map(|(source, &share)| Quota { source, share })
            .collect();
        Quotas::new(shares.len(), &quotas, room).needs
    }

    #[test]
    fn quotas_are_rounded_up_while_there_is_room() {
        assert_eq!(needs(&[(3, 10), (1, 10)], 105), [32, 11]);
        assert_eq!(needs(&[(1, 2), (1, 2)], 5), [3, 2]);
        assert_eq!(needs(&[(1, 3), (2, 3)], 4), [1, 3]);
        assert_eq!(needs(&[(1, 1)], 7), [7]);
        assert_eq!(needs(&[(0, 1), (1, 3)], 0), [0, 0]);
    }
}
