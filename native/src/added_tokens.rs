//! `added_tokens`: found in the text before anything is split, the longest of the leftmost ones.
//!
//! Tokens with `normalized: false` are found in the raw text, the others in the normalized segments between them.
//! All contents of one kind share one automaton, so 50,000 tokens cost a call no more than one does.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use hashbrown::{HashMap, HashSet};
use regex::Regex;

use crate::config::Node;
use crate::normalizer::Normalizer;
use crate::vocab::TokenId;
use crate::{Error, Result};

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

    fn from_node(node: &Node) -> Result<(TokenId, Self)> {
        let flag = |name| node.field(name)?.bool();
        let token = Self {
            content: node.field("content")?.str()?.to_owned(),
            special: flag("special")?,
            normalized: flag("normalized")?,
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
        };
        Ok((node.field("id")?.u32()?, token))
    }
}

/// Which added tokens a text may spell.
#[derive(Debug, Clone, Copy)]
pub enum Allowed<'a> {
    /// Every one.
    All,
    /// Those that aren't special; a match of a special one is passed over, as stock's `encode_special_tokens`.
    Ordinary,
    /// Those that aren't special, and these.
    Only(&'a HashSet<TokenId>),
}

/// The added tokens of a vocabulary.
#[derive(Clone, Default)]
pub struct AddedTokens {
    tokens: Vec<(TokenId, AddedToken)>,
    by_content: HashMap<String, TokenId>,
    by_id: HashMap<TokenId, usize>,
    special_contents: HashSet<String>,
    raw: Option<Finder>,
    normalized: Option<Finder>,
    // What a normalized token looks like in normalized text, where that isn't its content.
    forms: HashMap<TokenId, String>,
    warnings: Vec<String>,
}

impl AddedTokens {
    /// Reads `added_tokens` of a `tokenizer.json`; `id_in_vocab` answers for the model.
    pub fn from_nodes(nodes: &[Node], id_in_vocab: impl Fn(&str) -> Option<TokenId>) -> Result<Self> {
        let mut added = Self::default();
        for node in nodes {
            let (given, token) = AddedToken::from_node(node)?;
            if token.content.is_empty() {
                continue;
            }
            // A text that the model knows keeps the model's id, as in stock.
            let known = added.by_content.get(&token.content).copied();
            let id = known.or_else(|| id_in_vocab(&token.content)).unwrap_or(given);
            if id != given {
                added.warnings.push(format!(
                    "added token '{}' is listed with id {given}, but the vocabulary has it at {id}: {id} is used",
                    token.content.escape_debug()
                ));
            }
            added.insert(id, token);
        }
        Ok(added)
    }

    /// Adds or replaces a token.
    pub fn insert(&mut self, id: TokenId, token: AddedToken) {
        self.by_content.insert(token.content.clone(), id);
        if token.special {
            // As stock: what was special once is skipped in decoding, whatever later entries say.
            self.special_contents.insert(token.content.clone());
        }
        // Two names of one id are both found in texts: stock forgets the first.
        let same = |at: &usize| self.tokens[*at].1.content == token.content;
        let known = self.by_id.get(&id).copied().filter(same);
        match known.or_else(|| {
            self.by_id
                .get(&id)
                .and_then(|_| (0..self.tokens.len()).find(same))
        }) {
            Some(at) => self.tokens[at] = (id, token),
            None => {
                self.by_id.insert(id, self.tokens.len());
                self.tokens.push((id, token));
            }
        }
    }

    /// Builds the automata; call once after the last insertion.
    pub fn finish(&mut self, normalizer: Option<&Normalizer>) -> Result<()> {
        self.tokens.sort_by_key(|(id, _)| *id);
        self.by_id = self
            .tokens
            .iter()
            .enumerate()
            .map(|(at, (id, _))| (*id, at))
            .collect();
        let mut raw = Vec::new();
        let mut normalized = Vec::new();
        self.forms.clear();
        for (at, (id, token)) in self.tokens.iter().enumerate() {
            if !token.normalized {
                raw.push((token.content.clone(), at));
                continue;
            }
            let form = normalizer.map_or(token.content.clone(), |n| {
                n.normalize(&token.content).into_owned()
            });
            if form != token.content {
                self.forms.insert(*id, form.clone());
            }
            if form.is_empty() {
                self.warnings.push(format!(
                    "added token '{}' normalizes to nothing, so no text can spell it",
                    token.content.escape_debug()
                ));
            } else {
                normalized.push((form, at));
            }
        }
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

    /// The token with this id.
    pub fn get(&self, id: TokenId) -> Option<&AddedToken> {
        self.by_id.get(&id).map(|&at| &self.tokens[at].1)
    }

    /// The text of a token as stock spells it: in its normalized form, if it is one that is searched there.
    pub fn spelling(&self, id: TokenId) -> Option<&str> {
        let token = self.get(id)?;
        Some(self.forms.get(&id).unwrap_or(&token.content))
    }

    /// The id of the token with this text.
    pub fn id(&self, content: &str) -> Option<TokenId> {
        self.by_content.get(content).copied()
    }

    /// Whether a token of this text is special.
    pub fn is_special(&self, content: &str) -> bool {
        self.special_contents.contains(content)
    }

    /// What was odd about the list.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
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
        self.split(self.raw.as_ref(), text, allowed, emit)
    }

