//! Offsets of many texts in a row are those of each text by itself: whatever the pipeline, whatever a token covers, with caches
//! and without. A test of its own process, since the limit of caches is a setting of the process.

use fastrand::Rng;
use hf_bpe_native::byte_alphabet::{bytes_to_token, char_of};
use hf_bpe_native::cache::{limit, set_limit};
use hf_bpe_native::tokenizer::{EncodeOptions, Tokenizer};
use serde_json::{Map, Value, json};

/// What texts are put together from: runs are longer than what a slot holds, and than what is kept at all.
const PIECES: &[&str] = &[
    "a",
    "b",
    " ",
    "  ",
    " a",
    "ab",
    "'s",
    "12",
    "!",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "é",
    " é",
    "e\u{301}",
    "\u{301}",
    "語",
    " 語",
    "語言",
    "。",
    "각",
    "\u{1100}\u{1161}",
    "🙂",
    " 🙂",
    "👨\u{200d}👩\u{200d}👧",
    "🇩🇪",
    "\u{fe0f}",
    "\u{feff}",
    "\u{fffd}",
    "\u{378}",
    "İ",
    "ẞ",
    "ς",
    "Ġ",
    "<s>",
    "<end>",
    "<é語>",
    "NEW",
];
const RUNS: &[&str] = &["語", "é", "a", " ", "🙂", "語言é", "\u{301}"];

/// All bytes, and tokens that two tokens beside each other in such texts make: also of parts of characters.
fn model(numbers: &mut Rng) -> Value {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    let text = (0..400)
        .map(|_| *numbers.choice(PIECES).unwrap())
        .collect::<String>();
    let text = (text + &"語".repeat(20) + &"é".repeat(20)).into_bytes();
    for _ in 0..600 {
        let at = numbers.usize(..text.len());
        let mut token_at = |at: usize| {
            let known = tokens.iter().filter(|token| text[at..].starts_with(token));
            numbers.choice(known.collect::<Vec<_>>()).cloned()
        };
        let Some(left) = token_at(at) else { continue };
        let Some(right) = token_at(at + left.len()) else {
            continue;
        };
        let made = [&left[..], &right].concat();
        if !tokens.contains(&made) {
            merges.push(json!([bytes_to_token(&left), bytes_to_token(&right)]));
            tokens.push(made);
        }
    }
    let vocab = tokens.iter().enumerate();
    let vocab: Map<_, _> = vocab
        .map(|(id, token)| (bytes_to_token(token), json!(id)))
        .collect();
    json!({"type": "BPE", "vocab": vocab, "merges": merges})
}

fn added_token(id: u32, content: &str, (strips, normalized): (bool, bool)) -> Value {
    json!({
        "id": id, "content": content, "single_word": false, "lstrip": strips, "rstrip": strips,
        "normalized": normalized, "special": content != "NEW",
    })
}

fn pipeline(numbers: &mut Rng) -> Value {
    let byte_level = |prefix: bool, trim: bool, regex: bool| json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": regex});
    let split = json!({"type": "Split", "pattern": {"Regex": r"\p{N}|\s+|\S+"}, "behavior": "Isolated", "invert": false});
    let template = json!({
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "<end>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [5000], "tokens": ["<s>"]},
            "<end>": {"id": "<end>", "ids": [5001], "tokens": ["<end>"]},
        },
    });
    let roberta = json!({
        "type": "RobertaProcessing", "sep": ["<end>", 5001], "cls": ["<s>", 5000], "trim_offsets": numbers.bool(),
        "add_prefix_space": numbers.bool(),
    });
    let trimming = byte_level(numbers.bool(), numbers.u8(..3) > 0, false);
    let post_processor = numbers.choice([
        Value::Null,
        trimming.clone(),
        template.clone(),
        roberta,
        json!({"type": "Sequence", "processors": [trimming, template]}),
        json!({"type": "Sequence", "processors": [template, trimming, trimming]}),
    ]);
    let regex = numbers.bool();
    let prefix = numbers.u8(..4) == 0;
    let pre_tokenizer = numbers.choice([
        byte_level(prefix, true, regex),
        json!({"type": "Sequence", "pretokenizers": [split, byte_level(false, false, false)]}),
    ]);
    let nothing = json!({"type": "Sequence", "normalizers": []});
    let normalizer = numbers.choice([
        Value::Null,
        nothing,
        json!({"type": "NFC"}),
        json!({"type": "Lowercase"}),
    ]);
    let normalized = numbers.u8(..3) == 0;
    let mut flags = || (numbers.bool(), normalized && numbers.bool());
    let added = [(5000, "<s>"), (5001, "<end>"), (5002, "<é語>"), (5003, "NEW")];
    let added = added.map(|(id, content)| added_token(id, content, flags()));
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": null,
    })
}

