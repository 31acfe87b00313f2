//! Puts special tokens and texts together by a template.
//!
//! Guarantee: the parts equal those of stock's `TemplateProcessing`. Stock checks a template only where it is built
//! in code and panics on a damaged file at the call; here that call gets an error.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Affixes, error_at};
use crate::Result;
use crate::config::Node;
use crate::encoding::Encoding;
use crate::quoted::Escaped;

/// A `TemplateProcessing` post-processor.
#[derive(Debug, Clone)]
pub struct Template {
    path: String,
    single: Vec<Piece>,
    pair: Vec<Piece>,
}

/// One piece of a template, and where it stands in the file.
#[derive(Debug, Clone)]
struct Piece {
    path: String,
    type_id: u32,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The first text (0) or the second (1).
    Text(usize),
    /// A special token, which may be several ids.
    Special(Arc<Special>),
    /// A special token that the file doesn't define.
    Missing(String),
}

#[derive(Debug)]
struct Special {
    ids: Vec<u32>,
    texts: Vec<Arc<str>>,
}

impl Template {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        let specials = read_specials(&node.field("special_tokens")?)?;
        let pieces = |name| -> Result<Vec<Piece>> {
            let list = node.field(name)?;
            let items = list.items()?;
            items
                .iter()
                .map(|item| Piece::from_node(item, &specials))
                .collect()
        };
        Ok(Self {
            path: node.path(),
            single: pieces("single")?,
            pair: pieces("pair")?,
        })
    }

    pub(super) fn added_tokens(&self, is_pair: bool) -> usize {
        let pieces = if is_pair { &self.pair } else { &self.single };
        pieces.iter().map(|piece| piece.ids().len()).sum()
    }

    /// The ids around one text, and how many parts all pieces make; `None` where the text doesn't stand there once.
    pub(super) fn affixes(&self, add_special_tokens: bool) -> Option<Affixes> {
        let is_text = |piece: &Piece| matches!(piece.kind, Kind::Text(_));
        let at = self.single.iter().position(is_text)?;
        let (before, after) = (&self.single[..at], &self.single[at + 1..]);
        if after.iter().any(is_text) {
            return None;
        }
        if !add_special_tokens {
            return Some(Affixes::default());
        }
        let ids = |pieces: &[Piece]| pieces.iter().flat_map(Piece::ids).copied().collect();
        Some(Affixes {
            before: ids(before),
            after: ids(after),
            more_parts: self.single.len() > 1,
        })
    }

    pub(super) fn run(&self, encodings: Vec<Encoding>, add_special_tokens: bool) -> Result<Vec<Encoding>> {
        let pieces = match encodings.len() {
            1 => &self.single,
            2 => &self.pair,
            parts => {
                return Err(error_at(
                    &self.path,
                    format_args!(
                        "is a TemplateProcessing for one text or a pair, but the step before it makes {parts} parts; \
                         keep one TemplateProcessing"
                    ),
                ));
            }
        };
        let mut texts = encodings;
        let mut parts = Vec::with_capacity(pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            match &piece.kind {
                Kind::Text(text) => {
                    let last = !pieces[index + 1..].iter().any(|later| later.is_text(*text));
                    parts.push(piece.place(*text, texts.get_mut(*text), last)?);
                }
                Kind::Special(special) if add_special_tokens => parts.push(special.encoding(piece.type_id)),
                Kind::Missing(name) if add_special_tokens => {
                    let message = format_args!(
                        "names the special token {}, which special_tokens doesn't define",
                        Escaped(name)
                    );
                    return Err(error_at(&piece.path, message));
                }
                _ => {}
            }
        }
        Ok(parts)
    }
}

impl Piece {
    fn from_node(node: &Node, specials: &HashMap<String, Arc<Special>>) -> Result<Self> {
        let object = node.object()?;
        let (kind, inner) = match object.keys().next() {
            Some(kind) if object.len() == 1 => (kind.as_str(), node.field(kind)?),
            _ => return Err(node.error("should have one member: 'Sequence' or 'SpecialToken'")),
        };
        let id = inner.field("id")?;
        let kind = match (kind, id.str()?) {
            ("Sequence", "A") => Kind::Text(0),
            ("Sequence", "B") => Kind::Text(1),
            ("Sequence", _) => return Err(id.error("should be 'A' or 'B'")),
            ("SpecialToken", name) => match specials.get(name) {
                Some(special) => Kind::Special(special.clone()),
                None => Kind::Missing(name.to_owned()),
            },
            _ => return Err(node.error("should have one member: 'Sequence' or 'SpecialToken'")),
        };
        Ok(Self {
            path: node.path(),
            type_id: inner.field("type_id")?.u32()?,
            kind,
        })
    }

    fn ids(&self) -> &[u32] {
        match &self.kind {
            Kind::Special(special) => &special.ids,
            _ => &[],
        }
    }

    fn is_text(&self, text: usize) -> bool {
        matches!(self.kind, Kind::Text(other) if other == text)
    }

    /// The text for this place. A text that no later piece needs is moved, the others are copied.
    fn place(&self, text: usize, encoding: Option<&mut Encoding>, last: bool) -> Result<Encoding> {
        let Some(encoding) = encoding else {
            return Err(error_at(
                &self.path,
                "asks for the second text of a pair in a template for one text",
            ));
        };
        encoding.set_type_id(self.type_id);
        encoding.set_sequence_id(text);
        Ok(if last {
            std::mem::take(encoding)
        } else {
            encoding.clone()
        })
    }
}

impl Special {
    fn encoding(&self, type_id: u32) -> Encoding {
        let len = self.ids.len();
        let mut encoding =
            Encoding::from_columns(self.ids.clone(), vec![(0, 0); len], vec![None; len], type_id);
        encoding.spellings = self.texts.iter().cloned().map(Some).collect();
        encoding.special_tokens_mask.fill(1);
        encoding
    }
}

fn read_specials(node: &Node) -> Result<HashMap<String, Arc<Special>>> {
    let names = node.object()?.keys();
    names
        .map(|name| Ok((name.clone(), Arc::new(read_special(&node.field(name)?)?))))
        .collect()
}

fn read_special(node: &Node) -> Result<Special> {
    node.field("id")?.str()?;
    let ids: Vec<u32> = node
        .field("ids")?
        .items()?
        .iter()
        .map(Node::u32)
        .collect::<Result<_>>()?;
    let tokens = node.field("tokens")?;
    let tokens = tokens.items()?;
    let texts: Vec<Arc<str>> = tokens
        .iter()
        .map(|token| Ok(token.str()?.into()))
        .collect::<Result<_>>()?;
    if ids.len() != texts.len() {
        let message = format_args!(
            "has {} ids and {} tokens; each id needs its token",
            ids.len(),
            texts.len()
        );
        return Err(node.error(message));
    }
    Ok(Special { ids, texts })
}
