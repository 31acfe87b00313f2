//! Reads a pattern in Oniguruma's syntax, as far as it is made of known parts.
//!
//! Guarantee: what is read means to the engine what [`Node`] says of it; all else is refused, by `None`: anchors but `$` and
//! `\z`, looks back, looks at more than one character, memory, options but `(?i:…)`, atomic groups and possessive repeats of more
//! than one set, unbounded repeats of groups (which the engine may never come to the end of), and every spelling whose meaning
//! hangs on the fine print of a syntax.

use super::node::{Node, Set, complement, letter_bit, range};
use super::{bracket, properties};

/// Longer patterns and deeper groups are left to the engine, which has limits for both.
const LONGEST: usize = 1 << 13;
const DEEPEST: u32 = 40;
/// Counts above this are left to the engine.
const MOST: u32 = 1_000;

/// The tree of `pattern`, if every part of it is known.
pub(super) fn parse(pattern: &str) -> Option<Node> {
    if pattern.len() > LONGEST {
        return None;
    }
    let mut parser = Parser {
        rest: pattern,
        folds: false,
        depth: 0,
    };
    let node = parser.alternatives()?;
    (parser.rest.is_empty() && !node.folds_pairs()).then_some(node)
}

/// The rest of a pattern.
pub(super) struct Parser<'a> {
    rest: &'a str,
    /// Whether this is inside `(?i:…)`.
    pub(super) folds: bool,
    pub(super) depth: u32,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Enters a group or a bracket; pair it with [`Parser::leave`].
    pub(super) fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn alternatives(&mut self) -> Option<Node> {
        let mut alternatives = vec![self.row()?];
        while self.eat("|") {
            alternatives.push(self.row()?);
        }
        match alternatives.len() {
            1 => alternatives.pop(),
            _ => Some(Node::Any(alternatives)),
        }
    }

    fn row(&mut self) -> Option<Node> {
        let mut parts = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let part = self.part()?;
            parts.push(self.repeated(part)?);
        }
        match parts.len() {
            1 => parts.pop(),
            _ => Some(Node::Row(parts)),
        }
    }

    fn part(&mut self) -> Option<Node> {
        match self.next()? {
            '(' => self.group(),
            '[' => self.bracket(),
            '.' => Some(Node::one(complement(&range('\n', '\n')))),
            '$' => Some(Node::Look {
                set: range('\n', '\n'),
                or_end: true,
            }),
            '\\' if self.eat("z") => Some(Node::Look {
                set: Set::empty(),
                or_end: true,
            }),
            '\\' => match self.escape(false)? {
                Escape::Char(char) => self.char(char),
                Escape::Set(set) if !self.folds => Some(Node::one(set)),
                Escape::Set(_) => None,
            },
            ')' | ']' | '{' | '}' | '*' | '+' | '?' | '^' | '|' => None,
            char => self.char(char),
        }
    }

    fn bracket(&mut self) -> Option<Node> {
        let (set, folded) = bracket::read(self)?;
        Some(Node::One { set, folded })
    }

    /// A literal character, in any case inside `(?i:…)`.
    fn char(&self, char: char) -> Option<Node> {
        let set = self.char_set(char)?;
        let folded = if self.folds { letter_bit(char) } else { 0 };
        Some(Node::One { set, folded })
    }

    /// What a literal character stands for. Beyond ASCII only punctuation surely has no other case.
    pub(super) fn char_set(&self, char: char) -> Option<Set> {
        if !self.folds {
            return Some(range(char, char));
        }
        if char.is_ascii_alphabetic() {
            return Some(properties::folded(char));
        }
        let mut punctuation = properties::property("P")?;
        punctuation.intersect(&range(char, char));
        (char.is_ascii() || !punctuation.ranges().is_empty()).then(|| range(char, char))
    }

    /// What follows a `(`.
    fn group(&mut self) -> Option<Node> {
        let folds = self.folds;
        self.enter()?;
        let kind = match () {
            () if self.eat("?:") => Group::Plain,
            () if self.eat("?=") => Group::Ahead,
            () if self.eat("?!") => Group::NotAhead,
            () if self.eat("?>") => Group::Atomic,
            () if self.eat("?i:") => {
                self.folds = true;
                Group::Plain
            }
            () if self.peek() == Some('?') || self.peek() == Some('*') => return None,
            () => Group::Plain,
        };
        let inner = self.alternatives()?;
        if !self.eat(")") {
            return None;
        }
        self.folds = folds;
        self.leave();
        match kind {
            Group::Plain => Some(inner),
            Group::Ahead => inner.as_look().map(|(set, or_end)| Node::Look { set, or_end }),
            Group::NotAhead => inner.as_look().map(|(mut set, or_end)| {
                set.negate();
                Node::Look { set, or_end: !or_end }
            }),
            Group::Atomic => atomic(inner),
        }
    }

    /// What follows a `\` that stands for characters, in brackets or outside.
    pub(super) fn escape(&mut self, in_brackets: bool) -> Option<Escape> {
        let char = match self.next()? {
            letter @ ('s' | 'S' | 'd' | 'D' | 'w' | 'W') => {
                return properties::shorthand(letter, in_brackets).map(Escape::Set);
            }
            'p' => return self.property(false).map(Escape::Set),
            'P' => return self.property(true).map(Escape::Set),
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'x' if self.eat("{") => self.code_point('}', 1, 8)?,
            'u' => self.code_point('\0', 4, 4)?,
            char if char.is_ascii_punctuation() || char == ' ' => char,
            _ => return None,
        };
        Some(Escape::Char(char))
    }

    /// Hexadecimal digits, and the character behind them unless that is NUL.
    fn code_point(&mut self, end: char, least: usize, most: usize) -> Option<char> {
        let is_digit = |char: &char| char.is_ascii_hexdigit();
        let length = self.rest.chars().take(most).take_while(is_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        if length < least || (end != '\0' && self.next()? != end) {
            return None;
        }
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    }

    /// What follows `\p` or, if `negated`, `\P`.
    fn property(&mut self, negated: bool) -> Option<Set> {
        if !self.eat("{") {
            return None;
        }
        let negated = negated != self.eat("^");
        let (name, rest) = self.rest.split_once('}')?;
        self.rest = rest;
        let mut set = properties::property(name)?;
        if negated {
            set.negate();
        }
        Some(set)
    }

    /// `part` with the repeat behind it, if there is one.
    fn repeated(&mut self, part: Node) -> Option<Node> {
        let (min, max) = match self.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => return self.interval(part),
            _ => return Some(part),
        };
        self.next();
        let repeated = if self.eat("+") {
            possessive(part, min, max)
        } else {
            let greedy = !self.eat("?");
            repeat(part, min, max, greedy)
        };
        self.ends_repeat(repeated)
    }

    /// `{3}`, `{1,3}`, `{1,}`, and the lazy ones. `{1,3}+` is a repeat of a repeat, not a possessive one.
    fn interval(&mut self, part: Node) -> Option<Node> {
        self.next();
        let min = self.number()?;
        let max = if !self.eat(",") {
            Some(min)
        } else if self.peek() == Some('}') {
            None
        } else {
            Some(self.number()?)
        };
        // Where the bounds are the wrong way round, the engine swaps them, and takes nothing back.
        if !self.eat("}") || max.is_some_and(|max| max < min.max(1)) {
            return None;
        }
        if self.eat("+") {
            // Any number of ones to three is any number, as many as possible first.
            let again = (min == 1).then(|| repeat(part, 1, None, true))?;
            return self.ends_repeat(again);
        }
        let greedy = max == Some(min) || !self.eat("?");
        let repeated = repeat(part, min, max, greedy);
        self.ends_repeat(repeated)
    }

    fn number(&mut self) -> Option<u32> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits.parse().ok().filter(|&number| number <= MOST)
    }

    /// `repeated`, unless another repeat follows.
    fn ends_repeat(&self, repeated: Option<Node>) -> Option<Node> {
        match self.peek() {
            Some('?' | '*' | '+' | '{') => None,
            _ => repeated,
        }
    }
}

