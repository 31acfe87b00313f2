use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::pre_tokenizer::published_patterns;
use crate::train::cutting::Cutting;
use crate::train::sorted::MemoryLimit;

type Counted = (BTreeMap<Vec<u8>, u64>, u64, BatchReport);

fn pipeline(pre_tokenizer: Value, normalizer: Value) -> Tokenizer {
    let bytes = (0..=255).map(crate::byte_alphabet::char_of);
    let vocab: serde_json::Map<_, _> = bytes
        .enumerate()
        .map(|(id, char)| (char.to_string(), json!(id)))
        .collect();
    let file = json!({
        "version": "1.0", "added_tokens": [], "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
        "post_processor": null, "decoder": null, "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    Tokenizer::from_json(file.to_string().as_bytes()).expect("it is read")
}

fn split(pattern: &str) -> Value {
    json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
    ]})
}

fn byte_level(prefix: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": true})
}

/// Every published pattern alone and behind each of some normalizers, and GPT-2's with a prefix space.
fn pipelines() -> Vec<(String, Tokenizer)> {
    let bert = json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
        "lowercase": true,
    });
    let pair = json!({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]});
    let plain = ["NFC", "NFKC", "NFD", "NFKD", "Lowercase", "Nmt"];
    let normalizers: Vec<_> = plain
        .map(|kind| json!({"type": kind}))
        .into_iter()
        .chain([bert, pair])
        .collect();
    let mut found = Vec::new();
    let cutters = published_patterns()
        .map(split)
        .chain([byte_level(false), byte_level(true)]);
    for (at, cutter) in cutters.enumerate() {
        for normalizer in [
            Value::Null,
            normalizers[at % normalizers.len()].clone(),
            normalizers[(at + 3) % normalizers.len()].clone(),
        ] {
            found.push((
                format!("{cutter} {normalizer}"),
                pipeline(cutter.clone(), normalizer),
            ));
        }
    }
    found
}

fn counter(longest: usize) -> Counter {
    let directory = std::env::temp_dir();
    Counter::new(
        MemoryLimit {
            memory: usize::MAX,
            directory,
        },
        Cutting::new(longest),
    )
}

fn counted(counter: &Counter, report: BatchReport) -> Counted {
    let mut counts = BTreeMap::new();
    counter
        .for_each(|pretoken, count| assert!(counts.insert(pretoken.to_vec(), count).is_none()))
        .expect("it counts");
    (counts, counter.cut_pretokens(), report)
}

fn at_once(pipeline: &Tokenizer, text: &str, longest: usize) -> Counted {
    let counter = counter(longest);
    let report = counter
        .count(pipeline, &[text], None, &mut || true)
        .expect("it counts");
    counted(&counter, report)
}

/// The counts of a text that comes in parts of `size` characters, and how much of it was held at most.
fn in_parts(pipeline: &Tokenizer, text: &str, longest: usize, size: usize) -> (Counted, usize) {
    let counter = counter(longest);
    let mut long = LongText::new(&counter, pipeline, size)
        .expect("nothing died")
        .expect("the pipeline works in parts");
    let (mut rest, mut held) = (text, 0);
    while !rest.is_empty() {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        long.push(part).expect("it counts");
        held = held.max(long.raw.len() + long.text.len());
        rest = after;
    }
    let report = long.finish().expect("it counts");
    (counted(&counter, report), held)
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Characters of one alphabet, some of them in runs.
    fn text(&mut self, alphabet: &[char]) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(50) {
            let char = alphabet[self.below(alphabet.len())];
            let most = if self.below(6) == 0 { 40 } else { 2 };
            let run = 1 + self.below(most);
            text.extend(std::iter::repeat_n(char, run));
        }
        text
    }
}

const ALPHABETS: &[&str] = &[
    "ab ",
    "aA'stremvldRELV ",
    "aAʰ語\u{301}",
    "a1 \n\r\t",
    "ab'/ \n\r",
    "aB1.'/ \n\u{b}",
    "a  \n  b!",
    "ab c'sé語\u{17f}\u{301}",
    "123456 a１２",
    "aé ßÉ中文かナ한글д。，",
    "aB中á\u{301}\u{940}क!? \n",
    "ДдЖжaZ'sſtllŁǅʰ ",
    "中文，。“”　 \u{a0}\n1２²٣a",
    "😀👍🏽\u{200d}aé '\u{10ffff}",
    "中A bʰB\u{301}C!/\n",
    "\u{85}\u{2028}\u{feff}\u{fffd}aé \0",
    " \t\n",
    "!/\n",
    "a'",
    "aA",
    "İẞß\u{130}ΣςA\u{307} ",
    "가\u{1100}\u{1161}\u{11a8}か\u{3099}",
    "1",
    "\u{301}a!",
];

