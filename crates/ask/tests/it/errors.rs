//! Errors of questions name the problem, its place, and a remedy.

use arrow::array::RecordBatch;
use ask::{Measure, Options, Question, Replacement, Samples};
use snapshot::Snapshot;

use crate::tables::schema;

fn source() -> Snapshot {
    let schema = schema();
    let unflushed = vec![RecordBatch::new_empty(schema.clone())];
    Snapshot { root: "nowhere".into(), schema, table: None, segments: Vec::new(), unflushed }
}

fn message(question: &Question) -> String {
    ask::answer(&source(), question, &Options::default()).unwrap_err().to_string()
}

fn of_condition(condition: &str) -> String {
    message(&Question { conditions: vec![condition.to_owned()], ..Question::default() })
}

#[test]
fn unknown_columns_get_suggestions() {
    let grouped = Question { groups: vec!["hots".to_owned()], ..Question::default() };
    assert_eq!(message(&grouped), "unknown column \"hots\" (did you mean \"host\"?)");
    assert!(of_condition("Hsot = 'a'").contains("did you mean \"host\""));
    let far = Question { groups: vec!["qqqq".to_owned()], ..Question::default() };
    assert!(message(&far).contains("the columns are time, host, word"));
}

#[test]
fn condition_errors_point_at_the_mistake() {
    let at = |text: &str| {
        let message = of_condition(text);
        let caret = message.lines().last().unwrap().find('^').unwrap_or_else(|| panic!("{message}")) - 2;
        (caret, message.lines().next().unwrap().to_owned())
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
    assert!(at("n ~ 'x'").1.contains("~ needs text, but \"n\" holds integers"));
    assert!(at("tags = 'x'").1.contains("HAS"));
    assert!(at("host + 1 > 2").1.contains("arithmetic needs integers, but \"host\" holds text"));
    assert!(at("host HAS 'x'").1.contains("HAS needs sets of text"));
    assert!(at("n ; 1").1.contains("unexpected ';'"));
    assert!(at("n IN 5").1.contains("a list of values in parentheses"));
    assert!(at(&format!("{}n = 1{}", "(".repeat(300), ")".repeat(300))).1.contains("nested more than 200 levels deep"));
    assert!(at(&format!("n{} = 1", " + 1".repeat(30_000))).1.contains("more than 20000 tests and operators"));
}

#[test]
fn measures_reject_columns_of_wrong_types() {
    let of = |measure: Measure| message(&Question { measures: vec![measure], ..Question::default() });
    assert_eq!(of(Measure::Average("host".to_owned())), "cannot compute avg(host): the column holds text, not numbers");
    assert!(
        of(Measure::Quantiles("word".to_owned(), Vec::new()))
            .contains("compute quantiles(word): the column holds text")
    );
    assert!(of(Measure::Distinct("tags".to_owned())).contains("the column holds sets of text"));
    let weight = Question { weight: Some("host".to_owned()), ..Question::default() };
    assert!(message(&weight).contains("weight rows by \"host\""));
}

#[test]
fn other_parts_report_errors() {
    let time = Question { time: Some("host".to_owned()), since: Some(0), ..Question::default() };
    assert!(message(&time).contains("not times"));
    assert!("host".parse::<Replacement>().unwrap_err().to_string().contains("write COLUMN=/PATTERN/TEXT/"));
    assert!("host=/a/b".parse::<Replacement>().unwrap_err().to_string().contains("expected three /"));
    let replacement = "host=/a[/b/".parse::<Replacement>().unwrap();
    let replaced = Question { groups: vec!["host".to_owned()], replacements: vec![replacement], ..Question::default() };
    assert!(message(&replaced).contains("replacement: invalid pattern"), "{}", message(&replaced));
    let ungrouped = Question { groups: Vec::new(), replacements: vec!["host=/a/b/".parse().unwrap()], ..replaced };
    assert!(message(&ungrouped).contains("group by host too"));
    let order = ask::Order { by: "counts".to_owned(), ascending: false };
    let sorted = Question { groups: vec!["host".to_owned()], order: Some(order), ..Question::default() };
    assert!(message(&sorted).contains("did you mean \"count\""));
    let samples = Some(Samples { rows: 5, columns: Vec::new() });
    let both = Question { groups: vec!["host".to_owned()], samples, ..Question::default() };
    assert!(message(&both).contains("ask for no groups"));
    assert!("p101".parse::<ask::Quantile>().unwrap_err().contains("from 0 to 100"));
    assert!("1 hour".parse::<ask::Bucket>().unwrap_err().contains("such as 15m or 1h"));
    assert!(ask::moment("soon", 0).unwrap_err().to_string().contains("such as 7d"));
    assert_eq!(ask::moment("7d", 8 * 86_400_000_000).unwrap(), 86_400_000_000);
}

#[test]
fn memory_limit_is_reported() {
    let schema = schema();
    let key = arrow::array::Int64Array::from_iter_values(0..100_000);
    let mut columns: Vec<arrow::array::ArrayRef> =
        schema.fields().iter().map(|f| arrow::array::new_null_array(f.data_type(), 100_000)).collect();
    columns[schema.index_of("key").unwrap()] = std::sync::Arc::new(key);
    let unflushed = vec![RecordBatch::try_new(schema.clone(), columns).unwrap()];
    let source = Snapshot { root: "nowhere".into(), schema, table: None, segments: Vec::new(), unflushed };
    let question = Question { groups: vec!["key".to_owned()], ..Question::default() };
    let small = Options { memory_bytes: 1 << 20, ..Options::default() };
    let message = ask::answer(&source, &question, &small).unwrap_err().to_string();
    assert!(message.contains("needs more than the 1 MB") && message.contains("ask for fewer groups"), "{message}");
    assert_eq!(ask::answer(&source, &question, &Options::default()).unwrap().groups, 100_000);
}
