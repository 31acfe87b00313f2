//! `WordPiece`: tokens that don't continue a word get a space in front, and the spaces around English punctuation go.

use std::borrow::Cow;

use super::Tokens;
use crate::Result;
use crate::config::Node;

/// What `cleanup` replaces in each token, one after the other.
const CLEANUP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// The settings of a `WordPiece` decoder.
#[derive(Debug, Clone)]
pub(super) struct WordPiece {
    prefix: String,
    cleanup: bool,
}

impl WordPiece {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        Ok(Self {
            prefix: node.field("prefix")?.str()?.to_owned(),
            cleanup: node.field("cleanup")?.bool()?,
        })
    }

    pub(super) fn run(&self, tokens: &Tokens) -> Tokens {
        tokens.map(|index, token, text| {
            let word = match token.strip_prefix(self.prefix.as_str()) {
                _ if index == 0 => Cow::Borrowed(token),
                Some(rest) => Cow::Borrowed(rest),
                None => Cow::Owned(format!(" {token}")),
            };
            text.push_str(&if self.cleanup { clean(word) } else { word });
        })
    }
}

fn clean(mut text: Cow<'_, str>) -> Cow<'_, str> {
    for (from, to) in CLEANUP {
        if text.contains(from) {
            text = Cow::Owned(text.replace(from, to));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(cleanup: bool, tokens: &[&str]) -> String {
        let word_piece = WordPiece {
            prefix: "##".to_owned(),
            cleanup,
        };
        word_piece.run(&tokens.iter().copied().collect()).into_text()
    }

    #[test]
    fn words_are_parted_and_their_parts_joined() {
        assert_eq!(
            decoded(false, &["##uelo", "Ara", "##új", "", "No", "##", "."]),
            "##uelo Araúj  No ."
        );
    }

    #[test]
    fn cleanup_looks_at_one_token_at_a_time() {
        assert_eq!(
            decoded(true, &["I", "'m", "here", ".", "do", "not", " do not ' x"]),
            "I'm here. do not  don't'x"
        );
    }
}
