//! `[CLS] first [SEP] second [SEP]`.
//!
//! Guarantee: the parts equal those of stock's `BertProcessing`.

use super::special::{Around, Special};
use crate::Result;
use crate::config::Node;
use crate::encoding::Encoding;

/// A `BertProcessing` post-processor.
#[derive(Debug, Clone)]
pub struct Bert {
    sep: Special,
    cls: Special,
}

impl Bert {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        // Stock doesn't look at the type: with both of these members it is a RobertaProcessing.
        let object = node.object()?;
        if object.contains_key("trim_offsets") && object.contains_key("add_prefix_space") {
            return Err(node.unsupported_setting(
                "has type 'BertProcessing' but the members of a 'RobertaProcessing', which stock takes it for; \
                 correct the type, or remove 'trim_offsets' and 'add_prefix_space'",
            ));
        }
        Ok(Self {
            sep: Special::from_node(&node.field("sep")?)?,
            cls: Special::from_node(&node.field("cls")?)?,
        })
    }

    pub(super) fn added_tokens(&self, is_pair: bool) -> usize {
        if is_pair { 3 } else { 2 }
    }

    pub(super) fn affixes(&self) -> (Vec<u32>, Vec<u32>) {
        (vec![self.cls.id], vec![self.sep.id])
    }

    pub(super) fn run(&self, encodings: Vec<Encoding>, add_special_tokens: bool) -> Vec<Encoding> {
        if !add_special_tokens {
            return encodings;
        }
        let encodings = encodings.into_iter().enumerate();
        encodings
            .map(|(index, encoding)| self.around(index > 0).enclose(encoding))
            .collect()
    }

    fn around(&self, later: bool) -> Around<'_> {
        Around {
            before: (!later).then_some(&self.cls),
            after: &self.sep,
            type_id: u32::from(later),
            sequence: usize::from(later),
        }
    }
}
