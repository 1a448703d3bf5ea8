//! The log returns appended entries, up to a torn end.

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use disk::RealDisk;
use disk::power_loss::PowerLossDisk;
use std::fs;

use super::entry::Entry;
use super::*;

fn rows(values: std::ops::Range<i64>) -> RecordBatch {
    RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from_iter_values(values)) as _)]).unwrap()
}

fn entry(n: i64, key: Option<Key>) -> NewEntry {
    NewEntry::new(&rows(n..n + 1), key).unwrap()
}

fn open(root: &Path, disk: Arc<dyn Disk>, taken_in: u64) -> (Log, Vec<(u64, i64)>) {
    let mut found = Vec::new();
    let log = Log::open(root, disk, taken_in, |r| {
        found.push((r.position, r.rows.column(0).as_primitive::<Int64Type>().value(0)));
        Ok(())
    });
    (log.unwrap(), found)
}

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join(Appender::LOG_FOLDER)).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end != "lock"));
    names.sort();
    names
}

#[test]
fn entries_come_back_in_order_from_the_position_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let (mut log, found) = open(root.path(), Arc::new(RealDisk), 0);
    assert!(found.is_empty());
    assert_eq!(log.append(&mut [entry(10, None), entry(20, None)], Durability::Sync).unwrap(), 1);
    assert_eq!(log.append(&mut [entry(30, None)], Durability::None).unwrap(), 3);
    drop(log);
    let (mut log, found) = open(root.path(), Arc::new(RealDisk), 1);
    assert_eq!(found, [(2, 20), (3, 30)]);
    assert_eq!(log.append(&mut [entry(40, None)], Durability::Sync).unwrap(), 4);
    drop(log);
    assert_eq!(open(root.path(), Arc::new(RealDisk), 0).1, [(1, 10), (2, 20), (3, 30), (4, 40)]);
    // The table holds all of it, and more that the log has lost.
    assert_eq!(
        open(root.path(), Arc::new(RealDisk), 9).0.append(&mut [entry(50, None)], Durability::Sync).unwrap(),
        10
    );
}

#[test]
fn entries_after_a_position_are_read_without_the_rows_before() {
    let root = tempfile::tempdir().unwrap();
    let (mut log, _) = open(root.path(), Arc::new(RealDisk), 0);
    log.append(&mut [entry(10, None), entry(20, None), entry(30, None)], Durability::Sync).unwrap();
    drop(log);
    let (mut log, _) = open(root.path(), Arc::new(RealDisk), 0);
    log.append(&mut [entry(40, None), entry(50, None)], Durability::Sync).unwrap();
    drop(log);
    let folder = root.path().join(Appender::LOG_FOLDER);
    let after = |position: u64| {
        let mut found = Vec::new();
        for file in files(&folder, u64::MAX).unwrap() {
            let read = file.recover_after(position, |r| {
                found.push((r.position, r.rows.column(0).as_primitive::<Int64Type>().value(0)));
                Ok(())
            });
            read.unwrap();
        }
        found
    };
    let all = [(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)];
    assert_eq!(names(root.path()).len(), 2);
    for position in 0..=6 {
        assert_eq!(after(position), all[(position as usize).min(5)..]);
    }
    assert_eq!(after(u64::MAX), []);
    // Damage to rows that a table has hides none of the others.
    let first = folder.join(&names(root.path())[0]);
    let mut bytes = fs::read(&first).unwrap();
    bytes[MAGIC.len() + Entry::HEAD + 8] ^= 1;
    fs::write(&first, &bytes).unwrap();
    assert_eq!((after(1), after(2), after(0)), (all[1..].to_vec(), all[2..].to_vec(), all[3..].to_vec()));
    // A file cut within its header is empty.
    for cut in 0..MAGIC.len() {
        fs::write(&first, &bytes[..cut]).unwrap();
        assert_eq!(after(1), all[3..]);
    }
}

#[test]
fn a_torn_end_is_where_the_log_ends_whichever_byte_is_lost() {
    let root = tempfile::tempdir().unwrap();
    let (mut log, _) = open(root.path(), Arc::new(RealDisk), 0);
    log.append(&mut [entry(1, None), entry(2, Some(Key(7)))], Durability::Sync).unwrap();
    drop(log);
    let path = root.path().join(Appender::LOG_FOLDER).join(&names(root.path())[0]);
    let whole = fs::read(&path).unwrap();
    let entry_bytes = (whole.len() - MAGIC.len()) / 2;
    for cut in 0..whole.len() {
        let expected = cut.saturating_sub(MAGIC.len()) / entry_bytes;
        for flipped in [false, true] {
            let mut torn = if flipped { whole.clone() } else { whole[..cut].to_vec() };
            if flipped {
                torn[cut] ^= 0x10;
            }
            fs::write(&path, &torn).unwrap();
            let (log, found) = open(root.path(), Arc::new(RealDisk), 0);
            assert_eq!(found.len(), expected, "cut at {cut}, flipped {flipped}");
            assert!(!log.knows(Key(7)));
        }
    }
    fs::write(&path, &whole).unwrap();
    let (mut log, found) = open(root.path(), Arc::new(RealDisk), 0);
    assert!(found.len() == 2 && log.knows(Key(7)));
    assert_eq!(log.append(&mut [entry(3, None)], Durability::Sync).unwrap(), 3);
    // A file in the middle that lost its end is damaged, not torn.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let error = Log::open(root.path(), Arc::new(RealDisk), 0, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("entry 3 where entry 2 is missing"), "{error}");
}

