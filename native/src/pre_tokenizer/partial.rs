//! The matches of a published pattern in a text whose rest isn't known yet.
//!
//! Guarantee: a border that [`is_settled`] is one of the matches of the text, however it goes on; and a text whose beginning
//! was taken by [`fold`] has, behind its stand-in, the matches that it had behind that beginning.
//!
//! Proof. A scanner decides where a match ends by the classes of the characters from its start on, and by a few bytes: a
//! space, an apostrophe with the at most three bytes behind it, line ends and slashes after symbols. What it reads beyond
//! the end of a match is one character and those three bytes, but for two cases. In white space it reads to the end of the
//! run. And o200k, where capitals follow a letter without case or a mark, reads on through these capitals: lower case
//! behind them makes all of it one word. So a border is settled that has [`AHEAD`] bytes behind it, does not follow white
//! space or a mark, and is not one of an uncased letter and a capital: what was read on earlier, through white space or
//! capitals, ended before it, or at the character behind it.
//!
//! The text behind the last settled border may be one match that is not at its end: a run of letters, of symbols, of numbers,
//! of white space. How such a match goes on depends on what kind of run it is, and not on its length, once it has more
//! characters than a contraction: so a short run does instead of it.

use super::classes::{Classes, LETTER, LOWER, MARK, Mask, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER};

/// As many bytes as are read behind a match: a character, or a contraction, and some more.
const AHEAD: usize = 8;

/// How many characters a match has that may be folded: more than a contraction, and than numbers that are cut in threes.
const FOLDED: usize = 8;

/// The beginning of a match that was taken out of a text, and what stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// Where the beginning ends, which belongs to the match whatever follows.
    pub end: usize,
    /// What is put in its place.
    pub stand_in: &'static str,
}

/// Whether two matches meet at `border` whatever follows `text`, given that they do in `text`, and that the first match of
/// `text` starts where one of the whole does.
pub fn is_settled(text: &str, border: usize) -> bool {
    if text.len() < border + AHEAD {
        return false;
    }
    let before = text[..border].chars().next_back().map_or(0, class_of);
    let after = text[border..].chars().next().map_or(0, class_of);
    before & (LETTER | NUMBER | OTHER) != 0 && !(before == UNCASED && after == UPPER)
}

/// Folds a text that begins with a match, which ends at `first` as far as is known.
pub fn fold(text: &str, first: usize) -> Option<Fold> {
    let (mut head, mut rest, mut last, mut newline, mut count) = (0, 0, 0, 0, 0);
    for (at, char) in text.char_indices() {
        let class = class_of(char);
        if at == 0 {
            head = class;
        } else {
            rest |= class;
        }
        if class == NEWLINE {
            newline = at;
        }
        last = at;
        count += 1;
    }
    let only = |classes: Mask| rest & !classes == 0;
    let all = head | rest;
    let (end, stand_in) = if count < FOLDED {
        return None;
    } else if all & !SPACE == 0 {
        // The last character may go to what follows, and so may all behind the last line end.
        match all & NEWLINE != 0 {
            true => (newline, "\n"),
            false => (last, "  "),
        }
    } else if first < text.len() {
        return None;
    } else if only(LETTER | MARK) && rest & LETTER != 0 {
        (text.len(), letters(all))
    } else if only(OTHER | MARK) && rest & OTHER != 0 {
        // Two, as a single one may belong to letters that follow.
        (text.len(), "!!")
    } else if only(NUMBER) {
        (text.len(), "1")
    } else {
        return None;
    };
    (end > stand_in.len()).then_some(Fold { end, stand_in })
}

/// What stands for a word of letters of these classes, which has come to its end in no family of patterns yet.
///
/// Those that tell case go on from lower case with what isn't a capital. From an uncased letter (or mark) at the end,
/// capitals may follow as well, and from capitals alone anything: they are one match, whatever comes. Where an uncased
/// letter or a mark was followed by a capital, such a pattern has ended the match, and the others tell no case.
fn letters(classes: Mask) -> &'static str {
    if classes & LOWER != 0 {
        "a"
    } else if classes & (UNCASED | MARK) != 0 {
        "中"
    } else {
        "A"
    }
}

fn class_of(char: char) -> Mask {
    Classes::get().of(u32::from(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_is_settled_where_nothing_that_follows_moves_it() {
        let settled = |text: &str, border: &str| is_settled(text, text.find(border).expect("it is there"));

        assert!(settled("ab cdefghij", " "));
        assert!(settled("語。語語語語", "。"));
        assert!(settled("1!abcdefgh", "!"));
        assert!(!settled("ab cdefgh", "h"), "too little is known behind it");
        assert!(
            !settled("a \n  bcdefgh", "\n"),
            "white space may go on with a line end"
        );
        assert!(!settled("語ABCDEFGHIJ", "A"), "lower case may join the capitals");
        assert!(!settled("\u{301}ABCDEFGHIJ", "A"));
    }

    #[test]
    fn a_match_that_goes_on_is_folded_by_its_kind() {
        let folded = |text: &str| fold(text, text.len());
        let fold = |end, stand_in| Some(Fold { end, stand_in });

        assert_eq!(folded(" lettersAB語"), fold(13, "a"));
        assert_eq!(folded("語語語語語語語語"), fold(24, "中"));
        assert_eq!(folded(" CAPITALS"), fold(9, "A"));
        assert_eq!(folded("😀!!!!!!!!"), fold(12, "!!"));
        assert_eq!(folded("12345678"), fold(8, "1"));
        assert_eq!(folded("\t         "), fold(9, "  "));
        assert_eq!(folded("     \n     "), fold(5, "\n"));
        for kept in ["letters", "letters's", "word word", "\n            ", "1 1 1 1 1"] {
            assert_eq!(folded(kept), None, "{kept:?}");
        }
        assert_eq!(super::fold("letters and more", 7), None, "the first match ends");
    }
}
