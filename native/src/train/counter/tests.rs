use std::collections::BTreeMap;
use std::time::Instant;

use super::tasks::{ROUND, TASK_BYTES};
use super::*;
use crate::arrow::Offsets;

fn by_space(text: &str, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
    text.split_inclusive(' ').for_each(|word| emit(word.as_bytes()));
    Ok(())
}

fn counted(counter: &Counter) -> BTreeMap<Vec<u8>, u64> {
    let mut counts = BTreeMap::new();
    counter
        .for_each(|pretoken, count| assert!(counts.insert(pretoken.to_vec(), count).is_none()))
        .expect("counting went well");
    counts
}

fn numbers() -> Vec<String> {
    (0..60_000u32)
        .map(|number| format!("{number} {} is {}", number % 7, number / 2))
        .collect()
}

#[test]
fn any_threads_and_batches_give_the_same_counts() {
    let texts = numbers();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let one = Counter::default();
    let report = one.count(&by_space, &texts, None, &mut || true).expect("counts");
    assert_eq!(report.texts, 60_000);

    for (threads, batch) in [(1, 1000), (2, 60_000), (3, 777), (8, 20_000)] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads start");
        let many = Counter::default();
        for texts in texts.rchunks(batch) {
            many.count(&by_space, texts, Some(&pool), &mut || true)
                .expect("counts");
        }

        assert_eq!(counted(&many), counted(&one));
    }
}

#[test]
fn counts_that_spill_are_the_same() {
    let texts = numbers();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = Counter::default();
    all.count(&by_space, &texts, None, &mut || true).expect("counts");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .expect("threads start");

    for memory in [0, 1 << 20, 1 << 28] {
        let directory = std::env::temp_dir();
        let spilling = Counter::new(MemoryLimit { memory, directory }, Cutting::default());
        for part in texts.chunks(7000) {
            spilling
                .count(&by_space, part, Some(&pool), &mut || true)
                .expect("counts");
        }

        assert_eq!(spilling.spilled_bytes() > 0, memory < 1 << 28);
        assert_eq!(spilling.distinct(), all.distinct());
        assert_eq!(counted(&spilling), counted(&all));
        spilling
            .count(&by_space, &["1 once", "more "], None, &mut || true)
            .expect("counts");
        let sorted = spilling.take_sorted(&mut || true).expect("there is room");
        assert_eq!(
            sorted.summary().distinct,
            2 + all.distinct().expect("counts") as u64
        );
        assert_eq!(spilling.distinct(), Ok(0));
    }
}

#[test]
fn null_rows_are_skipped_and_counted() {
    let offsets: Vec<u8> = [0i32, 1, 2, 3]
        .iter()
        .flat_map(|offset| offset.to_le_bytes())
        .collect();
    let column = ArrowStrings {
        data: b"aba",
        data_start: 0,
        offsets: Offsets::Small(&offsets),
        validity: Some(&[0b101]),
        first_bit: 0,
        len: 3,
    };
    let counter = Counter::default();

    let report = counter
        .count_arrow(&by_space, column, None, &mut || true)
        .expect("counts");

    assert_eq!(
        report,
        BatchReport {
            texts: 2,
            nulls: 1,
            bytes: 2
        }
    );
    assert_eq!(counted(&counter), BTreeMap::from([(b"a".to_vec(), 2)]));
}

#[test]
fn weighted_pretokens_add_to_counted_ones() {
    let counter = Counter::default();
    counter
        .count(&by_space, &["a b"], None, &mut || true)
        .expect("counts");
    counter
        .count_weighted([(b"b".as_slice(), 3_000_000_000)])
        .expect("counts");

    assert_eq!(
        counted(&counter),
        BTreeMap::from([(b"a ".to_vec(), 1), (b"b".to_vec(), 3_000_000_001)])
    );
    assert_eq!(counter.distinct(), Ok(2));
}

#[test]
fn what_the_pretokenizer_reports_comes_out() {
    let fails = |_: &str, _: &mut dyn FnMut(&[u8])| Err(Error::SplitPattern("ran away".to_owned()));

    let failed = Counter::default().count(&fails, &["a"], None, &mut || true);

    assert_eq!(failed, Err(Error::SplitPattern("ran away".to_owned())));
}

#[test]
fn counting_slowly_stops_when_asked() {
    let slowly = |_: &str, _: &mut dyn FnMut(&[u8])| {
        std::thread::sleep(ROUND / 2);
        Ok(())
    };
    let text = " ".repeat(TASK_BYTES);
    let texts = vec![text.as_str(); 1000];
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("threads start");

    for pool in [None, Some(&pool)] {
        let mut polls = 0;
        let started = Instant::now();
        let stopped = Counter::default().count(&slowly, &texts, pool, &mut || {
            polls += 1;
            polls < 3
        });

        assert_eq!(stopped, Err(Error::Interrupted));
        assert_eq!(polls, 3);
        assert!(started.elapsed() < ROUND * 10);
    }
}
