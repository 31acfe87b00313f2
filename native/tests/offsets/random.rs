//! Models, pipelines and texts by the lot.

use fastrand::Rng;
use hf_bpe_native::byte_alphabet::bytes_to_token;
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
pub fn model(numbers: &mut Rng) -> Value {
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

pub fn added_token(id: u32, content: &str, (strips, normalized): (bool, bool)) -> Value {
    json!({
        "id": id, "content": content, "single_word": false, "lstrip": strips, "rstrip": strips,
        "normalized": normalized, "special": content != "NEW",
    })
}

pub fn pipeline(numbers: &mut Rng) -> Value {
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

pub fn texts(numbers: &mut Rng) -> Vec<String> {
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
