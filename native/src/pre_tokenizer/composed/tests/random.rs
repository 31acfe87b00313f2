//! Random patterns on random texts: each pattern that is recognised finds what the engine finds.

use super::{check, check_hand_over, engine, recognise};

const SETS: &[&str] = &[
    r"\p{L}",
    r"\p{N}",
    r"\s",
    r"\S",
    r"\d",
    r"\w",
    r"\W",
    ".",
    "a",
    "b",
    "1",
    " ",
    "'",
    r"\n",
    r"\r",
    r"\.",
    "/",
    r"[^\s\p{L}\p{N}]",
    r"[^\r\n\p{L}\p{N}]",
    r"[^\r\n\p{L}\p{P}\p{S}]",
    r"[\r\n]",
    r"[\r\n/]",
    "[a-z]",
    "[A-Za-z]",
    "[0-9]",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{L}\p{M}]",
    r"[\p{P}\p{S}]",
    "[一-龥぀-ゟ゠-ヿ]",
    r"\p{Han}",
    r"[\p{Lu}\p{Lo}\p{M}&&[^\p{Han}]]",
    r"[^(\s|[.,!?…。，、।۔،])]",
    r"\u3042",
    r"\x{E9}",
    r"[-/]",
    r"[/-]",
    r"[a\-z]",
    "(?:a|b|[0-9])",
    "[^a]",
    r"\P{L}",
    r"\p{^N}",
    "[[^a]b]",
    r"[^\S\n]",
    r"[^\n\S&&[^ ]]",
    r"\p{Mn}",
    r"[\]\[]",
    r"[!-/:-~]",
    "(a)",
];
const REPEATS: &[&str] = &[
    "", "", "", "?", "?", "+", "+", "*", "{2}", "{1,2}", "{1,3}", "{2,}", "{0,2}", "{3}", "{1,}", "??", "+?",
    "*?", "{1,2}?", "?+", "++", "*+", "{1,3}+", "{1}+", "{1,1}",
];
/// Groups in groups with more repeats take the engine longer than it is allowed.
const GROUP_REPEATS: &[&str] = &["", "", "?", "{1,2}", "{2}", "{0,2}?", "??", "+", "?+"];
const LOOKS: &[&str] = &[
    r"(?!\S)",
    r"(?!\p{L})",
    r"(?=\s)",
    "$",
    r"\z",
    r"(?=\s|$)",
    r"(?!\s|\z)",
    "(?=[a-z])",
    "(?!a|b)",
    "(?!')",
    r"(?=\d)",
    r"(?!\s+)",
];
const WORDS: &[&str] = &[
    "'s|'t|'re|'ve|'m|'ll|'d",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "'(?i:[sdmt]|ll|ve|re)",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    "(?:'s|'t)?",
    "(?i:k|sa|as)",
    "(?i:[sk'])",
    "'(?:[sdmt]|ll|ve|re)",
    r"\s+(?!\S)",
    r"\s*[\r\n]+",
    r"\s++$",
    "ab",
    "(?>a+)",
    r"(?>\s*)",
    "(?>a?)b",
    "(?>a{1})",
    "(?>a{1,1})",
    r"(?>\d{0,1})\p{L}",
    "(?>[ab])",
    "(?i:ab|a)",
];
const TEXTS: &[&str] = &[
    "aA1 .",
    "ab12 \n\r\t'",
    "'sStTrReEvVmMlLdDſK ab",
    " \n\r\t\u{b}\u{85}\u{a0}\u{2028}\u{3000}a.",
    "ABCabcÀàéǅǈʰªºßıİKÅſﬀﬆ\u{301}\u{345}\u{903}'",
    "あ漢字ア한กअא\u{5b0}ًعمʼ'A a。，",
    "012349²½Ⅷ٣〇一𝟗\u{11de0} ab",
    "👩\u{200d}🚀🏽🇩🇪\u{fe0f}a 1",
    "\u{0}\u{1}\u{7f}\u{80}\u{378}\u{e000}\u{fffd}\u{10ffff} ab",
    "/!?\n\r /.\u{301}'s-[]",
    "   \n",
    "aaab",
];

/// A linear congruential generator: the same patterns on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn pattern(&mut self, depth: usize) -> String {
        let alternatives = 1 + self.below(if depth == 0 { 6 } else { 3 });
        let row = |random: &mut Self| (0..1 + random.below(3)).map(|_| random.part(depth)).collect();
        let rows: Vec<String> = (0..alternatives).map(|_| row(self)).collect();
        rows.join("|")
    }

    fn part(&mut self, depth: usize) -> String {
        match self.below(10) {
            0 => self.of(LOOKS).to_owned(),
            1 | 2 => self.of(WORDS).to_owned(),
            3 if depth < 2 => format!("(?:{}){}", self.pattern(depth + 1), self.of(GROUP_REPEATS)),
            _ => format!("{}{}", self.of(SETS), self.of(REPEATS)),
        }
    }

    fn text(&mut self) -> String {
        let all = self.below(4) == 0;
        let alphabet: Vec<char> = if all {
            TEXTS.concat()
        } else {
            self.of(TEXTS).to_owned()
        }
        .chars()
        .collect();
        let mut text = String::new();
        for _ in 0..self.below(16) {
            let run = if self.below(5) == 0 { 1 + self.below(5) } else { 1 };
            text.extend(std::iter::repeat_n(alphabet[self.below(alphabet.len())], run));
        }
        text
    }
}

#[test]
fn random_patterns_find_what_the_engine_finds() {
    let rounds: usize =
        std::env::var("HF_BPE_RANDOM_PATTERNS").map_or(3_000, |rounds| rounds.parse().unwrap());
    let mut random = Random(20_261_130);
    let mut recognised = 0;
    for _ in 0..rounds {
        let pattern = random.pattern(0);
        let Some(composed) = recognise(&pattern) else {
            continue;
        };
        recognised += 1;
        let engine = engine(&pattern);
        for _ in 0..30 {
            let text = random.text();
            check(&composed, &engine, &text);
            check_hand_over(&composed, &engine, &text, random.below(8));
        }
    }
    assert!(
        recognised * 3 > rounds,
        "{recognised} of {rounds} were recognised"
    );
}
