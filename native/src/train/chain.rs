//! Chains of merges that lead to a word chosen by a person: which merges, and what stands in the way.
//!
//! Guarantee: with the merges of a chain at their place in the list, the model makes one token of the word. Put behind
//! all old merges, a chain only joins what they leave; put before one of them, it goes first there, and tokens that this
//! one makes may come out otherwise.

use hashbrown::{HashMap, HashSet};

use crate::Result;
use crate::bpe::{Part, Symbols};
use crate::byte_alphabet;
use crate::merges::Rank;
use crate::pre_tokenizer::Scratch;
use crate::tokenizer::Tokenizer;
use crate::vocab::TokenId;

/// What there is to be done for a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: it is a token already.
    Known(TokenId),
    /// Tokens to make, in order: as the vocabulary spells them, their ids, and the halves of their merges. A character
    /// has no halves. A token that exists has its old id.
    Chain(Vec<Link>),
    /// It is a token that the merges don't lead to: they join other parts of it first, and leave these.
    Dead(TokenId, Vec<TokenId>),
    /// The vocabulary has no symbol for a part of it.
    Unspellable,
    /// Each two neighbours of these, joined, would be a token that exists.
    Taken(Vec<TokenId>),
}

/// A token of a chain: its text, its id, and the halves of its merge.
pub type Link = (String, TokenId, Option<(TokenId, TokenId)>);

/// A merge that joins the inside of a word with the outside, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossing {
    /// Its place in the list.
    pub rank: Rank,
    /// Its halves.
    pub halves: (TokenId, TokenId),
}

/// Plans chains, word after word; each knows the tokens of those before it.
pub struct Chains<'a> {
    tokenizer: &'a Tokenizer,
    /// The chains go before the merge of this rank.
    at: Rank,
    next_id: TokenId,
    merges: HashMap<(TokenId, TokenId), (u32, TokenId)>,
    ids: HashMap<String, TokenId>,
    texts: HashMap<TokenId, String>,
    walls: HashSet<TokenId>,
    new_characters: bool,
    scratch: Scratch,
    symbols: Symbols,
}

/// What a token on the way to a word is, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nature {
    /// The word.
    Word,
    /// A text that the pipeline leaves whole.
    Text,
    /// Part of one character.
    Part,
    /// Parts of several, or a text that never stands alone.
    Odd,
    /// A token that exists.
    Old,
}

/// Whether bytes, as the byte alphabet writes them, are part of one character.
fn is_inside_a_character(token: &str) -> bool {
    let bytes = byte_alphabet::token_to_bytes(token).unwrap_or_default();
    bytes.iter().skip(1).all(|byte| byte & 0xC0 == 0x80)
}

/// When a pair merges: old merges by rank; new ones before the one of their place, in order.
type Turn = (Rank, bool, u32);

impl<'a> Chains<'a> {
    /// Chains before the merge of rank `at`, or behind all; new ids begin at `next_id`.
    pub fn new(tokenizer: &'a Tokenizer, at: Option<Rank>, next_id: TokenId) -> Self {
        let specials = tokenizer.added_tokens().iter();
        let specials = specials.filter_map(|(id, token)| token.special.then_some(id));
        Self {
            tokenizer,
            at: at.unwrap_or(Rank::MAX),
            next_id,
            merges: HashMap::new(),
            ids: HashMap::new(),
            texts: HashMap::new(),
            walls: specials.chain(tokenizer.bpe().unk()).collect(),
            new_characters: tokenizer.bpe().takes_new_characters(),
            scratch: Scratch::default(),
            symbols: Symbols::default(),
        }
    }

