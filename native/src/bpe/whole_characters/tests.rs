use fastrand::Rng;

use crate::bpe::{Bpe, BpeSettings, Symbols};
use crate::byte_alphabet::bytes_to_token;
use crate::merges::Merges;
use crate::vocab::Vocab;

const CHARACTERS: [&str; 9] = ["a", " ", "é", "а", "р", "的", "是", "，", "😀"];

/// A model whose merges join random parts of random texts: some make characters, some cross them, in any order. Some
/// lack a byte, which texts then lose, so that its neighbours meet.
fn random_model(numbers: &mut Rng, merges: usize) -> Bpe {
    let lost = CHARACTERS[numbers.usize(0..CHARACTERS.len())].as_bytes()[0];
    let lost = (numbers.u8(0..8) == 0).then_some(lost);
    let mut parts: Vec<Vec<u8>> = (0..=255)
        .filter(|&byte| lost != Some(byte))
        .map(|byte| vec![byte])
        .collect();
    let mut pairs = Vec::new();
    while pairs.len() < merges {
        let text = random_text(numbers, 3).into_bytes();
        let inside = |part: &Vec<u8>| text.windows(part.len()).any(|window| window == part);
        let found: Vec<_> = parts.iter().filter(|part| inside(part)).cloned().collect();
        if found.is_empty() {
            continue;
        }
        let (left, right) = (
            &found[numbers.usize(0..found.len())],
            &found[numbers.usize(0..found.len())],
        );
        let whole = [left.as_slice(), right].concat();
        let pair = (bytes_to_token(left), bytes_to_token(right));
        if text.windows(whole.len()).any(|window| window == whole) && !pairs.contains(&pair) {
            pairs.push(pair);
            if !parts.contains(&whole) {
                parts.push(whole);
            }
        }
    }
    if numbers.bool() {
        numbers.shuffle(&mut pairs);
    }
    let mut vocab = Vocab::default();
    for (part, id) in parts.iter().zip(0..) {
        vocab.insert(&bytes_to_token(part), id);
    }
    vocab.finish();
    let texts = pairs.iter().map(|(left, right)| (left.as_str(), right.as_str()));
    let merges = Merges::new(&vocab, texts, "").expect("the vocabulary holds every part");
    Bpe::new(vocab, merges, BpeSettings::default(), true)
}

fn random_text(numbers: &mut Rng, longest: usize) -> String {
    let length = numbers.usize(1..=longest);
    (0..length)
        .map(|_| CHARACTERS[numbers.usize(0..CHARACTERS.len())])
        .collect()
}

#[test]
fn characters_that_stay_whole_give_the_ids_of_their_bytes() {
    let mut numbers = Rng::with_seed(1);
    let mut symbols = Symbols::default();
    let mut whole = [0; 4];
    for _ in 0..600 {
        let merges = numbers.usize(1..40);
        let model = random_model(&mut numbers, merges);
        for _ in 0..40 {
            let text = random_text(&mut numbers, 12);
            let (mut ids, mut expected) = (Vec::new(), Vec::new());

            model.encode_pretoken(&text, &mut symbols, &mut ids);
            model.encode_bytes(text.as_bytes(), &mut symbols, &mut expected);

            assert_eq!(ids, expected, "{text:?} with {:?}", model.merges.pairs());
            let chars = || {
                std::iter::once(None)
                    .chain(text.chars().map(Some))
                    .zip(text.chars())
            };
            let table = model.whole_characters();
            let mut rest = text.as_str();
            for (before, char) in chars() {
                rest = &rest[char.len_utf8()..];
                let after = rest.bytes().next();
                let parts = table.get(char, before, after, &model.symbols_of_bytes, &model.merges);
                whole[parts.parts().count()] += 1;
            }
        }
    }
    assert!(
        whole.iter().all(|&count| count > 300),
        "of 0 to 3 tokens: {whole:?}"
    );
}
