//! Offsets of tokens that are long, that are trimmed, or whose bytes are not what they seem.

use hf_bpe_native::byte_alphabet::{bytes_to_token, char_of};
use hf_bpe_native::tokenizer::Tokenizer;
use serde_json::{Map, Value, json};

use super::{OPTIONS, check, plain, tokenizer};

fn bytes_alone() -> Map<String, Value> {
    let bytes = (0..=255).map(|byte| (char_of(byte).to_string(), json!(byte)));
    bytes.collect()
}

/// A vocabulary that knows one long text besides bytes, and trims no offsets or all.
fn knows(token: &str, id: u32, trims: bool) -> Tokenizer {
    let mut vocab = bytes_alone();
    vocab.insert(bytes_to_token(token.as_bytes()), json!(id));
    let mut file = plain();
    if trims {
        file["post_processor"] = file["pre_tokenizer"].clone();
    }
    tokenizer(
        file,
        json!({"type": "BPE", "vocab": vocab, "merges": [], "ignore_merges": true}),
    )
}

#[test]
fn tokens_of_any_length_and_id_have_their_offsets() {
    for length in [1, 126, 127, 128, 129, 255, 256, 70_000] {
        for id in [256, 100_000, 20_000_000] {
            let token = "é".repeat(length);
            let tokenizer = knows(&token, id, false);
            let other = format!("é{token}");

            let (ids, _, offsets) = tokenizer
                .encode_flat_with_offsets(&[&token, &token], OPTIONS)
                .unwrap();

            let length = length as u32;
            assert_eq!((ids, offsets), (vec![id; 2], vec![0, length, 0, length]));
            check(&tokenizer, &[&token, &other[..600.min(other.len())]]);
        }
    }
}

#[test]
fn any_number_of_spaces_is_trimmed() {
    for spaces in [1, 2, 14, 15, 16, 17, 127, 128, 300] {
        let spaces = " ".repeat(spaces);
        for token in [
            format!("{spaces}é"),
            format!("é{spaces}"),
            format!("{spaces}é{spaces}"),
            spaces,
        ] {
            let tokenizer = knows(&token, 20_000_000, true);
            let small = knows(&token, 256, true);

            check(&tokenizer, &[&token]);
            check(&small, &[&token]);
            let (_, _, offsets) = small.encode_flat_with_offsets(&[&token], OPTIONS).unwrap();
            let start = token.len() - token.trim_start().len();
            let end = start.max(token.trim_end().chars().count());
            assert_eq!(offsets, [start as u32, end as u32], "{token:?}");
        }
    }
}

#[test]
fn two_texts_with_one_id_have_their_offsets() {
    let texts = ["ab", "abbé", "é ab abbé"];
    for (merges, ignore_merges) in [(vec![["a", "b"], ["ab", "b"]], false), (vec![], true)] {
        let mut vocab = bytes_alone();
        for token in ["ab", "abb", "abbé"] {
            vocab.insert(bytes_to_token(token.as_bytes()), json!(256));
        }
        let model = json!({"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": ignore_merges});

        check(&tokenizer(plain(), model), &texts);
    }
}

#[test]
fn a_merge_that_makes_another_text_has_its_offsets() {
    let bytes = tokenizer(
        plain(),
        json!({"type": "BPE", "vocab": bytes_alone(), "merges": []}),
    );
    let (a, b) = (bytes.token_to_id("a").unwrap(), bytes.token_to_id("b").unwrap());
    let joined = bytes
        .extended(&[("xyz".into(), 256)], &[(a, b, 256)], None)
        .unwrap();

    check(&joined, &["ab", "éabab", "xyz"]);
}