#[test]
fn what_failed_is_not_there_and_the_next_group_is() {
    for fail_at in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("t");
        let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
        let (mut log, _) = open(&root, Arc::new(disk.clone()), 0);
        log.append(&mut [entry(1, None)], Durability::Sync).unwrap();
        let before = disk.operations();
        disk.fail_from(before + fail_at);
        let failed = log.append(&mut [entry(2, None), entry(3, None)], Durability::Sync).is_err();
        disk.fail_from(u64::MAX);
        log.append(&mut [entry(4, None)], Durability::Sync).unwrap();
        disk.lose_power().unwrap();
        let expected: &[i64] = if failed { &[1, 4] } else { &[1, 2, 3, 4] };
        let found = open(&root, Arc::new(RealDisk), 0).1;
        assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), expected, "failed at {fail_at}");
    }
}

#[test]
fn files_go_once_the_table_has_them_and_their_keys_stay() {
    let root = tempfile::tempdir().unwrap();
    let (mut log, _) = open(root.path(), Arc::new(RealDisk), 0);
    for n in 0..3 {
        log.append(&mut [entry(n, Some(Key(n as u128)))], Durability::Sync).unwrap();
        log.close_file();
    }
    log.take_done(2).unwrap().remove(&RealDisk, || true).unwrap();
    assert_eq!(
        names(root.path()),
        ["keys", "keys", "log"].into_iter().zip(1..).map(|(end, n)| format!("{n:020}.{end}")).collect::<Vec<_>>()
    );
    drop(log);
    let (mut log, found) = open(root.path(), Arc::new(RealDisk), 2);
    assert_eq!(found, [(3, 2)]);
    assert!((0..3).all(|n| log.knows(Key(n))) && !log.knows(Key(3)));
    log.close(3).unwrap();
    drop(log);
    let (log, found) = open(root.path(), Arc::new(RealDisk), 3);
    assert!(found.is_empty() && log.knows(Key(2)));
    // An empty file remains and records the next position.
    let left: Vec<_> = names(root.path()).into_iter().filter(|n| n.contains(".log")).collect();
    assert_eq!(left, [format!("{:020}.log", 4)]);
}

#[test]
fn a_file_that_goes_bit_by_bit_may_be_left_at_any_of_them() {
    const ROWS: i64 = 100_000;
    let mut fail_at = 0;
    loop {
        let attic = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let disk = PowerLossDisk::new(attic.path()).unwrap();
        let (mut log, _) = open(root.path(), Arc::new(disk.clone()), 0);
        for n in 0..4 {
            let entry = NewEntry::new(&rows(n * ROWS..(n + 1) * ROWS), None).unwrap();
            log.append(&mut [entry], Durability::Sync).unwrap();
        }
        log.close_file();
        log.append(&mut [entry(7, None)], Durability::Sync).unwrap();
        let mut done = log.take_done(4).unwrap();
        disk.fail_from(disk.operations() + fail_at);
        let removed = done.remove(&disk, || true);
        log.put_back(done);
        drop(log);
        disk.lose_power().unwrap();
        // All entries missing in the table are there, and the position after them is next.
        let (mut log, found) = open(root.path(), Arc::new(RealDisk), 4);
        assert_eq!(found, [(5, 7)], "failed at {fail_at}");
        assert_eq!(log.append(&mut [entry(8, None)], Durability::Sync).unwrap(), 6);
        if removed.is_ok() {
            assert!(fail_at > 3, "it went at once");
            break;
        }
        fail_at += 1;
    }
}

#[test]
fn what_another_named_and_did_not_sync_is_durable_before_it_counts_as_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
    let (mut log, _) = open(&root, Arc::new(disk.clone()), 0);
    log.append(&mut [entry(1, None)], Durability::Sync).unwrap();
    drop(log);
    // An append that ended before its last operation.
    let path = path_at(&root.join(Appender::LOG_FOLDER), 2);
    let begun = path.with_extension("tmp");
    let mut file = disk.create(&begun).unwrap();
    file.write_all(&whole(2, &mut [entry(2, None)])).unwrap();
    file.sync().unwrap();
    disk.rename(&begun, &path).unwrap();
    let (mut log, found) = open(&root, Arc::new(disk.clone()), 0);
    assert_eq!(found, [(1, 1), (2, 2)]);
    log.tell(2).unwrap();
    drop(log);
    disk.lose_power().unwrap();
    let (mut log, found) = open(&root, Arc::new(disk.clone()), 0);
    assert_eq!(found, [(1, 1), (2, 2)], "a table may have it, and its position is not given again");
    assert_eq!(log.append(&mut [entry(3, None)], Durability::Sync).unwrap(), 3);
}
