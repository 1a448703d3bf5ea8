use super::rows::{self, ROWS, TABLES};

#[test]
fn a_row_is_known_by_its_time() {
    let records = rows::records(&[7]);
    assert_eq!(records.times.len() as u64, ROWS);
    for (place, time) in records.times.iter().enumerate() {
        let row = rows::row_at(*time).unwrap();
        assert_eq!(row, 7 * ROWS + place as u64);
        let host = crate::ingest::encode::name(records.hosts[place]);
        let values = [0, 1, 2].map(|at: usize| f64::from(records.values[at][place]) / 100.0);
        assert!(rows::is_row(row, host, values));
        assert!(!rows::is_row(row + 1, host, values));
    }
    assert_eq!(rows::row_at(rows::time_of(3) + 1), None);
    assert_eq!(rows::table_of(TABLES * 5 + 2), 2);
}
