use serde_json::json;

use super::*;

/// A model of characters, whose tokens are `a` to `e` and what `merges` make.
fn tokenizer(merges: &[(&str, &str)], dead: &[&str]) -> Tokenizer {
    let letters = ["a", "b", "c", "d", "e"].map(str::to_owned);
    let made = merges.iter().map(|(left, right)| format!("{left}{right}"));
    let mut vocab = serde_json::Map::new();
    for token in letters
        .into_iter()
        .chain(made)
        .chain(dead.iter().map(|&token| token.to_owned()))
    {
        let id = vocab.len();
        vocab.entry(token).or_insert(id.into());
    }
    let file = json!({"model": {"type": "BPE", "vocab": vocab, "merges": merges}});
    Tokenizer::from_json(file.to_string().as_bytes()).expect("the file is whole")
}

fn plan(tokenizer: &Tokenizer, word: &str, at: Option<Rank>) -> Plan {
    let next = tokenizer.max_id().map_or(0, |id| id + 1);
    Chains::new(tokenizer, at, next)
        .plan(word, word)
        .expect("the word can be encoded")
}

#[test]
fn a_chain_goes_on_from_what_older_merges_leave() {
    let tokenizer = tokenizer(&[("b", "c")], &[]);

    let planned = plan(&tokenizer, "abcd", None);

    assert_eq!(
        planned,
        Plan::Chain(vec![
            ("abc".into(), 6, Some((0, 5))),
            ("abcd".into(), 7, Some((6, 3)))
        ])
    );
}

#[test]
fn repeated_parts_are_joined_as_they_will_be() {
    let tokenizer = tokenizer(&[], &[]);

    let Plan::Chain(links) = plan(&tokenizer, "ababa", None) else {
        panic!("a chain leads there");
    };
    let texts: Vec<_> = links.iter().map(|(text, ..)| text.as_str()).collect();

    assert_eq!(texts, ["ab", "abab", "ababa"]);
}

#[test]
fn a_token_that_no_merges_make_is_dead_unless_merges_may_be_put_before() {
    let tokenizer = tokenizer(&[("b", "c"), ("a", "b"), ("ab", "c")], &[]);

    assert_eq!(plan(&tokenizer, "abc", None), Plan::Dead(7, vec![0, 5]));
    assert_eq!(
        plan(&tokenizer, "abc", Some(3)),
        Plan::Chain(vec![("abc".into(), 7, Some((0, 5)))])
    );
}

#[test]
fn a_character_without_a_symbol_is_no_part_of_a_word() {
    assert_eq!(plan(&tokenizer(&[], &[]), "ax", None), Plan::Unspellable);
}

#[test]
fn the_first_merge_across_an_end_is_found() {
    let tokenizer = tokenizer(&[("d", "e"), ("c", "d"), ("a", "b")], &[]);
    let mut chains = Chains::new(&tokenizer, None, 0);
    let mut crossing = |word: &str, start: usize, end: usize| chains.crossing(word, start, end).unwrap();

    assert_eq!(crossing("abc", 0, 3), None);
    assert_eq!(
        crossing("abcd", 0, 3).map(|found| (found.rank, found.halves)),
        Some((1, (2, 3)))
    );
    assert_eq!(crossing("abcde", 0, 3), None);
    assert_eq!(crossing("abc", 1, 3).map(|found| found.rank), Some(2));
}
