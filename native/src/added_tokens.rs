//! `added_tokens`: found in the text before anything is split, the longest of the leftmost ones.
//!
//! Tokens with `normalized: false` are found in the raw text, the others in the normalized segments between them.
//! All contents of one kind share one automaton, so 50,000 tokens cost a call no more than one does.

mod disallowed;
mod finder;
mod within;

use std::ops::Range;
use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};
use regex::Regex;

use crate::Result;
use crate::normalizer::Normalizer;
use crate::quoted::Escaped;
use crate::vocab::TokenId;
use disallowed::{Contents, LastDisallowed};
use finder::Finder;
pub use within::{Part, Within};

/// A token that is found as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedToken {
    /// The text.
    pub content: String,
    /// Dropped by `skip_special_tokens`, ignored by `split_special_tokens`.
    pub special: bool,
    /// Found in the normalized text rather than in the raw one.
    pub normalized: bool,
    /// Found only where no word character touches it.
    pub single_word: bool,
    /// Takes the white space before it along.
    pub lstrip: bool,
    /// Takes the white space after it along.
    pub rstrip: bool,
}

impl AddedToken {
    /// A special token that is found wherever a text spells it.
    pub fn special(content: String) -> Self {
        Self {
            content,
            special: true,
            normalized: false,
            single_word: false,
            lstrip: false,
            rstrip: false,
        }
    }
}

/// Which added tokens a text may spell.
#[derive(Clone, Copy)]
pub enum Allowed<'a> {
    /// Every one.
    All,
    /// Those that aren't special; a match of a special one is passed over, as stock's `encode_special_tokens`.
    Ordinary,
    /// Those that aren't special, and these.
    Only(&'a HashSet<TokenId>),
    /// Those that lie in certain parts of the text.
    Within(&'a Within),
}

/// Where tokens are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In the text as it was given.
    Raw,
    /// In the normal form of what lies between the tokens of the first stage.
    Normalized,
}

/// The added tokens of a vocabulary.
#[derive(Clone, Default)]
pub struct AddedTokens {
    tokens: Vec<(TokenId, AddedToken)>,
    by_content: HashMap<String, TokenId>,
    // Where tokens share an id, the first of the file.
    by_id: HashMap<TokenId, usize>,
    special_contents: HashSet<String>,
    raw: Option<Finder>,
    normalized: Option<Finder>,
    last_disallowed: LastDisallowed,
    // What the normalized token at a place looks like in normalized text, where that isn't its content.
    forms: HashMap<usize, String>,
    // What was odd about the file, and about the tokens as they are now.
    listed_warnings: Vec<String>,
    warnings: Vec<String>,
}

impl AddedTokens {
    /// The tokens that a `tokenizer.json` lists, with the ids given there; `id_in_vocab` answers for the model.
    pub fn from_list(
        list: Vec<(TokenId, AddedToken)>,
        id_in_vocab: impl Fn(&str) -> Option<TokenId>,
    ) -> Self {
        let mut added = Self::default();
        for (given, token) in list {
            if token.content.is_empty() {
                continue;
            }
            // A text that the model knows keeps the model's id, as in stock.
            let known = added.by_content.get(&token.content).copied();
            let id = known.or_else(|| id_in_vocab(&token.content)).unwrap_or(given);
            if id != given {
                added.listed_warnings.push(format!(
                    "added token {} is listed with id {given}, but the vocabulary has it at {id}: {id} is used",
                    Escaped(&token.content)
                ));
            }
            added.insert(id, token);
        }
        added
    }

    /// Adds a token. One of the same content is replaced and keeps its id; another content with the same id stays
    /// beside it.
    pub fn insert(&mut self, id: TokenId, token: AddedToken) {
        if token.special {
            // As stock: what was special once is skipped in decoding, whatever later entries say.
            self.special_contents.insert(token.content.clone());
        }
        match self.place(&token.content) {
            Some(place) => self.tokens[place].1 = token,
            None => {
                self.by_content.insert(token.content.clone(), id);
                self.by_id.entry(id).or_insert(self.tokens.len());
                self.tokens.push((id, token));
            }
        }
    }

    fn place(&self, content: &str) -> Option<usize> {
        let first = self.by_id[self.by_content.get(content)?];
        let from_first = self.tokens[first..]
            .iter()
            .position(|(_, token)| token.content == content);
        from_first.map(|offset| first + offset)
    }

    /// Builds the automata; call once after the last insertion.
    pub fn finish(&mut self, normalizer: Option<&Normalizer>) -> Result<()> {
        self.tokens.sort_by_key(|(id, _)| *id);
        self.warnings = self.listed_warnings.clone();
        self.by_id.clear();
        for (at, (id, token)) in self.tokens.iter().enumerate() {
            let first = *self.by_id.entry(*id).or_insert(at);
            if first != at {
                self.warnings.push(format!(
                    "added tokens {} and {} share id {id}: both are found, and it decodes to the first",
                    Escaped(&self.tokens[first].1.content),
                    Escaped(&token.content)
                ));
            }
        }
        let mut raw = Vec::new();
        let mut normalized = Vec::new();
        self.forms.clear();
        for (at, (_, token)) in self.tokens.iter().enumerate() {
            if !token.normalized {
                raw.push((token.content.clone(), at));
                continue;
            }
            let form = match normalizer {
                Some(normalizer) => normalizer.normalize(&token.content)?.into_owned(),
                None => token.content.clone(),
            };
            if form != token.content {
                self.forms.insert(at, form.clone());
            }
            if form.is_empty() {
                self.warnings.push(format!(
                    "added token {} normalizes to nothing, so no text can spell it",
                    Escaped(&token.content)
                ));
            } else {
                normalized.push((form, at));
            }
        }
        self.last_disallowed = LastDisallowed::default();
        self.raw = Finder::new(raw)?;
        self.normalized = Finder::new(normalized)?;
        Ok(())
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens in order of id.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &AddedToken)> {
        self.tokens.iter().map(|(id, token)| (*id, token))
    }

