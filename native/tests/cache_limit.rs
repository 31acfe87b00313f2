//! The limit of all caches of a process: a test of its own process, since it is a setting of the process.

use hf_bpe_native::cache::set_limit;
use hf_bpe_native::tokenizer::{EncodeOptions, Tokenizer};
use serde_json::json;

/// A vocabulary of digits and a space, whose texts go through the general route or, with `ByteLevel`, the fast one.
fn tokenizer(byte_level: bool) -> Tokenizer {
    let space = if byte_level { "Ġ" } else { " " };
    let mut vocab: serde_json::Map<_, _> = (0..10).map(|digit| (digit.to_string(), json!(digit))).collect();
    vocab.insert(space.into(), json!(10));
    let pre_tokenizer = if byte_level {
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})
    } else {
        json!({"type": "WhitespaceSplit"})
    };
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": pre_tokenizer, "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
}

#[test]
fn short_texts_and_texts_in_pieces_keep_to_the_limit_too() {
    const LEAST: usize = 1 << 20;
    let options = EncodeOptions {
        add_special_tokens: true,
        split_special_tokens: false,
    };
    for byte_level in [true, false] {
        set_limit(64 << 20);
        let tokenizer = tokenizer(byte_level);
        for number in 0..100_000 {
            tokenizer
                .encode_ids(&format!("{number} {number}"), options)
                .unwrap();
        }
        assert!(tokenizer.cache_bytes() > LEAST, "{byte_level}");

        set_limit(0);
        tokenizer.encode_ids("1 2", options).unwrap();

        assert!(tokenizer.cache_bytes() <= LEAST, "{byte_level}");
    }
}
