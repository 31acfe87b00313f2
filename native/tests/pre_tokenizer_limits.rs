//! Time and memory of the pre-tokenizers: linear for published patterns, an error instead of a hang for any other.

use std::time::{Duration, Instant};

use hf_bpe_native::pre_tokenizer::{Behavior, Split, SplitPattern, published_patterns};
use hf_bpe_native::{Error, Result};

const MILLION: usize = 1_000_000;
/// A linear scan takes milliseconds, a quadratic one hours; this leaves room for a busy machine.
const SOON: Duration = Duration::from_secs(5);
/// What the step limit allows, on a busy machine.
const BOUNDED: Duration = Duration::from_secs(60);

/// Patterns of one's own that are composed of known parts.
const COMPOSED: &[&str] = &[
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\p{N}{1,3}",
    r"[A-Z]+(?![a-z])|\w+",
];

fn isolated(pattern: &str) -> Result<Split> {
    Split::new(
        &SplitPattern::Regex(pattern.to_owned()),
        Behavior::Isolated,
        false,
    )
}

fn count(split: &Split, text: &str) -> Result<usize> {
    let mut count = 0;
    split.split(text, |_| count += 1)?;
    Ok(count)
}

fn refusal(pattern: &str, text: &str) -> String {
    let start = Instant::now();
    let result = count(&isolated(pattern).unwrap(), text);
    assert!(start.elapsed() < BOUNDED, "{pattern} took {:?}", start.elapsed());
    match result {
        Err(Error::SplitPattern(message)) => message,
        other => panic!("{pattern} gave {other:?}"),
    }
}

#[test]
fn scanners_take_linear_time_on_long_runs() {
    let units = [
        "a", "A", "1", " ", "\n", "\r", "\t", ".", "'", "/", "あ", "漢", "\u{301}", "😀", "\u{200d}",
        "\u{85}", "\u{3000}", "½", "ſ", "^", "_", "\0", " \n", "\n ", "A\u{301}", "あA", "Aa", "'s", " .",
        "a ", "\u{301}A", ".\n/", "1a", "  a", "ǅʰ", "'ſ",
    ];
    for pattern in published_patterns().chain(COMPOSED.iter().copied()) {
        let split = isolated(pattern).unwrap();
        assert!(split.is_published() || split.is_composed(), "{pattern}");
        for unit in units {
            let text = unit.repeat(MILLION / unit.chars().count());
            for text in [format!("{text}x"), format!("x{text}"), format!("{text}\n."), text] {
                let start = Instant::now();
                assert!(count(&split, &text).unwrap() > 0);
                assert!(
                    start.elapsed() < SOON,
                    "{unit:?} by {pattern} took {:?}",
                    start.elapsed()
                );
            }
        }
    }
}

#[test]
fn a_million_spaces_are_cut_where_stock_cuts() {
    let text = format!("{}x", " ".repeat(MILLION));
    for pattern in published_patterns() {
        let mut pieces = Vec::new();
        isolated(pattern)
            .unwrap()
            .split(&text, |range| pieces.push(range))
            .unwrap();
        assert_eq!(pieces, [0..MILLION - 1, MILLION - 1..MILLION + 1], "{pattern}");
    }
}

/// What has neither a scanner nor an automaton runs on the engine, long runs included.
#[test]
fn the_engine_cuts_long_runs() {
    let cl100k = published_patterns()
        .find(|pattern| pattern.contains("{1,3}|"))
        .unwrap();
    let pattern = SplitPattern::Regex(cl100k.to_owned());
    let split = Split::by_regex_engine(&pattern, Behavior::Isolated, false).unwrap();

    assert!(!split.is_published() && !split.is_composed());
    for unit in ["a", " ", "^", "\n", "あ", "_"] {
        let start = Instant::now();
        let pieces = count(&split, &format!("x{}x", unit.repeat(MILLION))).unwrap();
        assert!(pieces <= 3, "{unit:?}: {pieces} pieces");
        assert!(start.elapsed() < BOUNDED, "{unit:?} took {:?}", start.elapsed());
    }
}

#[test]
fn exponential_patterns_are_stopped() {
    let pattern = "(a+)+$x";

    let message = refusal(pattern, &format!("{}b", "a".repeat(60)));

    assert!(
        message.starts_with("split pattern '(a+)+$x' took too long at byte 0 of a text of 61 bytes ("),
        "{message}"
    );
    assert!(
        message.ends_with("make the pattern simpler, or split the text into shorter ones"),
        "{message}"
    );
    refusal("(a|aa)+c", &"a".repeat(100));
    refusal(r"(?:a|[ab]|a.)*[cd]$", &format!("{}c.", "a".repeat(100)));
}

