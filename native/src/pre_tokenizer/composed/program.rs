//! A tree as a program of steps: what a backtracking engine would try, in its order.

use super::node::{Node, Set};

/// Larger programs are left to the engine.
const LONGEST: usize = 2_000;
/// Each set is one bit of a `u128`.
const MOST_SETS: usize = u128::BITS as usize;

/// The index of a step.
pub(super) type At = usize;

/// One step of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// The pattern has matched.
    Match,
    /// Takes one character of a set.
    Take { set: usize, then: At },
    /// Goes on if the next character is in a set, or at the end of the text if `or_end`.
    Look { set: usize, or_end: bool, then: At },
    /// Tries the first, then the second.
    Try(At, At),
}

/// Steps, and the first to be run.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) start: At,
}

/// The program of a tree, and the sets that its steps speak of by number.
pub(super) fn compile(node: &Node) -> Option<(Program, Vec<Set>)> {
    let mut compiler = Compiler {
        steps: vec![Step::Match],
        sets: Vec::new(),
    };
    let start = compiler.node(node, 0)?;
    let Compiler { steps, sets } = compiler;
    Some((Program { steps, start }, sets))
}

struct Compiler {
    steps: Vec<Step>,
    sets: Vec<Set>,
}

impl Compiler {
    /// The first step of `node`, after which `then` follows.
    fn node(&mut self, node: &Node, then: At) -> Option<At> {
        match node {
            Node::One { set, .. } => {
                let set = self.set(set)?;
                self.push(Step::Take { set, then })
            }
            Node::Look { set, or_end } => {
                let (set, or_end) = (self.set(set)?, *or_end);
                self.push(Step::Look { set, or_end, then })
            }
            Node::Row(parts) => parts
                .iter()
                .rev()
                .try_fold(then, |then, part| self.node(part, then)),
            Node::Any(parts) => {
                let (last, before) = parts.split_last()?;
                let last = self.node(last, then)?;
                before.iter().rev().try_fold(last, |second, part| {
                    let first = self.node(part, then)?;
                    self.push(Step::Try(first, second))
                })
            }
            Node::Repeat {
                part,
                min,
                max,
                greedy,
            } => {
                let mut first = match max {
                    None => self.endless(part, *greedy, then)?,
                    Some(max) => (*min..*max).try_fold(then, |after, _| {
                        let once = self.node(part, after)?;
                        self.choice(once, then, *greedy)
                    })?,
                };
                for _ in 0..*min {
                    first = self.node(part, first)?;
                }
                Some(first)
            }
        }
    }

    /// Any number of `part`, none included.
    fn endless(&mut self, part: &Node, greedy: bool, then: At) -> Option<At> {
        let choice = self.push(Step::Match)?;
        let once = self.node(part, choice)?;
        self.steps[choice] = if greedy {
            Step::Try(once, then)
        } else {
            Step::Try(then, once)
        };
        Some(choice)
    }

    fn choice(&mut self, once: At, none: At, greedy: bool) -> Option<At> {
        self.push(if greedy {
            Step::Try(once, none)
        } else {
            Step::Try(none, once)
        })
    }

    fn push(&mut self, step: Step) -> Option<At> {
        self.steps.push(step);
        (self.steps.len() <= LONGEST).then_some(self.steps.len() - 1)
    }

    fn set(&mut self, set: &Set) -> Option<usize> {
        let number = self
            .sets
            .iter()
            .position(|known| known == set)
            .unwrap_or_else(|| {
                self.sets.push(set.clone());
                self.sets.len() - 1
            });
        (number < MOST_SETS).then_some(number)
    }
}
