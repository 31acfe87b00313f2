//! Speed of encoding without Python: `cargo bench --bench encode -- tokenizer.json FILE...`
//!
//! Each file is cut into documents of about 1 MB and again into documents of about 2 KB, whose ids are made in a row on one
//! thread. The first pass has an empty cache; of the later ones, whose cache is warm, the best counts, with offsets and without.
//! It doesn't show what lists of Python objects cost.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hf_bpe_native::tokenizer::{EncodeOptions, Rules, Tokenizer};
use hf_bpe_native::{Result, parallel};

const SIZES: [usize; 2] = [1_000_000, 2_000];
const WARM_PASSES: usize = 6;
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
    parallel::set_worker_process();
    let json = std::fs::read(&path).expect("the first argument is a readable tokenizer.json");
    for file in arguments {
        let text = std::fs::read_to_string(&file).expect("the other arguments are UTF-8 files");
        for size in SIZES {
            let tokenizer = Tokenizer::from_json(&json).expect("a tokenizer.json that loads");
            let documents = documents(&text, size);
            let fresh = pass(&tokenizer, &documents);
            let (mut warm, mut placed): (f64, f64) = (0.0, 0.0);
            for _ in 0..WARM_PASSES {
                warm = warm.max(pass(&tokenizer, &documents));
                placed = placed.max(pass_with_offsets(&tokenizer, &documents));
            }
            println!(
                "{file}: fresh {fresh:.0} MB/s, warm {warm:.0} MB/s, with offsets {placed:.0} MB/s, documents of {size}"
            );
        }
    }
}

fn documents(text: &str, size: usize) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // At a line's end, so never inside a character.
        let line_end = rest.bytes().skip(size).position(|byte| byte == b'\n');
        let (document, after) = rest.split_at(line_end.map_or(rest.len(), |at| size + at + 1));
        documents.push(document);
        rest = after;
    }
    documents
}

fn pass(tokenizer: &Tokenizer, documents: &[&str]) -> f64 {
    speed(documents, || {
        tokenizer.encode_flat(documents, Rules::Usual(OPTIONS))
    })
}

fn pass_with_offsets(tokenizer: &Tokenizer, documents: &[&str]) -> f64 {
    speed(documents, || {
        tokenizer.encode_flat_with_offsets(documents, OPTIONS)
    })
}

fn speed<T>(documents: &[&str], encode: impl FnOnce() -> Result<T>) -> f64 {
    let start = time();
    let encoded = encode().expect("published patterns don't run away");
    drop(std::hint::black_box(encoded));
    let took = time() - start;
    let bytes: usize = documents.iter().map(|document| document.len()).sum();
    bytes as f64 / 1e6 / took.as_secs_f64()
}

/// How long this thread ran, where the system tells; otherwise how long the program has run.
fn time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    // Without this the system tells the time of its last tick, which may be 4 ms ago: more than a whole pass over 1 MB.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = told.and_then(|told| told.split(' ').next()?.parse().ok());
    ran.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
