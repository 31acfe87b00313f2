//! A string that is borrowed from the input where JSON allows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

use super::refuse::refuse;

/// A string that is borrowed from the input where JSON allows.
#[derive(Clone, Copy)]
pub(super) enum Text {
    /// A token of the vocabulary.
    Token,
    /// A half of the merge with this number.
    Half(usize),
}

impl Text {
    fn wanted(self) -> String {
        match self {
            Self::Token => "model.vocab should hold strings".to_owned(),
            Self::Half(at) => format!("model.merges[{at}] should be a pair of two strings"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(text.into())
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(text.to_owned().into())
    }

    refuse!(null bool number array object);
}
