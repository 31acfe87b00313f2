//! A program as an automaton that reads each character once.
//!
//! Guarantee: the automaton finds the match that backtracking finds first. A state is the list of the steps that the program may
//! have come to, the one that backtracking would try first in front; a match ends the list, as backtracking would try
//! nothing behind it. Looks ask for the next character only, so each is answered when that is read. (Thompson's and Pike's
//! construction, as in RE2 and the crate `regex`, with an answer one character late.)

use super::program::{At, Program, Step};

/// Larger automata are left to the engine; this is a quarter of a megabyte.
const MOST_ENTRIES: usize = 1 << 16;

/// Where to go from a state by a class: the next state's row, and what is to be done before.
pub(super) type Entry = u32;

/// The pattern has matched up to here, and may match more.
pub(super) const MARK: Entry = 1 << 31;
/// The match ends here; the next state is one of the next match.
pub(super) const CUT: Entry = 1 << 30;
/// No match starts at this character; the next state is the first.
pub(super) const SKIP: Entry = 1 << 29;
/// There is no match but what was marked.
pub(super) const BACK: Entry = 1 << 28;
/// The row of the next state.
pub(super) const ROW: Entry = BACK - 1;

/// The first state.
pub(super) const START: Entry = 0;

/// A table of entries by state and class.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) entries: Vec<Entry>,
}

/// What a class does to a state: whether the pattern has matched before it, and the state behind it, if any.
#[derive(Debug, Clone, Copy)]
struct Move {
    matched: bool,
    next: Option<usize>,
}

impl Automaton {
    /// The automaton of `program` over classes that are in these sets, unless it gets too large.
    pub(super) fn new(program: &Program, classes: &[u128]) -> Option<Self> {
        let width = classes.len() + 1;
        let moves = Builder::new(program, classes).moves(MOST_ENTRIES / width)?;
        let always = |state: usize| row(&moves, width, state).iter().all(|step| step.matched);
        let always: Vec<bool> = (0..moves.len() / width).map(always).collect();
        let entry = |index: usize| {
            let step = moves[index];
            let here = if step.matched { MARK } else { 0 };
            match step.next {
                // A mark that is sure to be moved needs no notice.
                Some(next) if always[next] => goto(next, width),
                Some(next) => here | goto(next, width),
                None if step.matched => CUT | first(&moves, index % width, width),
                None if index < width => SKIP | START,
                None => BACK,
            }
        };
        Some(Self {
            entries: (0..moves.len()).map(entry).collect(),
        })
    }
}

fn row(moves: &[Move], width: usize, state: usize) -> &[Move] {
    &moves[state * width..(state + 1) * width]
}

fn goto(state: usize, width: usize) -> Entry {
    (state * width) as Entry
}

/// The entry of the first state; a pattern never has matched there.
fn first(moves: &[Move], class: usize, width: usize) -> Entry {
    moves[class].next.map_or(SKIP | START, |next| goto(next, width))
}

struct Builder<'a> {
    program: &'a Program,
    classes: &'a [u128],
    /// By step, in which round it was come to last.
    seen: Vec<u32>,
    /// By step, in which round it was taken among those of the next state.
    taken: Vec<u32>,
    round: u32,
    states: Vec<Vec<At>>,
    numbers: rustc_hash::FxHashMap<Vec<At>, usize>,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, classes: &'a [u128]) -> Self {
        Self {
            program,
            classes,
            seen: vec![0; program.steps.len()],
            taken: vec![0; program.steps.len()],
            round: 0,
            // Not among the numbers, so that no state but the first is the first.
            states: vec![vec![program.start]],
            numbers: rustc_hash::FxHashMap::default(),
        }
    }

    /// The moves of each state by each class, the end of the text last.
    fn moves(mut self, most_states: usize) -> Option<Vec<Move>> {
        let mut moves = Vec::new();
        let mut state = 0;
        while state < self.states.len() {
            for class in 0..=self.classes.len() {
                let members = self.classes.get(class).copied();
                let step = self.step(state, members);
                moves.push(step);
            }
            if self.states.len() > most_states {
                return None;
            }
            state += 1;
        }
        Some(moves)
    }

    /// What a character that is in the sets `members` does to a state, or the end of the text.
    fn step(&mut self, state: usize, members: Option<u128>) -> Move {
        self.round += 1;
        let mut next = Vec::new();
        let mut matched = false;
        let mut waiting: Vec<At> = self.states[state].iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut self.seen[at], self.round) == self.round {
                continue;
            }
            let is_in = |set: usize| members.is_some_and(|members| members >> set & 1 != 0);
            match self.program.steps[at] {
                Step::Match => {
                    matched = true;
                    break;
                }
                Step::Take { set, then } if is_in(set) => {
                    if std::mem::replace(&mut self.taken[then], self.round) != self.round {
                        next.push(then);
                    }
                }
                Step::Look { set, or_end, then } if is_in(set) || (or_end && members.is_none()) => {
                    waiting.push(then);
                }
                Step::Try(first, second) => waiting.extend([second, first]),
                Step::Take { .. } | Step::Look { .. } => {}
            }
        }
        let next = (!next.is_empty()).then(|| self.number(next));
        Move { matched, next }
    }

    fn number(&mut self, steps: Vec<At>) -> usize {
        let states = &mut self.states;
        *self.numbers.entry(steps).or_insert_with_key(|steps| {
            states.push(steps.clone());
            states.len() - 1
        })
    }
}
