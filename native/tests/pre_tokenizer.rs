//! The pre-tokenizers against the stock library's regex engine and against slow, obvious models.

use std::ops::Range;

use hf_bpe_native::pre_tokenizer::{Behavior, Split, SplitPattern, published_patterns};

const BEHAVIORS: [Behavior; 5] = [
    Behavior::Removed,
    Behavior::Isolated,
    Behavior::MergedWithPrevious,
    Behavior::MergedWithNext,
    Behavior::Contiguous,
];

/// At least one character of each class that a published pattern names, and of each that sits on a border.
const REPRESENTATIVES: &[char] = &[
    'A', 'a', 'あ', '\u{301}', '1', ' ', '\n', '.', '\'', 's', '\t', '/', 'l', 'ǅ',
];

/// What random texts are made of: one list per kind of trouble.
const ALPHABETS: &[&str] = &[
    "aA1 .",
    "aA1 .\n\r\t'",
    "'sStTrReEvVmMlLdDſ ",
    " \n\r\t\u{b}\u{c}\u{85}\u{a0}\u{2028}\u{2029}\u{3000}\u{1680}\u{200b}\u{feff}\u{180e}x.",
    "ABCabcÀàǅǈʰªºßıİKÅſﬀﬆ\u{301}\u{345}\u{903}'",
    "あ漢字ア한กअא\u{5b0}ًعمʼ'A a",
    "0123456789²½Ⅷ٣〇一𝟗\u{11de0}\u{16ff4} a",
    "👩\u{200d}🚀🏽🇩🇪\u{fe0f}\u{20e3}a 1\u{1f3fb}",
    "\u{0}\u{1}\u{7f}\u{80}\u{ad}\u{378}\u{e000}\u{ffff}\u{fffd}\u{10ffff}\u{e0001} a",
    "/!?\n\r /.\u{301}'s-",
    "   \n",
    "𝐀𝐚𝐴ﬁ𐐀𐐨ꟲʰ\u{a7f2}\u{16b40}'s",
];

/// A linear congruential generator: the same texts on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    fn text(&mut self, alphabet: &[char], longest: usize) -> String {
        let length = self.below(longest + 1);
        let mut text = String::new();
        while text.chars().count() < length {
            let run = if self.below(6) == 0 { self.below(6) + 1 } else { 1 };
            let character = alphabet[self.below(alphabet.len())];
            text.extend(std::iter::repeat_n(character, run));
        }
        text
    }
}

fn regex(pattern: &str) -> SplitPattern {
    SplitPattern::Regex(pattern.to_owned())
}

fn isolated(pattern: &str) -> Split {
    Split::new(&regex(pattern), Behavior::Isolated, false).unwrap()
}

fn pieces(split: &Split, text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    split.split(text, |range| pieces.push(range)).unwrap();
    pieces
}

fn words<'t>(split: &Split, text: &'t str) -> Vec<&'t str> {
    pieces(split, text)
        .into_iter()
        .map(|range| &text[range])
        .collect()
}

/// The matches that `onig` itself finds, with the text between them.
fn stock_matches(regex: &onig::Regex, text: &str) -> Vec<(Range<usize>, bool)> {
    let mut matches = Vec::new();
    let mut end = 0;
    for (from, to) in regex.find_iter(text) {
        if end != from {
            matches.push((end..from, false));
        }
        matches.push((from..to, true));
        end = to;
    }
    if end != text.len() {
        matches.push((end..text.len(), false));
    }
    matches
}

/// Each scanner with the engine that it must equal.
struct Pair {
    pattern: &'static str,
    scanner: Split,
    engine: onig::Regex,
}

impl Pair {
    fn all() -> Vec<Pair> {
        let pair = |pattern| Pair {
            pattern,
            scanner: isolated(pattern),
            engine: onig::Regex::new(pattern).unwrap(),
        };
        published_patterns().map(pair).collect()
    }

