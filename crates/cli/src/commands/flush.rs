//! `manyworlds flush`.

use anyhow::Result;
use ingest::FlushOptions;
use serde_json::json;

use super::disk;
use super::table::no_table;
use crate::args::{Format, TableArgs};
use crate::output::{bytes, count, counted, print, print_json};

pub(crate) async fn flush(args: &TableArgs) -> Result<()> {
    let root = args.folder();
    if !root.is_dir() {
        return Err(no_table(&args.data.data, &args.name));
    }
    let done = ingest::digest(&root, disk(), &FlushOptions::default()).await?;
    match args.format.format {
        Format::Json => print_json(&json!({
            "table": args.name.to_string(),
            "rows": done.rows,
            "segments": done.segments,
            "bytes": done.bytes,
            "segments_merged": done.merged,
        })),
        Format::Csv => print(&format!("rows,segments,bytes\n{},{},{}\n", done.rows, done.segments, done.bytes)),
        Format::Table if done.rows == 0 => print(&format!("the log of {} is empty\n", args.name)),
        Format::Table => print(&format!(
            "flushed {} of {}; segments: {}, {}\n",
            counted(done.rows, "row"),
            args.name,
            count(done.segments as u64),
            bytes(done.bytes)
        )),
    }
}
