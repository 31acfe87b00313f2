//! `<s> first </s></s> second </s>`, with offsets trimmed as by `ByteLevel`, and all of one type.
//!
//! Guarantee: the parts equal those of stock's `RobertaProcessing`.

use super::ByteLevel;
use super::special::{Around, Special};
use crate::Result;
use crate::config::Node;
use crate::encoding::{Encoding, Spell};

/// A `RobertaProcessing` post-processor.
#[derive(Debug, Clone)]
pub struct Roberta {
    sep: Special,
    cls: Special,
    byte_level: ByteLevel,
}

impl Roberta {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        Ok(Self {
            sep: Special::from_node(&node.field("sep")?)?,
            cls: Special::from_node(&node.field("cls")?)?,
            byte_level: ByteLevel::from_node(node)?,
        })
    }

    pub(super) fn trimming(&self) -> Option<ByteLevel> {
        self.byte_level.trimming()
    }

    pub(super) fn added_tokens(&self, is_pair: bool) -> usize {
        if is_pair { 4 } else { 2 }
    }

    pub(super) fn affixes(&self) -> (Vec<u32>, Vec<u32>) {
        (vec![self.cls.id], vec![self.sep.id])
    }

    pub(super) fn run(
        &self,
        mut encodings: Vec<Encoding>,
        add_special_tokens: bool,
        spell: &dyn Spell,
    ) -> Vec<Encoding> {
        self.byte_level.trim_offsets(&mut encodings, spell);
        // Without special tokens, windows keep their types, as in stock.
        encodings.iter_mut().for_each(|encoding| encoding.set_type_id(0));
        if !add_special_tokens {
            return encodings;
        }
        let encodings = encodings.into_iter().enumerate();
        encodings
            .map(|(index, mut encoding)| {
                encoding
                    .overflowing
                    .iter_mut()
                    .for_each(|window| window.set_type_id(0));
                self.around(index > 0).enclose(encoding)
            })
            .collect()
    }

    fn around(&self, later: bool) -> Around<'_> {
        Around {
            before: Some(if later { &self.sep } else { &self.cls }),
            after: &self.sep,
            type_id: 0,
            sequence: usize::from(later),
        }
    }
}