    fn check(&self, text: &str) {
        let mut at = 0;
        let mut expected = self.engine.find_iter(text);
        self.scanner
            .split(text, |range| {
                assert_eq!(
                    Some((range.start, range.end)),
                    expected.next(),
                    "{text:?} by {}",
                    self.pattern
                );
                assert_eq!(
                    range.start, at,
                    "matches tile the text: {text:?} by {}",
                    self.pattern
                );
                at = range.end;
            })
            .unwrap();
        assert_eq!(expected.next(), None, "{text:?} by {}", self.pattern);
        assert_eq!(at, text.len());
    }
}

#[test]
fn every_published_spelling_has_a_scanner() {
    for pattern in published_patterns() {
        assert!(isolated(pattern).is_published(), "{pattern}");
    }
    assert!(published_patterns().count() >= 12);
}

#[test]
fn scanners_equal_the_engine_on_random_texts() {
    let rounds = 200_000;
    let pairs = Pair::all();
    let all: Vec<char> = ALPHABETS.iter().flat_map(|alphabet| alphabet.chars()).collect();
    let mut random = Random(20_240_917);
    for round in 0..rounds {
        let alphabet: Vec<char> = match round % (ALPHABETS.len() + 2) {
            index if index < ALPHABETS.len() => ALPHABETS[index].chars().collect(),
            index if index == ALPHABETS.len() => all.clone(),
            _ => (0..8)
                .filter_map(|_| char::from_u32(random.below(0x3_2000) as u32))
                .chain("aA' \n1".chars())
                .collect(),
        };
        let text = random.text(&alphabet, 24);
        for pair in &pairs {
            pair.check(&text);
        }
    }
}

#[test]
fn scanners_equal_the_engine_on_all_short_texts() {
    let pairs = Pair::all();
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        texts = texts
            .iter()
            .flat_map(|text| {
                REPRESENTATIVES
                    .iter()
                    .map(move |character| format!("{text}{character}"))
            })
            .collect();
        for text in &texts {
            for pair in &pairs {
                pair.check(text);
            }
        }
    }
}

/// Neighbours tell the class of a character: each pattern cuts differently around each class.
#[test]
fn scanners_equal_the_engine_around_every_code_point() {
    let pairs = Pair::all();
    let mut text = String::new();
    for code_point in 0..0x11_0000 {
        let Some(x) = char::from_u32(code_point) else {
            continue;
        };
        text.push_str(&format!("a{x}B1{x}.{x} {x}\n'{x}l'l{x} \u{301}{x}"));
        if text.len() > 4096 || code_point == 0x10_FFFF {
            for pair in &pairs {
                pair.check(&text);
            }
            text.clear();
        }
    }
}

#[test]
fn long_s_is_an_s_in_contractions_of_any_case() {
    let cl100k = isolated(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    );

    assert!(cl100k.is_published());
    assert_eq!(words(&cl100k, "it'ſo it'So"), ["it", "'ſ", "o", " it", "'S", "o"]);
}

#[test]
fn repeated_intervals_are_not_possessive() {
    let pattern = published_patterns()
        .find(|pattern| pattern.contains("{1,3}+"))
        .unwrap();

    assert_eq!(words(&isolated(pattern), "1234567 a"), ["1234567", " a"]);
}