fn tokenizer(mut file: Value, model: Value) -> Tokenizer {
    file["model"] = model;
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
}

fn texts(numbers: &mut Rng) -> Vec<String> {
    let mut texts = vec![String::new(), "語".repeat(300), " ".repeat(300), "é🙂".repeat(90)];
    texts.extend((0..40).map(|_| {
        let mut text = String::new();
        for _ in 0..numbers.usize(..30) {
            match numbers.u8(..20) {
                0 => text.push_str(&numbers.choice(RUNS).unwrap().repeat(numbers.usize(1..120))),
                _ => text.push_str(numbers.choice(PIECES).unwrap()),
            }
        }
        text
    }));
    texts
}

/// Compares texts in a row with each by itself, whose way knows neither caches nor widths of tokens.
fn check(tokenizer: &Tokenizer, texts: &[&str]) {
    for (add_special_tokens, split_special_tokens) in [(true, false), (false, false), (true, true)] {
        let options = EncodeOptions {
            add_special_tokens,
            split_special_tokens,
        };
        // Anew, and with caches that know all.
        for _ in 0..2 {
            let (ids, bounds, offsets) = tokenizer.encode_flat_with_offsets(texts, options).unwrap();

            assert_eq!((bounds.len(), offsets.len()), (texts.len() + 1, 2 * ids.len()));
            for (text, ends) in texts.iter().zip(bounds.windows(2)) {
                let expected = tokenizer.encode(&(*text).into(), None, options, None).unwrap();
                let row = ends[0] as usize..ends[1] as usize;
                let pairs = offsets[2 * row.start..2 * row.end].chunks(2);
                let pairs: Vec<_> = pairs.map(|pair| (pair[0] as usize, pair[1] as usize)).collect();
                assert_eq!(ids[row], expected.ids, "{text:?}");
                assert_eq!(pairs, expected.offsets, "{text:?} {}", tokenizer.to_json(false));
            }
        }
    }
}

#[test]
fn offsets_in_a_row_are_those_of_each_text() {
    let usual = limit();
    for seed in 0..150 {
        let mut numbers = Rng::with_seed(seed);
        let tokenizer = tokenizer(pipeline(&mut numbers), model(&mut numbers));
        let texts = texts(&mut numbers);
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();

        set_limit(if seed % 3 == 0 { 0 } else { usual });
        check(&tokenizer, &texts);
    }
    set_limit(usual);
}

#[test]
fn offsets_of_many_texts_on_many_threads_are_those_of_each() {
    let mut numbers = Rng::with_seed(7);
    let tokenizer = tokenizer(pipeline(&mut numbers), model(&mut numbers));
    let texts: Vec<_> = (0..20).flat_map(|_| texts(&mut numbers)).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    assert!(texts.iter().map(|text| text.len()).sum::<usize>() > 100_000);

    check(&tokenizer, &texts);
}

fn bytes_alone() -> Map<String, Value> {
    let bytes = (0..=255).map(|byte| (char_of(byte).to_string(), json!(byte)));
    bytes.collect()
}

fn plain() -> Value {
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        "post_processor": null, "decoder": null,
    })
}

/// A vocabulary that knows one long text besides bytes.
fn knows(token: &str, id: u32) -> Tokenizer {
    let mut vocab = bytes_alone();
    vocab.insert(bytes_to_token(token.as_bytes()), json!(id));
    tokenizer(
        plain(),
        json!({"type": "BPE", "vocab": vocab, "merges": [], "ignore_merges": true}),
    )
}

#[test]
fn tokens_of_any_length_and_id_have_their_offsets() {
    let options = EncodeOptions {
        add_special_tokens: true,
        split_special_tokens: false,
    };
    for length in [1, 126, 127, 128, 129, 255, 256, 70_000] {
        for id in [256, 100_000, 20_000_000] {
            let token = "é".repeat(length);
            let tokenizer = knows(&token, id);
            let other = format!("é{token}");

            let (ids, _, offsets) = tokenizer
                .encode_flat_with_offsets(&[&token, &token], options)
                .unwrap();

            let length = length as u32;
            assert_eq!((ids, offsets), (vec![id; 2], vec![0, length, 0, length]));
            check(&tokenizer, &[&token, &other[..600.min(other.len())]]);
        }
    }
}

#[test]
fn two_texts_with_one_id_have_their_offsets() {
    let mut vocab = bytes_alone();
    vocab.insert("ab".into(), json!(256));
    vocab.insert("abb".into(), json!(256));
    let merges = [["a", "b"], ["ab", "b"]];
    let tokenizer = tokenizer(plain(), json!({"type": "BPE", "vocab": vocab, "merges": merges}));

    check(&tokenizer, &["ab", "abb", "é ab abb"]);
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
