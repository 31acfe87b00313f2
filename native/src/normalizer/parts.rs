//! Where a text may be cut so that its parts, normalized alone, make up its normal form.
//!
//! Guarantee: such a place is before a character of [`LETTERS`] or [`SIGNS`], and all steps go by characters or are normal forms. Proof:
//! these characters are starters that are in every form as they are or decompose into a starter, and none composes with
//! what is before it. No step drops one, and what a step makes of one (lower case, an ideograph with spaces around) begins
//! with such a character again. The other steps look at one character at a time.

use std::ops::RangeInclusive;

use super::Normalizer;
use super::rule::Rule;
use super::step::Step;

/// Letters since Unicode 4 or earlier, of several scripts, with combining class 0.
pub(crate) const LETTERS: &[RangeInclusive<char>] = &[
    'A'..='Z',
    'a'..='z',
    'À'..='Ö',
    'α'..='ρ',
    'А'..='я',
    'א'..='ת',
    'ء'..='غ',
    'अ'..='न',
    'ก'..='ะ',
    'ぁ'..='ゔ',
    'ァ'..='ヺ',
    '一'..='龥',
    '가'..='힣',
];

/// What else begins a part.
const SIGNS: &[RangeInclusive<char>] = &['\n'..='\n', ' '..='~', '、'..='】', '🌀'..='🗿', '😀'..='🙏'];

impl Normalizer {
    /// Whether [`Self::part_of`] finds places.
    pub fn works_in_parts(&self) -> bool {
        let by_characters = |step: &Step| match step {
            Step::Rule(rule) => !matches!(rule, Rule::Strip(_) | Rule::Precompiled(_) | Rule::ByteLevel),
            Step::Prepend(_) | Step::Replace(_) => false,
        };
        self.steps.iter().all(by_characters)
    }

    /// The last place at `from` or later at which `text` may be cut, where there is one.
    pub fn part_of(text: &str, from: usize) -> Option<usize> {
        let begins = |char: char| LETTERS.iter().chain(SIGNS).any(|range| range.contains(&char));
        let place = text.get(from..)?.rfind(begins)? + from;
        (place > 0).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::Node;

    fn normalizer(config: &Value) -> Normalizer {
        Normalizer::from_node(&Node::new("normalizer", config)).expect("it is read")
    }

    fn kinds() -> Vec<Value> {
        let bert = |accents: Value| {
            json!({
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": accents, "lowercase": true,
            })
        };
        let plain = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"];
        let plain: Vec<_> = plain.map(|kind| json!({"type": kind})).to_vec();
        let all = json!({"type": "Sequence", "normalizers": plain.clone()});
        let back = plain.iter().rev().cloned().collect::<Vec<_>>();
        let back = json!({"type": "Sequence", "normalizers": back});
        [plain, vec![bert(json!(null)), bert(json!(false)), all, back]].concat()
    }

    /// Before each character that begins a part, each character that might do something to it or that it might do
    /// something to; and behind it, what composes with it.
    #[test]
    fn parts_make_up_the_normal_form() {
        let before: Vec<char> = ('\0'..=char::MAX)
            .filter(|&char| u32::from(char) < 0x3500 || u32::from(char).is_multiple_of(0x97))
            .collect();
        let begins: Vec<char> = LETTERS.iter().chain(SIGNS).cloned().flatten().collect();
        for config in kinds() {
            let normalizer = normalizer(&config);
            assert!(normalizer.works_in_parts(), "{config}");
            let normal = |text: &str| normalizer.normalize(text).expect("no pattern").into_owned();
            for (index, &begin) in begins.iter().enumerate() {
                let a: String = (0..24)
                    .map(|at| before[(index * 31 + at * 977) % before.len()])
                    .collect();
                let b = format!("{begin}\u{301}\u{327}\u{3099}{begin}\u{1161}\u{11a8}");
                let [whole, parts] = [normal(&format!("{a}{b}")), normal(&a) + &normal(&b)];
                assert_eq!(whole, parts, "{a:?} {b:?}: {config}");
            }
            for &char in &before {
                let begin = begins[u32::from(char) as usize % begins.len()];
                let [whole, parts] = [
                    normal(&format!("a{char}{begin}")),
                    normal(&format!("a{char}")) + &normal(&begin.to_string()),
                ];
                assert_eq!(whole, parts, "{char:?} {begin:?}: {config}");
            }
        }
    }

    #[test]
    fn the_last_place_is_found() {
        assert_eq!(Normalizer::part_of("abc\u{301}", 0), Some(2));
        assert_eq!(Normalizer::part_of("語語\u{301}", 3), Some(3));
        assert_eq!(Normalizer::part_of("a\u{301}\u{301}", 0), None);
        assert_eq!(Normalizer::part_of("ab\u{301}\u{301}", 2), None);
        assert_eq!(Normalizer::part_of("", 0), None);
    }

    #[test]
    fn what_looks_at_a_whole_text_does_not_work_in_parts() {
        for config in [
            json!({"type": "Strip", "strip_left": true, "strip_right": false}),
            json!({"type": "Prepend", "prepend": "▁"}),
            json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
            json!({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "▁"}]}),
        ] {
            assert!(!normalizer(&config).works_in_parts(), "{config}");
        }
    }
}
