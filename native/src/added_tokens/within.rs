//! Which parts of a text may spell added tokens: those that someone trusted wrote.
//!
//! Guarantee: a token is found only if all of it, white space that its flags take along aside, lies in one part.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hashbrown::HashSet;
use regex::Regex;

use super::finder::{Finder, Found};
use super::{AddedTokens, Stage};
use crate::normalized::NormalizedText;
use crate::quoted::Escaped;
use crate::vocab::TokenId;
use crate::{Error, Result};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its bytes.
    pub range: Range<usize>,
    /// Which list of tokens may be found in it; all of them without one.
    pub list: Option<usize>,
}

/// Finders for a few of the tokens.
struct Few {
    raw: Option<Finder>,
    normalized: Option<Finder>,
}

/// The parts of a text in which added tokens may be found, in order.
pub struct Within {
    parts: Vec<Part>,
    lists: Arc<[Few]>,
    /// Where the search begins: what lies before is left alone.
    pub(super) start: usize,
}

impl AddedTokens {
    /// The parts of `text` in which added tokens may be found from byte `start` on, and the lists of those that may be
    /// found where a part names a list.
    ///
    /// # Errors
    /// [`Error::Value`] for parts that are no ascending ranges of characters, and for a name that is no added token.
    pub fn within(
        &self,
        text: &str,
        parts: Vec<Part>,
        lists: &[Vec<String>],
        start: usize,
    ) -> Result<Within> {
        let mut end = 0;
        for Part { range, list } in &parts {
            let ascends = end <= range.start && range.start <= range.end && range.end <= text.len();
            if !ascends || list.is_some_and(|list| list >= lists.len()) {
                return Err(Error::Value(format!(
                    "bytes {range:?} are no part of a text of {} bytes that begins after byte {end} and has one of \
                     {} lists",
                    text.len(),
                    lists.len()
                )));
            }
            end = range.end;
        }
        let lists = lists.iter().map(|names| self.few(names));
        Ok(Within {
            parts: joined(parts),
            lists: lists.collect::<Result<Vec<_>>>()?.into(),
            start,
        })
    }

    fn few(&self, names: &[String]) -> Result<Few> {
        let unknown = |name: &String| Error::Value(format!("{} is not an added token", Escaped(name)));
        let place = |name: &String| self.place(name).ok_or_else(|| unknown(name));
        let places = names.iter().map(place).collect::<Result<HashSet<_>>>()?;
        let few = |stage| self.finder(stage).map_or(Ok(None), |finder| finder.few(&places));
        Ok(Few {
            raw: few(Stage::Raw)?,
            normalized: few(Stage::Normalized)?,
        })
    }

