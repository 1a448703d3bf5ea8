//! Which encoding suits which column.
//!
//! The rule: a column's type says which encodings may suit it, and a sample says which does. Each candidate encodes
//! the sample as a segment would be, and the cheapest to write among those within 2% of the smallest is kept:
//!
//! | type | candidates, cheapest first |
//! |---|---|
//! | integers, times, dates, decimals | bytes split into planes (dense only), differences, dictionary, plain |
//! | real numbers | bytes split into planes (dense only), dictionary, plain |
//! | text, bytes | the common prefix of a page, prefixes shared with the value before, dictionary |
//! | sets of texts | dictionary: what is asked of a set is asked of each text once |
//! | true or false | plain |
//!
//! Pages that compress by less than 3% are not compressed. A dictionary that outgrows its page falls back by itself.

use std::collections::BTreeMap;
use std::fmt;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::limits::PAGE_ROWS;
use super::options::TableOptions;
use super::text::{Extras, TextColumn};
use pages::{Codec, EncodingSet};

/// Rows that a choice is made from.
pub(crate) const SAMPLE_ROWS: usize = 65_536;
/// A cheaper encoding is taken where it is at most this much larger than the smallest.
const NEAR: f64 = 1.02;
/// Compression is left out where it leaves more than this.
const INCOMPRESSIBLE: f64 = 0.97;
/// A dictionary larger than this is given up.
const DICTIONARY_BYTES: usize = 1 << 20;

/// How the values of a column are laid out in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnEncoding {
    /// One after another.
    Plain,
    /// Indices into a dictionary (`RLE_DICTIONARY`).
    Dictionary,
    /// Differences of neighbours, packed (`DELTA_BINARY_PACKED`).
    Delta,
    /// What the texts of a page have in common once, then the rest of each (`DELTA_BYTE_ARRAY`).
    Common,
    /// As long a prefix of the text before as there is, then the rest of each (`DELTA_BYTE_ARRAY`).
    Prefixes,
    /// All first bytes, then all second ones (`BYTE_STREAM_SPLIT`).
    Split,
}

impl fmt::Display for ColumnEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Plain => "plain",
            Self::Dictionary => "dictionary",
            Self::Delta => "delta",
            Self::Common => "common",
            Self::Prefixes => "prefixes",
            Self::Split => "split",
        })
    }
}

/// How one column is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    encoding: ColumnEncoding,
    compressed: bool,
}

/// How every column of a table is written, chosen from a sample of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encodings {
    choices: BTreeMap<String, Choice>,
    codec: Codec,
    sample: SchemaRef,
    sample_rows: usize,
}

impl Encodings {
    /// Chooses from the first rows of `batch`, which must have one at least, for a table with `options`.
    pub fn choose(batch: &RecordBatch, options: &TableOptions) -> Result<Self> {
        let codec = options.codec;
        let sample = batch.slice(0, batch.num_rows().min(SAMPLE_ROWS));
        let choose = |i: usize| -> Result<(String, Choice)> {
            let column = sample.project(&[i])?;
            Ok((sample.schema_ref().field(i).name().clone(), best(&column, options)?))
        };
        let choices = (0..sample.num_columns()).map(choose).collect::<Result<_>>()?;
        Ok(Self { choices, codec, sample: sample.schema(), sample_rows: sample.num_rows() })
    }

    /// Whether they were chosen for these columns.
    pub(crate) fn are_of(&self, schema: &SchemaRef) -> bool {
        self.sample == *schema
    }

    /// Whether a batch of so many rows would be a much better sample.
    pub(crate) fn outgrown_by(&self, rows: usize) -> bool {
        self.sample_rows < SAMPLE_ROWS && rows >= 4 * self.sample_rows
    }

    /// The encoding of each column, by name.
    pub fn columns(&self) -> impl Iterator<Item = (&str, ColumnEncoding)> {
        self.choices.iter().map(|(name, choice)| (name.as_str(), choice.encoding))
    }

    /// The codec of a column that is encoded by its common prefixes; `None` of any other.
    pub(crate) fn common_prefix(&self, column: &str) -> Option<Codec> {
        let choice = self.choices.get(column).filter(|c| c.encoding == ColumnEncoding::Common)?;
        Some(if choice.compressed { self.codec } else { Codec::None })
    }

    pub(crate) fn apply(&self, schema: &Schema) -> Result<WriterPropertiesBuilder> {
        let mut properties = without_dictionaries(self.codec)?;
        let parquet = ArrowSchemaConverter::new().convert(schema)?;
        for (leaf, column) in parquet.columns().iter().enumerate() {
            if let Some(choice) = self.choices.get(schema.field(parquet.get_column_root_idx(leaf)).name()) {
                properties = choice.apply(properties, column.path());
            }
        }
        Ok(properties)
    }
}

