//! `added_tokens`: the list of a file, one token at a time. As JSON values 50,000 of them would take 50 MB.

use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::refuse::refuse;
use super::unique::Unique;
use crate::added_tokens::AddedToken;
use crate::config::{Node, Place};
use crate::vocab::TokenId;
use crate::{Error, Result};

const PLACE: Place = Place::Path("added_tokens");

/// The tokens and the ids that they are listed with, in the order of the file.
#[derive(Default)]
pub(super) struct AddedList {
    tokens: Vec<(TokenId, AddedToken)>,
    wrong: Option<Error>,
}

impl AddedList {
    /// The tokens, or what is wrong with the first that is no token.
    pub fn finish(self) -> Result<Vec<(TokenId, AddedToken)>> {
        self.wrong.map_or(Ok(self.tokens), Err)
    }
}

impl<'de> Deserialize<'de> for AddedList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ListVisitor;
        impl ListVisitor {
            fn wanted(&self) -> String {
                format!("{PLACE} should be an array")
            }
        }
        impl<'de> Visitor<'de> for ListVisitor {
            type Value = AddedList;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(&self.wanted())
            }

            refuse!(null bool number text object);

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<AddedList, A::Error> {
                let mut list = AddedList::default();
                for index in 0.. {
                    let place = Place::Index(&PLACE, index);
                    let Some(value) = seq.next_element_seed(Unique(place))? else {
                        break;
                    };
                    match token(&Node::at(place, &value)) {
                        Ok(token) => list.tokens.push(token),
                        Err(error) => {
                            list.wrong.get_or_insert(error);
                        }
                    }
                }
                Ok(list)
            }
        }
        deserializer.deserialize_any(ListVisitor)
    }
}

fn token(node: &Node) -> Result<(TokenId, AddedToken)> {
    let flag = |name| node.field(name)?.bool();
    let token = AddedToken {
        content: node.field("content")?.str()?.to_owned(),
        special: flag("special")?,
        normalized: flag("normalized")?,
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
    };
    Ok((node.field("id")?.u32()?, token))
}

/// A token and its id as a file lists them.
pub(super) struct Listed<'a>(pub TokenId, pub &'a AddedToken);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Item<'a> {
            id: TokenId,
            content: &'a str,
            single_word: bool,
            lstrip: bool,
            rstrip: bool,
            normalized: bool,
            special: bool,
        }
        let Self(id, token) = self;
        Item {
            id: *id,
            content: &token.content,
            single_word: token.single_word,
            lstrip: token.lstrip,
            rstrip: token.rstrip,
            normalized: token.normalized,
            special: token.special,
        }
        .serialize(serializer)
    }
}
