//! `model.merges`: pairs, or lines as in merges.txt.

use crate::quoted::Escaped;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::refuse::refuse;
use super::text::Text;

/// The texts of `model.merges`, one behind the other in one string.
#[derive(Default)]
pub struct MergeTexts {
    texts: String,
    cuts: Vec<(u32, u32)>,
    pub(super) wrong: Option<String>,
}

impl MergeTexts {
    /// Adds the pair of `left` and `right`.
    pub fn push(&mut self, left: &str, right: &str) {
        self.texts.push_str(left);
        let middle = self.texts.len() as u32;
        self.texts.push_str(right);
        self.cuts.push((middle, self.texts.len() as u32));
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        (0..self.cuts.len()).map(|at| {
            let start = if at == 0 { 0 } else { self.cuts[at - 1].1 };
            let (middle, end) = self.cuts[at];
            let text = |from: u32, to: u32| &self.texts[from as usize..to as usize];
            (text(start, middle), text(middle, end))
        })
    }

    /// Adds a merge written as in merges.txt; false if it isn't two parts.
    fn push_line(&mut self, line: &str) -> bool {
        // Old files may carry the header of merges.txt; stock drops it wherever it stands.
        if line.starts_with("#version") {
            return true;
        }
        let mut parts = line.split(' ');
        let (Some(left), Some(right), None) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        self.push(left, right);
        true
    }

    fn wrong(&mut self, at: usize, found: impl fmt::Display) {
        self.wrong
            .get_or_insert_with(|| format!("tokenizer.json: {}, found {found}", wanted(at)));
    }
}

fn wanted(at: usize) -> String {
    format!("model.merges[{at}] should be a pair such as [\"t\", \"he\"] or \"t he\"")
}

impl<'de> Deserialize<'de> for MergeTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MergesVisitor;
        impl MergesVisitor {
            fn wanted(&self) -> &'static str {
                "model.merges should be an array of pairs"
            }
        }
        impl<'de> Visitor<'de> for MergesVisitor {
            type Value = MergeTexts;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.wanted())
            }

            refuse!(null bool number text object);

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<MergeTexts, A::Error> {
                let mut merges = MergeTexts::default();
                let mut at = 0;
                while seq
                    .next_element_seed(OneMerge {
                        merges: &mut merges,
                        at,
                    })?
                    .is_some()
                {
                    at += 1;
                }
                Ok(merges)
            }
        }
        deserializer.deserialize_any(MergesVisitor)
    }
}

/// Reads one item of `model.merges` into the list: a line, or a pair. Anything else is noted as wrong.
struct OneMerge<'a> {
    merges: &'a mut MergeTexts,
    at: usize,
}

impl OneMerge<'_> {
    fn wanted(&self) -> String {
        wanted(self.at)
    }
}

impl<'de> DeserializeSeed<'de> for OneMerge<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneMerge<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.wanted())
    }

    refuse!(null bool number object);

    fn visit_str<E>(self, line: &str) -> std::result::Result<(), E> {
        if !self.merges.push_line(line) {
            self.merges.wrong(self.at, Escaped(line));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let left = seq.next_element_seed(Text::Half(self.at))?;
        let right = seq.next_element_seed(Text::Half(self.at))?;
        let mut more = 0;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        match (left, right, more) {
            (Some(left), Some(right), 0) => self.merges.push(&left, &right),
            (left, right, more) => {
                let parts = usize::from(left.is_some()) + usize::from(right.is_some()) + more;
                self.merges.wrong(self.at, format_args!("an array of {parts}"));
            }
        }
        Ok(())
    }
}
