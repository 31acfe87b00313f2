use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Value, json};

use super::*;
use crate::Error;

fn read(value: &Value) -> Result<Normalizer> {
    Normalizer::from_node(&Node::new("normalizer", value))
}

fn sequence(steps: &[Value]) -> Normalizer {
    read(&json!({"type": "Sequence", "normalizers": steps})).unwrap()
}

fn kind(name: &str) -> Value {
    json!({"type": name})
}

fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": content})
}

fn prepend(prefix: &str) -> Value {
    json!({"type": "Prepend", "prepend": prefix})
}

fn bert(strip_accents: Option<bool>, lowercase: bool) -> Value {
    json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": strip_accents,
        "lowercase": lowercase,
    })
}

/// The normalized text, which both ways agree on, and the place of each of its bytes.
fn run(steps: &[Value], text: &str) -> (String, Vec<Range<usize>>) {
    let normalizer = sequence(steps);
    let mut aligned = NormalizedText::new(text, 0);

    normalizer.normalize_aligned(&mut aligned).unwrap();

    assert_eq!(normalizer.normalize(text).unwrap(), aligned.text());
    let places = (0..aligned.text().len()).map(|at| aligned.original_range(at..at + 1));
    (aligned.text().to_owned(), places.collect())
}

fn text(steps: &[Value], text: &str) -> String {
    run(steps, text).0
}

#[test]
fn forms_follow_the_old_tables() {
    assert_eq!(text(&[kind("NFC")], "e\u{301}"), "é");
    assert_eq!(text(&[kind("NFKC")], "ﬁ\u{32ff}"), "fi\u{32ff}");
    assert_eq!(text(&[kind("NFD")], "é"), "e\u{301}");
    assert_eq!(text(&[kind("NFKD")], "½"), "1\u{2044}2");
}

#[test]
fn offsets_survive_composition() {
    let (normalized, places) = run(&[kind("NFC")], "xe\u{301}y");

    assert_eq!(normalized, "xéy");
    assert_eq!(places, [0..1, 1..2, 1..2, 4..5]);
}

#[test]
fn a_text_that_stays_is_borrowed() {
    for (step, kept) in [
        (kind("NFC"), "déjà vu"),
        (kind("Lowercase"), "plain ß 語"),
        (kind("StripAccents"), "é"),
        (kind("Nmt"), "a b\u{85}"),
        (kind("ByteLevel"), "abc!"),
        (replace("x", "y"), "abc"),
        (prepend("x"), ""),
        (bert(None, true), "plain text"),
        (
            json!({"type": "Strip", "strip_left": true, "strip_right": true}),
            "a b",
        ),
    ] {
        let normalizer = sequence(std::slice::from_ref(&step));

        assert!(
            matches!(normalizer.normalize(kept), Ok(Cow::Borrowed(_))),
            "{step}"
        );
        assert_eq!(normalizer.keeps(kept), Ok(true));
    }
}

#[test]
fn what_moves_without_a_visible_change_is_not_kept() {
    let there_and_back = sequence(&[kind("NFC"), kind("NFD")]);

    assert_eq!(there_and_back.normalize("e\u{301}").unwrap(), "e\u{301}");
    assert_eq!(there_and_back.keeps("e\u{301}"), Ok(false));
    assert_eq!(there_and_back.keeps("plain, 語"), Ok(true));
    // Both letters of the replacement share the place of the second one.
    assert_eq!(sequence(&[replace("ab", "ab")]).keeps("ab"), Ok(false));
    assert_eq!(run(&[replace("ab", "ab")], "ab").1, [1..2, 1..2]);
}

#[test]
fn lower_case_goes_by_single_characters() {
    assert_eq!(text(&[kind("Lowercase")], "ΑΣ ẞ ǅ"), "ας ß ǆ".replace('ς', "σ"));

    let (normalized, places) = run(&[kind("Lowercase")], "aİb");
    assert_eq!(normalized, "ai\u{307}b");
    assert_eq!(places, [0..1, 1..3, 1..3, 1..3, 3..4]);
}

#[test]
fn accents_are_combining_marks_of_any_kind() {
    let (normalized, places) = run(&[kind("StripAccents")], "\u{301}e\u{301}\u{20dd}é");

    assert_eq!(normalized, "eé");
    assert_eq!(places, [2..3, 8..10, 8..10]);
}

#[test]
fn white_space_is_stripped_where_asked() {
    let strip = |left, right| json!({"type": "Strip", "strip_left": left, "strip_right": right});
    let spaced = "\u{3000} a b\u{85}\n";

    assert_eq!(text(&[strip(true, true)], spaced), "a b");
    assert_eq!(text(&[strip(true, false)], spaced), "a b\u{85}\n");
    assert_eq!(text(&[strip(false, true)], spaced), "\u{3000} a b");
    assert_eq!(text(&[strip(true, true)], " \u{a0} "), "");
    assert_eq!(run(&[strip(true, true)], spaced).1, [4..5, 5..6, 6..7]);
}

