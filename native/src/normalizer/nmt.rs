//! `Nmt`: what SentencePiece's rules for machine translation do to controls and odd white space.

/// Whether a character stays; most controls go.
pub(super) fn stays(char: char) -> bool {
    !matches!(
        char,
        '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}'
    )
}

/// White space and what counts as such, U+2581 and U+FFFD among it, become a space.
pub(super) fn space(char: char) -> char {
    match char {
        '\t' | '\n' | '\u{c}' | '\r' => ' ',
        '\u{1680}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{2581}' | '\u{feff}' | '\u{fffd}' => ' ',
        other => other,
    }
}
