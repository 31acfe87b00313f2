//! `BPEDecoder`: the suffix that ends a word, `</w>` as a rule, becomes a space; in the last token it goes.

use super::Tokens;
use crate::Result;
use crate::config::Node;

/// The settings of a `BPEDecoder`.
#[derive(Debug, Clone)]
pub(super) struct BpeDecoder {
    suffix: String,
}

impl BpeDecoder {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        Ok(Self {
            suffix: node.field("suffix")?.str()?.to_owned(),
        })
    }

    /// The suffix counts wherever it stands in a token, and an empty one stands between all characters, as in stock.
    pub(super) fn run(&self, tokens: &Tokens) -> Tokens {
        tokens.map(|index, token, text| {
            let space = if index + 1 == tokens.len() { "" } else { " " };
            for (nth, part) in token.split(self.suffix.as_str()).enumerate() {
                if nth > 0 {
                    text.push_str(space);
                }
                text.push_str(part);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(suffix: &str, tokens: &[&str]) -> String {
        let decoder = BpeDecoder {
            suffix: suffix.to_owned(),
        };
        decoder.run(&tokens.iter().copied().collect()).into_text()
    }

    #[test]
    fn the_suffix_parts_words() {
        assert_eq!(decoded("</w>", &["My</w>", "na", "me</w>"]), "My name");
        assert_eq!(decoded("</w>", &["a</w>b</w>", "</w>", ""]), "a b  ");
        assert_eq!(decoded("</w>", &[]), "");
    }

    #[test]
    fn an_empty_suffix_stands_everywhere() {
        assert_eq!(decoded("", &["ab", "cd"]), " a b cd");
    }
}
