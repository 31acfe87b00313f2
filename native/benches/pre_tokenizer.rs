//! Speed of the pre-tokenizers: `cargo bench --bench pre_tokenizer -- FILE...`
//!
//! Each file is cut into documents of about 1 MB. A pattern is timed only after its pieces of the first documents equal
//! those of the stock library's regex engine. Figures are the best of five passes, in MB/s; they don't show what it costs
//! to turn pieces into ids.

use std::time::Instant;

use hf_bpe_native::pre_tokenizer::{Behavior, Split, SplitPattern, published_patterns};

const DOCUMENT: usize = 1 << 20;
const PASSES: usize = 5;
/// Patterns of one's own, which run as automata.
const COMPOSED: &[&str] = &[
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}|",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    r"\p{N}{1,3}",
];
/// The engine is some forty times slower, so it sees only the beginning of the first document.
const VERIFIED: usize = 100_000;

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        println!("{file}: {} bytes", text.len());
        for pattern in published_patterns().chain(COMPOSED.iter().copied()) {
            report(pattern, &documents(&text));
        }
    }
}

fn report(pattern: &str, documents: &[&str]) {
    let pattern = SplitPattern::Regex(pattern.to_owned());
    let scanner = Split::new(&pattern, Behavior::Isolated, false).expect("a valid pattern");
    let engine = Split::by_regex_engine(&pattern, Behavior::Isolated, false).expect("a valid pattern");
    let head = prefix(documents[0], VERIFIED);
    let verdict = if ends(&scanner, head) == ends(&engine, head) {
        "equal"
    } else {
        "DIFFERENT"
    };
    let (scanner_speed, pieces) = speed(&scanner, documents);
    let (engine_speed, _) = speed(&engine, &[head]);
    let SplitPattern::Regex(pattern) = pattern else {
        return;
    };
    println!(
        "  {scanner_speed:7.1} MB/s, engine {engine_speed:5.1}, {pieces} pieces, {verdict}: {}",
        prefix(&pattern, 60)
    );
}

fn ends(split: &Split, text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    split
        .split(text, |range| ends.push(range.end))
        .expect("within the limits");
    ends
}

/// The best pass in MB/s, and how many pieces it told.
fn speed(split: &Split, documents: &[&str]) -> (f64, usize) {
    let bytes: usize = documents.iter().map(|document| document.len()).sum();
    let mut best = f64::MAX;
    let mut pieces = 0;
    for _ in 0..PASSES {
        pieces = 0;
        let mut sum = 0;
        let start = Instant::now();
        for document in documents {
            let told = split.split(document, |range| {
                pieces += 1;
                sum ^= range.end;
            });
            told.expect("within the limits");
        }
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(sum);
    }
    (bytes as f64 / best / 1e6, pieces)
}

fn documents(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut documents = Vec::new();
    while !rest.is_empty() {
        let (document, after) = rest.split_at(prefix(rest, DOCUMENT).len());
        documents.push(document);
        rest = after;
    }
    documents
}

fn prefix(text: &str, length: usize) -> &str {
    let cut = (0..=length.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at));
    &text[..cut.unwrap_or(0)]
}
