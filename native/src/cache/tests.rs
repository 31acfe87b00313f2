use super::budget::Budget;
use super::*;

const UNKNOWN: TokenId = 1 << 30;

fn look_up(cache: &mut PretokenCache, text: &[u8], ranges: &[Range<usize>]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let mut lookups = Lookups::new(text, cache, |range, ids: &mut Vec<TokenId>| {
        ids.push(UNKNOWN + range.end as TokenId)
    });
    ranges
        .iter()
        .for_each(|range| lookups.push(range.clone(), &mut ids));
    lookups.finish(&mut ids);
    ids
}

fn get(cache: &mut PretokenCache, pretoken: &[u8]) -> Option<Vec<TokenId>> {
    let known = Some(look_up(
        cache,
        pretoken,
        std::slice::from_ref(&(0..pretoken.len())),
    ));
    known.filter(|ids| ids.first().is_none_or(|&id| id < UNKNOWN))
}

#[test]
fn what_was_inserted_comes_back_or_is_forgotten_but_never_changes() {
    let mut cache = PretokenCache::default();
    // Of all lengths beside the borders of slots, windows and what is kept.
    let pretoken = |i: usize| format!("{:x}{}", i * i, "é".repeat(i % [9, 9, 9, 140][i % 4])).into_bytes();
    let ids = |i: usize| (0..1 + i % 6).map(|j| (i + j) as TokenId).collect::<Vec<_>>();

    for i in 0..200_000 {
        cache.insert(&pretoken(i), &ids(i));
    }

    let known = (0..200_000).filter(|&i| match get(&mut cache, &pretoken(i)) {
        Some(found) => found == ids(i) || panic!("{i}: {found:?}"),
        None => false,
    });
    assert!(known.count() > 50_000);
}

#[test]
fn bytes_of_zero_are_not_an_empty_pretoken() {
    let mut cache = PretokenCache::default();
    cache.insert(b"\0", &[5]);

    assert_eq!(get(&mut cache, b"\0"), Some(vec![5]));
    assert_eq!((get(&mut cache, b"\0\0"), get(&mut cache, b"")), (None, None));
}

#[test]
fn pretokens_of_a_text_come_out_in_order_known_or_not() {
    let mut cache = PretokenCache::default();
    cache.insert(b" the", &[7]);
    cache.insert(b" dog and on and on and on", &[8; 20]);
    let text = b"over the lazy dog and on and on and on";

    let ranges = [0..4, 4..8, 8..13, 13..38, 4..8, 8..13];
    let ids = look_up(&mut cache, text, &ranges);

    let expected = [&[UNKNOWN + 4, 7, UNKNOWN + 13], &[8; 20][..], &[7, UNKNOWN + 13]];
    assert_eq!(ids, expected.concat());
}

#[test]
fn more_pretokens_than_one_turn_come_out_in_order() {
    let text: Vec<u8> = (0..4000_u32)
        .flat_map(|i| format!("{:03}", i % 997).into_bytes())
        .collect();
    let ranges: Vec<_> = (0..4000).map(|i| 3 * i..3 * i + 3).collect();
    let mut cache = PretokenCache::default();

    let ids = look_up(&mut cache, &text, &ranges);

    // What came again has the ids of one of its places; which one hangs on what was forgotten.
    let place = |id: TokenId| ((id - UNKNOWN) / 3 - 1) as usize;
    assert_eq!(ids.len(), 4000);
    assert!(
        ids.iter()
            .enumerate()
            .all(|(i, &id)| place(id) % 997 == i % 997 && place(id) <= i)
    );
    assert!(ids.iter().enumerate().any(|(i, &id)| place(id) < i));
}

#[test]
fn what_is_more_than_a_share_is_forgotten_before_the_next_text() {
    let budget: &'static Budget = Box::leak(Box::new(Budget::new(64 << 20)));
    let mut cache = PretokenCache {
        claim: budget.claim(),
        ..PretokenCache::default()
    };
    for i in 0..200_000_u32 {
        cache.insert(&i.to_le_bytes(), &[i]);
    }
    assert!(cache.bytes() > LEAST_BYTES);

    let others: Vec<_> = (0..63).map(|_| budget.claim()).collect();
    cache.keep_to_share();

    assert!(cache.bytes() <= LEAST_BYTES);
    assert_eq!(others.len(), 63);
}

#[test]
fn ids_too_large_for_a_short_slot_are_kept_elsewhere() {
    let mut cache = PretokenCache::default();
    cache.insert(b"ab", &[1, TokenId::MAX]);
    cache.insert(b"abc", &[2; 5]);
    cache.insert(&[b'a'; 47], &[3; 19]);
    cache.insert(&[b'a'; 48], &[4; 20]);

    let get = |pretoken: &[u8]| {
        let mut ids = Vec::new();
        cache.get(pretoken, 0..pretoken.len(), &mut ids).then_some(ids)
    };
    assert_eq!(get(b"ab"), Some(vec![1, TokenId::MAX]));
    assert_eq!(get(b"abc"), Some(vec![2; 5]));
    assert_eq!(get(&[b'a'; 47]), Some(vec![3; 19]));
    assert_eq!(get(&[b'a'; 48]), Some(vec![4; 20]));
    assert_eq!(get(&[b'a'; 46]), None);
}

#[test]
fn a_short_pretoken_of_many_ids_is_forgotten_with_its_entry() {
    let budget: &'static Budget = Box::leak(Box::new(Budget::new(8 << 20)));
    let mut cache = PretokenCache {
        claim: budget.claim(),
        ..PretokenCache::default()
    };
    let known = |cache: &PretokenCache| {
        let mut ids = Vec::new();
        cache.get(b"short", 0..5, &mut ids).then_some(ids)
    };
    let mut forgotten = 0;
    for round in 0..20_u32 {
        let ids = [7; 6];
        cache.insert(b"short", &ids);
        assert_eq!(known(&cache), Some(ids.to_vec()));
        for i in 0..10_000_u32 {
            cache.insert(
                format!("longer than fifteen bytes {round} {i}").as_bytes(),
                &[i; 6],
            );
            match known(&cache) {
                Some(found) => assert_eq!(found, ids),
                // What is in its place now has other ids.
                None => {
                    forgotten += 1;
                    break;
                }
            }
        }
    }
    assert!(forgotten > 2, "{forgotten}");
}

#[test]
fn memory_stays_bounded() {
    const LIMIT: usize = 16 << 20;
    let budget: &'static Budget = Box::leak(Box::new(Budget::new(LIMIT)));
    let mut cache = PretokenCache {
        claim: budget.claim(),
        ..PretokenCache::default()
    };
    for i in 0..400_000_u32 {
        cache.insert(
            format!("a pretoken of more than fifteen bytes {i}").as_bytes(),
            &[i; 40],
        );
        cache.insert(&i.to_le_bytes(), &[i]);
    }

    assert!(cache.bytes() <= LIMIT && cache.bytes() > LIMIT / 8);
}
