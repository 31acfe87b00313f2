//! `Strip`: a character taken off both ends of each token, so many times at most.

use super::Tokens;
use crate::Result;
use crate::config::Node;

/// Which character, and how often at each end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    content: char,
    start: usize,
    stop: usize,
}

impl Strip {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        Ok(Self {
            content: node.field("content")?.char()?,
            start: node.field("start")?.count()?,
            stop: node.field("stop")?.count()?,
        })
    }

    pub(super) fn run(self, tokens: &Tokens) -> Tokens {
        tokens.map(|_, token, text| text.push_str(self.strip(token)))
    }

    /// Both ends are counted in the whole token. Where they meet nothing is left; stock panics there.
    fn strip(self, token: &str) -> &str {
        let is_content = |char: &char| *char == self.content;
        let leading = token.chars().take(self.start).take_while(is_content).count();
        let trailing = token.chars().rev().take(self.stop).take_while(is_content).count();
        let size = self.content.len_utf8();
        token
            .get(leading * size..token.len() - trailing * size)
            .unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(content: char, start: usize, stop: usize, token: &str) -> String {
        let strip = Strip { content, start, stop };
        strip.run(&[token].into_iter().collect()).into_text()
    }

    #[test]
    fn each_end_loses_at_most_its_number() {
        assert_eq!(strip('▁', 1, 0, "▁▁a▁"), "▁a▁");
        assert_eq!(strip('▁', 2, 1, "▁▁a▁▁"), "a▁");
        assert_eq!(strip('▁', 9, 9, "▁▁a▁▁"), "a");
        assert_eq!(strip('a', 1, 1, "bab"), "bab");
    }

    #[test]
    fn a_token_of_nothing_else_is_stripped_as_far_as_it_goes() {
        assert_eq!(strip('H', 1, 1, "HHH"), "H");
        assert_eq!(strip('H', 2, 2, "HHH"), "");
        assert_eq!(strip('H', 0, 5, "HHH"), "");
        assert_eq!(strip('H', 1, 1, ""), "");
    }
}
