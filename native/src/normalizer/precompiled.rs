//! `Precompiled`: the normalization of a SentencePiece model, by the table that the model carries.
//!
//! Guarantee: as stock does it, with what is odd in it: a grapheme of less than six bytes becomes what its shortest known
//! beginning becomes, its other characters go; and what goes at the start of a text isn't counted, so that offsets shift.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::changes::Changes;
use super::charsmap::Charsmap;
use crate::Result;
use crate::config::Node;
use crate::normalized::Change;

/// Graphemes of this many bytes or more are looked up character by character.
const LONG: usize = 6;

/// Replaces by a table.
#[derive(Debug, Clone)]
pub(super) struct Precompiled {
    charsmap: Arc<Charsmap>,
    /// Which ASCII characters stay as they are, whatever stands next to them; a carriage return isn't among them, as a
    /// newline may join it.
    stays: [bool; 128],
}

impl Precompiled {
    /// Reads a `Precompiled` component; a damaged table is an error.
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        let at = node.field("precompiled_charsmap")?;
        let bytes = base64::decode(at.str()?)
            .map_err(|error| at.error(format_args!("is no valid base64: {error}")))?;
        let charsmap = Charsmap::parse(&bytes).map_err(|why| at.error(why))?;
        let stays = std::array::from_fn(|code| {
            let char = char::from(code as u8);
            char != '\r' && charsmap.get(char.encode_utf8(&mut [0; 4])).is_none()
        });
        Ok(Self {
            charsmap: Arc::new(charsmap),
            stays,
        })
    }

    /// Whether a quick check is sure that nothing in `text` is replaced.
    pub(super) fn surely_keeps(&self, text: &str) -> bool {
        text.bytes()
            .all(|byte| self.stays.get(usize::from(byte)) == Some(&true))
    }

    /// Tells `changes` the new text.
    pub(super) fn rewrite(&self, text: &str, changes: &mut impl Changes) {
        let mut held = Held { last: None, changes };
        let mut rest = text;
        while !rest.is_empty() {
            let plain = self.plain_length(rest);
            rest[..plain].chars().for_each(|char| held.push(char, 0));
            rest = &rest[plain..];
            let (dense, after) = rest.split_at(dense_length(rest));
            for grapheme in dense.graphemes(true) {
                self.rewrite_grapheme(grapheme, &mut held);
            }
            rest = after;
        }
        held.finish();
    }

    /// How many characters at the start of `text` stay and are graphemes of their own: the next one is ASCII, too.
    fn plain_length(&self, text: &str) -> usize {
        let stays = |byte: &u8| self.stays.get(usize::from(*byte)) == Some(&true);
        let length = text.bytes().take_while(stays).count();
        match text.as_bytes().get(length) {
            Some(next) if !next.is_ascii() => length.saturating_sub(1),
            _ => length,
        }
    }

    fn rewrite_grapheme(&self, grapheme: &str, held: &mut Held<impl Changes>) {
        if grapheme.len() < LONG
            && let Some(new) = self.charsmap.get(grapheme)
        {
            return held.replace(grapheme.chars().count(), new);
        }
        for char in grapheme.chars() {
            match self.charsmap.get(char.encode_utf8(&mut [0; 4])) {
                Some(new) => held.replace(1, new),
                None => held.push(char, 0),
            }
        }
    }
}

/// How far the first character that isn't plain may reach: to the next place between two ASCII characters, where a
/// grapheme ends for sure.
fn dense_length(text: &str) -> usize {
    let ends = |pair: &[u8]| pair.is_ascii() && pair != b"\r\n";
    let end = text.as_bytes().windows(2).position(ends);
    end.map_or(text.len(), |at| at + 1)
}

/// Holds the last character back, since what goes after it is counted with it.
struct Held<'a, C> {
    last: Option<Change>,
    changes: &'a mut C,
}

impl<C: Changes> Held<'_, C> {
    fn push(&mut self, char: char, change: isize) {
        if let Some((char, change)) = self.last.replace((char, change)) {
            self.changes.push(char, change);
        }
    }

    /// Tells that `old` characters become `new`.
    fn replace(&mut self, old: usize, new: &str) {
        let mut count = 0;
        for char in new.chars() {
            self.push(char, isize::from(count >= old));
            count += 1;
        }
        if let Some((_, change)) = &mut self.last
            && count < old
        {
            *change -= (old - count).cast_signed();
        }
    }

    fn finish(self) {
        if let Some((char, change)) = self.last {
            self.changes.push(char, change);
        }
    }
}
