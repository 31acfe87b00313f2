//! The tokens of single characters, and those that spell a byte such as `<0x0A>`: where merging begins.

use rustc_hash::FxHashMap;

use crate::vocab::{TokenId, Vocab};

/// Which token a character is, and which one a byte.
#[derive(Clone)]
pub struct Characters {
    ascii: Box<[Option<TokenId>; 128]>,
    others: FxHashMap<char, TokenId>,
    bytes: Box<[Option<TokenId>; 256]>,
}

impl Characters {
    /// Looks them up in `vocab`.
    pub fn new(vocab: &Vocab) -> Self {
        let byte = |byte: usize| vocab.id(&format!("<0x{byte:02X}>"));
        let mut ascii = Box::new([None; 128]);
        let mut others = FxHashMap::default();
        for (token, id) in vocab.iter().filter(|(token, _)| token.len() <= 4) {
            let mut chars = token.chars();
            if let (Some(char), None) = (chars.next(), chars.next()) {
                match ascii.get_mut(char as usize) {
                    Some(place) => *place = Some(id),
                    None => _ = others.insert(char, id),
                }
            }
        }
        Self {
            ascii,
            others,
            bytes: Box::new(std::array::from_fn(byte)),
        }
    }

    /// The token that is `char` alone.
    #[inline]
    pub fn id(&self, char: char) -> Option<TokenId> {
        match self.ascii.get(char as usize) {
            Some(id) => *id,
            None => self.others.get(&char).copied(),
        }
    }

    /// The tokens that spell the bytes of `text`, if the vocabulary has every one of them.
    pub fn bytes_of(&self, text: &str) -> Option<impl Iterator<Item = TokenId>> {
        let ids = || text.bytes().map(|byte| self.bytes[byte as usize]);
        ids().all(|id| id.is_some()).then(|| ids().flatten())
    }

    /// Whether each byte can be spelled.
    pub fn has_all_bytes(&self) -> bool {
        self.bytes.iter().all(Option::is_some)
    }

    /// The tokens that spell one byte.
    pub fn byte_tokens(&self) -> impl Iterator<Item = TokenId> {
        self.bytes.iter().flatten().copied()
    }

    /// Every token that a text may begin with before anything merges, but `char`.
    pub fn all_but(&self, char: char) -> impl Iterator<Item = TokenId> {
        let ascii = (0_u8..128)
            .map(char::from)
            .filter_map(|key| Some((key, self.id(key)?)));
        let others = self.others.iter().map(|(&key, &id)| (key, id));
        let chars = ascii.chain(others).filter(move |&(key, _)| key != char);
        let bytes = self.bytes.iter().flatten().copied();
        chars.map(|(_, id)| id).chain(bytes)
    }
}
