//! One walk of the regex engine over a text, from match to match, within limits.
//!
//! Guarantee: each match is that of `onig::FindMatches`, or there is an error. Three limits stand in for each other:
//!
//! - *Steps*, returns to a choice that was left open, which the engine counts: in one try as many as in stock, over all
//!   tries a number that grows with the text. They depend on pattern and text alone.
//! - *The match stack*, entries for choices left open, likewise.
//! - *The clock*, since the engine doesn't count what it steps over without a choice (`(?>a+)b`, `(?=a*b)`, ` *\n`). The
//!   limit is a hundred times what honest patterns need, and is looked at between tries, as well as before a try that took
//!   too many steps starts over with more. Where a search might step over the same text from many places, a long
//!   text is therefore searched place by place.
//!
//! Out of reach are a try whose many steps are cheap at first and dear later, and searches that can't go place by place
//! (see `cost::is_local`): these are bounded by the square of the text's length, as in stock.

use std::ops::Range;
use std::time::{Duration, Instant};

use onig::{Region, SearchOptions};

use super::engine::Engine;
use super::limits::match_param;
use crate::{Error, Result};

/// A try may take this many steps before they count: with ordinary patterns hardly any takes more.
const FREE_STEPS: u64 = 1 << 10;
/// By this factor the steps grow when a try starts over.
const MORE: u32 = 8;
/// What all tries in one text may take beyond that.
const STEPS: u64 = 50_000_000;
const STEPS_PER_BYTE: u64 = 100;
/// Entries of the match stack, some 40 bytes each: a few nested repeats over the whole text.
const STACK: usize = 1 << 20;
const STACK_PER_BYTE: usize = 16;
/// What one text may take by the clock. Honest patterns take about 0.1 microseconds a byte.
const TIME: Duration = Duration::from_secs(10);
const MICROSECONDS_PER_BYTE: u64 = 20;
/// The clock is looked at once in so many tries, or before each where so many take longer than [`SLOW`].
const TRIES_PER_LOOK: u32 = 64;
const SLOW: Duration = Duration::from_millis(50);
/// Up to this many bytes even a search that steps over the rest of the text from every place takes a fraction of a second.
const SHORT: usize = 1 << 14;

/// A walk over a text.
pub(super) struct Search<'a> {
    engine: &'a Engine,
    text: &'a str,
    region: Region,
    /// Where the next search starts.
    at: usize,
    last_end: Option<usize>,
    /// The steps that are left beyond the free ones.
    steps: u64,
    stack: u32,
    started: Instant,
    /// When the clock was looked at last, after how many tries it is the next time, and how many have been since.
    looked: Instant,
    tries_per_look: u32,
    tries: u32,
}

/// Whether the engine looks for the first match, or tries one place only.
#[derive(Clone, Copy)]
enum Reach {
    Anywhere,
    Here,
}

impl<'a> Search<'a> {
    pub(super) fn new(engine: &'a Engine, text: &'a str, from: usize) -> Self {
        let stack = STACK.saturating_add(STACK_PER_BYTE.saturating_mul(text.len()));
        let started = Instant::now();
        Self {
            engine,
            text,
            region: Region::new(),
            at: from,
            last_end: None,
            steps: STEPS + STEPS_PER_BYTE * text.len() as u64,
            stack: stack.min(1 << 31) as u32,
            started,
            looked: started,
            tries_per_look: TRIES_PER_LOOK,
            tries: 0,
        }
    }

