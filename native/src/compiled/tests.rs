use super::*;
use serde_json::{Value, json};

/// A file with what is odd: a token without a character, a gap in the ids, a pair that is listed twice, an added token
/// whose id the vocabulary has otherwise, dropout, and parts that nothing reads.
fn odd() -> Value {
    json!({
        "version": "1.0",
        "truncation": {"direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 0},
        "padding": null,
        "added_tokens": [
            {"id": 7, "content": "ab", "single_word": false, "lstrip": true, "rstrip": false, "normalized": true,
             "special": false},
            {"id": 90, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
             "special": true},
        ],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE", "dropout": 0.1, "unk_token": "<s>", "continuing_subword_prefix": null,
            "end_of_word_suffix": "", "fuse_unk": true, "byte_fallback": false, "ignore_merges": true,
            "vocab": {"b": 0, "a": 1, "": 2, "ab": 40, "Ġab": 41, "Ġ": 5, "語": 6},
            "merges": [["a", "b"], "Ġ ab", ["a", "b"]],
        },
    })
}

fn compiled(file: &Value) -> (Compiled, Vec<u8>) {
    let compiled = compile(file.to_string().as_bytes()).unwrap();
    let form = compiled.form.clone().expect("this file can be compiled");
    (compiled, form)
}

fn assert_same(loaded: &Tokenizer, read: &Tokenizer) {
    assert_eq!(loaded.to_json(true), read.to_json(true));
    assert_eq!(loaded.warnings(), read.warnings());
    let (loaded, read) = (loaded.bpe(), read.bpe());
    assert_eq!(loaded.vocab.parts(), read.vocab.parts());
    assert_eq!(loaded.merges.need_heap(), read.merges.need_heap());
    let sorted = |merges: &Merges| {
        let mut all: Vec<_> = merges
            .iter()
            .map(|(left, right, m)| (m.rank, left, right, m.id))
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&loaded.merges), sorted(&read.merges));
}

#[test]
fn what_is_loaded_equals_what_was_read() {
    let mut bare = odd();
    for part in ["truncation", "normalizer", "pre_tokenizer", "decoder"] {
        bare[part] = Value::Null;
    }
    let mut shared_ids = odd();
    shared_ids["model"]["vocab"]["b"] = json!(1);
    let mut empty = bare.clone();
    (empty["model"]["vocab"], empty["model"]["merges"]) = (json!({}), json!([]));
    let mut huge_id = odd();
    huge_id["model"]["vocab"]["語"] = json!(u32::MAX);

    for file in [odd(), bare, shared_ids, empty, huge_id] {
        let (compiled, form) = compiled(&file);
        let read = Tokenizer::from_json(file.to_string().as_bytes()).unwrap();
        assert_same(&compiled.tokenizer, &read);
        assert_same(&load(&form, &compiled.source).unwrap(), &read);
    }
}

#[test]
fn numbers_come_back_to_the_last_bit_or_there_is_no_form() {
    let mut numbers = fastrand::Rng::with_seed(1);
    let mut forms = 0;
    for _ in 0..2_000 {
        let number = f64::from_bits(numbers.u64(..));
        if !number.is_finite() {
            continue;
        }
        let mut file = odd();
        file["pre_tokenizer"]["own"] = json!(number);
        file["model"]["dropout"] = json!(numbers.f64());
        let text = file.to_string();
        let compiled = compile(text.as_bytes()).unwrap();
        assert_same(
            &compiled.tokenizer,
            &Tokenizer::from_json(text.as_bytes()).unwrap(),
        );
        if let Some(form) = compiled.form {
            assert_same(&load(&form, &compiled.source).unwrap(), &compiled.tokenizer);
            forms += 1;
        }
    }
    assert!(forms > 1_000, "{forms}");
}

#[test]
fn the_digest_of_a_file_is_that_of_its_bytes() {
    let text = odd().to_string();

    let source = compile(text.as_bytes()).unwrap().source;

    assert_eq!(digest(text.as_bytes()).unwrap(), source);
    assert_ne!(digest(&text.as_bytes()[1..]).unwrap(), source);
}

#[test]
fn a_form_of_another_file_or_version_is_not_loaded() {
    let (Compiled { source, .. }, form) = compiled(&odd());
    let mut other = source;
    other[31] ^= 1;

    assert!(load(&form, &other).is_none());
    assert!(Reader::new(&form, STAMP).is_some());
    assert!(Reader::new(&form, "hf_bpe 0.0.0, compiled form 1").is_none());
}

#[test]
fn damage_anywhere_is_found() {
    let (Compiled { source, .. }, form) = compiled(&odd());

    for at in 0..form.len() {
        for bit in 0..8 {
            let mut damaged = form.clone();
            damaged[at] ^= 1 << bit;
            assert!(load(&damaged, &source).is_none(), "byte {at}, bit {bit}");
        }
        assert!(load(&form[..at], &source).is_none(), "{at} bytes");
    }
    assert!(load(&[&form[..], b"\0"].concat(), &source).is_none());
}

/// The form with its checksum made right again.
fn resealed(mut form: Vec<u8>) -> Vec<u8> {
    let sum = *blake3::hash(&form[48..]).as_bytes();
    form[16..48].copy_from_slice(&sum);
    form
}

#[test]
fn a_forged_form_gives_no_panic() {
    let (Compiled { source, .. }, form) = compiled(&odd());
    let mut numbers = fastrand::Rng::with_seed(1);
    let mut loaded = 0;
    for _ in 0..20_000 {
        let mut forged = form.clone();
        for _ in 0..numbers.usize(1..4) {
            let at = numbers.usize(48..forged.len());
            forged[at] = [0, 1, 255, numbers.u8(..)][numbers.usize(0..4)];
        }
        let Some(tokenizer) = load(&resealed(forged), &source) else {
            continue;
        };
        loaded += 1;
        let ids = tokenizer.encode_ordinary("ab abba 語<s>").unwrap_or_default();
        let _ = tokenizer.decode(&ids, true);
        let _ = (tokenizer.to_json(true), tokenizer.warnings());
    }
    // Most are refused; those that aren't must be enough to say something.
    assert!(loaded > 400, "{loaded}");
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let vocab = |data: &[u8], ends: &[u32], ids: &[u32]| {
        Vocab::from_parts(data.to_vec(), ends.to_vec(), ids.to_vec())
    };

    assert!(vocab("aé".as_bytes(), &[1, 3], &[0, 1]).is_some());
    for (data, ends, ids) in [
        (&b"a\xff"[..], &[1, 2][..], &[0, 1][..]),
        ("aé".as_bytes(), &[2, 3], &[0, 1]),
        (b"ab", &[2, 1], &[0, 1]),
        (b"ab", &[1], &[0]),
        (b"ab", &[1, 9], &[0, 1]),
        (b"ab", &[1, 2], &[0]),
        (b"a", &[], &[]),
    ] {
        assert!(vocab(data, ends, ids).is_none(), "{data:?} {ends:?} {ids:?}");
    }
}
