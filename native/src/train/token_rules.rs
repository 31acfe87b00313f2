//! What a learned token may hold, whatever its count.
//!
//! Guarantee: no merge makes a token that breaks a rule, so no text ever has one among its tokens: the rules need no part
//! of the pipeline, and hold in every library that loads the vocabulary. Pairs are counted as without rules, since
//! that is how texts will be merged; a pair that would break one is passed over.

use crate::byte_alphabet::token_to_bytes;
use crate::pre_tokenizer::{is_number, own_script};
use crate::train::{Spelling, Unit};

/// Rules for learned tokens; by default there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenRules {
    /// A token is of one script besides what scripts share, and is made of whole characters or is a part of one.
    pub within_scripts: bool,
    /// How many digits a token holds at most. One character alone may always be a token.
    pub max_digits: Option<usize>,
}

impl TokenRules {
    /// Whether `token`, as the vocabulary writes it, may be learned.
    pub fn allow(&self, token: &str, spelling: &Spelling) -> bool {
        if *self == Self::default() {
            return true;
        }
        let bytes = match spelling.unit() {
            Unit::Bytes => token_to_bytes(token).unwrap_or_default(),
            Unit::Characters => spelling.without_affixes(token).as_bytes().to_vec(),
        };
        (!self.within_scripts || is_within_a_script(&bytes))
            && self.max_digits.is_none_or(|most| digits(&bytes) <= most)
    }
}

/// Whether `bytes` are characters of one script besides shared ones, or a part of one character.
fn is_within_a_script(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let inside = |byte: &u8| byte & 0xC0 == 0x80;
        let whole = bytes.utf8_chunks().any(|chunk| !chunk.valid().is_empty());
        return !whole && bytes.iter().skip(1).all(inside);
    };
    let mut scripts = text.chars().filter_map(own_script);
    let first = scripts.next();
    scripts.all(|script| Some(script) == first)
}

/// How many digits `bytes` hold, but for a character alone.
fn digits(bytes: &[u8]) -> usize {
    if std::str::from_utf8(bytes).is_ok_and(|text| text.chars().nth(1).is_none()) {
        return 0;
    }
    let whole = bytes.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    whole.filter(|&char| is_number(char)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_alphabet::bytes_to_token;

    fn allows(rules: TokenRules, bytes: &[u8]) -> bool {
        rules.allow(&bytes_to_token(bytes), &Spelling::new(Unit::Bytes, "", ""))
    }

    #[test]
    fn scripts_stay_apart_and_shared_characters_go_with_any() {
        let rules = TokenRules {
            within_scripts: true,
            ..TokenRules::default()
        };

        for allowed in [" the", " слово", "食べる", "1st", "e\u{301}", "，的", "한국"] {
            assert!(allows(rules, allowed.as_bytes()), "{allowed}");
        }
        for refused in ["a的", "аb", "한a", " αa"] {
            assert!(!allows(rules, refused.as_bytes()), "{refused}");
        }
    }

    #[test]
    fn a_part_of_a_character_is_joined_to_nothing_else() {
        let rules = TokenRules {
            within_scripts: true,
            ..TokenRules::default()
        };

        assert!(allows(rules, b"\xE7\x9A"));
        assert!(allows(rules, b"\x9A\x84"));
        assert!(!allows(rules, b" \xE7"));
        assert!(!allows(rules, b"\x84\xE7"));
        assert!(!allows(rules, b"\xE7\x9A\x84\xE7"));
    }

    #[test]
    fn digits_are_counted_but_for_a_character_alone() {
        let most = |digits| TokenRules {
            max_digits: Some(digits),
            ..TokenRules::default()
        };

        assert!(allows(most(2), b"12"));
        assert!(allows(most(2), "1\u{663}".as_bytes()));
        assert!(!allows(most(2), b"1a23"));
        assert!(!allows(most(0), b" 1"));
        assert!(allows(most(0), "\u{663}".as_bytes()));
        assert!(allows(most(0), b"ab"));
    }

    #[test]
    fn affixes_are_of_no_script() {
        let spelling = Spelling::new(Unit::Characters, "##", "</w>");
        let rules = TokenRules {
            within_scripts: true,
            max_digits: Some(0),
        };

        assert!(rules.allow("##ов</w>", &spelling));
        assert!(!rules.allow("##ow1</w>", &spelling));
        assert!(!rules.allow("ow的", &spelling));
    }
}
