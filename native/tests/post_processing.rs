//! Holds truncation, post-processors, merging, padding and lookups to what stock answered on random cases:
//! `tests/vectors/post_processing.jsonl`, and to errors where stock panics.

use std::borrow::Cow;
use std::sync::Arc;

use hf_bpe_native::Result;
use hf_bpe_native::config::Node;
use hf_bpe_native::encoding::{Encoding, NoSpelling, Side, Spell};
use hf_bpe_native::post_processor::{PostProcessor, post_process};
use hf_bpe_native::truncation::{Strategy, Truncation};
use serde_json::{Value, json};

const VECTORS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/vectors/post_processing.jsonl"
);

struct Tokens(Vec<String>);

impl Spell for Tokens {
    fn spell(&self, id: u32) -> Option<Cow<'_, str>> {
        self.0.get(id as usize).map(|token| token.as_str().into())
    }
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

fn side(value: &Value) -> Side {
    match value.as_str().unwrap() {
        "left" => Side::Left,
        _ => Side::Right,
    }
}

fn text(columns: &Value, type_id: u32) -> Encoding {
    Encoding::from_columns(read(&columns[0]), read(&columns[1]), read(&columns[2]), type_id)
}

fn processor(value: &Value) -> Result<PostProcessor> {
    PostProcessor::from_node(&Node::new("post_processor", value))
}

fn truncation(value: &Value) -> Truncation {
    Truncation {
        max_length: read(&value[0]),
        stride: read(&value[1]),
        strategy: match value[2].as_str().unwrap() {
            "only_first" => Strategy::OnlyFirst,
            "only_second" => Strategy::OnlySecond,
            _ => Strategy::LongestFirst,
        },
        side: side(&value[3]),
    }
}

fn dump(encoding: &Encoding, tokens: &Tokens) -> Value {
    let texts: Vec<_> = (0..encoding.len())
        .map(|at| encoding.token(at, tokens).unwrap())
        .collect();
    json!([
        encoding.ids,
        texts.join(" "),
        encoding.type_ids,
        encoding.offsets,
        encoding.words,
        encoding.special_tokens_mask,
        encoding.attention_mask,
        encoding.sequence_ids(),
        encoding.n_sequences(),
        encoding
            .overflowing
            .iter()
            .map(|window| dump(window, tokens))
            .collect::<Vec<_>>(),
    ])
}

fn lookups(encoding: &Encoding) -> Value {
    let tokens = (0..encoding.len() + 2).map(|at| {
        let chars = encoding.token_to_chars(at).map(|(_, chars)| chars);
        let word = encoding.token_to_word(at).map(|(_, word)| word);
        json!([encoding.token_to_sequence(at), chars, word])
    });
    let places = || (0..8).flat_map(|at| (0..3).map(move |sequence| (at, sequence)));
    let chars = places().map(|(at, sequence)| {
        json!([
            encoding.char_to_token(at, sequence),
            encoding.char_to_word(at, sequence)
        ])
    });
    let words = places().map(|(at, sequence)| {
        let word = at as u32;
        json!([
            encoding.word_to_tokens(word, sequence),
            encoding.word_to_chars(word, sequence)
        ])
    });
    json!([
        tokens.collect::<Vec<_>>(),
        chars.collect::<Vec<_>>(),
        words.collect::<Vec<_>>()
    ])
}

fn run(case: &Value, processors: &[Option<PostProcessor>], tokens: &Tokens) -> Result<Encoding> {
    let texts = case["texts"].as_array().unwrap();
    let at: usize = read(&case["processor"]);
    let truncation = case.get("truncation").map(truncation);
    post_process(
        processors[at].as_ref(),
        text(&texts[0], 0),
        texts.get(1).map(|columns| text(columns, 1)),
        truncation.as_ref(),
        read(&case["add_special_tokens"]),
        tokens,
    )
}

