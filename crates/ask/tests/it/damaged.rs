//! Damaged segments and partial answers are reported; nothing panics.

use std::fs;

use ask::{Measure, Options, Partial, Question};

use crate::tables::{Dice, table};

fn everything(group: &str) -> Question {
    let of = |column: &str| column.to_owned();
    Question {
        groups: vec![group.to_owned()],
        measures: vec![
            Measure::Count,
            Measure::Sum(of("n")),
            Measure::Greatest(of("word")),
            Measure::Distinct(of("key")),
            Measure::Deviation(of("y")),
            Measure::Greatest(of("flag")),
            Measure::Histogram(of("x")),
            Measure::Quantiles(of("big"), vec!["p50".parse().unwrap()]),
        ],
        ..Question::default()
    }
}

#[test]
fn damaged_segments_never_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut refused, mut asked) = (0, 0);
    for seed in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice(seed);
        let (source, _) = runtime.block_on(table(&mut dice, folder.path()));
        let Some(segment) = source.segments.first() else { continue };
        let path = folder.path().join(&segment.path);
        let whole = fs::read(&path).unwrap();
        for _ in 0..12 {
            let mut bytes = whole.clone();
            match dice.below(4) {
                0 => bytes.truncate(dice.below(whole.len() as u64) as usize),
                _ => {
                    for _ in 0..=dice.below(4) {
                        let at = dice.below(whole.len() as u64) as usize;
                        bytes[at] = dice.roll() as u8;
                    }
                }
            }
            fs::write(&path, bytes).unwrap();
            let group = *dice.pick(&["host", "word", "tags", "day", "time"]);
            let answer = ask::answer(&source, &everything(group), &Options::default());
            asked += 1;
            if let Err(error) = answer {
                refused += 1;
                assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
            }
        }
    }
    assert!(refused > asked / 4, "{refused} of {asked}");
}

#[test]
fn damaged_partial_answers_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (source, _) = runtime.block_on(table(&mut Dice(7), folder.path()));
    let partial = |group: &str| ask::partial(&source, &everything(group), &Options::default()).unwrap();
    let bytes = partial("host").encode().unwrap();
    assert!(Partial::decode("a", &bytes).is_ok());
    for length in 0..bytes.len() {
        assert!(Partial::decode("a", &bytes[..length]).is_err(), "{length}");
    }
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        let message = Partial::decode("the file", &wrong).unwrap_err().to_string();
        assert!(message.starts_with("the file: ") && message.ends_with("write it again"), "{message}");
    }
    let other = partial("day");
    let message = partial("host").merge(other).unwrap_err().to_string();
    assert!(message.contains("different questions"), "{message}");
}
