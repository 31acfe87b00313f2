//! Speed of encoding without Python: `cargo bench --bench encode -- tokenizer.json FILE...`
//!
//! Each file is cut into documents of about 1 MB, which are encoded three times on one thread. The first pass has an
//! empty cache, the last a warm one. It doesn't show what lists of Python objects cost.

use std::time::Instant;

use hf_bpe_native::tokenizer::{EncodeOptions, Tokenizer};

const DOCUMENT: usize = 1_000_000;
const OPTIONS: EncodeOptions = EncodeOptions {
    add_special_tokens: false,
    split_special_tokens: false,
};

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let Some(path) = arguments.next() else {
        println!("usage: cargo bench --bench encode -- tokenizer.json FILE...");
        return;
    };
    let json = std::fs::read(&path).expect("the first argument is a readable tokenizer.json");
    for file in arguments {
        let tokenizer = Tokenizer::from_json(&json).expect("a tokenizer.json that loads");
        let text = std::fs::read_to_string(&file).expect("the other arguments are UTF-8 files");
        let documents = documents(&text);
        let speeds: Vec<_> = (0..3).map(|_| pass(&tokenizer, &documents)).collect();
        println!(
            "{file}: fresh {:.0} MB/s, warm {:.0} MB/s, {} documents",
            speeds[0],
            speeds[2],
            documents.len()
        );
    }
}

fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // At a line's end, so never inside a character.
        let line_end = rest.bytes().skip(DOCUMENT).position(|byte| byte == b'\n');
        let (document, after) = rest.split_at(line_end.map_or(rest.len(), |at| DOCUMENT + at + 1));
        documents.push(document);
        rest = after;
    }
    documents
}

fn pass(tokenizer: &Tokenizer, documents: &[&str]) -> f64 {
    let start = Instant::now();
    let mut bytes = 0;
    for document in documents {
        let ids = tokenizer
            .encode_ids(document, OPTIONS)
            .expect("published patterns don't run away");
        std::hint::black_box(ids);
        bytes += document.len();
    }
    bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
}
