use super::*;

fn tokens(list: &[(&str, bool)]) -> AddedTokens {
    let mut added = AddedTokens::default();
    for (id, (content, special)) in list.iter().enumerate() {
        let token = AddedToken {
            content: (*content).to_owned(),
            special: *special,
            normalized: false,
            single_word: false,
            lstrip: false,
            rstrip: false,
        };
        added.insert(id as TokenId, token);
    }
    added.finish(None).unwrap();
    added
}

fn split(added: &AddedTokens, text: &str, allowed: Allowed) -> Vec<(String, Option<TokenId>)> {
    let mut parts = Vec::new();
    added
        .split_raw(text, allowed, &mut |range, id| {
            parts.push((text[range].to_owned(), id));
            Ok(())
        })
        .unwrap();
    parts
}

#[test]
fn the_longest_of_the_leftmost_wins() {
    let added = tokens(&[("<a", false), ("<a>", false), ("a>b", false)]);

    let parts = split(&added, "x<a>b<a", Allowed::All);

    let expected = [("x", None), ("<a>", Some(1)), ("b", None), ("<a", Some(0))];
    assert_eq!(parts, expected.map(|(text, id)| (text.to_owned(), id)));
}

#[test]
fn white_space_that_another_token_took_is_no_token() {
    let mut added = tokens(&[("a", false), (" ", false), ("  ", false)]);
    added.tokens[0].1.rstrip = true;
    added.tokens[1].1.lstrip = true;
    added.tokens[2].1.lstrip = true;

    let expected = |whole: &str| vec![(whole.to_owned(), Some(0)), ("b".to_owned(), None)];
    for whole in ["a ", "a  ", "a   "] {
        assert_eq!(split(&added, &format!("{whole}b"), Allowed::All), expected(whole));
    }
}

#[test]
fn a_special_token_that_is_not_allowed_hides_nothing() {
    let added = tokens(&[("<s>", true), ("s>", false), ("<t>", true)]);
    let only = HashSet::from([2]);

    let parts = split(&added, "<s><t>", Allowed::Only(&only));

    let expected = [("<", None), ("s>", Some(1)), ("<t>", Some(2))];
    assert_eq!(parts, expected.map(|(text, id)| (text.to_owned(), id)));
}

fn random_tokens(numbers: &mut fastrand::Rng) -> AddedTokens {
    let mut added = AddedTokens::default();
    for id in 0..numbers.u32(1..9) {
        let content: String = (0..numbers.usize(1..4))
            .map(|_| numbers.choice(["a", "b", "<"]).unwrap())
            .collect();
        let special = numbers.bool();
        if added.id(&content).is_none() {
            added.insert(
                id,
                AddedToken {
                    content,
                    special,
                    ..plain()
                },
            );
        }
    }
    added.finish(None).unwrap();
    added
}

fn plain() -> AddedToken {
    AddedToken {
        content: String::new(),
        special: false,
        normalized: false,
        single_word: false,
        lstrip: false,
        rstrip: false,
    }
}

#[test]
fn tokens_that_are_not_allowed_are_as_good_as_absent() {
    let mut numbers = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let added = random_tokens(&mut numbers);
        let only: HashSet<_> = added
            .iter()
            .map(|(id, _)| id)
            .filter(|_| numbers.bool())
            .collect();
        let mut without = AddedTokens::default();
        for (id, token) in added
            .iter()
            .filter(|(id, token)| !token.special || only.contains(id))
        {
            without.insert(id, token.clone());
        }
        without.finish(None).unwrap();
        let text: String = (0..numbers.usize(0..12))
            .map(|_| numbers.choice(["a", "b", "<"]).unwrap())
            .collect();

        let expected = split(&without, &text, Allowed::All);
        // Twice: the second time with the finder that was kept.
        for _ in 0..2 {
            assert_eq!(split(&added, &text, Allowed::Only(&only)), expected, "{text}");
        }
    }
}

#[test]
fn two_contents_with_one_id_are_both_found_and_the_first_spells_it() {
    let mut added = AddedTokens::default();
    for (id, content) in [(5, "<b>"), (3, "<z>"), (5, "<a>")] {
        let content = content.to_owned();
        added.insert(id, AddedToken { content, ..plain() });
    }
    for _ in 0..3 {
        added.finish(None).unwrap();
    }

    let expected = [("<a>", Some(5)), ("<b>", Some(5)), ("<z>", Some(3))];
    assert_eq!(
        split(&added, "<a><b><z>", Allowed::All),
        expected.map(|(text, id)| (text.to_owned(), id))
    );
    assert_eq!((added.len(), added.spelling(5)), (3, Some("<b>")));
    let warning = "added tokens '<b>' and '<a>' share id 5: both are found, and it decodes to the first";
    assert_eq!(added.warnings(), [warning]);
}
