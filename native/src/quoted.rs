//! What a message quotes of a file: whole where it is short, and its start where it isn't.
//!
//! A damaged file can hold anything in place of a name, and a message should still be one that can be read.

use std::fmt::{self, Display, Formatter};

/// How many characters of a text are quoted.
pub(crate) const LONGEST: usize = 80;

/// Shows a text between single quotes: `'name'`, or `'start…' (5000 characters)`.
#[derive(Clone, Copy)]
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match split(self.0) {
            Some((start, length)) => write!(f, "'{start}…' ({length} characters)"),
            None => write!(f, "'{}'", self.0),
        }
    }
}

/// As [`Quoted`], with control characters and the like as escapes.
#[derive(Clone, Copy)]
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match split(self.0) {
            Some((start, length)) => write!(f, "'{}…' ({length} characters)", start.escape_debug()),
            None => write!(f, "'{}'", self.0.escape_debug()),
        }
    }
}

/// Shows what needs no quotes, such as a key in a JSON path or a JSON value: `start… (5000 characters)`.
#[derive(Clone, Copy)]
pub(crate) struct Bare<'a>(pub(crate) &'a str);

impl Display for Bare<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match split(self.0) {
            Some((start, length)) => write!(f, "{start}… ({length} characters)"),
            None => f.write_str(self.0),
        }
    }
}

/// The start of a text that is too long to be quoted, and how many characters it has.
fn split(text: &str) -> Option<(&str, usize)> {
    let (cut, _) = text.char_indices().nth(LONGEST)?;
    Some((&text[..cut], text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_quoted_whole_and_a_long_one_by_its_start() {
        let longest = "é".repeat(LONGEST);

        assert_eq!(Quoted("a'b").to_string(), "'a'b'");
        assert_eq!(Quoted(&longest).to_string(), format!("'{longest}'"));
        assert_eq!(
            Quoted(&format!("{longest}xy")).to_string(),
            format!("'{longest}…' (82 characters)")
        );
        assert_eq!(Escaped("a\n").to_string(), "'a\\n'");
        assert_eq!(
            Escaped(&"\n".repeat(81)).to_string(),
            format!("'{}…' (81 characters)", "\\n".repeat(80))
        );
        assert_eq!(Bare("1.5").to_string(), "1.5");
        assert_eq!(
            Bare(&format!("{longest}x")).to_string(),
            format!("{longest}… (81 characters)")
        );
    }
}
