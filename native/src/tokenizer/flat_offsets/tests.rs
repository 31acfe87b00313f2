use serde_json::{Value, json};

use super::*;
use crate::byte_alphabet::char_of;

const OPTIONS: EncodeOptions = EncodeOptions {
    add_special_tokens: true,
    split_special_tokens: false,
};

fn byte_level(add_prefix_space: bool, trim_offsets: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": true})
}

fn tokenizer(change: impl FnOnce(&mut Value)) -> Tokenizer {
    let bytes = (0..=255).map(|byte| (char_of(byte).to_string(), json!(byte)));
    let added = |id: u32, content: &str, normalized: bool| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": true, "rstrip": false,
            "normalized": normalized, "special": true,
        })
    };
    let mut file = json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": {"type": "NFC"},
        "added_tokens": [added(300, "<raw>", false), added(301, "<normal>", true)],
        "pre_tokenizer": byte_level(false, true), "post_processor": byte_level(false, true), "decoder": null,
        "model": {"type": "BPE", "vocab": bytes.collect::<serde_json::Map<_, _>>(), "merges": []},
    });
    change(&mut file);
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
}

fn ways(tokenizer: &Tokenizer, texts: &[&str]) -> Vec<bool> {
    let placed = tokenizer.encode_flat_placed(texts, OPTIONS).unwrap();
    (0..texts.len()).map(|at| placed.is_long(at)).collect()
}

#[test]
fn texts_that_the_normalizer_keeps_go_the_short_way() {
    let tokenizer = tokenizer(|_| ());
    let texts = [
        "a é語🙂",
        "",
        " <raw> b <normal>",
        "a <raw> e\u{301}",
        "c <normal>",
        "e\u{301}",
    ];

    assert_eq!(ways(&tokenizer, &texts), [false, false, false, true, false, true]);
}

#[test]
fn pipelines_whose_tokens_are_not_the_bytes_of_a_text_go_the_long_way() {
    let closed = |change: &dyn Fn(&mut Value)| ways(&tokenizer(change), &["a"]) == [true];

    assert!(!closed(&|file| file["post_processor"] = Value::Null));
    assert!(closed(&|file| file["pre_tokenizer"] = byte_level(true, true)));
    assert!(closed(&|file| file["pre_tokenizer"] = Value::Null));
    assert!(closed(
        &|file| file["model"]["vocab"]["b"] = json!(u32::from(b'a'))
    ));
    assert!(closed(&|file| {
        let steps = [byte_level(true, true), byte_level(true, true)];
        file["post_processor"] = json!({"type": "Sequence", "processors": steps});
    }));
}

#[test]
fn a_model_whose_merges_make_other_texts_goes_the_long_way() {
    let bytes = tokenizer(|_| ());
    let halves = (u32::from(b'a'), u32::from(b'b'));
    let extended = |made: &str| {
        bytes
            .extended(&[(made.into(), 400)], &[(halves.0, halves.1, 400)], None)
            .unwrap()
    };

    assert_eq!(ways(&extended("ab"), &["ab"]), [false]);
    assert_eq!(ways(&extended("abc"), &["ab"]), [true]);
}

#[test]
fn a_pre_tokenizer_that_drops_text_goes_the_long_way() {
    let regex = crate::pre_tokenizer::published_patterns().next().unwrap();
    let split = |pattern: Value, behavior: &str, invert: bool| json!({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert});
    let way = |step: Value| {
        let tokenizer = tokenizer(|file| {
            let steps = [step, byte_level(false, true)];
            file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": steps});
        });
        let text = "a b, c d";
        let encoding = tokenizer.encode(&text.into(), None, OPTIONS, None).unwrap();
        let offsets = tokenizer.encode_flat_with_offsets(&[text], OPTIONS).unwrap().2;
        let pairs = encoding.offsets.iter();
        let expected: Vec<_> = pairs
            .flat_map(|&(start, end)| [start as u32, end as u32])
            .collect();
        assert_eq!(offsets, expected);
        ways(&tokenizer, &[text])[0]
    };

    for kind in ["BertPreTokenizer", "Whitespace", "WhitespaceSplit"] {
        assert!(way(json!({"type": kind})), "{kind}");
    }
    assert!(way(json!({"type": "CharDelimiterSplit", "delimiter": " "})));
    assert!(way(json!({"type": "Punctuation", "behavior": "Removed"})));
    assert!(!way(json!({"type": "Punctuation", "behavior": "Isolated"})));
    assert!(!way(json!({"type": "Digits", "individual_digits": true})));
    assert!(way(split(json!({"String": " "}), "Removed", false)));
    assert!(way(split(json!({"String": "b"}), "Removed", true)));
    assert!(!way(split(json!({"String": " "}), "Isolated", true)));
    // Its matches are the whole text.
    assert!(!way(split(json!({"Regex": regex}), "Removed", true)));
    assert!(way(split(json!({"Regex": regex}), "Removed", false)));
}

#[test]
fn added_tokens_that_share_blanks_cover_them_both() {
    let tokenizer = tokenizer(|file| {
        let tokens = [("<raw>", true), (" b", false), ("  ", true)];
        let added = tokens.iter().enumerate().map(|(at, (content, rstrip))| {
            json!({
                "id": 300 + at, "content": content, "single_word": false, "lstrip": false, "rstrip": rstrip,
                "normalized": at > 0, "special": true,
            })
        });
        file["added_tokens"] = added.collect();
    });
    let texts = [
        "é<raw>   é",
        "<raw> b\u{3000}<raw> bé",
        "é     b \u{3000} b     é",
        "<raw>",
    ];
    let encodings = texts.map(|text| tokenizer.encode(&text.into(), None, OPTIONS, None).unwrap());
    let pairs = encodings.iter().flat_map(|encoding| &encoding.offsets);
    let expected: Vec<_> = pairs.map(|&(start, end)| [start as u32, end as u32]).collect();

    let offsets = tokenizer.encode_flat_with_offsets(&texts, OPTIONS).unwrap().2;

    assert_eq!(offsets, expected.as_flattened());
    assert!(
        expected
            .windows(2)
            .any(|pair| pair[1][0] > 0 && pair[1][0] < pair[0][1])
    );
    assert_eq!(ways(&tokenizer, &texts), [false; 4]);
}
