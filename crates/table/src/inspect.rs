//! Reports the size and encodings of a table's columns, from the footers of its segments.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use parquet::bloom_filter::Sbbf;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::schema::types::SchemaDescriptor;

use crate::error::TableError;
use crate::log::Segment;

/// One column over all segments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnReport {
    pub name: String,
    /// Encodings of the values, plus `plain` for dictionaries.
    pub encodings: BTreeSet<String>,
    pub codecs: BTreeSet<String>,
    /// Bytes of the pages on disk.
    pub bytes: u64,
    pub uncompressed_bytes: u64,
    pub groups: u64,
    pub groups_with_bounds: u64,
    pub bloom_bytes: u64,
    /// The filters' false positive rate, computed from their bits; `None` without filters.
    pub bloom_false_positives: Option<f64>,
}

/// Reads the footers and filters of some segments of the table in the folder `root`.
pub fn inspect(root: &Path, segments: &[Segment]) -> Result<Vec<ColumnReport>, TableError> {
    let mut columns: Vec<ColumnReport> = Vec::new();
    let mut rates: Vec<Vec<f64>> = Vec::new();
    for segment in segments {
        let path = root.join(&segment.path);
        let damaged = |e: parquet::errors::ParquetError| TableError::damaged(&path, e);
        let file = File::open(&path).map_err(TableError::io("open", &path))?;
        let filters = ReaderProperties::builder().set_read_bloom_filter(true).build();
        let options = ReadOptionsBuilder::new().with_reader_properties(filters).build();
        let reader = SerializedFileReader::new_with_options(file, options).map_err(damaged)?;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(damaged)?;
            for (place, chunk) in group.metadata().columns().iter().enumerate() {
                let name = name_of(group.metadata().schema_descr(), place);
                let place_in_report = columns.iter().position(|c| c.name == name).unwrap_or_else(|| {
                    columns.push(ColumnReport { name, ..ColumnReport::default() });
                    rates.push(Vec::new());
                    columns.len() - 1
                });
                add_chunk(&mut columns[place_in_report], chunk);
                rates[place_in_report].extend(group.get_column_bloom_filter(place).map(false_positives));
            }
        }
    }
    for (column, rates) in columns.iter_mut().zip(rates) {
        column.bloom_false_positives = (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64);
    }
    Ok(columns)
}

/// The column's name if it is a single leaf, like a set; otherwise the leaf's path.
fn name_of(schema: &SchemaDescriptor, leaf: usize) -> String {
    let root_of = |leaf| schema.get_column_root_idx(leaf);
    let neighbours = [leaf.checked_sub(1), Some(leaf + 1).filter(|next| *next < schema.num_columns())];
    let alone = neighbours.into_iter().flatten().all(|neighbour| root_of(neighbour) != root_of(leaf));
    if alone { schema.get_column_root(leaf).name().to_owned() } else { schema.column(leaf).path().string() }
}

fn add_chunk(column: &mut ColumnReport, chunk: &parquet::file::metadata::ColumnChunkMetaData) {
    column.encodings.extend(chunk.encodings().map(|e| e.to_string().to_lowercase()).filter(|e| e != "rle"));
    let codec = format!("{:?}", chunk.compression());
    column.codecs.insert(codec.split('(').next().unwrap_or_default().to_lowercase());
    column.bytes += chunk.compressed_size() as u64;
    column.uncompressed_bytes += chunk.uncompressed_size() as u64;
    column.groups += 1;
    column.groups_with_bounds += u64::from(chunk.statistics().is_some_and(|s| s.min_bytes_opt().is_some()));
    column.bloom_bytes += chunk.bloom_filter_length().unwrap_or(0).max(0) as u64;
}

/// The probability that an absent value passes. The value selects any block, and each of the block's eight words must
/// have one of its 32 bits set.
fn false_positives(filter: &Sbbf) -> f64 {
    let mut bits = Vec::new();
    if filter.write_bitset(&mut bits).is_err() {
        return 1.0;
    }
    let of_block = |block: &[u8]| -> f64 {
        block.chunks(4).map(|word| word.iter().map(|b| f64::from(b.count_ones())).sum::<f64>() / 32.0).product()
    };
    let blocks = bits.chunks(32);
    let count = blocks.len().max(1) as f64;
    blocks.map(of_block).sum::<f64>() / count
}