#[test]
fn a_prefix_is_put_before_some_text_only() {
    assert_eq!(
        run(&[prepend("▁")], "é"),
        ("▁é".to_owned(), vec![0..2, 0..2, 0..2, 0..2, 0..2])
    );
    assert_eq!(text(&[prepend("▁")], ""), "");
    let strip = json!({"type": "Strip", "strip_left": true, "strip_right": false});
    assert_eq!(text(&[strip, prepend("▁")], "  "), "");
}

#[test]
fn nmt_drops_controls_and_evens_out_spaces() {
    assert_eq!(
        text(&[kind("Nmt")], "\u{1}a\u{7f}\tb\u{200b}\u{2581}\u{85}c\u{0}"),
        "a b  \u{85}c\0"
    );
}

#[test]
fn bert_strips_accents_with_the_upper_case_unless_told_otherwise() {
    assert_eq!(text(&[bert(None, true)], "É\u{0}\u{ad}\t語!"), "e  語 !");
    assert_eq!(text(&[bert(None, false)], "É"), "É");
    assert_eq!(text(&[bert(Some(false), true)], "É"), "é");
    assert_eq!(text(&[bert(Some(true), false)], "É"), "E");
    let places = run(&[bert(None, true)], "a語").1;
    assert_eq!(places, [0..1, 1..4, 1..4, 1..4, 1..4, 1..4]);
}

#[test]
fn bytes_are_written_in_the_byte_alphabet() {
    assert_eq!(
        run(&[kind("ByteLevel")], " é"),
        ("ĠÃ©".to_owned(), vec![0..1, 0..1, 1..3, 1..3, 1..3, 1..3])
    );
}

#[test]
fn what_stock_doubles_is_doubled() {
    // Stock rewrites only what stands for something, but by the rules for the whole text.
    assert_eq!(text(&[replace("^", "x"), kind("NFC")], "e\u{301}"), "xxé");
}

#[test]
fn where_stock_panics_the_result_is_the_obvious_one() {
    assert_eq!(text(&[replace("^", "X"), kind("Lowercase")], "Ab"), "xab");
    assert_eq!(text(&[replace("^", "é"), kind("ByteLevel")], "a"), "Ã©a");
    assert_eq!(text(&[prepend(""), kind("Lowercase")], "Ab"), "ab");
}

#[test]
fn a_pattern_that_runs_away_is_an_error_with_its_place() {
    let normalizer = sequence(&[kind("NFC"), replace("(a+)+$x", "")]);

    let error = normalizer.normalize(&"a".repeat(60)).unwrap_err();

    let Error::SplitPattern(message) = &error else {
        panic!("{error}");
    };
    assert!(
        message.starts_with(
            "tokenizer.json: normalizer.normalizers[1].pattern: pattern '(a+)+$x' took too long at"
        ),
        "{message}"
    );
    assert_eq!(normalizer.keeps(&"a".repeat(60)), Err(error));
}

#[test]
fn what_cannot_run_is_refused_with_its_place() {
    let error = |value: Value| read(&value).unwrap_err().to_string();

    let nested = json!({"type": "Sequence", "normalizers": [kind("NFC"), kind("NFX")]});
    assert!(
        error(nested)
            .contains("normalizer.normalizers[1] has type 'NFX'; hf_bpe supports 'BertNormalizer', ")
    );
    assert!(error(replace("(", "")).contains("normalizer.pattern: pattern '(' can't be compiled"));
    assert!(error(kind("Prepend")).contains("normalizer lacks 'prepend'"));
    let map = |value: Value| error(json!({"type": "Precompiled", "precompiled_charsmap": value}));
    assert!(map(json!("?")).contains("normalizer.precompiled_charsmap is no valid base64: Invalid byte 63"));
    assert!(map(json!("AAAA")).contains("normalizer.precompiled_charsmap ends before its trie"));
    assert!(map(json!(1)).contains("normalizer.precompiled_charsmap should be a string"));
}

#[test]
fn replacing_many_times_takes_linear_time() {
    let normalizer = sequence(&[replace(" ", "▁")]);
    let long = "a ".repeat(500_000);
    let mut aligned = NormalizedText::new(&long, 0);
    let start = std::time::Instant::now();

    normalizer.normalize_aligned(&mut aligned).unwrap();

    assert_eq!(aligned.text().len(), 2_000_000);
    assert_eq!(aligned.original_range(1_999_997..2_000_000), 999_999..1_000_000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
