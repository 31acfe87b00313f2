use unicode_normalization_alignments::char::{canonical_combining_class, compose};

use super::*;
use crate::normalized::Change;

const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

/// What the crate makes of the text as a whole.
fn whole(form: Form, text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    form.rewrite_whole(text, &mut changes);
    changes
}

fn in_stretches(form: Form, text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    form.rewrite(text, &mut changes);
    changes
}

fn is_doubtful(form: Form, char: char) -> bool {
    form.doubtful(char.encode_utf8(&mut [0; 4])).next().is_some()
}

/// Each character after a letter, a mark, a first half of a syllable and nothing, and before marks, is what it is in the
/// whole: that holds for all characters that Unicode has, not for those of some scripts.
#[test]
fn every_character_in_company() {
    // Nothing is assigned between.
    let all = ('\0'..'\u{40000}').chain('\u{e0000}'..'\u{f0000}');
    for form in FORMS {
        for char in all.clone() {
            for text in [
                format!("{char}"),
                format!("e{char}"),
                format!("e\u{301}{char}\u{327}\u{301}x"),
                format!("\u{1100}{char}\u{1161}\u{11a8}"),
                format!("が{char}\u{3099}語"),
            ] {
                assert_eq!(in_stretches(form, &text), whole(form, &text), "{form:?} {text:?}");
            }
        }
    }
}

#[test]
fn random_texts_of_what_changes_and_what_does_not() {
    let mut numbers = fastrand::Rng::with_seed(8);
    let mut changed = 0;
    for form in FORMS {
        let odd: Vec<char> = ('\u{80}'..=char::MAX)
            .filter(|&char| is_doubtful(form, char) && char < '\u{20000}')
            .collect();
        for _ in 0..60_000 {
            let text: String = (0..numbers.usize(0..24))
                .map(|_| match numbers.u8(0..8) {
                    0..3 => *numbers.choice(&odd).unwrap(),
                    3 => numbers
                        .choice(['e', 'o', 'A', ' ', '語', 'か', 'ア', 'ω', '\u{1100}', '가', '😀'])
                        .unwrap(),
                    4 => numbers.char('\u{300}'..'\u{350}'),
                    5 => numbers.char('a'..='z'),
                    6 => numbers.char('\u{1100}'..'\u{11ff}'),
                    _ => numbers.char('\u{80}'..'\u{2000}'),
                })
                .collect();
            let expected = whole(form, &text);
            assert_eq!(in_stretches(form, &text), expected, "{form:?} {text:?}");
            let keeps = expected.iter().map(|&(char, _)| char).eq(text.chars());
            assert!(keeps || !form.surely_keeps(&text), "{form:?} {text:?}");
            changed += usize::from(!keeps);
        }
    }
    assert!(changed > 100_000, "{changed}");
}

/// Of each pair that is composed the second is doubtful, by the tables that compose.
#[test]
fn what_joins_the_character_before_it_is_doubtful() {
    let mut pairs = 0;
    for char in '\0'..=char::MAX {
        let mut parts = Vec::new();
        unicode_normalization_alignments::char::decompose_canonical(char, |part| parts.push(part));
        for (&before, &part) in parts.iter().zip(parts.iter().skip(1)) {
            if compose(before, part).is_some() {
                pairs += 1;
                assert!(
                    is_doubtful(Form::Nfc, part) && is_doubtful(Form::Nfkc, part),
                    "{part:?}"
                );
            }
        }
        if canonical_combining_class(char) > 0 {
            assert!(FORMS.iter().all(|&form| is_doubtful(form, char)), "{char:?}");
        }
    }
    assert!(pairs > 10_000, "{pairs}");
}

#[test]
fn one_change_in_a_long_text_leaves_the_rest_alone() {
    let text = format!("{}e\u{301}{}", "語 a".repeat(1000), "ü\n".repeat(1000));

    let stretches: Vec<_> = Form::Nfc.doubtful(&text).collect();

    assert_eq!(stretches.len(), 1);
    assert_eq!(stretches[0], 5000..5003);
    assert!(!Form::Nfc.surely_keeps(&text));
}
