//! A value of `tokenizer.json` together with its JSON path, so that every complaint says where.
//!
//! Components read themselves from a [`Node`]; the file as a whole is read in `tokenizer_json`.

use std::fmt;

use serde_json::Value;

use crate::quoted::{Bare, Quoted};
use crate::{Error, Result};

/// A JSON path, such as `pre_tokenizer.pretokenizers[1]`. It is written only where somebody complains: a file has 50,000 added
/// tokens with seven members each.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// At a key of the file itself, or of its model.
    Path(&'a str),
    /// At a key of an object.
    Key(&'a Place<'a>, &'a str),
    /// In an array.
    Index(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Key(parent, key) => write!(f, "{parent}.{}", Bare(key)),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A JSON value and the path that leads to it.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    place: Place<'a>,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// Wraps `value`, the component that the file calls `name`.
    pub fn new(name: &'a str, value: &'a Value) -> Self {
        Self::at(Place::Path(name), value)
    }

    /// Wraps `value`, found at `place`.
    pub fn at(place: Place<'a>, value: &'a Value) -> Self {
        Self { place, value }
    }

    /// The JSON path of this value.
    pub fn path(&self) -> String {
        self.place.to_string()
    }

    /// The bare JSON value.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// An error at this place: `tokenizer.json: PATH MESSAGE`.
    pub fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::TokenizerFile(format!("tokenizer.json: {} {message}", self.place))
    }

    /// The error for a component `kind` at this place, when only `supported` kinds can run.
    pub fn unsupported(&self, kind: &str, supported: &[&str]) -> Error {
        let supported = match supported {
            [] => "none here".to_owned(),
            [only] => format!("{only:?}").replace('"', "'"),
            [most @ .., last] => {
                let most: Vec<_> = most.iter().map(|name| format!("'{name}'")).collect();
                format!("{} and '{last}'", most.join(", "))
            }
        };
        Error::UnsupportedComponent(format!(
            "tokenizer.json: {} has type {}; hf_bpe supports {supported}. \
             Load this file with tokenizers.Tokenizer.from_file instead.",
            self.place,
            Quoted(kind)
        ))
    }

    /// The error for a model at this place that isn't BPE.
    pub fn unsupported_model(&self, kind: &str) -> Error {
        Error::UnsupportedComponent(format!(
            "tokenizer.json: {}.type is {}; hf_bpe supports 'BPE'. Load this file with \
             tokenizers.Tokenizer.from_file, or its directory with transformers.PreTrainedTokenizerFast, instead.",
            self.place,
            Quoted(kind)
        ))
    }

    /// The error for a setting at this place that can't be run exactly.
    pub fn unsupported_setting(&self, message: impl std::fmt::Display) -> Error {
        Error::UnsupportedComponent(format!(
            "tokenizer.json: {} {message}. Load this file with tokenizers.Tokenizer.from_file instead.",
            self.place
        ))
    }

    /// This value as a message shows it: JSON, or its start.
    pub(crate) fn shown(&self) -> String {
        Bare(&self.value.to_string()).to_string()
    }

    /// The member `name`, or an error that names it.
    pub fn field<'b>(&'b self, name: &'b str) -> Result<Node<'b>> {
        match self.object()?.get(name) {
            Some(value) => Ok(Node::at(Place::Key(&self.place, name), value)),
            None => Err(self.error(format_args!("lacks {}", Quoted(name)))),
        }
    }

    /// The member `name` unless it is absent or null.
    pub fn optional<'b>(&'b self, name: &'b str) -> Result<Option<Node<'b>>> {
        Ok(match self.object()?.get(name) {
            None | Some(Value::Null) => None,
            Some(value) => Some(Node::at(Place::Key(&self.place, name), value)),
        })
    }

    /// The `type` member: which component this is.
    pub fn kind(&self) -> Result<&str> {
        self.field("type")?.str()
    }

    /// This value as an object.
    pub fn object(&self) -> Result<&'a serde_json::Map<String, Value>> {
        self.value.as_object().ok_or_else(|| self.wrong_type("an object"))
    }

    /// This value as a string.
    pub fn str(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// This value as a string of one character.
    pub fn char(&self) -> Result<char> {
        let mut chars = self.value.as_str().unwrap_or_default().chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(self.wrong_type("a string of one character")),
        }
    }

    /// This value as a boolean.
    pub fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("a boolean"))
    }

    /// This value as an id or a count that fits 32 bits.
    pub fn u32(&self) -> Result<u32> {
        self.value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.wrong_type("a number from 0 to 4294967295"))
    }

    /// This value as a count of any size.
    pub fn count(&self) -> Result<usize> {
        self.value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .ok_or_else(|| self.wrong_type("a number that isn't negative"))
    }

    /// The items of this array, each with its path.
    pub fn items(&self) -> Result<Vec<Node<'_>>> {
        let array = self.value.as_array().ok_or_else(|| self.wrong_type("an array"))?;
        Ok(array
            .iter()
            .enumerate()
            .map(|(index, value)| Node::at(Place::Index(&self.place, index), value))
            .collect())
    }

    /// The boolean member `name`, or `default` where it is absent.
    pub fn bool_or(&self, name: &str, default: bool) -> Result<bool> {
        self.optional(name)?.map_or(Ok(default), |node| node.bool())
    }

    fn wrong_type(&self, wanted: &str) -> Error {
        self.error(format_args!("should be {wanted}, found {}", self.shown()))
    }
}
