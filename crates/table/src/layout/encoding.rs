//! Chooses an encoding for each column.
//!
//! The column's type determines the candidates. Each encodes a sample as in a segment; candidates without
//! a dictionary encode a page of it. Among those within 2% of the smallest, the cheapest to write wins:
//!
//! | type | candidates, cheapest first |
//! |---|---|
//! | integers, times, dates, decimals | byte planes (dense only), deltas, dictionary, plain |
//! | real numbers | byte planes (dense only), dictionary, plain |
//! | text, bytes | common prefix of the page, prefix of the previous value, dictionary |
//! | sets of texts | dictionary, so that a test on a set runs once per text |
//! | booleans | plain |
//!
//! Columns whose sample compresses by less than 3% are not compressed; of the others, the codec may store single pages.
//! A dictionary of mostly different values falls back to plain.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use strum::Display;

use super::extras::Extras;
use super::limits::{PAGE_BYTES, PAGE_ROWS};
use super::options::TableOptions;
use super::own::{Form, OwnColumn};
use super::text::Prefix;
use pages::{Codec, Compressor, EncodingSet};

pub(crate) const SAMPLE_ROWS: usize = 65_536;
/// A cheaper encoding wins if it is at most this much larger than the smallest.
const NEAR: f64 = 1.02;
/// Columns stay uncompressed if compression leaves more than this share of the sample.
const INCOMPRESSIBLE: f64 = 0.97;
const DICTIONARY_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display)]
#[strum(serialize_all = "lowercase")]
pub enum ColumnEncoding {
    Plain,
    /// Indices into a dictionary (`RLE_DICTIONARY`).
    Dictionary,
    /// Bit-packed deltas (`DELTA_BINARY_PACKED`).
    Delta,
    /// The page's common prefix once, then the rest of each text (`DELTA_BYTE_ARRAY`).
    Common,
    /// The longest prefix shared with the previous text, then the rest (`DELTA_BYTE_ARRAY`).
    Prefixes,
    /// Byte planes: all first bytes, then all second ones (`BYTE_STREAM_SPLIT`).
    Split,
}

impl ColumnEncoding {
    /// How this crate encodes columns of a type; `None` for those of the Parquet library.
    fn own(self, ty: &DataType) -> Option<Form> {
        let is_integer = matches!(
            ty,
            DataType::Int8
                | DataType::Int16
                | DataType::Int32
                | DataType::Int64
                | DataType::Date32
                | DataType::Timestamp(TimeUnit::Microsecond, _)
                | DataType::Decimal128(..=18, _)
        );
        match (self, ty) {
            (Self::Common, _) => Some(Form::Prefixes(Prefix::Common)),
            (Self::Prefixes, _) => Some(Form::Prefixes(Prefix::Longest)),
            (Self::Delta, _) if is_integer => Some(Form::Deltas),
            (Self::Dictionary, DataType::Float64 | DataType::Utf8 | DataType::Binary) => Some(Form::Dictionary),
            (Self::Dictionary, _) if is_integer => Some(Form::Dictionary),
            (Self::Plain, DataType::Float64) => Some(Form::Plain),
            (Self::Plain, _) if is_integer => Some(Form::Plain),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    encoding: ColumnEncoding,
    compressed: bool,
}

/// The encodings of a table's columns, chosen from a sample of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encodings {
    choices: BTreeMap<String, Choice>,
    codec: Codec,
    sample: SchemaRef,
    sample_rows: usize,
}

impl Encodings {
    /// Chooses from the first rows of `batches`, which have the columns of `schema`, for a table with `options`.
    pub fn choose(schema: &SchemaRef, batches: &[RecordBatch], options: &TableOptions) -> Result<Self> {
        let codec = options.codec;
        let sample = concat_batches(schema, &first_rows(batches))?;
        let mut compressor = Compressor::new(codec)?;
        let choose = |i: usize| -> Result<(String, Choice)> {
            let column = sample.project(&[i])?;
            Ok((sample.schema_ref().field(i).name().clone(), best(&column, options, &mut compressor)?))
        };
        let choices = (0..sample.num_columns()).map(choose).collect::<Result<_>>()?;
        Ok(Self { choices, codec, sample: sample.schema(), sample_rows: sample.num_rows() })
    }

    /// Whether `batches`, with the columns of `schema`, have the columns of the sample, and would not be a much better one.
    pub(crate) fn suit(&self, schema: &SchemaRef, batches: &[RecordBatch]) -> bool {
        let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>().min(SAMPLE_ROWS);
        let is_outgrown = self.sample_rows < SAMPLE_ROWS && rows >= 4 * self.sample_rows;
        self.sample == *schema && !is_outgrown
    }

    pub fn columns(&self) -> impl Iterator<Item = (&str, ColumnEncoding)> {
        self.choices.iter().map(|(name, choice)| (name.as_str(), choice.encoding))
    }

    /// The form of a column that this crate encodes, and whether it is compressed; `None` for others.
    pub(crate) fn own(&self, column: &Field) -> Option<(Form, bool)> {
        let choice = self.choices.get(column.name())?;
        Some((choice.encoding.own(column.data_type())?, choice.compressed))
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

/// The first rows of batches, as many as a sample has.
fn first_rows(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let mut left = SAMPLE_ROWS;
    let first = batches.iter().filter_map(|batch| {
        let rows = batch.num_rows().min(left);
        left -= rows;
        (rows > 0).then(|| batch.slice(0, rows))
    });
    first.collect()
}

/// Disables dictionaries by default; columns enable them.
fn without_dictionaries(codec: Codec) -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_dictionary_enabled(false)
        .set_compression(codec.in_footer()?))
}

impl Choice {
    /// Applies to a leaf: a column's values, or the texts of its sets.
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
            // [`super::own`] encodes both.
            ColumnEncoding::Common | ColumnEncoding::Prefixes => {
                properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY)
            }
            ColumnEncoding::Split => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
        }
    }
}