    /// The matches that `within` lets through in `text`.
    pub(super) fn find_within<'a>(
        &'a self,
        stage: Stage,
        text: &'a str,
        within: &'a Within,
    ) -> impl Iterator<Item = Found> + 'a {
        within.parts.iter().flat_map(move |part| {
            let finder = match part.list.map(|list| &within.lists[list]) {
                None => self.finder(stage),
                Some(few) if stage == Stage::Raw => few.raw.as_ref(),
                Some(few) => few.normalized.as_ref(),
            };
            let range = part.range.start.max(within.start)..part.range.end;
            let found = finder.filter(|_| !range.is_empty());
            found
                .into_iter()
                .flat_map(move |finder| finder.find_in(text, range.clone()))
        })
    }

    /// Each token that `text` spells, as stock finds them: bytes of the text, and the id.
    ///
    /// # Errors
    /// What a normalizer raises whose pattern runs away.
    pub fn find_all(
        &self,
        text: &str,
        normalize: impl Fn(&str, usize) -> Result<NormalizedText>,
    ) -> Result<Vec<(Range<usize>, TokenId)>> {
        let mut found = Vec::new();
        self.split_raw(text, super::Allowed::All, &mut |range, id| {
            match id {
                Some(id) => found.push((range, id)),
                None if self.none_normalized() => {}
                None => {
                    let segment = normalize(&text[range.clone()], range.start)?;
                    self.split_normalized(segment.text(), super::Allowed::All, &mut |range, id| {
                        found.extend(id.map(|id| (segment.original_range(range), id)));
                        Ok(())
                    })?;
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl Within {
    /// Whether a part holds all of `range`.
    pub fn holds(&self, range: &Range<usize>) -> bool {
        let place = self.parts.partition_point(|part| part.range.end < range.end);
        self.parts
            .get(place)
            .is_some_and(|part| part.range.start <= range.start)
    }

    /// The parts of the segment `range`, in bytes of the segment.
    pub fn segment(&self, range: &Range<usize>) -> Self {
        let clip = |at: usize| at.clamp(range.start, range.end) - range.start;
        self.with_parts(self.inside(range).map(|part| Part {
            range: clip(part.range.start)..clip(part.range.end),
            list: part.list,
        }))
    }

    /// The parts of the normal form of the segment `range` of `text`: of the characters that come from one part alone,
    /// and would be the same if nothing stood around it.
    ///
    /// # Errors
    /// What `normalize` raises.
    pub fn normalized(
        &self,
        text: &str,
        range: &Range<usize>,
        normalized: &NormalizedText,
        normalize: impl Fn(&str) -> Result<String>,
    ) -> Result<Self> {
        let closed = self.inside(range).map(|part| {
            let clipped = part.range.start.max(range.start)..part.range.end.min(range.end);
            let start = if clipped.start > range.start {
                marks_end(text, clipped.start)
            } else {
                clipped.start
            };
            let end = closed_end(&text[..range.end], &clipped, &normalize)?;
            Ok(Part {
                range: start..end.max(start),
                list: part.list,
            })
        });
        let closed = closed.collect::<Result<Vec<_>>>()?;
        let mut parts: Vec<Part> = Vec::new();
        let mut last = None;
        for (range, origin) in normalized.characters() {
            let place = closed.partition_point(|part| part.range.end < origin.end);
            let holds = |part: &&Part| part.range.start <= origin.start && origin.start < part.range.end;
            let Some(part) = closed.get(place).filter(holds) else {
                last = None;
                continue;
            };
            match parts.last_mut().filter(|_| last == Some(place)) {
                Some(grown) => grown.range.end = range.end,
                None => parts.push(Part {
                    range,
                    list: part.list,
                }),
            }
            last = Some(place);
        }
        Ok(self.with_parts(parts.into_iter()))
    }

    fn inside<'a>(&'a self, range: &'a Range<usize>) -> impl Iterator<Item = &'a Part> {
        let first = self.parts.partition_point(|part| part.range.end <= range.start);
        self.parts[first..]
            .iter()
            .take_while(|part| part.range.start < range.end)
    }

    fn with_parts(&self, parts: impl Iterator<Item = Part>) -> Self {
        Self {
            parts: parts.filter(|part| !part.range.is_empty()).collect(),
            lists: Arc::clone(&self.lists),
            start: 0,
        }
    }
}

/// Parts that touch and in which every token may be found are one.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last)
                if last.list.is_none() && part.list.is_none() && last.range.end == part.range.start =>
            {
                last.range.end = part.range.end;
            }
            _ => joined.push(part),
        }
    }
    joined
}

fn is_mark(char: char) -> bool {
    static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{M}").expect("a fixed pattern"));
    !char.is_ascii() && MARK.is_match(char.encode_utf8(&mut [0; 4]))
}

/// Where the marks at `start` end.
fn marks_end(text: &str, start: usize) -> usize {
    let marks = text[start..].chars().take_while(|&char| is_mark(char));
    start + marks.map(char::len_utf8).sum::<usize>()
}

/// The end of `part`; without its last base character and marks, if what stands behind the part changes their normal
/// form: a mark that moves before theirs, a vowel that joins a consonant, a letter after a final sigma.
fn closed_end(text: &str, part: &Range<usize>, normalize: impl Fn(&str) -> Result<String>) -> Result<usize> {
    let spelled = &text[part.clone()];
    let (last, next) = (spelled.chars().next_back(), text[part.end..].chars().next());
    let (Some(last), Some(next)) = (last, next) else {
        return Ok(part.end);
    };
    if last.is_ascii() && next.is_ascii() {
        return Ok(part.end);
    }
    let behind = marks_end(text, part.end + next.len_utf8());
    if normalize(&text[part.start..behind])?.starts_with(&normalize(spelled)?) {
        return Ok(part.end);
    }
    let base = spelled.char_indices().rev().find(|&(_, char)| !is_mark(char));
    Ok(part.start + base.map_or(0, |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::added_tokens::{AddedToken, Allowed};

    fn found(
        text: &str,
        parts: &[(usize, usize, Option<usize>)],
        start: usize,
    ) -> Vec<(String, Option<TokenId>)> {
        let mut added = AddedTokens::default();
        for (id, content) in ["<a", "<a>", "a>b"].into_iter().enumerate() {
            added.insert(id as TokenId, AddedToken::special(content.to_owned()));
        }
        added.finish(None).unwrap();
        let parts = parts.iter().map(|&(start, end, list)| Part {
            range: start..end,
            list,
        });
        let within = added
            .within(text, parts.collect(), &[vec!["<a".to_owned()]], start)
            .unwrap();
        let mut pieces = Vec::new();
        added
            .split_raw(text, Allowed::Within(&within), &mut |range, id| {
                pieces.push((text[range].to_owned(), id));
                Ok(())
            })
            .unwrap();
        pieces
    }

    fn pieces(expected: &[(&str, Option<TokenId>)]) -> Vec<(String, Option<TokenId>)> {
        expected.iter().map(|&(text, id)| (text.to_owned(), id)).collect()
    }

    #[test]
    fn the_longest_of_the_leftmost_of_each_part_is_found() {
        assert_eq!(
            found("x<a>b", &[(0, 5, None)], 0),
            pieces(&[("x", None), ("<a>", Some(1)), ("b", None)])
        );
        assert_eq!(
            found("x<a>b", &[(0, 3, None)], 0),
            pieces(&[("x", None), ("<a", Some(0)), (">b", None)])
        );
        assert_eq!(
            found("x<a>b", &[(2, 5, None)], 0),
            pieces(&[("x<", None), ("a>b", Some(2))])
        );
        assert_eq!(found("x<a>b", &[], 0), pieces(&[("x<a>b", None)]));
    }

    #[test]
    fn parts_that_touch_are_one_unless_they_have_a_list() {
        assert_eq!(
            found("<a>", &[(0, 1, None), (1, 3, None)], 0),
            pieces(&[("<a>", Some(1))])
        );
        assert_eq!(
            found("<a>", &[(0, 1, Some(0)), (1, 3, None)], 0),
            pieces(&[("<a>", None)])
        );
        assert_eq!(
            found("<a>", &[(0, 3, Some(0))], 0),
            pieces(&[("<a", Some(0)), (">", None)])
        );
    }

    #[test]
    fn what_lies_before_the_start_is_left_alone() {
        assert_eq!(found("<a><a>", &[(0, 6, None)], 3), pieces(&[("<a>", Some(1))]));
        assert_eq!(found("<a>x", &[(0, 4, None)], 1), pieces(&[("a>x", None)]));
    }
}
