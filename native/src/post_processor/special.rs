//! A special token of `BertProcessing` and `RobertaProcessing`, and how both put them around an encoding.

use std::sync::Arc;

use crate::Result;
use crate::config::Node;
use crate::encoding::Encoding;

/// A token that a post-processor adds: `["</s>", 2]`.
#[derive(Debug, Clone)]
pub(super) struct Special {
    text: Arc<str>,
    pub(super) id: u32,
}

impl Special {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        match node.items()?.as_slice() {
            [text, id] => Ok(Self {
                text: text.str()?.into(),
                id: id.u32()?,
            }),
            items => {
                let message = format_args!("should be a token and its id, found {} items", items.len());
                Err(node.error(message))
            }
        }
    }
}

/// What goes around the text with the number `sequence`; the specials get the type `type_id`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) before: Option<&'a Special>,
    pub(super) after: &'a Special,
    pub(super) type_id: u32,
    pub(super) sequence: usize,
}

impl Around<'_> {
    /// Encloses the encoding and each of its windows.
    ///
    /// As in stock, everything inside counts as text afterwards, even what a step before added; windows of windows go.
    pub(super) fn enclose(self, mut encoding: Encoding) -> Encoding {
        let windows = std::mem::take(&mut encoding.overflowing);
        let windows = windows.into_iter().map(|window| self.enclose_one(window));
        let windows = windows.collect();
        let mut enclosed = self.enclose_one(encoding);
        enclosed.overflowing = windows;
        enclosed
    }

    fn enclose_one(self, inner: Encoding) -> Encoding {
        let start = usize::from(self.before.is_some());
        let end = start + inner.len();
        let mut enclosed = Encoding::with_capacity(end + 1);
        if let Some(before) = self.before {
            self.push(&mut enclosed, before);
        }
        enclosed.ids.extend(inner.ids);
        enclosed.type_ids.extend(inner.type_ids);
        enclosed.spellings.extend(inner.spellings);
        enclosed.words.extend(inner.words);
        enclosed.offsets.extend(inner.offsets);
        enclosed.special_tokens_mask.resize(end, 0);
        enclosed.attention_mask.resize(end, 1);
        self.push(&mut enclosed, self.after);
        enclosed.sequence_ranges.insert(self.sequence, start..end);
        enclosed
    }

    fn push(self, encoding: &mut Encoding, special: &Special) {
        encoding.push(special.id, (0, 0), None, self.type_id);
        encoding.spell_last(Arc::clone(&special.text));
        if let Some(mask) = encoding.special_tokens_mask.last_mut() {
            *mask = 1;
        }
    }
}
