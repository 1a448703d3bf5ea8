//! Checks the records of a day by counting over the public arrays.

use std::collections::HashSet;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use world::{Seed, mix64};

use crate::draws::BLOCK;
use crate::{
    BATCHES, BATCHES_MAX, Batch, CHUNK, COLUMNS, RATE_PLANS, Records, TERMINATION_CODES, TOWERS, Traffic, TrafficError,
    rate_plans, schema, termination_codes, towers,
};

const HOUR: i64 = 3_600_000_000;
/// 1 October 2025, 00:00 UTC, in seconds since 1970.
const DAY: i64 = 1_759_276_800;

fn batch(number: u32, rows: usize) -> Batch {
    Batch { number, hour: 18, rows, first_sequence: 5_000_001 }
}

fn total_rows(traffic: &Traffic) -> u64 {
    traffic.batches().iter().map(|batch| batch.rows as u64).sum()
}

fn whole(seed: u64, batch: Batch) -> RecordBatch {
    Records::new(Seed(seed), batch).chunk(0..batch.rows)
}

fn column(records: &RecordBatch, name: &str) -> usize {
    records.schema().index_of(name).unwrap()
}

fn texts<'a>(records: &'a RecordBatch, name: &str) -> Vec<&'a str> {
    records.column(column(records, name)).as_string::<i32>().iter().map(Option::unwrap).collect()
}

fn integers(records: &RecordBatch, name: &str) -> Vec<i32> {
    records.column(column(records, name)).as_primitive::<Int32Type>().values().to_vec()
}

fn decimals(records: &RecordBatch, name: &str) -> Vec<i64> {
    let values = records.column(column(records, name)).as_primitive::<Decimal128Type>().values();
    values.iter().map(|&value| i64::try_from(value).unwrap()).collect()
}

fn times(records: &RecordBatch) -> &[i64] {
    records.column(column(records, "call_timestamp")).as_primitive::<TimestampMicrosecondType>().values()
}

fn days(records: &RecordBatch) -> &[i32] {
    records.column(column(records, "call_date")).as_primitive::<Date32Type>().values()
}

/// Subscriber numbers.
fn phones(records: &RecordBatch, name: &str) -> Vec<u32> {
    let number = |text: &str| text.strip_prefix("+1-").filter(|digits| digits.len() == 10).unwrap().parse().unwrap();
    texts(records, name).into_iter().map(number).collect()
}

/// The share of `values` that meet `condition` is within 4.5 standard errors of `share`.
fn assert_share<T: Copy>(what: &str, values: &[T], share: f64, condition: impl Fn(T) -> bool) {
    let n = values.len() as f64;
    let count = values.iter().filter(|&&value| condition(value)).count() as f64;
    let error = (n * share * (1.0 - share)).sqrt();
    assert!((count - n * share).abs() <= 4.5 * error, "{what}: {count} of {n}, expected {}", n * share);
}

/// The mean of `values` is within 4.5 standard errors of `mean`.
fn assert_mean(what: &str, values: &[f64], mean: f64) {
    let n = values.len() as f64;
    let found = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / n;
    assert!((found - mean).abs() <= 4.5 * (variance / n).sqrt(), "{what}: {found}, expected {mean}");
}

