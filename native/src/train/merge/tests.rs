use super::*;

fn learned(words: &[(&str, u64)], settings: &Settings) -> Learned {
    let words: Vec<_> = words
        .iter()
        .map(|&(word, count)| (word.as_bytes(), count))
        .collect();
    learn(words.as_slice(), settings, &mut |_, _| true).expect("nothing interrupts")
}

fn merges(words: &[(&str, u64)], settings: &Settings) -> Vec<String> {
    let learned = learned(words, settings);
    let text = |id: u32| learned.vocab[id as usize].as_str();
    learned
        .merges
        .iter()
        .map(|&(left, right)| format!("{} {}", text(left), text(right)))
        .collect()
}

fn seen_only(vocab_size: usize) -> Settings {
    Settings {
        initial_alphabet: Vec::new(),
        ..Settings::byte_level(vocab_size)
    }
}

#[test]
fn overlaps_count_but_merge_from_left_to_right() {
    // `a a` counts twice in `aaa`, which beats `b c`.
    let merges = merges(&[("aaa", 2), ("bc", 3)], &Settings::byte_level(1000));

    assert_eq!(merges, ["a a", "b c", "aa a"]);
}

#[test]
fn ties_go_to_the_lowest_ids() {
    let words = [("xy", 5), ("ab", 5), (" z", 5)];
    let mut settings = Settings::byte_level(1000);

    assert_eq!(merges(&words, &settings), ["a b", "x y", "Ġ z"]);

    settings.special_tokens = vec!["x".to_owned()];
    assert_eq!(merges(&words, &settings), ["x y", "a b", "Ġ z"]);
}

#[test]
fn an_existing_text_keeps_its_id() {
    let settings = Settings {
        special_tokens: vec!["aa".to_owned()],
        ..seen_only(100)
    };

    let learned = learned(&[("aaaa", 1)], &settings);

    assert_eq!(learned.vocab, ["aa", "a", "aaaa"]);
    assert_eq!(learned.merges, [(1, 1), (0, 0)]);
}

#[test]
fn last_special_tokens_take_the_last_ids_unless_learned() {
    let last = ["<e>", "ab", "<p>"].map(str::to_owned).to_vec();
    let vocab = |size| {
        let settings = Settings {
            last_special_tokens: last.clone(),
            ..seen_only(size)
        };
        learned(&[("abc", 2)], &settings).vocab
    };

    assert_eq!(vocab(6), ["a", "b", "c", "<e>", "ab", "<p>"]);
    assert_eq!(vocab(7), ["a", "b", "c", "ab", "abc", "<e>", "<p>"]);
}

#[test]
fn growth_tells_what_each_merge_saves() {
    // `a a` counts twice in `aaa`, and is merged once.
    let learned = learned(&[("aaa", 2), ("bc", 3)], &Settings::byte_level(1000));

    assert_eq!(learned.growth, [(257, 2), (258, 3), (259, 2)]);
}

#[test]
fn long_tokens_are_only_merged_below_the_limit() {
    let limited = |limit| Settings {
        max_token_length: Some(limit),
        ..seen_only(100)
    };

    assert_eq!(merges(&[("abcd", 2)], &limited(0)), ["a b", "c d"]);
    assert_eq!(merges(&[("abcd", 2)], &limited(3)), ["a b", "c d"]);
    assert_eq!(merges(&[("abcd", 2)], &limited(4)), ["a b", "c d"]);
    assert_eq!(merges(&[("abcde", 2)], &limited(4)), ["a b", "c d", "cd e"]);
    assert_eq!(merges(&[("abcd", 2)], &limited(5)), ["a b", "c d", "ab cd"]);
}

#[test]
fn the_size_asked_for_is_a_bound_that_the_alphabet_may_break() {
    assert_eq!(
        learned(&[("abab", 2)], &Settings::byte_level(10)).vocab.len(),
        256
    );
    assert_eq!(
        learned(&[("abab", 2)], &Settings::byte_level(257)).vocab.len(),
        257
    );
    assert_eq!(
        learned(&[("abab", 2)], &Settings::byte_level(9000)).vocab.len(),
        258
    );
    assert_eq!(learned(&[], &seen_only(9000)).vocab.len(), 0);
}

#[test]
fn counts_beyond_31_bits_stay_right() {
    let words = [("the", 3_000_000_000), ("of", 2_000_000_000), ("never", 0)];

    assert_eq!(merges(&words, &seen_only(100)), ["h e", "t he", "o f"]);
}

#[test]
fn interrupting_is_an_error() {
    let words = [(b"ab".as_slice(), 1); 3];

    let interrupted = learn(words.as_slice(), &Settings::byte_level(1000), &mut |_, _| false);

    assert!(
        interrupted.is_ok_and(|learned| learned.merges.len() == 1),
        "too little work to ask"
    );
    let long = "ab".repeat(1 << 16);
    let interrupted = learn(
        [(long.as_bytes(), 1)].as_slice(),
        &Settings::byte_level(1000),
        &mut |_, _| false,
    );
    assert_eq!(interrupted, Err(Error::Interrupted));
}