#[test]
fn parts_of_any_size_count_as_the_whole() {
    let mut random = Random(1);
    let alphabets: Vec<Vec<char>> = ALPHABETS
        .iter()
        .map(|alphabet| alphabet.chars().collect())
        .collect();
    for (name, pipeline) in pipelines() {
        for round in 0..400 {
            let text = random.text(&alphabets[round % alphabets.len()]);
            let (longest, size) = (4 + random.below(20), 1 + random.below(64));
            let expected = at_once(&pipeline, &text, longest);

            for size in [size, 1 + random.below(4)] {
                let found = in_parts(&pipeline, &text, longest, size).0;
                assert_eq!(found, expected, "{text:?} by {size}, cut at {longest}: {name}");
            }
        }
    }
}

/// Words, pairs and runs of the alphabets one after the other, so that each follows each.
#[test]
fn runs_that_were_folded_end_as_they_would_have() {
    let heads = [
        "", " ", "!", "'", "x's", "A", "語", "\u{301}", "1", "\n", " \n ", "B語",
    ];
    let runs = [
        "a",
        "A",
        "語",
        "aA",
        "語A",
        "A語",
        "a語",
        "1",
        "!",
        " ",
        "\n",
        " \n",
        "\u{301}",
        "क\u{940}",
        "'",
        "/",
        "!\u{301}",
    ];
    let tails = [
        "",
        "a",
        "A",
        "語",
        "Aa",
        "ABCDEFGHI",
        "ABCDEFGHIj",
        "1",
        "!",
        "'s",
        "'re b",
        "'ſ",
        " ",
        " a",
        "  a",
        "\n",
        " \n",
        "\n a",
        "/",
        "!\n/a",
        "\u{301}",
        "\u{301}A",
    ];
    for (name, pipeline) in pipelines().iter().step_by(3) {
        for head in heads {
            for run in runs {
                let run = run.repeat(24 / run.len() + 2);
                for tail in tails {
                    let text = format!("{head}{run}{tail}");
                    let expected = at_once(pipeline, &text, 5);
                    for size in [1, 7] {
                        let found = in_parts(pipeline, &text, 5, size).0;
                        assert_eq!(found, expected, "{text:?} by {size}: {name}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_more_than_some_parts_of_a_text_are_held() {
    let texts = [
        "a",
        "A",
        "語",
        "語。",
        "1",
        "12 ",
        "word ",
        "!",
        "😀",
        "😀 ",
        " ",
        "-- ",
        "กำ",
        "a\u{301}",
        "aA1",
        "क\u{940}क ",
        "'a",
        "\n",
        "한국어",
    ];
    for (name, pipeline) in pipelines() {
        for text in texts {
            let text = text.repeat(30_000 / text.len());
            let (_, held) = in_parts(&pipeline, &text, 64, 100);
            assert!(held < 3_000, "{held} bytes of {:?}: {name}", text.chars().next());
        }
    }
}

#[test]
fn an_empty_text_counts_as_at_once() {
    for (name, pipeline) in pipelines() {
        for text in ["", "\u{1}", "\u{fffd}"] {
            assert_eq!(
                in_parts(&pipeline, text, 8, 1).0,
                at_once(&pipeline, text, 8),
                "{name}"
            );
        }
    }
}

#[test]
fn pipelines_outside_of_the_proof_take_the_whole() {
    let gpt2 = || split(published_patterns().next().expect("there are some"));
    let outside = [
        pipeline(split(r"\s+|\S+"), Value::Null),
        pipeline(
            gpt2(),
            json!({"type": "Strip", "strip_left": true, "strip_right": true}),
        ),
        pipeline(gpt2(), json!({"type": "Prepend", "prepend": "_"})),
        pipeline(
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}),
            Value::Null,
        ),
        pipeline(Value::Null, Value::Null),
    ];
    for pipeline in &outside {
        assert!(
            LongText::new(&Counter::default(), pipeline, 8)
                .expect("nothing died")
                .is_none()
        );
    }
}
