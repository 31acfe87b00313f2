//! Pre-tokenizers as `tokenizer.json` writes them: what is read, what is refused, and how steps follow each other.

use std::ops::Range;

use hf_bpe_native::config::Node;
use hf_bpe_native::pre_tokenizer::{Behavior, ByteLevel, Digits, PreTokenizer, Scratch, SplitPattern, Step};
use hf_bpe_native::{Error, Result};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<PreTokenizer> {
    PreTokenizer::from_node(&Node::new("pre_tokenizer", value))
}

fn message(value: Value) -> String {
    read(&value).unwrap_err().to_string()
}

fn words<'t>(pre_tokenizer: &PreTokenizer, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    pre_tokenizer
        .split_ranges(text, &mut Scratch::default(), |range| words.push(&text[range]))
        .unwrap();
    words
}

fn digits(individual_digits: bool) -> Value {
    json!({"type": "Digits", "individual_digits": individual_digits})
}

fn byte_level(use_regex: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex})
}

fn split(pattern: Value, behavior: &str, invert: bool) -> Value {
    json!({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert})
}

fn sequence(members: &[Value]) -> Value {
    json!({"type": "Sequence", "pretokenizers": members})
}

#[test]
fn byte_level_uses_the_pattern_unless_told_otherwise() {
    let value = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "unknown": 1});

    let pre_tokenizer = read(&value).unwrap();

    let [Step::ByteLevel(read)] = pre_tokenizer.steps() else {
        panic!("one step")
    };
    let expected = ByteLevel {
        add_prefix_space: true,
        trim_offsets: false,
        use_regex: true,
    };
    assert_eq!(*read, expected);
    assert_eq!(
        words(&pre_tokenizer, "it's 12 o'clock!"),
        ["it", "'s", " 12", " o", "'", "clock", "!"]
    );
}

#[test]
fn byte_level_without_the_pattern_keeps_the_text_whole() {
    let pre_tokenizer = read(&byte_level(false)).unwrap();

    assert_eq!(words(&pre_tokenizer, "it's 12"), ["it's 12"]);
    assert_eq!(words(&pre_tokenizer, ""), [""; 0]);
}

#[test]
fn split_keeps_what_it_was_given() {
    let value = split(json!({"Regex": r"\s+"}), "MergedWithNext", true);

    let pre_tokenizer = read(&value).unwrap();

    let [Step::Split(read)] = pre_tokenizer.steps() else {
        panic!("one step")
    };
    assert_eq!(*read.pattern(), SplitPattern::Regex(r"\s+".to_owned()));
    assert_eq!(read.behavior(), Behavior::MergedWithNext);
    assert!(read.invert());
    assert!(!read.is_published());
}

#[test]
fn string_patterns_are_taken_literally() {
    let pre_tokenizer = read(&split(json!({"String": ".*"}), "Isolated", false)).unwrap();

    assert_eq!(words(&pre_tokenizer, "a.*b..*"), ["a", ".*", "b.", ".*"]);
}

#[test]
fn nested_sequences_are_one_list_of_steps() {
    let inner = sequence(&[digits(true), sequence(&[])]);
    let value = sequence(&[
        split(json!({"String": " "}), "Removed", false),
        inner,
        byte_level(true),
    ]);

    let pre_tokenizer = read(&value).unwrap();

    assert!(matches!(
        pre_tokenizer.steps(),
        [Step::Split(_), Step::Digits(_), Step::ByteLevel(_)]
    ));
    assert_eq!(
        words(&pre_tokenizer, "ab 12's.x"),
        ["ab", "1", "2", "'s", ".", "x"]
    );
    assert_eq!(words(&pre_tokenizer, ""), [""; 0]);
    assert_eq!(words(&pre_tokenizer, "   "), [""; 0]);
}

#[test]
fn an_empty_sequence_keeps_the_text_whole() {
    assert_eq!(words(&read(&sequence(&[])).unwrap(), "a b"), ["a b"]);
}

/// The three splits of DeepSeek V3: a step sees only its piece, so `\s+$` and `^` mean the piece.
#[test]
fn each_step_sees_only_its_piece() {
    let value = sequence(&[
        split(json!({"Regex": r"\p{N}{1,3}"}), "Isolated", false),
        split(json!({"Regex": "[一-龥぀-ゟ゠-ヿ]+"}), "Isolated", false),
        split(json!({"Regex": r"^\p{L}| ?\p{L}+|\s+$|\s+"}), "Isolated", false),
        byte_level(false),
    ]);

    let pre_tokenizer = read(&value).unwrap();

    assert_eq!(
        words(&pre_tokenizer, "abc1234def 漢字gh \n7"),
        [
            "a", "bc", "123", "4", "d", "ef", " ", "漢", "字", "g", "h", " \n", "7"
        ]
    );
}