fn run_merge(case: &Value) -> Encoding {
    let parts = case["merge"].as_array().unwrap().iter().map(|part| {
        let mut encoding = text(&part["text"], 0);
        if let Some(cut) = part.get("truncate") {
            encoding
                .truncate(read(&cut[0]), read(&cut[1]), side(&cut[2]))
                .unwrap();
        }
        if let Some(sequence) = part.get("sequence") {
            encoding.set_sequence_id(read(sequence));
        }
        encoding
    });
    Encoding::merge(parts, read(&case["growing_offsets"]))
}

fn pad(encoding: &mut Encoding, pad: &Value) {
    let token: Arc<str> = pad[3].as_str().unwrap().into();
    encoding
        .pad(read(&pad[0]), read(&pad[1]), read(&pad[2]), &token, side(&pad[4]))
        .unwrap();
}

#[test]
fn encodings_equal_those_of_stock() {
    let file = std::fs::read_to_string(VECTORS).unwrap();
    let mut lines = file
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let tokens = Tokens(read(&head["tokens"]));
    let processors: Vec<Option<PostProcessor>> = (head["processors"].as_array().unwrap().iter())
        .map(|value| (!value.is_null()).then(|| processor(value).unwrap()))
        .collect();

    let mut cases = 0;
    for case in lines {
        cases += 1;
        let found = match case.get("merge") {
            Some(_) => Ok(run_merge(&case)),
            None => run(&case, &processors, &tokens),
        };
        match (found, case.get("error").and_then(Value::as_str)) {
            (Ok(mut encoding), None) => {
                if let Some(padding) = case.get("pad") {
                    pad(&mut encoding, padding);
                }
                assert_eq!(dump(&encoding, &tokens), case["out"], "{case}");
                if let Some(answers) = case.get("lookups") {
                    assert_eq!(lookups(&encoding), *answers, "{case}");
                }
            }
            (Err(error), Some(message)) if message.starts_with("Truncation error") => {
                assert_eq!(error.to_string(), message, "{case}");
            }
            (Err(_), Some(_)) => {}
            (found, _) => panic!("{found:?} instead of {case}"),
        }
    }
    assert!(cases > 300, "only {cases} cases");
}

fn template(single: Value, pair: Value) -> Value {
    let specials = json!({"<s>": {"id": "<s>", "ids": [10], "tokens": ["<s>"]}});
    json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": specials})
}

fn byte_level() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true})
}

fn sequence(steps: Value) -> Value {
    json!({"type": "Sequence", "processors": steps})
}

fn special(name: &str) -> Value {
    json!({"SpecialToken": {"id": name, "type_id": 0}})
}

fn text_piece(id: &str) -> Value {
    json!({"Sequence": {"id": id, "type_id": 0}})
}

fn refusal(value: &Value) -> String {
    processor(value).unwrap_err().to_string()
}

fn texts(count: usize) -> Vec<Encoding> {
    vec![Encoding::from_columns(vec![1], vec![(0, 1)], vec![Some(0)], 0); count]
}

#[test]
fn a_template_that_never_works_is_refused_at_load() {
    let pair = json!([text_piece("A"), text_piece("B")]);

    let missing = refusal(&template(
        json!([special("[CLS]"), text_piece("A")]),
        pair.clone(),
    ));
    assert!(
        missing.contains("post_processor.single[0] names the special token '[CLS]'"),
        "{missing}"
    );
    let second = refusal(&template(json!([text_piece("B")]), pair.clone()));
    assert!(
        second.contains("post_processor.single[0] asks for the second text"),
        "{second}"
    );
    let single = template(json!([special("<s>"), text_piece("A"), special("<s>")]), pair);
    let twice = refusal(&sequence(json!([byte_level(), single, single])));
    assert!(
        twice.contains("post_processor.processors[2] is a TemplateProcessing"),
        "{twice}"
    );
    assert!(twice.contains("makes 3 parts"), "{twice}");
}