/// What an escape stands for.
pub(super) enum Escape {
    Char(char),
    Set(Set),
}

enum Group {
    Plain,
    Ahead,
    NotAhead,
    Atomic,
}

/// A repeat of a part that holds a character, without a limit only of one set of characters.
fn repeat(part: Node, min: u32, max: Option<u32>, greedy: bool) -> Option<Node> {
    let part = match (max, part.as_set()) {
        (_, Some(set)) => Node::one(set),
        (Some(most), None) if most >= min.max(1) && !part.is_nullable() => part,
        _ => return None,
    };
    if max.is_some_and(|most| most < min.max(1)) {
        return None;
    }
    Some(Node::Repeat {
        part: Box::new(part),
        min,
        max,
        greedy,
    })
}

/// A repeat of one set that gives nothing back, written as one behind which the set doesn't go on.
fn possessive(part: Node, min: u32, max: Option<u32>) -> Option<Node> {
    let set = part.as_set()?;
    let stop = Node::not_followed_by(&set);
    match (min, max) {
        (1, Some(1)) => Some(Node::one(set)),
        (0, Some(1)) => Some(Node::Any(vec![Node::one(set), stop])),
        (_, None) => {
            let repeated = repeat(Node::one(set), min, None, true)?;
            Some(Node::Row(vec![repeated, stop]))
        }
        _ => None,
    }
}

/// `(?>…)` around a single repeat of one set, or around a set.
fn atomic(inner: Node) -> Option<Node> {
    match inner {
        Node::Repeat {
            part,
            min: min @ (0 | 1),
            max: max @ (None | Some(1)),
            greedy: true,
        } => possessive(*part, min, max),
        inner => inner.as_set().map(Node::one),
    }
}