    /// What is to be done for `word`, as the model sees it; `token` is how the vocabulary spells it.
    ///
    /// # Errors
    /// As in encoding.
    pub fn plan(&mut self, word: &str, token: &str) -> Result<Plan> {
        let mut parts = Vec::new();
        let bpe = self.tokenizer.bpe().without_dropout();
        self.tokenizer
            .parts_of_word(&bpe, word, &mut self.symbols, &mut parts)?;
        let id = self.tokenizer.bpe().vocab.id(token);
        if let (Some(id), [(only, _)]) = (id, parts.as_slice())
            && id == *only
        {
            return Ok(Plan::Known(id));
        }
        let Some((first, mut links)) = self.first_symbols(word)? else {
            return Ok(Plan::Unspellable);
        };
        if let Some(id) = id.filter(|_| self.at == Rank::MAX) {
            return Ok(Plan::Dead(id, parts.into_iter().map(|(id, _)| id).collect()));
        }
        loop {
            let state = self.run(first.clone(), |_, _, _| {});
            if state.len() < 2 {
                break;
            }
            let Some((halves, text)) = self.choose(&state, token)? else {
                return Ok(Plan::Taken(state));
            };
            links.push(self.link(text, Some(halves)));
        }
        Ok(Plan::Chain(links))
    }

    /// The first merge that joins the part of `word` between `start` and `end` with what is around it.
    ///
    /// # Errors
    /// As in encoding.
    pub fn crossing(&mut self, word: &str, start: usize, end: usize) -> Result<Option<Crossing>> {
        let mut parts: Vec<Part> = Vec::new();
        self.tokenizer.unmerged(word, &mut self.symbols, &mut parts)?;
        let mut ends = Vec::with_capacity(parts.len());
        let mut at = 0;
        for &(_, length) in &parts {
            at += length;
            ends.push(at);
        }
        let mut crossing: Option<Crossing> = None;
        self.run(parts.iter().map(|&(id, _)| id).collect(), |at, halves, rank| {
            let joint = ends[at];
            ends.remove(at);
            if (joint == start || joint == end)
                && let Some(rank) = rank
                && crossing.as_ref().is_none_or(|known| rank < known.rank)
            {
                crossing = Some(Crossing { rank, halves });
            }
        });
        Ok(crossing)
    }

    /// What `word` begins as, and the tokens of characters that have to be made for it.
    fn first_symbols(&mut self, word: &str) -> Result<Option<(Vec<TokenId>, Vec<Link>)>> {
        let mut parts = Vec::new();
        self.tokenizer.unmerged(word, &mut self.symbols, &mut parts)?;
        if parts.is_empty() || parts.iter().map(|&(_, length)| length).sum::<usize>() != word.len() {
            return Ok(None);
        }
        let bytes: HashSet<TokenId> = self.tokenizer.bpe().byte_tokens().collect();
        let (mut ids, mut links, mut at) = (Vec::new(), Vec::new(), 0);
        let mut rest = parts.as_slice();
        while let Some((&(id, length), behind)) = rest.split_first() {
            if self.walls.contains(&id) {
                return Ok(None);
            }
            let char = word.get(at..).and_then(|text| text.chars().next());
            if bytes.contains(&id)
                && let Some(char) = char.filter(|&char| self.tokenizer.bpe().character(char).is_none())
            {
                if char.len_utf8() == 1 || !self.new_characters {
                    // A token in place of its byte would change every text that has it, and save nothing.
                    return Ok(None);
                }
                let text = char.to_string();
                let id = match self.ids.get(&text) {
                    Some(&id) => id,
                    None => {
                        links.push(self.link(text, None));
                        self.next_id - 1
                    }
                };
                ids.push(id);
                at += char.len_utf8();
                rest = &rest[char.len_utf8().min(rest.len())..];
                continue;
            }
            ids.push(id);
            at += length;
            rest = behind;
        }
        Ok(Some((ids, links)))
    }

