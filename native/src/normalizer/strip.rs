//! `Strip`: no white space at either end, or at one.

use super::changes::Changes;
use crate::Result;
use crate::config::Node;

/// Which ends are stripped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strip {
    left: bool,
    right: bool,
}

impl Strip {
    /// Reads a `Strip` component.
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        Ok(Self {
            left: node.field("strip_left")?.bool()?,
            right: node.field("strip_right")?.bool()?,
        })
    }

    /// Whether there is nothing to strip.
    pub(super) fn keeps(self, text: &str) -> bool {
        self.stripped(text).len() == text.len()
    }

    /// Tells `changes` the new text; returns how many characters are dropped at its start.
    pub(super) fn rewrite(self, text: &str, changes: &mut impl Changes) -> usize {
        let kept = self.stripped(text);
        kept.chars().for_each(|char| changes.push(char, 0));
        match self.left {
            true => text.chars().take_while(|char| char.is_whitespace()).count(),
            false => 0,
        }
    }

    fn stripped(self, text: &str) -> &str {
        let text = if self.left { text.trim_start() } else { text };
        if self.right { text.trim_end() } else { text }
    }
}