#[test]
fn a_template_that_works_for_some_calls_fails_at_the_others() {
    let broken_pair = json!([text_piece("A"), special("[SEP]"), text_piece("B")]);
    let processor = processor(&template(json!([text_piece("A")]), broken_pair)).unwrap();

    assert_eq!(processor.process(texts(1), true, &NoSpelling).unwrap().ids, [1]);
    assert_eq!(
        processor.process(texts(2), false, &NoSpelling).unwrap().ids,
        [1, 1]
    );
    let error = processor
        .process(texts(2), true, &NoSpelling)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("post_processor.pair[1] names the special token '[SEP]'"),
        "{error}"
    );
    assert!(processor.process(texts(3), true, &NoSpelling).is_err());
    assert!(processor.process(texts(0), true, &NoSpelling).is_err());
}

#[test]
fn a_damaged_post_processor_is_refused_with_its_place() {
    let single = json!([text_piece("A")]);
    let mut odd = template(single.clone(), single.clone());
    odd["special_tokens"]["<s>"]["ids"] = json!([10, 11]);

    for (value, message) in [
        (odd, "post_processor.special_tokens.<s> has 2 ids and 1 tokens"),
        (
            template(json!(["$A"]), single.clone()),
            "post_processor.single[0] should be an object",
        ),
        (
            template(json!([text_piece("C")]), single.clone()),
            "post_processor.single[0].Sequence.id should be 'A'",
        ),
        (
            template(json!([{}]), single.clone()),
            "post_processor.single[0] should have one member",
        ),
        (
            template(json!([{"Text": {"id": "A"}}]), single.clone()),
            "post_processor.single[0] should have one member",
        ),
        (
            template(single.clone(), json!(null)),
            "post_processor.pair should be an array",
        ),
        (
            json!({"type": "ByteLevel", "trim_offsets": true}),
            "post_processor lacks 'add_prefix_space'",
        ),
        (
            sequence(json!([{"type": "Fancy"}])),
            "post_processor.processors[0] has type 'Fancy'; hf_bpe supports",
        ),
    ] {
        let error = refusal(&value);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn affixes_are_the_ids_around_one_text() {
    let pair = json!([text_piece("A"), text_piece("B")]);
    let around = template(
        json!([special("<s>"), text_piece("A"), special("<s>"), special("<s>")]),
        pair.clone(),
    );
    let doubled = template(json!([text_piece("A"), text_piece("A")]), pair.clone());
    let before = template(json!([special("<s>"), text_piece("A")]), pair.clone());
    let affixes = |value: Value, special| processor(&value).unwrap().affixes(special);

    assert_eq!(affixes(around.clone(), true), Some((vec![10], vec![10, 10])));
    assert_eq!(affixes(around.clone(), false), Some((vec![], vec![])));
    assert_eq!(affixes(byte_level(), true), Some((vec![], vec![])));
    assert_eq!(
        affixes(sequence(json!([byte_level(), around])), true),
        Some((vec![10], vec![10, 10]))
    );
    assert_eq!(affixes(sequence(json!([])), true), Some((vec![], vec![])));
    assert_eq!(affixes(sequence(json!([before, before])), true), None);
    assert_eq!(affixes(doubled, true), None);
    assert_eq!(affixes(template(json!([]), pair), true), None);
}

#[test]
fn a_stride_longer_than_the_room_is_refused_for_short_texts_too() {
    let cut = |max_length, stride| {
        let truncation = Truncation {
            max_length,
            stride,
            ..Truncation::default()
        };
        let text = texts(1).remove(0);
        post_process(None, text, None, Some(&truncation), true, &NoSpelling).map(|encoding| encoding.ids)
    };

    assert_eq!(cut(2, 2).unwrap(), [1]);
    let error = cut(2, 3).unwrap_err().to_string();
    assert!(
        error.contains("stride is 3") && error.contains("windows of 2 tokens"),
        "{error}"
    );
}
