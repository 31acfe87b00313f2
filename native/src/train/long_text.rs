//! A text that is counted while it comes in, so that it is never whole in memory.
//!
//! Guarantee: the counts are those of the whole text at once, however it is cut into parts; memory is a few parts. What
//! can't be counted yet is kept, so that a text without a place where it can be cut is kept whole in the end: which places
//! there are says `pre_tokenizer/partial.rs`, and for a normalizer `normalizer/parts.rs`.

use std::ops::Range;

use crate::pre_tokenizer::{Scratch, fold, is_settled};
use crate::tokenizer::Tokenizer;
use crate::train::counter::{BatchReport, Counter, Uncounted};
use crate::train::cutting::OpenPretoken;
use crate::{Error, Result};

/// How many matches wait before one is looked for that is settled.
const WAITING: usize = 256;

/// A text on its way into a [`Counter`].
pub struct LongText<'c> {
    counter: &'c Counter,
    pipeline: &'c Tokenizer,
    /// Whether a space is still to be put before the text.
    prefix: bool,
    /// What isn't normalized yet, and how much of it was looked through for a place to cut.
    raw: String,
    searched: usize,
    /// What is normalized and not counted yet. The first `stand_in` bytes stand for the pretoken that is open.
    text: String,
    stand_in: usize,
    pretokens: Pretokens<'c>,
    scratch: Scratch,
    /// How much text has to be there before it is cut, and before more is folded.
    part: usize,
    enough: usize,
    report: BatchReport,
}

/// Where pretokens go.
struct Pretokens<'c> {
    counter: &'c Counter,
    uncounted: Uncounted,
    open: Option<OpenPretoken>,
    failed: Option<Error>,
}

impl<'c> LongText<'c> {
    /// A text to be counted in parts of about `part` bytes; none where a pipeline needs it whole.
    pub fn new(counter: &'c Counter, pipeline: &'c Tokenizer, part: usize) -> Result<Option<Self>> {
        let Some(prefix) = pipeline.prefix_in_parts() else {
            return Ok(None);
        };
        let pretokens = Pretokens {
            counter,
            uncounted: counter.uncounted()?,
            open: None,
            failed: None,
        };
        Ok(Some(Self {
            counter,
            pipeline,
            prefix,
            raw: String::new(),
            searched: 0,
            text: String::new(),
            stand_in: 0,
            pretokens,
            scratch: Scratch::default(),
            part,
            enough: part,
            report: BatchReport {
                texts: 1,
                ..BatchReport::default()
            },
        }))
    }

    /// Takes the next part of the text.
    ///
    /// # Errors
    /// What spilling raises.
    pub fn push(&mut self, part: &str) -> Result<()> {
        self.report.bytes += part.len() as u64;
        self.raw.push_str(part);
        if let Some(end) = self.pipeline.part_to_normalize(&self.raw, self.searched) {
            self.normalize(end)?;
            self.raw.drain(..end);
        }
        self.searched = self.raw.len();
        if self.text.len() >= self.enough {
            self.count(false)?;
        }
        Ok(())
    }

    /// Counts what is left.
    ///
    /// # Errors
    /// What spilling raises.
    pub fn finish(mut self) -> Result<BatchReport> {
        self.normalize(self.raw.len())?;
        if self.text.is_empty() && self.prefix {
            // Nothing was left of the text: so it is as if it had been empty.
            let pretokens = &mut self.pretokens;
            self.pipeline
                .pretokens("", &mut self.scratch, &mut |pretoken| pretokens.take(pretoken))?;
        }
        self.count(true)?;
        self.counter.give_back(self.pretokens.uncounted)?;
        Ok(self.report)
    }

    fn normalize(&mut self, end: usize) -> Result<()> {
        let normal = self.pipeline.normalize_part(&self.raw[..end])?;
        if self.prefix && !normal.is_empty() {
            self.prefix = false;
            if !normal.starts_with(' ') {
                self.text.push(' ');
            }
        }
        self.text.push_str(&normal);
        Ok(())
    }

    /// Counts the matches that are settled, or all of them at the end.
    fn count(&mut self, all: bool) -> Result<()> {
        let (text, pretokens, mut stand_in) = (self.text.as_str(), &mut self.pretokens, self.stand_in);
        let mut waiting: Vec<Range<usize>> = Vec::new();
        let mut most = WAITING;
        let mut take = |waiting: &mut Vec<Range<usize>>, count: usize| {
            for range in waiting.drain(..count) {
                pretokens.close(&text.as_bytes()[range.start.max(stand_in).min(range.end)..range.end]);
                stand_in = 0;
            }
        };
        self.pipeline.matches_of_part(text, &mut self.scratch, |range| {
            waiting.push(range);
            if waiting.len() >= most {
                let settled = settled(text, &waiting, all);
                take(&mut waiting, settled);
                most = WAITING.max(2 * waiting.len());
            }
        })?;
        let settled = settled(text, &waiting, all);
        take(&mut waiting, settled);
        self.stand_in = stand_in;
        self.pretokens.failed.take().map_or(Ok(()), Err)?;
        let first = waiting
            .first()
            .cloned()
            .unwrap_or(self.text.len()..self.text.len());
        self.keep(first)
    }

    /// Keeps the text from its first match on that isn't settled, or a stand-in for the beginning of that match.
    fn keep(&mut self, first: Range<usize>) -> Result<()> {
        let start = first.start;
        let kept = &self.text[start..];
        let folded = match kept.len() >= self.part {
            true => fold(kept, first.len()),
            false => None,
        };
        match folded {
            Some(folded) => {
                let end = start + folded.end;
                self.pretokens
                    .extend(&self.text.as_bytes()[start + self.stand_in..end]);
                self.text.replace_range(..end, folded.stand_in);
                self.stand_in = folded.stand_in.len();
            }
            None => drop(self.text.drain(..start)),
        }
        // What can't be cut is looked at again when there is twice as much of it: time stays linear.
        self.enough = self.text.len() + self.text.len().max(self.part);
        self.pretokens.failed.take().map_or(Ok(()), Err)
    }
}

/// How many of the matches are settled.
fn settled(text: &str, matches: &[Range<usize>], all: bool) -> usize {
    if all {
        return matches.len();
    }
    let last = matches.iter().rposition(|range| is_settled(text, range.end));
    last.map_or(0, |last| last + 1)
}

impl Pretokens<'_> {
    /// Counts a pretoken, or its parts.
    fn take(&mut self, pretoken: &[u8]) {
        let Self {
            counter,
            uncounted,
            failed,
            ..
        } = self;
        counter
            .cutting()
            .parts(pretoken, &mut |part| note(failed, counter.add(uncounted, part)));
    }

    /// Counts what is sure of a pretoken that goes on behind `bytes`.
    fn extend(&mut self, bytes: &[u8]) {
        let Self {
            counter,
            uncounted,
            open,
            failed,
        } = self;
        counter
            .cutting()
            .extend(open.get_or_insert_default(), bytes, &mut |part| {
                note(failed, counter.add(uncounted, part))
            });
    }

    /// Counts a pretoken that ends with `bytes`.
    fn close(&mut self, bytes: &[u8]) {
        if self.open.is_none() {
            return self.take(bytes);
        }
        self.extend(bytes);
        let Self {
            counter,
            uncounted,
            open,
            failed,
        } = self;
        let open = open.take().unwrap_or_default();
        counter
            .cutting()
            .finish(open, &mut |part| note(failed, counter.add(uncounted, part)));
    }
}

/// Keeps the first error.
fn note(failed: &mut Option<Error>, counted: Result<()>) {
    if let Err(error) = counted {
        failed.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests;