    /// The token with this id: the first where several have it.
    pub fn get(&self, id: TokenId) -> Option<&AddedToken> {
        self.by_id.get(&id).map(|&at| &self.tokens[at].1)
    }

    /// The text of a token as stock spells it: in its normalized form, if it is one that is searched there.
    pub fn spelling(&self, id: TokenId) -> Option<&str> {
        let at = self.by_id.get(&id)?;
        Some(self.forms.get(at).unwrap_or(&self.tokens[*at].1.content))
    }

    /// The id of the token with this text.
    pub fn id(&self, content: &str) -> Option<TokenId> {
        self.by_content.get(content).copied()
    }

    /// The token with this text.
    pub fn token(&self, content: &str) -> Option<&AddedToken> {
        self.place(content).map(|place| &self.tokens[place].1)
    }

    /// Whether a token of this text is special.
    pub fn is_special(&self, content: &str) -> bool {
        self.special_contents.contains(content)
    }

    /// What is odd about the list.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number of characters of the longest content.
    pub fn longest(&self) -> usize {
        let lengths = self.tokens.iter().map(|(_, token)| token.content.chars().count());
        lengths.max().unwrap_or(0)
    }

    /// Whether no token is searched in normalized text.
    pub fn none_normalized(&self) -> bool {
        self.normalized.is_none()
    }

    /// Cuts raw text: `emit` gets each part, with the id where the part is a token with `normalized: false`.
    pub fn split_raw(
        &self,
        text: &str,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        self.split(Stage::Raw, text, allowed, emit)
    }

    /// Cuts normalized text at the tokens with `normalized: true`.
    pub fn split_normalized(
        &self,
        text: &str,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        self.split(Stage::Normalized, text, allowed, emit)
    }

    fn finder(&self, stage: Stage) -> Option<&Finder> {
        match stage {
            Stage::Raw => self.raw.as_ref(),
            Stage::Normalized => self.normalized.as_ref(),
        }
    }

    fn split(
        &self,
        stage: Stage,
        text: &str,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        let start = match allowed {
            Allowed::Within(within) if stage == Stage::Raw => within.start,
            _ => 0,
        };
        let Some(finder) = self.finder(stage) else {
            return self.cut(text, start, std::iter::empty(), allowed, emit);
        };
        match allowed {
            Allowed::Only(ids) => {
                let matches = finder.find_only(text, ids, |at| self.may_match(at, ids))?;
                self.cut(text, start, matches.into_iter(), allowed, emit)
            }
            Allowed::Within(within) => {
                self.cut(text, start, self.find_within(stage, text, within), allowed, emit)
            }
            _ => self.cut(text, start, finder.find(text, 0), allowed, emit),
        }
    }

    fn cut(
        &self,
        text: &str,
        start: usize,
        matches: impl Iterator<Item = (Range<usize>, usize)>,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        let mut done = start;
        for (found, at) in matches {
            let (id, token) = &self.tokens[at];
            let passed_over = matches!(allowed, Allowed::Ordinary) && self.is_special(&token.content);
            if passed_over || (token.single_word && !stands_alone(text, &found)) {
                continue;
            }
            let mut span = found;
            if token.lstrip {
                span.start = start_of_trailing_space(&text[..span.start]).max(done);
            }
            if token.rstrip {
                span.end += length_of_leading_space(&text[span.end..]);
            }
            // The token before took the white space that this one consists of: nothing is left to stand for.
            if span.is_empty() {
                continue;
            }
            if done < span.start {
                emit(done..span.start, None)?;
            }
            emit(span.clone(), Some(*id))?;
            done = span.end;
        }
        if done < text.len() {
            emit(done..text.len(), None)?;
        }
        Ok(())
    }

    fn may_match(&self, at: usize, ids: &HashSet<TokenId>) -> bool {
        let (id, token) = &self.tokens[at];
        ids.contains(id) || !self.is_special(&token.content)
    }

    /// The leftmost of `contents` that `text` spells.
    pub fn find_contents(&self, text: &str, contents: Vec<String>) -> Result<Option<String>> {
        Ok(Contents::new(contents)?.first_in(text).map(str::to_owned))
    }

    /// The leftmost special token that `text` spells and that isn't among `allowed`, a sorted list.
    pub fn find_special_but(&self, text: &str, allowed: &[String]) -> Result<Option<String>> {
        let disallowed = || {
            let contents = self.tokens.iter().filter(|(_, token)| token.special);
            let mut contents: Vec<_> = contents.map(|(_, token)| token.content.clone()).collect();
            contents.retain(|content| allowed.binary_search(content).is_err());
            contents.sort_unstable();
            contents
        };
        let contents = self.last_disallowed.get(allowed, disallowed)?;
        Ok(contents.first_in(text).map(str::to_owned))
    }
}

/// As stock: word characters by the Unicode property of `\w`, so digits, `_`, marks and CJK count.
fn stands_alone(text: &str, found: &Range<usize>) -> bool {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\w").expect("a fixed pattern"));
    let is_word = |char: char| WORD.is_match(char.encode_utf8(&mut [0; 4]));
    let before = text[..found.start].chars().next_back();
    let after = text[found.end..].chars().next();
    !before.is_some_and(is_word) && !after.is_some_and(is_word)
}

// `char::is_whitespace` is the property White_Space, which is what stock's `\s` means here.
fn start_of_trailing_space(text: &str) -> usize {
    text.trim_end().len()
}

fn length_of_leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[cfg(test)]
mod tests;
