use super::*;

/// Lengths beside the borders of windows, of short slots and of what is kept.
const LENGTHS: &[usize] = &[0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 254, 255];
const ROOM: usize = 1 << 20;

fn found<'a>(pretokens: &'a LongPretokens, bytes: &[u8]) -> Option<&'a [TokenId]> {
    let hash = pretokens.hash(bytes, 0, bytes.len());
    pretokens.find(bytes, 0, bytes.len(), hash)
}

/// As if all hashes were the same.
#[test]
fn no_pretoken_has_the_ids_of_one_with_its_hash() {
    for &length in LENGTHS {
        let mut pretokens = LongPretokens::default();
        let key = vec![b'a'; length];
        let hash = pretokens.hash(&key, 0, length);
        pretokens.insert(&key, &[7; 5], ROOM);
        assert_eq!(found(&pretokens, &key), Some(&[7; 5][..]));

        for at in 0..length {
            let mut other = key.clone();
            other[at] = b'b';
            assert_eq!(pretokens.find(&other, 0, length, hash), None, "{at} of {length}");
        }
        // The same bytes, and one more or less of them.
        let text = vec![b'a'; length + 40];
        assert_eq!(pretokens.find(&text, 20, 20 + length, hash), Some(&[7; 5][..]));
        assert_eq!(pretokens.find(&text, 20, 21 + length, hash), None, "{length}");
        assert!(length == 0 || pretokens.find(&text, 20, 19 + length, hash).is_none());
        let zeros = [&key[..], &[0]].concat();
        assert_eq!(pretokens.find(&zeros, 0, length + 1, hash), None, "{length}");
    }
}

#[test]
fn any_number_of_any_ids_comes_back_up_to_the_most() {
    let mut pretokens = LongPretokens::default();
    let counts = [0, 1, 2, 3, 4, 5, 16, 17, 255, 256, 1023, MOST_IDS, MOST_IDS + 1];
    let key = |length: usize, count: usize| {
        let name = format!("{count} ");
        [name.as_bytes(), &vec![b'x'; length]].concat()
    };
    let ids = |length: usize, count: usize| vec![TokenId::MAX - length as TokenId; count];
    for &length in LENGTHS {
        for count in counts {
            pretokens.insert(&key(length, count), &ids(length, count), ROOM);
        }
    }
    for &length in LENGTHS {
        for count in counts {
            let key = key(length, count);
            let expected = (key.len() <= LONGEST && count <= MOST_IDS).then(|| ids(length, count));
            assert_eq!(
                found(&pretokens, &key),
                expected.as_deref(),
                "{count} of {length}"
            );
        }
    }
}

#[test]
fn a_few_hundred_are_kept_where_there_is_no_room() {
    let key = |number: usize| format!("longer than fifteen bytes {number}").into_bytes();
    let mut lost = 0;
    for seed in 0..1000_u64 {
        let mut pretokens = LongPretokens {
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..LongPretokens::default()
        };
        for number in 0..300 {
            pretokens.insert(&key(number), &[number as TokenId; 6], 0);
        }
        let lost_by_seed = (0..300).filter(|&number| match found(&pretokens, &key(number)) {
            Some(ids) => ids != [number as TokenId; 6] && panic!("{number}: {ids:?}"),
            None => true,
        });
        let lost_by_seed = lost_by_seed.count();
        // A row of sixteen full places, by chance: in one seed of some thousands, for one key or two. Where keys that differ in
        // their last bytes alone were spread badly, some seeds lost fifty.
        assert!(lost_by_seed < 5, "{lost_by_seed} of 300 by seed {seed}");
        lost += lost_by_seed;
    }
    assert!(lost < 20, "{lost}");
}
