//! Offsets of many texts in a row are those of each text by itself: whatever the pipeline, whatever a token covers, with caches
//! and without. A test of its own process, since the limit of caches is a setting of the process.

mod random;
mod tokens;

use fastrand::Rng;
use hf_bpe_native::cache::{limit, set_limit};
use hf_bpe_native::tokenizer::{EncodeOptions, Tokenizer};
use random::{added_token, model, pipeline, texts};
use serde_json::{Value, json};

const OPTIONS: EncodeOptions = EncodeOptions {
    add_special_tokens: true,
    split_special_tokens: false,
};

fn tokenizer(mut file: Value, model: Value) -> Tokenizer {
    file["model"] = model;
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
}

fn plain() -> Value {
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        "post_processor": null, "decoder": null,
    })
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
    let mut file = plain();
    file["post_processor"] = file["pre_tokenizer"].clone();
    file["normalizer"] = json!({"type": "NFC"});
    let added = [(5000, "<s>"), (5001, "<end>"), (5002, "<é語>"), (5003, "NEW")];
    file["added_tokens"] = added
        .map(|(id, content)| added_token(id, content, (id % 2 == 0, id < 5002)))
        .into();
    let tokenizer = tokenizer(file, model(&mut numbers));
    let texts: Vec<_> = (0..20).flat_map(|_| texts(&mut numbers)).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    assert!(texts.iter().map(|text| text.len()).sum::<usize>() > 100_000);

    check(&tokenizer, &texts);
}
