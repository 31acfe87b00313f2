use super::super::{cl100k, gpt2, o200k};
use super::*;

/// What [`scan`] gives, one character at a time.
fn walk<S: Scanner>(text: &str) -> Vec<Range<usize>> {
    let scanned = Text::new(text);
    let mut matches = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = S::end(&scanned, at);
        matches.push(at..end);
        at = end;
    }
    matches
}

fn check<S: Scanner>(text: &str) {
    let expected = walk::<S>(text);
    for tier in Tier::all() {
        let mut matches = Vec::new();
        scan_on::<S>(tier, text, |range| matches.push(range));
        assert_eq!(matches, expected, "{tier:?} {text:?}");
    }
}

fn check_all(text: &str) {
    check::<gpt2::Gpt2>(text);
    check::<cl100k::Cl100k>(text);
    check::<cl100k::Cl100kPossessive>(text);
    check::<cl100k::Qwen2>(text);
    check::<cl100k::Qwen35>(text);
    check::<o200k::O200k>(text);
    check::<o200k::Tekken>(text);
}

#[test]
fn blocks_agree_with_characters() {
    let alphabets = [
        "ab ",
        "aA'stremvldRELV ",
        "a1 \n\r\t",
        "ab'/ \n\r",
        "aB1.'/ \n\u{b}",
        "a  \n  b!",
        "ab c'sé語\u{17f}\u{301}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaB1 \n'",
        "123456 a",
        "aé ßÉ中文かナ한글д",
        "aB中á\u{301}\u{940}क!? \n",
        "ДдЖжaZ'sſtllŁǅʰ ",
        "中文，。“”　 \u{a0}\n1２²٣a",
        "😀👍🏽\u{200d}aé '\u{10ffff}",
        "中A bʰB\u{301}C!/\n",
        "\u{85}\u{2028}\u{feff}\u{fffd}aé ",
        "\u{4dc0}\u{4e00}\u{a000}\u{d7a3}\u{d7a4}\u{ac00}\u{e4a}a",
    ];
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for round in 0..40_000 {
        let alphabet: Vec<char> = alphabets[round % alphabets.len()].chars().collect();
        let length = 60 + below(150);
        let text: String = (0..length).map(|_| alphabet[below(alphabet.len())]).collect();
        check_all(&text);
    }
}

#[test]
fn blocks_agree_with_characters_at_every_place_of_every_ascii_byte() {
    let text = "It's 12345 words; (and) don'tX  \n\t /\n\n/ IT'LL be\r\n  fine!! ".repeat(4);
    for byte in 0..128 {
        for at in 0..text.len() / 2 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            check_all(std::str::from_utf8(&bytes).expect("ASCII"));
        }
    }
}