/// An automaton that goes back too often leaves the rest to the engine, and so to its limits.
#[test]
fn quadratic_patterns_are_stopped_where_they_begin_to_be() {
    let pattern = r"\s*x|[ab]*[ac]*\d|y";

    assert!(isolated(pattern).unwrap().is_composed());
    let message = refusal(
        pattern,
        &format!("{}{}", "y".repeat(100_000), "a".repeat(200_000)),
    );

    // How far the engine came hangs on the machine; that it began where the automaton stopped doesn't.
    let (_, place) = message
        .split_once(" took too long at byte ")
        .unwrap_or_else(|| panic!("{message}"));
    let (byte, rest) = place.split_once(' ').unwrap();
    assert!((100_000..150_000).contains(&byte.parse().unwrap()), "{message}");
    assert!(rest.starts_with("of a text of 300000 bytes ("), "{message}");
}

/// No single match comes near the limit here, but there is one at each of many places.
#[test]
fn quadratic_patterns_are_stopped() {
    let text = "a".repeat(200_000);

    refusal(r"[ab]*[ac]*\d", &text);
    refusal(r"(?:a|b)*\d", &text);
    refusal(r"(?:\p{L}|_)+\d", &text);
}

/// What the engine steps over without leaving a choice open doesn't count as a step; the clock stops it.
#[test]
fn uncounted_quadratic_patterns_are_stopped() {
    let text = "a".repeat(300_000);

    let message = refusal(r"(?>[ab]+)\d", &text);

    assert!(
        message.contains("of a text of 300000 bytes (the limit is 16 seconds); "),
        "{message}"
    );
}

/// Here every search finds a short match soon, after having looked through the rest of the text.
#[test]
fn quadratic_look_ahead_is_stopped() {
    refusal(r"a(?=[ab]*c)|a", &"a".repeat(300_000));
}

#[test]
fn a_pattern_below_the_limits_is_not_stopped() {
    let split = isolated("(?:a?){30}a{30}").unwrap();

    assert_eq!(count(&split, &"a".repeat(30)).unwrap(), 1);
}

#[test]
fn the_match_stack_is_bounded() {
    let pattern = format!("{}a{}", "(".repeat(60), ")*".repeat(60));
    let start = Instant::now();

    // An answer or a refusal, but neither an abort nor gigabytes.
    let result = count(&isolated(&pattern).unwrap(), &"a".repeat(MILLION));

    assert!(
        matches!(result, Ok(_) | Err(Error::SplitPattern(_))),
        "{result:?}"
    );
    assert!(start.elapsed() < BOUNDED);
}

/// Oniguruma's compiler recurses into groups, classes and repeats; 4,000 of them overflow the two megabytes of a thread.
#[test]
fn deeply_nested_patterns_do_not_overflow_the_stack() {
    for (open, close) in [
        ("(", ")*b"),
        ("(?:", ")"),
        ("(?>", ")*b"),
        ("(?=", ")"),
        ("(?!", ")"),
        ("(?~", ")*b"),
        ("[", "]"),
        ("[^", "]"),
        ("[b&&", "]"),
        ("", "+?"),
        ("", "{1,2}"),
        ("", "|b"),
        ("\\b", ""),
        ("(?i)", ""),
    ] {
        let most = 65_000 / (open.len() + close.len());
        for depth in [250, 2_000, most] {
            let pattern = format!("{}a{}", open.repeat(depth), close.repeat(depth));
            let result = std::thread::Builder::new()
                .stack_size(2 << 20)
                .spawn(move || isolated(&pattern).map(drop))
                .unwrap()
                .join()
                .unwrap();
            assert!(
                matches!(result, Ok(()) | Err(Error::SplitPattern(_))),
                "{open} {depth}: {result:?}"
            );
        }
    }
}

#[test]
fn very_long_patterns_are_refused() {
    let Err(Error::SplitPattern(message)) = isolated(&"é".repeat(40_000)) else {
        panic!("80,000 bytes")
    };

    assert!(
        message.contains("…' has 80000 bytes; hf_bpe compiles at most 65536"),
        "{message}"
    );
}

#[test]
fn matches_that_overlap_are_refused() {
    let message = refusal(r"c(?=x)|(?<=\Kc)x", "acx");

    assert!(
        message.contains("found a match at byte 2 that overlaps the one before; remove '\\K'"),
        "{message}"
    );
}