/// Candidate encodings of a type, the cheapest to write first.
fn candidates(ty: &DataType, set: EncodingSet) -> &'static [ColumnEncoding] {
    use ColumnEncoding::{Common, Delta, Dictionary, Plain, Prefixes, Split};
    match ty {
        DataType::Boolean => &[Plain],
        DataType::Utf8 | DataType::Binary => &[Common, Prefixes, Dictionary],
        DataType::List(_) => &[Dictionary],
        // Wide decimals are stored as fixed-length bytes, which deltas do not support.
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

fn best(column: &RecordBatch, options: &TableOptions, compressor: &mut Compressor) -> Result<Choice> {
    let candidates = candidates(column.schema_ref().field(0).data_type(), options.encodings);
    let (rows, page) = (column.num_rows(), column.slice(0, column.num_rows().min(PAGE_ROWS)));
    let mut try_page = |encoding| trial(&page, encoding, options.codec, compressor);
    let others = candidates.iter().filter(|encoding| **encoding != ColumnEncoding::Dictionary);
    let others = others.map(|encoding| Ok((*encoding, try_page(*encoding)?.scaled(rows, page.num_rows()))));
    let mut sizes: BTreeMap<ColumnEncoding, Sizes> = others.collect::<Result<_>>()?;
    if candidates.contains(&ColumnEncoding::Dictionary) {
        let settled = if sizes.is_empty() {
            None
        } else {
            settled(try_page(ColumnEncoding::Dictionary)?, (rows, page.num_rows()), sizes.values())
        };
        let of_sample = || trial(column, ColumnEncoding::Dictionary, options.codec, compressor);
        sizes.insert(ColumnEncoding::Dictionary, settled.map_or_else(of_sample, Ok)?);
    }
    let smallest = sizes.values().map(Sizes::stored).min().unwrap_or(0) as f64;
    let is_near = |encoding: &&ColumnEncoding| sizes[*encoding].stored() as f64 <= smallest * NEAR;
    let encoding = *candidates.iter().find(is_near).unwrap_or(&candidates[0]);
    Ok(Choice { encoding, compressed: sizes[&encoding].is_compressible() })
}

/// A dictionary's size for a sample of `rows` rows, as far as its size for a page of them shows whether it is the smallest;
/// `None` if only the whole sample shows it.
///
/// A dictionary takes a smaller share of more rows, so if no other is near one for a page, none is. If one is useless for a
/// page, at least half of the page's values are distinct, and each of them takes a byte or more.
fn settled<'a>(of_page: Sizes, (rows, page): (usize, usize), others: impl Iterator<Item = &'a Sizes>) -> Option<Sizes> {
    let least = others.map(Sizes::stored).min();
    if of_page.is_useless() {
        return least.is_some_and(|least| least < page as i64 / 2).then_some(of_page);
    }
    let of_rows = of_page.scaled(rows, page);
    let is_alone = least.is_some_and(|least| least as f64 > of_rows.stored() as f64 * NEAR);
    (rows == page || is_alone).then_some(of_rows)
}

struct Sizes {
    compressed: i64,
    uncompressed: i64,
}

impl Sizes {
    /// Of a dictionary for mostly different values.
    const USELESS: Self = Self { compressed: i64::MAX, uncompressed: i64::MAX };

    /// The sizes of `rows` rows, from those of `page` of them.
    fn scaled(self, rows: usize, page: usize) -> Self {
        // Segments of other writers may have no rows.
        let scaled = |bytes: i64| bytes * rows as i64 / page.max(1) as i64;
        Self { compressed: scaled(self.compressed), uncompressed: scaled(self.uncompressed) }
    }

    fn is_useless(&self) -> bool {
        self.compressed == i64::MAX
    }

    fn is_compressible(&self) -> bool {
        (self.compressed as f64) < self.uncompressed as f64 * INCOMPRESSIBLE
    }

    fn stored(&self) -> i64 {
        if self.is_compressible() { self.compressed } else { self.uncompressed }
    }
}

/// Encodes the single column of a sample.
fn trial(column: &RecordBatch, encoding: ColumnEncoding, codec: Codec, compressor: &mut Compressor) -> Result<Sizes> {
    let schema = ArrowSchemaConverter::new().convert(column.schema_ref())?;
    let extras =
        Extras { statistics: false, bloom: false, page_rows: PAGE_ROWS, by_hour: false, page_bytes: PAGE_BYTES };
    let ty = column.column(0).data_type();
    if let Some(form) = encoding.own(ty) {
        let mut own = OwnColumn::new(schema.column(0), form, extras);
        own.write(column.column(0));
        let encoded = own.close(compressor)?;
        let chunk = &encoded.close.metadata;
        if form == Form::Dictionary && chunk.dictionary_page_offset().is_none() {
            return Ok(Sizes::USELESS);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_settle_the_size_of_a_dictionary_only_where_no_other_is_near() {
        let of = |bytes| Sizes { compressed: bytes, uncompressed: bytes };
        let settled = |of_page, rows, other| settled(of_page, (rows, 10), [of(other)].iter()).map(|size| size.stored());
        assert_eq!(settled(of(30), 20, 100), Some(60));
        assert_eq!(settled(of(30), 20, 61), None);
        assert_eq!(settled(of(30), 20, 50), None);
        assert_eq!(settled(of(30), 10, 20), Some(30));
        assert_eq!(settled(Sizes::USELESS, 20, 4), Some(i64::MAX));
        assert_eq!(settled(Sizes::USELESS, 20, 5), None);
    }
}