/// Columns have the dictionaries that they ask for.
fn without_dictionaries(codec: Codec) -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_dictionary_enabled(false)
        .set_compression(codec.in_footer()?))
}

impl Choice {
    /// Of a leaf: a column's values, or the texts of its sets.
    fn apply(self, properties: WriterPropertiesBuilder, leaf: &ColumnPath) -> WriterPropertiesBuilder {
        let path = leaf.clone();
        let properties = if self.compressed {
            properties
        } else {
            properties.set_column_compression(path.clone(), Compression::UNCOMPRESSED)
        };
        match self.encoding {
            ColumnEncoding::Dictionary => properties.set_column_dictionary_enabled(path, true),
            ColumnEncoding::Plain => properties.set_column_encoding(path, Encoding::PLAIN),
            ColumnEncoding::Delta => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            // Common prefixes we encode ourselves.
            ColumnEncoding::Common | ColumnEncoding::Prefixes => {
                properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY)
            }
            ColumnEncoding::Split => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
        }
    }
}

/// Encodings that may suit a type, the cheapest to write first.
fn candidates(ty: &DataType, set: EncodingSet) -> &'static [ColumnEncoding] {
    use ColumnEncoding::{Common, Delta, Dictionary, Plain, Prefixes, Split};
    match ty {
        DataType::Boolean => &[Plain],
        DataType::Utf8 | DataType::Binary => &[Common, Prefixes, Dictionary],
        DataType::List(_) => &[Dictionary],
        // Wide decimals are stored as bytes of fixed length, which have no differences.
        DataType::Float32 | DataType::Float64 | DataType::Decimal128(19.., _) => match set {
            EncodingSet::Dense => &[Split, Dictionary, Plain],
            EncodingSet::Portable => &[Dictionary, Plain],
        },
        _ => match set {
            EncodingSet::Dense => &[Split, Delta, Dictionary],
            EncodingSet::Portable => &[Delta, Dictionary, Plain],
        },
    }
}

fn best(column: &RecordBatch, options: &TableOptions) -> Result<Choice> {
    let candidates = candidates(column.schema_ref().field(0).data_type(), options.encodings);
    let sizes =
        candidates.iter().map(|&encoding| trial(column, encoding, options.codec)).collect::<Result<Vec<_>>>()?;
    let smallest = sizes.iter().map(Sizes::stored).min().unwrap_or(0) as f64;
    let near = sizes.iter().position(|s| s.stored() as f64 <= smallest * NEAR).unwrap_or(0);
    Ok(Choice { encoding: candidates[near], compressed: sizes[near].is_compressible() })
}

struct Sizes {
    compressed: i64,
    uncompressed: i64,
}

impl Sizes {
    fn is_compressible(&self) -> bool {
        (self.compressed as f64) < self.uncompressed as f64 * INCOMPRESSIBLE
    }

    fn stored(&self) -> i64 {
        if self.is_compressible() { self.compressed } else { self.uncompressed }
    }
}

/// Encodes the one column of a sample.
fn trial(column: &RecordBatch, encoding: ColumnEncoding, codec: Codec) -> Result<Sizes> {
    let schema = ArrowSchemaConverter::new().convert(column.schema_ref())?;
    if encoding == ColumnEncoding::Common {
        let mut text =
            TextColumn::new(schema.column(0), codec, Extras { statistics: false, bloom: false, page_rows: PAGE_ROWS })?;
        text.write(column.column(0));
        let encoded = text.close()?;
        let chunk = &encoded.close.metadata;
        return Ok(Sizes { compressed: chunk.compressed_size(), uncompressed: chunk.uncompressed_size() });
    }
    let properties = without_dictionaries(codec)?.set_statistics_enabled(EnabledStatistics::None);
    let choice = Choice { encoding, compressed: true };
    let properties = schema.columns().iter().fold(properties, |p, leaf| choice.apply(p, leaf.path())).build();
    let mut writer = ArrowWriter::try_new(std::io::sink(), column.schema(), Some(properties))?;
    writer.write(column)?;
    let metadata = writer.close()?;
    let chunks = || metadata.row_groups().iter().flat_map(parquet::file::metadata::RowGroupMetaData::columns);
    Ok(Sizes {
        compressed: chunks().map(parquet::file::metadata::ColumnChunkMetaData::compressed_size).sum(),
        uncompressed: chunks().map(parquet::file::metadata::ColumnChunkMetaData::uncompressed_size).sum(),
    })
}