#[test]
fn columns_are_those_of_the_benchmark() {
    let schema = schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let expected = "call_id call_timestamp call_date call_hour caller_number callee_number duration_seconds \
                    cell_tower_id call_type network_type bytes_transferred termination_code billing_amount \
                    rate_plan_id is_roaming call_quality_mos packet_loss_percent sequence_number";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(names.len(), COLUMNS);
    let optional: Vec<&str> =
        schema.fields().iter().filter(|field| field.is_nullable()).map(|field| field.name().as_str()).collect();
    let expected = "bytes_transferred rate_plan_id is_roaming call_quality_mos packet_loss_percent sequence_number";
    assert_eq!(optional, expected.split_whitespace().collect::<Vec<_>>());
    let kind = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
    assert_eq!(kind("call_timestamp"), DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
    assert_eq!(kind("call_date"), DataType::Date32);
    assert_eq!(kind("bytes_transferred"), DataType::Int64);
    assert_eq!(kind("billing_amount"), DataType::Decimal128(10, 4));
    assert_eq!(kind("call_quality_mos"), DataType::Decimal128(3, 2));
    assert_eq!(kind("packet_loss_percent"), DataType::Decimal128(5, 2));
    let records = whole(1, batch(1, 5_000));
    assert_eq!(records.schema(), schema);
    for (field, values) in schema.fields().iter().zip(records.columns()) {
        assert_eq!(values.null_count() > 0, field.name() == "bytes_transferred", "{}", field.name());
        values.to_data().validate_full().unwrap();
    }
}

/// A failure means that every seed has new records, and earlier figures are no longer comparable.
#[test]
fn a_seed_means_these_records() {
    let traffic = Traffic::new(BATCHES, 1.0, Seed(1)).unwrap();
    let first = traffic.batches()[0];
    // The CSV writer supports no time zones; another test covers times.
    let drawn: Vec<usize> = (0..COLUMNS).filter(|&i| schema().field(i).name() != "call_timestamp").collect();
    let records = whole(1, first).project(&drawn).unwrap();
    let mut written = Vec::new();
    arrow::csv::WriterBuilder::new().with_header(false).build(&mut written).write(&records).unwrap();
    let hash = written.iter().fold(0, |hash, byte| mix64(hash ^ u64::from(*byte)));
    let text = String::from_utf8(written).unwrap();
    let rows: Vec<&str> = text.lines().take(2).collect();
    let expected = [
        "call-000000000001-cac557cc,2025-10-01,0,+1-0003846832,+1-0000901289,3390,3644,voice,5G-mmWave,521,1,27.9000,26,\
         false,3.72,57.79,1",
        "call-000000000002-939c9714,2025-10-01,0,+1-0000560126,+1-0002236290,7,2160,voice,4G,,1,23.3000,11,false,1.67,\
         53.69,2",
    ];
    assert_eq!(rows, expected);
    assert_eq!((total_rows(&traffic), first.rows, hash), (38_600_000, 10_000, 1_307_559_610_875_525_830_u64));
}

#[test]
fn chunks_are_pieces_of_one_batch() {
    let batch = batch(77, 2 * BLOCK + 300);
    let expected = whole(9, batch);
    let records = Records::new(Seed(9), batch);
    for size in [1_000, BLOCK - 1, BLOCK, BLOCK + 1, 1 << 20] {
        let chunks: Vec<RecordBatch> = records.chunks(size).collect();
        assert_eq!(chunks.len(), batch.rows.div_ceil(size));
        assert_eq!(concat_batches(&schema(), &chunks).unwrap(), expected, "chunks of {size}");
    }
    for (first, rows) in [(0, 1), (BLOCK - 3, 7), (2 * BLOCK + 299, 1), (17, 0)] {
        assert_eq!(records.chunk(first..first + rows), expected.slice(first, rows), "{rows} from {first}");
    }
}

#[test]
#[should_panic(expected = "rows 5..11 of a batch of 10")]
fn rows_past_the_batch_are_refused() {
    Records::new(Seed(1), batch(1, 10)).chunk(5..11);
}

#[test]
fn seeds_and_batches_differ_in_every_drawn_column() {
    let base = whole(1, batch(1, 1_000));
    let others = [whole(2, batch(1, 1_000)), whole(1, batch(2, 1_000))];
    let fixed = ["call_timestamp", "call_date", "call_hour", "sequence_number"];
    for other in others {
        for (i, field) in schema().fields().iter().enumerate() {
            let same = base.column(i) == other.column(i);
            assert_eq!(same, fixed.contains(&field.name().as_str()), "{}", field.name());
        }
    }
    assert_ne!(texts(&base, "caller_number"), texts(&base, "callee_number"));
    let billed: Vec<i32> = decimals(&base, "billing_amount").iter().map(|amount| (amount / 1_000) as i32).collect();
    assert_ne!(billed, integers(&base, "duration_seconds"), "billing has a duration of its own");
}

#[test]
fn calls_follow_each_other_three_seconds_apart() {
    let batch = Batch { number: 3, hour: 22, rows: 60_000, first_sequence: 1 };
    let reference = whole(1, batch);
    let start = DAY * 1_000_000 + 22 * HOUR;
    assert!(times(&reference).iter().zip(1..).all(|(time, i)| *time == start + 3_000_000 * i));
    assert!(integers(&reference, "call_hour").iter().all(|&hour| hour == 22));
    assert!(days(&reference).iter().all(|&day| i64::from(day) == DAY / 86_400));
}

#[test]
fn calls_have_unique_ids_and_dense_sequence_numbers() {
    let traffic = Traffic::new(BATCHES, 0.02, Seed(4)).unwrap();
    let (mut ids, mut next) = (HashSet::new(), 1);
    let mut noise = HashSet::new();
    for batch in &traffic.batches()[160..260] {
        if next == 1 {
            next = batch.first_sequence as i64;
        }
        for records in Records::new(Seed(4), *batch).chunks(CHUNK) {
            let sequence = records.column(column(&records, "sequence_number")).as_primitive::<Int64Type>();
            for (id, number) in texts(&records, "call_id").into_iter().zip(sequence.values()) {
                assert_eq!((*number, id.len()), (next, 26));
                assert_eq!(id[..18], format!("call-{next:012}-"));
                noise.insert(u32::from_str_radix(&id[18..], 16).unwrap());
                assert!(ids.insert(id.to_owned()), "{id} comes twice");
                next += 1;
            }
        }
    }
    // Of n draws of 32 bits, about n(n-1)/2 / 2^32 repeat an earlier one.
    let n = ids.len() as f64;
    let repeated = n * n / 2.0 / 4_294_967_296.0;
    assert!(n > 100_000.0 && n - noise.len() as f64 <= repeated + 4.5 * repeated.sqrt() + 1.0);
}

#[test]
fn numbers_fall_into_three_bands() {
    let records = whole(5, batch(40, 500_000));
    for name in ["caller_number", "callee_number"] {
        let ids = phones(&records, name);
        // 200,000 ends the hot band and starts the warm one, each with half the weight of its neighbours.
        let edge = [0.2 * 0.5 / 199_999.0, 0.48 * 0.5 / 799_999.0];
        assert_share(name, &ids, 0.2 + edge[1], |id| (1..=200_000).contains(&id));
        assert_share(name, &ids, 0.48 - edge[1], |id| (200_001..=999_999).contains(&id));
        assert_share(name, &ids, 0.32, |id| (1_000_000..=5_000_000).contains(&id));
        // Bands are uniform: check a tenth of each.
        assert_share(name, &ids, 0.02, |id| (40_001..=60_000).contains(&id));
        assert_share(name, &ids, 0.048, |id| (800_001..=880_000).contains(&id));
        assert_share(name, &ids, 0.032, |id| (4_500_001..=4_900_000).contains(&id));
        // k calls to a band of m numbers give about m(1 - exp(-k / m)) distinct ones, with an error of about its square
        // root.
        let distinct = ids.iter().collect::<HashSet<_>>().len() as f64;
        let bands = [(0.2, 200_000.0), (0.48, 800_000.0), (0.32, 4_000_001.0)];
        let expected: f64 = bands.iter().map(|(share, m)| m * (1.0 - f64::exp(-share * 500_000.0 / m))).sum();
        assert!((distinct - expected).abs() < 4.5 * expected.sqrt(), "{distinct} distinct, expected {expected}");
    }
}

#[test]
fn categories_have_the_effective_shares() {
    let chunks: Vec<RecordBatch> = (1..=4).map(|number| whole(6, batch(number, 500_000))).collect();
    let records = concat_batches(&schema(), &chunks).unwrap();
    for (name, shares) in [
        ("call_type", [("voice", 0.7), ("sms", 0.285), ("data", 0.015)]),
        ("network_type", [("4G", 0.3), ("5G", 0.63), ("5G-mmWave", 0.07)]),
    ] {
        let values = texts(&records, name);
        shares.into_iter().for_each(|(word, share)| assert_share(word, &values, share, |value| value == word));
        assert!(values.iter().all(|value| shares.iter().any(|(word, _)| word == value)), "{name}");
    }
    let codes = integers(&records, "termination_code");
    for (code, share) in [(1, 0.8), (16, 0.18), (17, 0.019), (18, 0.000_98)] {
        assert_share("termination_code", &codes, share, |value| value == code);
    }
    assert_share("rare termination codes", &codes, 0.000_02, |code| (21..=127).contains(&code));
    assert!(codes.iter().all(|code| [1, 16, 17, 18].contains(code) || (21..=127).contains(code)));
    let roaming: Vec<bool> =
        records.column(column(&records, "is_roaming")).as_boolean().iter().map(Option::unwrap).collect();
    assert_share("is_roaming", &roaming, 0.1, |roaming| roaming);
    let bytes: Vec<Option<i64>> =
        records.column(column(&records, "bytes_transferred")).as_primitive::<Int64Type>().iter().collect();
    assert_share("no bytes", &bytes, 0.8075, |bytes| bytes.is_none());
    assert_share("few bytes", &bytes, 0.1425 + 0.05 * 901.5 / 1e7, |bytes| bytes.is_some_and(|n| n <= 1_001));
    let many: Vec<f64> = bytes.iter().flatten().filter(|&&n| n > 1_001).map(|&n| n as f64).collect();
    assert_mean("many bytes", &many, f64::midpoint(1_002.0, 10_000_100.0));
    assert!(bytes.iter().flatten().all(|bytes| (1..=10_000_100).contains(bytes)));
}

#[test]
fn measures_have_the_ranges_and_means_of_the_benchmark() {
    let records = whole(7, batch(5, 500_000));
    let billing: Vec<i32> = decimals(&records, "billing_amount")
        .into_iter()
        .map(|amount| {
            assert_eq!(amount % 1_000, 0, "whole tenths");
            (amount / 1_000) as i32
        })
        .collect();
    for (name, seconds) in [("duration", integers(&records, "duration_seconds")), ("billing", billing)] {
        assert_share(name, &seconds, 0.05, |s| (1..=10).contains(&s));
        // 300 ends one band and starts the next, each with half the weight.
        assert_share(name, &seconds, 0.8075 + 0.1425 * 0.5 / 3_300.0, |s| (30..=300).contains(&s));
        assert_share(name, &seconds, 0.1425 * (1.0 - 0.5 / 3_300.0), |s| (301..=3_600).contains(&s));
        let seconds: Vec<f64> = seconds.into_iter().map(f64::from).collect();
        assert_mean(name, &seconds, 0.05 * 5.5 + 0.8075 * 165.0 + 0.1425 * 1_950.0);
    }
    for (name, low, high) in [("cell_tower_id", 1, TOWERS as i64), ("rate_plan_id", 1, RATE_PLANS as i64)] {
        let values: Vec<i64> = integers(&records, name).into_iter().map(i64::from).collect();
        assert_even(name, &values, low, high);
    }
    assert_even("call_quality_mos", &decimals(&records, "call_quality_mos"), 100, 500);
    assert_even("packet_loss_percent", &decimals(&records, "packet_loss_percent"), 0, 10_000);
}

/// All values from `low` to `high` occur with equal frequency, except the two ends, which have half the weight.
fn assert_even(name: &str, values: &[i64], low: i64, high: i64) {
    let steps = (high - low) as f64;
    assert!(values.iter().all(|value| (low..=high).contains(value)), "{name}");
    assert_eq!(values.iter().collect::<HashSet<_>>().len() as i64, high - low + 1, "{name}");
    assert_share(name, values, 0.5 / steps, |value| value == low);
    assert_share(name, values, 0.5 / steps, |value| value == high);
    assert_share(name, values, ((steps / 4.0).floor() + 0.5) / steps, |value| value <= low + (high - low) / 4);
    assert_mean(
        name,
        &values.iter().map(|&value| value as f64).collect::<Vec<_>>(),
        f64::midpoint(low as f64, high as f64),
    );
}

#[test]
fn a_day_has_the_records_of_the_benchmark() {
    let seeds = 4_000_u32;
    let mut checkpoints = vec![Vec::new(); 5];
    for seed in 0..seeds {
        let traffic = Traffic::new(BATCHES, 1.0, Seed(seed.into())).unwrap();
        for (i, totals) in checkpoints.iter_mut().enumerate() {
            let last = traffic.batches()[i * 100 + 99];
            totals.push((last.first_sequence - 1 + last.rows as u64) as f64 / 1e6);
        }
        assert_eq!(*checkpoints[4].last().unwrap(), total_rows(&traffic) as f64 / 1e6);
    }
    // By hand: 125 batches of 10,000, 83 of 220,000, 167 of 86,500 and 125 of 46,000 on average, by hour. Published,
    // from 4,000 simulated days: 39.72 million with a standard deviation of 1.80.
    assert!(checkpoints[0].iter().all(|&rows| rows == 1.0), "the night does not vary");
    for (totals, mean) in checkpoints.iter().zip([1.0, 12.494, 21.1815, 35.0755, 39.7055]).skip(1) {
        assert_mean("cumulative records", totals, mean);
    }
    let n = f64::from(seeds);
    let mean = checkpoints[4].iter().sum::<f64>() / n;
    let deviation = (checkpoints[4].iter().map(|rows| (rows - mean).powi(2)).sum::<f64>() / n).sqrt();
    assert!((deviation - 1.79).abs() < 4.5 * 1.79 / (2.0 * n).sqrt(), "standard deviation {deviation}");
    assert!((mean - 39.72).abs() < 4.5 * 1.80 * (2.0 / n).sqrt(), "mean {mean}");
}

#[test]
fn sizes_have_the_shares_of_their_hour() {
    let mut sizes: [Vec<usize>; 24] = std::array::from_fn(|_| Vec::new());
    for seed in 0..200 {
        for batch in Traffic::new(BATCHES, 1.0, Seed(seed)).unwrap().batches() {
            sizes[usize::from(batch.hour)].push(batch.rows);
        }
    }
    for (hour, sizes) in sizes.iter().enumerate() {
        assert_eq!(sizes.len(), 200 * if hour % 6 == 5 { 20 } else { 21 }, "hour {hour}");
        let [small, medium, large] = match hour {
            0..=5 => [1.0, 0.0, 0.0],
            7 | 8 | 17 | 18 => [0.0, 0.7, 0.3],
            9..=16 => [0.15, 0.85, 0.0],
            _ => [0.6, 0.4, 0.0],
        };
        for (size, share) in [(10_000, small), (100_000, medium), (500_000, large)] {
            assert_share(&format!("{size} at {hour}"), sizes, share, |rows| rows == size);
        }
    }
}

#[test]
fn any_number_of_batches_spans_the_day() {
    let hours = |batches: usize| -> Vec<u8> {
        Traffic::new(batches, 1.0, Seed(1)).unwrap().batches().iter().map(|batch| batch.hour).collect()
    };
    assert_eq!(hours(1), [0]);
    assert_eq!(hours(2), [0, 12]);
    assert_eq!(hours(24), (0..24).collect::<Vec<u8>>());
    assert_eq!(hours(7), [0, 3, 6, 10, 13, 17, 20]);
    for batches in [1, 24, 37, 500, 1_001] {
        let traffic = Traffic::new(batches, 1.0, Seed(2)).unwrap();
        let mut next = 1;
        for (batch, number) in traffic.batches().iter().zip(1..) {
            assert_eq!((batch.number, batch.first_sequence), (number, next));
            next += batch.rows as u64;
        }
        assert_eq!((traffic.batches().len(), total_rows(&traffic)), (batches, next - 1));
    }
}

#[test]
fn the_scale_multiplies_every_batch() {
    let day = |scale| Traffic::new(BATCHES, scale, Seed(3)).unwrap();
    let [whole, thousandth, tiny, double] = [1.0, 0.001, 1e-9, 2.0].map(day);
    for (i, batch) in whole.batches().iter().enumerate() {
        assert_eq!(thousandth.batches()[i].rows, batch.rows / 1_000);
        assert_eq!(tiny.batches()[i].rows, 1, "one record remains");
        assert_eq!(double.batches()[i].rows, batch.rows * 2);
        assert_eq!(tiny.batches()[i].hour, batch.hour);
    }
    // 10,000 * 0.00016 is 1.6, rounded to 2.
    assert_eq!(day(0.000_16).batches()[0].rows, 2);
    assert_eq!(total_rows(&tiny), BATCHES as u64);
    assert_eq!(whole, day(1.0), "a seed has one day");
    assert_ne!(whole, Traffic::new(BATCHES, 1.0, Seed(4)).unwrap());
}

#[test]
fn impossible_days_are_refused() {
    let refusal = |batches, scale| Traffic::new(batches, scale, Seed(1)).unwrap_err();
    assert_eq!(refusal(0, 1.0), TrafficError::Batches(0));
    assert_eq!(refusal(0, 1.0).to_string(), "a day has 1 to 1000000 batches, not 0");
    assert_eq!(refusal(BATCHES_MAX + 1, 1.0), TrafficError::Batches(BATCHES_MAX + 1));
    for scale in [0.0, -1.0, 1_000.1, f64::INFINITY] {
        assert_eq!(refusal(1, scale), TrafficError::Scale(scale));
    }
    assert_eq!(refusal(1, f64::NAN).to_string(), "the scale is above 0 and at most 1000, not NaN");
    assert_eq!(refusal(BATCHES_MAX, 1_000.0), TrafficError::Rows { batches: BATCHES_MAX, scale: 1_000.0 });
}

#[test]
fn dimension_keys_are_those_that_records_refer_to() {
    let towers_table = towers(Seed(1));
    assert_eq!(integers(&towers_table, "tower_id"), (1..=TOWERS as i32).collect::<Vec<_>>());
    assert_eq!(integers(&rate_plans(), "plan_id"), (1..=RATE_PLANS as i32).collect::<Vec<_>>());
    let codes = integers(&termination_codes(), "termination_code");
    assert_eq!((codes.len(), codes.is_sorted_by(|a, b| a < b)), (TERMINATION_CODES, true));
    assert!([1, 16, 17, 18].iter().all(|code| codes.contains(code)));
    assert!(codes.iter().all(|code| (1..=127).contains(code)));
    for table in [towers_table, rate_plans(), termination_codes()] {
        assert!(table.columns().iter().all(|values| values.null_count() == 0));
    }
}

#[test]
fn dimensions_say_sensible_things() {
    let table = towers(Seed(1));
    assert_eq!(table, towers(Seed(1)));
    assert_ne!(table, towers(Seed(2)));
    let distinct = |name| texts(&table, name).into_iter().collect::<HashSet<_>>().len();
    assert_eq!((distinct("region"), distinct("technology")), (9, 3));
    assert_eq!(distinct("city"), 400, "10,000 towers miss none of 400 cities");
    let cities: HashSet<(&str, &str)> = texts(&table, "city").into_iter().zip(texts(&table, "region")).collect();
    assert_eq!(cities.len(), 400, "a city is in one region");
    assert_share("5G towers", &texts(&table, "technology"), 0.63, |technology| technology == "5G");
    for (name, low, high) in [("latitude", 29.8, 48.2), ("longitude", -120.2, -74.8)] {
        let degrees = table.column(column(&table, name)).as_primitive::<Float64Type>();
        assert!(degrees.values().iter().all(|value| (low..=high).contains(value)), "{name}");
    }
    let plans = rate_plans();
    assert_eq!(texts(&plans, "plan_name").into_iter().collect::<HashSet<_>>().len(), RATE_PLANS);
    for name in ["monthly_fee", "price_per_minute"] {
        assert!(decimals(&plans, name).iter().all(|&amount| amount > 0), "{name}");
    }
    let codes = termination_codes();
    assert_eq!(texts(&codes, "description").into_iter().collect::<HashSet<_>>().len(), TERMINATION_CODES);
    let failures = codes.column(column(&codes, "is_failure")).as_boolean();
    assert!(!failures.value(0) && failures.true_count() == 17);
}
