//! `BertNormalizer`: cleans a text, sets ideographs apart, strips accents and lowers case, each if asked for.
//!
//! The categories come from the crate that stock takes them from: its tables are those of an old Unicode.

use unicode_categories::UnicodeCategories;

use super::changes::Changes;
use super::forms::Form;
use super::rule::Rule;
use crate::Result;
use crate::config::Node;

/// Reads a `BertNormalizer` as the rules that it consists of.
pub(super) fn read(node: &Node) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    let lowercase = node.field("lowercase")?.bool()?;
    if node.field("clean_text")?.bool()? {
        rules.extend([Rule::Filter(stays_clean), Rule::Map(space)]);
    }
    if node.field("handle_chinese_chars")?.bool()? {
        rules.push(Rule::SpaceIdeographs);
    }
    // Where it isn't said, accents go with the upper case.
    if node.bool_or("strip_accents", lowercase)? {
        rules.extend([Rule::Form(Form::Nfd), Rule::Filter(is_no_accent)]);
    }
    if lowercase {
        rules.push(Rule::Lowercase);
    }
    Ok(rules)
}

fn stays_clean(char: char) -> bool {
    match char {
        '\t' | '\n' | '\r' => true,
        '\0' | '\u{fffd}' => false,
        char if char.is_ascii() => !char.is_ascii_control(),
        char => !char.is_other(),
    }
}

fn space(char: char) -> char {
    if char.is_whitespace() { ' ' } else { char }
}

fn is_no_accent(char: char) -> bool {
    char.is_ascii() || !char.is_mark_nonspacing()
}

/// The blocks that the original BERT takes for Chinese; U+2B820 to U+2B91F is missing there too.
fn is_ideograph(char: char) -> bool {
    matches!(
        char,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

/// Whether `text` has no ideograph.
pub(super) fn has_no_ideograph(text: &str) -> bool {
    text.is_ascii() || !text.chars().any(is_ideograph)
}

/// Tells `changes` the text with a space on either side of each ideograph.
pub(super) fn space_ideographs(text: &str, changes: &mut impl Changes) {
    for char in text.chars() {
        if is_ideograph(char) {
            // The space before stands for the character, as in stock, and the character is what is inserted.
            changes.push(' ', 0);
            changes.push(char, 1);
            changes.push(' ', 1);
        } else {
            changes.push(char, 0);
        }
    }
}