    /// The next match. An empty one right behind the match before it doesn't count, as in `onig::FindMatches`.
    pub(super) fn next(&mut self) -> Result<Option<Range<usize>>> {
        while self.at <= self.text.len() {
            let Some(found) = self.search()? else {
                return Ok(None);
            };
            if found.is_empty() && self.last_end == Some(found.end) {
                self.at = self.after(self.at);
                continue;
            }
            self.at = found.end;
            self.last_end = Some(found.end);
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// The first match at or after `self.at`.
    fn search(&mut self) -> Result<Option<Range<usize>>> {
        if self.text.len() <= SHORT || !self.engine.place_by_place {
            return self.attempt(self.at, Reach::Anywhere);
        }
        let mut place = self.at;
        while place <= self.text.len() {
            if let Some(found) = self.attempt(place, Reach::Here)? {
                return Ok(Some(found));
            }
            place = self.after(place);
        }
        Ok(None)
    }

    /// The place one character after `place`.
    fn after(&self, place: usize) -> usize {
        place + self.text[place..].chars().next().map_or(1, char::len_utf8)
    }

    /// A match from `place` on.
    ///
    /// The engine doesn't say how many steps it took, only that they were too many. So it starts with the free steps, and
    /// each time they don't suffice it starts over with more, which are then taken off what is left.
    fn attempt(&mut self, place: usize, reach: Reach) -> Result<Option<Range<usize>>> {
        self.count_try()?;
        let mut steps = FREE_STEPS;
        let mut started = None;
        loop {
            match self.ask(place, reach, steps) {
                Ok(false) => return Ok(None),
                Ok(true) => return self.found().map(Some),
                Err(error)
                    if error.code() == onig_sys::ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER && self.steps > 0 =>
                {
                    let took = started.map_or(Duration::ZERO, |started: Instant| started.elapsed());
                    self.look_at_the_clock(took * MORE)?;
                    steps = (steps * u64::from(MORE)).min(self.steps);
                    self.steps -= steps;
                    started = Some(self.looked);
                }
                Err(error) => return Err(self.stopped(error.description())),
            }
        }
    }

    /// Whether there is a match, which is then in the region.
    fn ask(&mut self, place: usize, reach: Reach, steps: u64) -> std::result::Result<bool, onig::Error> {
        let Self { text, region, .. } = self;
        let regex = &self.engine.regex;
        let options = SearchOptions::SEARCH_OPTION_NONE;
        let param = match_param(steps, self.stack);
        region.clear();
        let found = match reach {
            Reach::Anywhere => {
                regex.search_with_param(*text, place, text.len(), options, Some(region), param)?
            }
            Reach::Here => regex.match_with_param(*text, place, options, Some(region), param)?,
        };
        Ok(found.is_some())
    }

    /// The match in the region. One that `\K` moved into the match before it is refused (stock panics).
    fn found(&self) -> Result<Range<usize>> {
        match self.region.pos(0) {
            Some((start, end)) if self.last_end.unwrap_or(0) <= start && start <= end => Ok(start..end),
            _ => Err(Error::SplitPattern(format!(
                "{} found a match at byte {} that overlaps the one before; remove '\\K' from the pattern",
                self.engine.shown(),
                self.at
            ))),
        }
    }

    fn count_try(&mut self) -> Result<()> {
        self.tries += 1;
        if self.tries < self.tries_per_look {
            return Ok(());
        }
        let last = self.looked;
        self.look_at_the_clock(Duration::ZERO)?;
        self.tries_per_look = if self.looked - last > SLOW {
            1
        } else {
            TRIES_PER_LOOK
        };
        Ok(())
    }

    /// An error where the time is up, or would be after `more` time.
    fn look_at_the_clock(&mut self, more: Duration) -> Result<()> {
        self.tries = 0;
        self.looked = Instant::now();
        let limit = TIME + Duration::from_micros(MICROSECONDS_PER_BYTE * self.text.len() as u64);
        if self.looked - self.started + more < limit {
            return Ok(());
        }
        Err(self.stopped(&format!("the limit is {} seconds", limit.as_secs())))
    }

    fn stopped(&self, why: &str) -> Error {
        Error::SplitPattern(format!(
            "{} took too long at byte {} of a text of {} bytes ({why}); \
             make the pattern simpler, or split the text into shorter ones",
            self.engine.shown(),
            self.at,
            self.text.len(),
        ))
    }
}