    /// Cuts normalized text at the tokens with `normalized: true`.
    pub fn split_normalized(
        &self,
        text: &str,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        self.split(self.normalized.as_ref(), text, allowed, emit)
    }

    fn split(
        &self,
        finder: Option<&Finder>,
        text: &str,
        allowed: Allowed,
        emit: &mut dyn FnMut(Range<usize>, Option<TokenId>) -> Result<()>,
    ) -> Result<()> {
        let subset;
        let finder = match (finder, allowed) {
            (Some(finder), Allowed::Only(ids)) => {
                subset = finder.only(|at| self.may_match(at, ids))?;
                subset.as_ref()
            }
            (finder, _) => finder,
        };
        let mut done = 0;
        for (found, at) in finder.into_iter().flat_map(|finder| finder.find(text)) {
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

    /// The leftmost special token among `contents` that `text` spells.
    pub fn find_special<'a>(&self, text: &str, contents: &'a [String]) -> Result<Option<&'a str>> {
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(contents)
            .map_err(too_large)?;
        Ok(finder
            .find(text)
            .map(|found| contents[found.pattern().as_usize()].as_str()))
    }
}

/// An automaton over the forms of some tokens, and where each token stands in the list.
#[derive(Clone)]
struct Finder {
    automaton: AhoCorasick,
    forms: Vec<String>,
    tokens: Vec<usize>,
}

impl Finder {
    fn new(forms: Vec<(String, usize)>) -> Result<Option<Self>> {
        // Two tokens with one form: the lower id wins, and tokens come in order of id.
        let mut seen = HashSet::new();
        let (forms, tokens): (Vec<_>, Vec<_>) = forms
            .into_iter()
            .filter(|(form, _)| seen.insert(form.clone()))
            .unzip();
        if forms.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A full automaton is the fastest for the usual few hundred; it would take minutes for 50,000.
            .kind((forms.len() > 1000).then_some(AhoCorasickKind::ContiguousNFA))
            .build(&forms)
            .map_err(too_large)?;
        Ok(Some(Self {
            automaton,
            forms,
            tokens,
        }))
    }

    /// The matches from left to right, each with the place of its token in the list.
    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
        let matches = self.automaton.find_iter(text);
        matches.map(|found| (found.range(), self.tokens[found.pattern().as_usize()]))
    }

    /// A finder for the tokens that `may` be found; the others are as good as absent, and hide no shorter match.
    fn only(&self, may: impl Fn(usize) -> bool) -> Result<Option<Self>> {
        let forms = self.forms.iter().cloned().zip(self.tokens.iter().copied());
        Self::new(forms.filter(|(_, at)| may(*at)).collect())
    }
}

fn too_large(error: aho_corasick::BuildError) -> Error {
    Error::TokenizerFile(format!("tokenizer.json: added_tokens can't be indexed: {error}"))
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
mod tests {
    use super::*;

    fn tokens(list: &[(&str, bool)]) -> AddedTokens {
        let mut added = AddedTokens::default();
        for (id, (content, special)) in list.iter().enumerate() {
            let token = AddedToken {
                content: (*content).to_owned(),
                special: *special,
                normalized: false,
                single_word: false,
                lstrip: false,
                rstrip: false,
            };
            added.insert(id as TokenId, token);
        }
        added.finish(None).unwrap();
        added
    }

    fn split(added: &AddedTokens, text: &str, allowed: Allowed) -> Vec<(String, Option<TokenId>)> {
        let mut parts = Vec::new();
        added
            .split_raw(text, allowed, &mut |range, id| {
                parts.push((text[range].to_owned(), id));
                Ok(())
            })
            .unwrap();
        parts
    }

    #[test]
    fn the_longest_of_the_leftmost_wins() {
        let added = tokens(&[("<a", false), ("<a>", false), ("a>b", false)]);

        let parts = split(&added, "x<a>b<a", Allowed::All);

        let expected = [("x", None), ("<a>", Some(1)), ("b", None), ("<a", Some(0))];
        assert_eq!(parts, expected.map(|(text, id)| (text.to_owned(), id)));
    }

    #[test]
    fn white_space_that_another_token_took_is_no_token() {
        let mut added = tokens(&[("a", false), (" ", false), ("  ", false)]);
        added.tokens[0].1.rstrip = true;
        added.tokens[1].1.lstrip = true;
        added.tokens[2].1.lstrip = true;

        let expected = |whole: &str| vec![(whole.to_owned(), Some(0)), ("b".to_owned(), None)];
        for whole in ["a ", "a  ", "a   "] {
            assert_eq!(split(&added, &format!("{whole}b"), Allowed::All), expected(whole));
        }
    }

    #[test]
    fn a_special_token_that_is_not_allowed_hides_nothing() {
        let added = tokens(&[("<s>", true), ("s>", false), ("<t>", true)]);
        let only = HashSet::from([2]);

        let parts = split(&added, "<s><t>", Allowed::Only(&only));

        let expected = [("<", None), ("s>", Some(1)), ("<t>", Some(2))];
        assert_eq!(parts, expected.map(|(text, id)| (text.to_owned(), id)));
    }
}