/// Stock's `NormalizedString::split` over whole lists, as its documentation tells it.
fn model(matches: Vec<(Range<usize>, bool)>, behavior: Behavior, invert: bool) -> Vec<Range<usize>> {
    let matches: Vec<_> = matches
        .into_iter()
        .map(|(range, is_match)| (range, is_match != invert))
        .collect();
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for (index, (range, is_match)) in matches.iter().enumerate() {
        let before = index > 0 && matches[index - 1].1;
        let joins = match behavior {
            Behavior::Removed if *is_match => continue,
            Behavior::Removed | Behavior::Isolated => false,
            Behavior::Contiguous => index > 0 && before == *is_match,
            Behavior::MergedWithPrevious => index > 0 && *is_match && !before,
            Behavior::MergedWithNext => index > 0 && !is_match && before,
        };
        match pieces.last_mut() {
            Some(piece) if joins => piece.end = range.end,
            _ => pieces.push(range.clone()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[test]
fn behaviors_are_those_of_the_documentation() {
    let cut = |behavior| {
        let split = Split::new(&SplitPattern::String("-".to_owned()), behavior, false).unwrap();
        words(&split, "the-final--countdown")
    };

    assert_eq!(cut(Behavior::Removed), ["the", "final", "countdown"]);
    assert_eq!(
        cut(Behavior::Isolated),
        ["the", "-", "final", "-", "-", "countdown"]
    );
    assert_eq!(
        cut(Behavior::MergedWithPrevious),
        ["the-", "final-", "-", "countdown"]
    );
    assert_eq!(
        cut(Behavior::MergedWithNext),
        ["the", "-final", "-", "-countdown"]
    );
    assert_eq!(
        cut(Behavior::Contiguous),
        ["the", "-", "final", "--", "countdown"]
    );
}

#[test]
fn behaviors_equal_the_model_for_every_engine() {
    let published: Vec<_> = published_patterns().map(regex).collect();
    let general = [
        r"a",
        r"a*",
        r"\s+|",
        r"(?=a)",
        r"(?<=a)b?",
        r"\b",
        r"",
        r"$",
        r"^",
        r"\p{L}+|\d",
        r"[ab]{1,2}?|\s+(?!\S)|x(?=y)",
        r"x\Ky",
        r"\G.",
    ];
    let strings = ["a", "aa", "あ", ".", "", "a.", "\n", "[a]"];
    let patterns: Vec<SplitPattern> = published
        .into_iter()
        .chain(general.map(regex))
        .chain(strings.map(|text| SplitPattern::String(text.to_owned())))
        .collect();
    let alphabet: Vec<char> = "aab xyあ.\n1[]".chars().collect();
    let mut random = Random(7);
    let texts: Vec<String> = (0..400).map(|_| random.text(&alphabet, 12)).collect();
    for pattern in &patterns {
        let source = match pattern {
            SplitPattern::Regex(source) => source.clone(),
            SplitPattern::String(text) => regex::escape(text),
        };
        let engine = onig::Regex::new(&source).unwrap();
        for behavior in BEHAVIORS {
            for invert in [false, true] {
                let split = Split::new(pattern, behavior, invert).unwrap();
                let by_engine = Split::by_regex_engine(pattern, behavior, invert).unwrap();
                for text in &texts {
                    let matches = if text.is_empty() {
                        vec![]
                    } else {
                        stock_matches(&engine, text)
                    };
                    let expected = model(matches, behavior, invert);
                    assert_eq!(
                        pieces(&split, text),
                        expected,
                        "{text:?} {pattern:?} {behavior:?} {invert}"
                    );
                    assert_eq!(
                        pieces(&by_engine, text),
                        expected,
                        "{text:?} {pattern:?} {behavior:?} {invert}"
                    );
                }
            }
        }
    }
}

/// Long texts are searched place by place where the pattern may look far ahead.
#[test]
fn the_engine_equals_onig_on_long_texts() {
    let patterns = [
        r"a*b",
        r"(?>a+)b|\s",
        r"(?=a)",
        r"(?<=a)b*",
        r"\b",
        r"\w+|[^\w\s]+",
        r"\s*$",
        r"^\s*|x$",
        r"a+\Kb",
        r"\G(?:a|x)+b?",
        r"a*?|b",
        r"(?i:AB|y)+(?!\S)",
        r"(a)(b)?\s+\1",
        r"\X",
        r"\n+",
        r"[^\S\n]*\n",
        "あ+?(?=x|y)",
        r"(?L)a|ab|aby",
        r"a(*FAIL)|b",
    ];
    let alphabet: Vec<char> = "aaabb xyあé\u{301}.\n1".chars().collect();
    let mut random = Random(11);
    let mut text = String::new();
    while text.len() < 40_000 {
        text.push_str(&random.text(&alphabet, 30));
    }
    for pattern in patterns {
        let engine = onig::Regex::new(pattern).unwrap();
        let expected = model(stock_matches(&engine, &text), Behavior::Isolated, false);
        assert_eq!(pieces(&isolated(pattern), &text), expected, "{pattern}");
    }
}