    /// The pair to join next: of those whose text no token has the most natural, of equals the first. Before old merges
    /// the text of an old token will do, too; that of the word itself always does.
    fn choose(&mut self, state: &[TokenId], token: &str) -> Result<Option<((TokenId, TokenId), String)>> {
        let mut best: Option<(Nature, (TokenId, TokenId), String)> = None;
        for pair in state.windows(2) {
            let halves = (pair[0], pair[1]);
            let Some(text) = self.joined(halves) else {
                continue;
            };
            let nature = self.nature(&text, token)?;
            if let Some(nature) = nature
                && best.as_ref().is_none_or(|(other, ..)| nature < *other)
            {
                best = Some((nature, halves, text));
            }
        }
        Ok(best.map(|(_, halves, text)| (halves, text)))
    }

    /// How well `text` does as a token on the way to `token`; none where it may not be one.
    fn nature(&mut self, text: &str, token: &str) -> Result<Option<Nature>> {
        // Under affixes two ways to join may spell one text; a token that is there has its merge.
        if self.tokenizer.is_symbol(text) || self.ids.contains_key(text) {
            return Ok(None);
        }
        if text == token {
            return Ok(Some(Nature::Word));
        }
        let old = self.tokenizer.token_to_id(text);
        if old.is_some_and(|id| self.walls.contains(&id)) {
            return Ok(None);
        }
        Ok(match self.tokenizer.word_of_token(text) {
            _ if old.is_some() => (self.at < Rank::MAX).then_some(Nature::Old),
            Some(_) if self.tokenizer.stands_alone(text, &mut self.scratch)? => Some(Nature::Text),
            None if is_inside_a_character(text) => Some(Nature::Part),
            _ => Some(Nature::Odd),
        })
    }

    fn joined(&self, (left, right): (TokenId, TokenId)) -> Option<String> {
        let settings = &self.tokenizer.bpe().settings;
        let prefix = settings.continuing_subword_prefix.as_deref().unwrap_or_default();
        Some([self.spelled(left)?, self.spelled(right)?.strip_prefix(prefix)?].concat())
    }

    fn spelled(&self, id: TokenId) -> Option<&str> {
        let new = self.texts.get(&id).map(String::as_str);
        new.or_else(|| self.tokenizer.bpe().vocab.token(id))
    }

    /// Notes a token, and its merge where it has one.
    fn link(&mut self, text: String, halves: Option<(TokenId, TokenId)>) -> Link {
        let id = match self.tokenizer.bpe().vocab.id(&text) {
            Some(id) => id,
            None => {
                let id = self.next_id;
                self.next_id += 1;
                self.ids.insert(text.clone(), id);
                self.texts.insert(id, text.clone());
                id
            }
        };
        if let Some(halves) = halves {
            let place = self.merges.len() as u32;
            self.merges.insert(halves, (place, id));
        }
        (text, id, halves)
    }

    /// When a pair merges, what it becomes, and the rank of an old merge.
    fn turn(&self, pair: (TokenId, TokenId)) -> Option<(Turn, TokenId)> {
        if let Some(&(place, id)) = self.merges.get(&pair) {
            return Some(((self.at, false, place), id));
        }
        let old = self.tokenizer.bpe().merges.get(pair.0, pair.1)?;
        (old.rank < self.at).then_some(((old.rank, true, 0), old.id))
    }

    /// Merges `symbols` by the old merges before the chains' place, and the chains. Calls `step` with the place of each
    /// joint among those left, the pair, and the rank if the merge is old.
    fn run(
        &self,
        mut symbols: Vec<TokenId>,
        mut step: impl FnMut(usize, (TokenId, TokenId), Option<Rank>),
    ) -> Vec<TokenId> {
        loop {
            let pairs = symbols.windows(2).enumerate();
            let turns = pairs.filter_map(|(at, pair)| Some((self.turn((pair[0], pair[1]))?, at)));
            let Some((((rank, old, _), id), at)) = turns.min_by_key(|&((turn, _), at)| (turn, at)) else {
                return symbols;
            };
            step(at, (symbols[at], symbols[at + 1]), old.then_some(rank));
            symbols[at] = id;
            symbols.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests;