#[test]
fn scratch_can_be_used_for_the_next_text() {
    let pre_tokenizer = read(&sequence(&[digits(true), byte_level(true)])).unwrap();
    let mut scratch = Scratch::default();
    let mut split = |text: &str| {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        pre_tokenizer
            .split_ranges(text, &mut scratch, |range| ranges.push(range))
            .unwrap();
        ranges
    };

    assert_eq!(
        split("a long text 12 with much"),
        [0..1, 1..6, 6..11, 11..12, 12..13, 13..14, 14..19, 19..24]
    );
    assert_eq!(split("a1"), [0..1, 1..2]);
    assert_eq!(split(""), [0..0; 0]);
}

#[test]
fn digits_split_alone_or_in_runs() {
    assert_eq!(
        words(&read(&digits(true)).unwrap(), "call 911 ½!"),
        ["call ", "9", "1", "1", " ", "½", "!"]
    );
    assert_eq!(
        words(&read(&digits(false)).unwrap(), "call 911½ !"),
        ["call ", "911½", " !"]
    );
    assert_eq!(words(&read(&digits(false)).unwrap(), "12"), ["12"]);
}

/// tokenizers 0.23.3 calls 1924 code points numeric: those of Unicode 17.
#[test]
fn digits_are_those_of_unicode_17() {
    let digits = Digits {
        individual_digits: true,
    };
    let is_numeric = |character: char| {
        let mut pieces = 0;
        digits.split(&format!("a{character}a"), |_| pieces += 1).unwrap();
        pieces == 3
    };

    assert_eq!(
        ('\0'..=char::MAX)
            .filter(|&character| is_numeric(character))
            .count(),
        1924
    );
    if char::UNICODE_VERSION.0 == 17 {
        for character in '\0'..=char::MAX {
            assert_eq!(is_numeric(character), character.is_numeric(), "{character:?}");
        }
    }
}

#[test]
fn unknown_kinds_are_refused_with_their_path() {
    let message = message(sequence(&[digits(true), json!({"type": "SyllableSplit"})]));

    assert!(
        message.contains(
            "pre_tokenizer.pretokenizers[1] has type 'SyllableSplit'; hf_bpe supports 'BertPreTokenizer', "
        ),
        "{message}"
    );
}

#[test]
fn missing_fields_are_refused_as_in_stock() {
    let whole = [
        byte_level(true),
        digits(true),
        split(json!({"String": "a"}), "Removed", false),
        sequence(&[]),
    ];
    for value in whole {
        for name in value
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| *name != "use_regex")
        {
            let mut without = value.clone();
            without.as_object_mut().unwrap().remove(name);
            let message = message(without);
            assert!(
                message.contains(&format!("pre_tokenizer lacks '{name}'")),
                "{message}"
            );
        }
    }
}

#[test]
fn values_of_the_wrong_type_are_refused_with_their_path() {
    let with = |mut value: Value, name: &str, found: Value| {
        value[name] = found;
        message(value)
    };

    assert!(
        with(byte_level(true), "use_regex", Value::Null)
            .contains("pre_tokenizer.use_regex should be a boolean")
    );
    assert!(
        with(digits(true), "individual_digits", json!(1)).contains("individual_digits should be a boolean")
    );
    assert!(with(sequence(&[]), "pretokenizers", json!({})).contains("pretokenizers should be an array"));
    let a_split = || split(json!({"String": "a"}), "Removed", false);
    assert!(
        with(a_split(), "behavior", json!("removed"))
            .contains("pre_tokenizer.behavior should be 'Removed', ")
    );
    assert!(with(a_split(), "invert", json!("no")).contains("pre_tokenizer.invert should be a boolean"));
    assert!(with(a_split(), "pattern", json!("a")).contains("pre_tokenizer.pattern should be an object"));
    for pattern in [
        json!({}),
        json!({"Glob": "a"}),
        json!({"String": "a", "Regex": "a"}),
    ] {
        assert!(
            with(a_split(), "pattern", pattern)
                .contains("pattern should have one member, 'String' or 'Regex'")
        );
    }
}

#[test]
fn malformed_patterns_are_refused_at_load_with_their_path() {
    for pattern in [
        "(",
        "a)",
        "[a",
        "*",
        r"\p{Nothing}",
        r"(?<n>a)\k<m>",
        "[b-a]",
        r"(?<n>\g<n>)",
    ] {
        let result = read(&sequence(&[split(json!({"Regex": pattern}), "Removed", false)]));
        let Err(Error::SplitPattern(message)) = result else {
            panic!("{pattern} can't be compiled")
        };
        let expected = format!(
            "tokenizer.json: pre_tokenizer.pretokenizers[0].pattern: split pattern '{pattern}' can't be compiled: "
        );
        assert!(message.starts_with(&expected), "{message}");
    }
}
