//! Questions that make no sense are told what is wrong, where, and what to do.

use arrow::array::RecordBatch;
use ask::{Measure, Options, Question, Replacement, Samples};
use snapshot::Snapshot;

use crate::tables::schema;

fn source() -> Snapshot {
    let schema = schema();
    let unflushed = vec![RecordBatch::new_empty(schema.clone())];
    Snapshot { root: "nowhere".into(), schema, table: None, segments: Vec::new(), unflushed }
}

fn said(question: &Question) -> String {
    ask::answer(&source(), question, &Options::default()).unwrap_err().to_string()
}

fn of_condition(condition: &str) -> String {
    said(&Question { conditions: vec![condition.to_owned()], ..Question::default() })
}

#[test]
fn unknown_columns_name_those_nearest() {
    let grouped = Question { groups: vec!["hots".to_owned()], ..Question::default() };
    assert_eq!(said(&grouped), "there is no column \"hots\": did you mean \"host\"?");
    assert!(of_condition("Hsot = 'a'").contains("did you mean \"host\""));
    let far = Question { groups: vec!["qqqq".to_owned()], ..Question::default() };
    assert!(said(&far).contains("there are time, host, word"));
}

#[test]
fn conditions_are_told_where_they_are_wrong() {
    let at = |text: &str| {
        let said = of_condition(text);
        let caret = said.lines().last().unwrap().find('^').unwrap_or_else(|| panic!("{said}")) - 2;
        (caret, said.lines().next().unwrap().to_owned())
    };
    assert_eq!(at("host ="), (6, "condition: expected a name, a number or a 'text'".to_owned()));
    assert_eq!(at("host = 'a' b").0, 11);
    assert_eq!(at("host = 'a"), (7, "condition: unterminated text: close it with '".to_owned()));
    assert_eq!(at("(n = 1").1, "condition: expected a closing parenthesis");
    assert_eq!(at("host ~ 'a(b'").0, 9);
    assert!(at("host ~ 'a(b'").1.contains("unclosed group"));
    assert!(at("n = 'one'").1.contains("\"n\" holds integers: compare it with a number"));
    assert!(at("time > 5").1.contains("compare it with a time in single quotes"));
    assert!(at("time > 'yesterday'").1.contains("such as '2025-10-01'"));
    assert!(at("n ~ 'x'").1.contains("~ needs text, and \"n\" holds integers"));
    assert!(at("tags = 'x'").1.contains("HAS"));
    assert!(at("host + 1 > 2").1.contains("arithmetic needs integers, and \"host\" holds text"));
    assert!(at("host HAS 'x'").1.contains("HAS needs sets of texts"));
    assert!(at("n ; 1").1.contains("unexpected ';'"));
    assert!(at("n IN 5").1.contains("a list of values in parentheses"));
    assert!(at(&format!("{}n = 1{}", "(".repeat(300), ")".repeat(300))).1.contains("nested more than 200 levels deep"));
    assert!(at(&format!("n{} = 1", " + 1".repeat(30_000))).1.contains("more than 20000 tests and operators"));
}

#[test]
fn measures_are_told_what_they_need() {
    let of = |measure: Measure| said(&Question { measures: vec![measure], ..Question::default() });
    assert_eq!(
        of(Measure::Average("host".to_owned())),
        "avg of \"host\" cannot be told: it holds text, and avg needs numbers"
    );
    assert!(of(Measure::Quantiles("word".to_owned(), Vec::new())).contains("quantiles needs numbers"));
    assert!(of(Measure::Distinct("tags".to_owned())).contains("it holds sets of texts"));
    let weight = Question { weight: Some("host".to_owned()), ..Question::default() };
    assert!(said(&weight).contains("weight of \"host\""));
}

#[test]
fn other_parts_are_told_what_is_wrong_too() {
    let time = Question { time: Some("host".to_owned()), since: Some(0), ..Question::default() };
    assert!(said(&time).contains("needs times"));
    assert!("host".parse::<Replacement>().unwrap_err().to_string().contains("write COLUMN=/PATTERN/TEXT/"));
    assert!("host=/a/b".parse::<Replacement>().unwrap_err().to_string().contains("three / are expected"));
    let replacement = "host=/a[/b/".parse::<Replacement>().unwrap();
    let replaced = Question { groups: vec!["host".to_owned()], replacements: vec![replacement], ..Question::default() };
    assert!(said(&replaced).contains("replacement: invalid pattern"), "{}", said(&replaced));
    let ungrouped = Question { groups: Vec::new(), replacements: vec!["host=/a/b/".parse().unwrap()], ..replaced };
    assert!(said(&ungrouped).contains("group by host too"));
    let order = ask::Order { by: "counts".to_owned(), ascending: false };
    let sorted = Question { groups: vec!["host".to_owned()], order: Some(order), ..Question::default() };
    assert!(said(&sorted).contains("did you mean \"count\""));
    let samples = Some(Samples { rows: 5, columns: Vec::new() });
    let both = Question { groups: vec!["host".to_owned()], samples, ..Question::default() };
    assert!(said(&both).contains("ask for no groups"));
    assert!("p101".parse::<ask::Quantile>().unwrap_err().contains("from 0 to 100"));
    assert!("1 hour".parse::<ask::Bucket>().unwrap_err().contains("such as 15m or 1h"));
    assert!(ask::moment("soon", 0).unwrap_err().to_string().contains("such as 7d"));
    assert_eq!(ask::moment("7d", 8 * 86_400_000_000).unwrap(), 86_400_000_000);
}

#[test]
fn a_question_that_needs_more_memory_says_so() {
    let schema = schema();
    let key = arrow::array::Int64Array::from_iter_values(0..100_000);
    let mut columns: Vec<arrow::array::ArrayRef> =
        schema.fields().iter().map(|f| arrow::array::new_null_array(f.data_type(), 100_000)).collect();
    columns[schema.index_of("key").unwrap()] = std::sync::Arc::new(key);
    let unflushed = vec![RecordBatch::try_new(schema.clone(), columns).unwrap()];
    let source = Snapshot { root: "nowhere".into(), schema, table: None, segments: Vec::new(), unflushed };
    let question = Question { groups: vec!["key".to_owned()], ..Question::default() };
    let small = Options { memory_bytes: 1 << 20, ..Options::default() };
    let said = ask::answer(&source, &question, &small).unwrap_err().to_string();
    assert!(said.contains("needs more than the 1 MB") && said.contains("ask for fewer groups"), "{said}");
    assert_eq!(ask::answer(&source, &question, &Options::default()).unwrap().groups, 100_000);
}
