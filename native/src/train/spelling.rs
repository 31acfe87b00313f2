//! How a word is spelled in first symbols: as bytes or characters, with affixes that say where in the word they are.

use crate::byte_alphabet::char_of;

/// What a word is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Its bytes, each written as the stand-in of the byte alphabet.
    Bytes,
    /// Its characters.
    Characters,
}

impl Unit {
    /// How many bytes of text `pretoken` stands for.
    ///
    /// Of characters, `▁` has one byte: that of the space it stands for.
    pub fn text_len(self, pretoken: &[u8]) -> u64 {
        let stand_ins = match self {
            Self::Bytes => 0,
            Self::Characters => memchr::memmem::find_iter(pretoken, "▁").count(),
        };
        (pretoken.len() - 2 * stand_ins) as u64
    }

    /// How many symbols `pretoken` is cut into, were all of them known.
    pub fn symbols(self, pretoken: &[u8]) -> u64 {
        match self {
            Self::Bytes => pretoken.len() as u64,
            Self::Characters => std::str::from_utf8(pretoken).unwrap_or_default().chars().count() as u64,
        }
    }
}

/// The unit and the affixes. An empty affix is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    unit: Unit,
    prefix: String,
    suffix: String,
}

/// Added to a form: the symbol begins with the prefix.
const WITH_PREFIX: usize = 1;
/// Added to a form: the symbol ends with the suffix.
const WITH_SUFFIX: usize = 2;

impl Spelling {
    /// A spelling with `prefix` before every symbol but the first of a word, and `suffix` after the last.
    pub fn new(unit: Unit, prefix: &str, suffix: &str) -> Self {
        Self {
            unit,
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        }
    }

    /// What words are cut into.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// `token` without the affixes that it carries.
    pub fn without_affixes<'t>(&self, token: &'t str) -> &'t str {
        let token = token.strip_prefix(self.prefix.as_str()).unwrap_or(token);
        token.strip_suffix(self.suffix.as_str()).unwrap_or(token)
    }

    /// What is written before every symbol but the first of a word.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What is written after the last symbol of a word.
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// In how many forms a character may appear; forms are numbered from 0.
    pub fn forms(&self) -> usize {
        1 + self.largest(true, true)
    }

    fn largest(&self, prefix: bool, suffix: bool) -> usize {
        let prefix = if prefix && !self.prefix.is_empty() {
            WITH_PREFIX
        } else {
            0
        };
        let suffix = if suffix && !self.suffix.is_empty() {
            WITH_SUFFIX
        } else {
            0
        };
        prefix + suffix
    }

    /// The symbol that `char` is in a form.
    pub fn symbol(&self, char: char, form: usize) -> String {
        let prefix = if form & WITH_PREFIX == 0 { "" } else { &self.prefix };
        let suffix = if form & WITH_SUFFIX == 0 { "" } else { &self.suffix };
        format!("{prefix}{char}{suffix}")
    }

    /// Whether `word` can be cut into the unit.
    pub fn can_spell(&self, word: &[u8]) -> bool {
        self.unit == Unit::Bytes || std::str::from_utf8(word).is_ok()
    }

    /// Calls `visit` with each character of `word` and its form. A word that can't be spelled has none.
    #[inline]
    pub fn for_each(&self, word: &[u8], mut visit: impl FnMut(char, usize)) {
        let [inner, last] = [self.largest(true, false), self.largest(false, true)];
        let form = |start: usize, end: usize| {
            let prefixed = if start == 0 { 0 } else { inner };
            prefixed + if end == word.len() { last } else { 0 }
        };
        match self.unit {
            Unit::Bytes => {
                for (at, &byte) in word.iter().enumerate() {
                    visit(char_of(byte), form(at, at + 1));
                }
            }
            Unit::Characters => {
                for (at, char) in std::str::from_utf8(word).unwrap_or_default().char_indices() {
                    visit(char, form(at, at + char.len_utf8()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(spelling: &Spelling, word: &str) -> Vec<String> {
        let mut symbols = Vec::new();
        spelling.for_each(word.as_bytes(), |char, form| {
            symbols.push(spelling.symbol(char, form))
        });
        symbols
    }

    #[test]
    fn affixes_say_where_in_a_word_a_symbol_is() {
        let both = Spelling::new(Unit::Characters, "##", "</w>");

        assert_eq!(spelled(&both, "é好a"), ["é", "##好", "##a</w>"]);
        assert_eq!(spelled(&both, "é"), ["é</w>"]);
        assert_eq!(spelled(&both, ""), [""; 0]);
        assert_eq!(
            spelled(&Spelling::new(Unit::Bytes, "", "_"), "é a"),
            ["Ã", "©", "Ġ", "a_"]
        );
        assert_eq!(spelled(&Spelling::new(Unit::Bytes, "#", ""), "ab"), ["a", "#b"]);
    }

    #[test]
    fn forms_are_as_many_as_affixes_can_make() {
        let forms = |prefix, suffix| Spelling::new(Unit::Characters, prefix, suffix).forms();

        assert_eq!(
            [forms("", ""), forms("#", ""), forms("", "_"), forms("#", "_")],
            [1, 2, 3, 4]
        );
    }
}
