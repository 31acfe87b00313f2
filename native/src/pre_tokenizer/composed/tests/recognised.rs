//! Which patterns are composed of known parts.

use super::{check, engine, found, recognise};
use crate::pre_tokenizer::published_patterns;

/// What people use, or would: other numbers, other letters, no contractions, other families, parts of a `Sequence`.
const RECOGNISED: &[&str] = &[
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    r"(?:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}|\p{M})+|\d{1,3}(?=\D|$)|\d|[^\w\s]+|_|\s+$|\s+(?!\S)|\s",
    "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*\
     [\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}|\\s+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?\
     [\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    " ?[^(\\s|[.,!?…。，、।۔،])]+",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"\p{N}{1,3}",
    "[0-9][0-9][0-9]",
    r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+?|\S",
    r"\w+|[^\w\s]+",
    r"(?:\r?\n)|<\|[a-z]{1,20}\|>|.",
    "(?>a{1})b",
    r"x(?>\d{1,1})",
];

/// Each with what is not known about it.
const REFUSED: &[&str] = &[
    "",   // matches nothing at all
    "a*", // the empty text
    r"\s+|",
    "(?!a)",
    "$",
    "^a", // looks back
    r"\ba",
    r"(?<=a)b",
    r"(?<!a)b",
    r"\Aa",
    r"\Ga",
    r"a\Kb",
    "a(?=bc)", // looks at more than one character
    "a(?!b+c)",
    r"(a)\1", // memory
    "(?<x>a)",
    "(?i)a", // options
    "(?s:.)",
    "(?-i:a)",
    "(?m:.)",
    "(?x: a)",
    "(?#a)b",
    "(?i:ss)", // `ß`
    "(?i:fi|fl)",
    "(?i:s)(?i:t)",
    "(?i:s){2}",
    "(?i:é)",
    "(?i:[^a])",
    "(?i:[a-z])",
    r"(?i:\w)",
    "(?>ab|a)b", // atomic
    "(?:ab)++",
    "a{2,3}+",
    "(a+)+", // repeats without a limit
    "(?:ab)+",
    "(?:a|bc)*d",
    "a{2}?", // fine print
    "a{,2}",
    "a{3,2}",
    "a{1,0}+b",
    "a{",
    "a**",
    "a+*",
    "a{1}{2}",
    "a{0}b",
    "a{1,1001}",
    "[]a]",
    "[a-]b-]",
    "[a-z-9]",
    r"[\d-a]",
    "[z-a]",
    "[[:alpha:]]",
    r"[^\s\S]",
    "[a&&]",
    "[a",
    "(a",
    "a)",
    r"\h",
    r"\R",
    r"\X",
    r"\Z",
    r"\pL",
    r"\p{Klingon}",
    r"\p{L",
    r"\xE9",
    r"\x{110000}",
    r"\u12",
    r"\e",
    "\\",
    "a]",
    "+a",
];

#[test]
fn patterns_of_known_parts_are_recognised_and_find_what_the_engine_finds() {
    let text = "It's a DÉJÀ-VU  of 12345\n\n\tthe 漢字かな e\u{301}!?\r\n 'LL ſ'ſ <|x|> fooBar_x, \"q\" #tag 3½ \u{0}  ";
    for pattern in published_patterns().chain(RECOGNISED.iter().copied()) {
        let composed = recognise(pattern).unwrap_or_else(|| panic!("{pattern}"));
        let engine = engine(pattern);
        for (start, _) in text.char_indices() {
            check(&composed, &engine, &text[start..]);
        }
    }
}

#[test]
fn patterns_with_a_part_that_is_not_known_are_refused() {
    for pattern in REFUSED {
        assert!(recognise(pattern).is_none(), "{pattern}");
        assert!(
            recognise(&format!("x|(?:{pattern})")).is_none(),
            "{pattern} as an alternative"
        );
    }
}

#[test]
fn patterns_that_are_too_large_are_refused() {
    let distinct =
        |count: u32| -> String { (0..count).map(|n| format!(r"|\x{{{:x}}}", 0x4E00 + n)).collect() };
    assert!(recognise(&format!("a{}", distinct(120))).is_some());
    assert!(recognise(&format!("a{}", distinct(200))).is_none());
    assert!(recognise("a{1000}").is_some());
    assert!(recognise("(?:a{1000}b){3}").is_none());
    assert!(recognise(&format!(r"(?:.{{0,300}}[a-c]{{0,300}}){{1,3}}{}", distinct(100))).is_none());
    assert!(recognise(&"a".repeat(9_000)).is_none());
    assert!(recognise(&format!("{}a{}", "(".repeat(30), ")".repeat(30))).is_some());
    assert!(recognise(&format!("{}a{}", "(".repeat(3_000), ")".repeat(3_000))).is_none());
}

/// The match that is found first on the way back wins, however far that is.
#[test]
fn a_match_is_found_after_going_far_back() {
    let composed = recognise(r"\s*x|\s").unwrap();
    let text = " ".repeat(500);

    let expected: Vec<_> = (0..500).map(|at| (at..at + 1, true)).collect();
    assert_eq!(found(&composed, &text), expected);
    assert_eq!(found(&composed, &format!("{text}x")), [(0..501, true)]);
}
