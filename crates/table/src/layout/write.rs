//! Writes batches of rows as a durable Parquet file, with the table's encodings and its layout's statistics and Bloom
//! filters.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type, SchemaRef};
use arrow::error::ArrowError;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::{BloomFilterPosition, DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::encoding::Encodings;
use super::extras::Extras;
use super::limits::{BLOOM_FALSE_POSITIVES, GROUP_BYTES, ORDERED_PAGE_ROWS, PAGE_BYTES, PAGE_ROWS, TIME_PAGE_BYTES};
use super::options::TableOptions;
use super::own::{Form, OwnColumn};
use super::statistics;
use crate::error::TableError;
use crate::log::{ColumnStatistics, Segment};
use crate::lookup::{self, LookupWriter};
use crate::new_file::NewFile;
use crate::segment::CREATED_BY;
use crate::target::Target;
use disk::Disk;
use pages::{Codec, Compressor, EncodedColumn};

const GROUP_PAGES_MIN: usize = 5;
const BUFFER_BYTES: usize = 1 << 20;

/// A file of rows being written. Dropping it unfinished removes it.
pub(crate) struct RowsWriter {
    pub(super) path: PathBuf,
    /// As the log will describe it.
    pub(super) segment: Segment,
    pub(super) target: Target,
    pub(super) parquet: SchemaDescriptor,
    /// Columns that this crate encodes, and whether they are compressed; `None` for those of the Parquet library. Each
    /// is one leaf.
    columns: Vec<Option<(Form, bool, Extras)>>,
    compressor: Compressor,
    /// NULL rows of columns without statistics in the file.
    pub(super) nulls: BTreeMap<String, u64>,
    factory: ArrowRowGroupWriterFactory,
    pub(super) writer: SerializedFileWriter<BufWriter<NewFile>>,
    pub(super) group: Option<Group>,
    group_rows: usize,
    pub(super) lookup: Option<LookupWriter>,
}

pub(super) struct Group {
    columns: Vec<ColumnUnderWay>,
    pub(super) rows: usize,
    /// Before encoding.
    pub(super) bytes: usize,
}

enum ColumnUnderWay {
    Library(Box<ArrowColumnWriter>),
    Own(Box<OwnColumn>),
}

impl RowsWriter {
    /// Creates a segment with the name `file` for about `rows` rows, in the folder of its part. `may_hold_nan` returns
    /// whether a column of real numbers may contain NaN. Such a column gets no bounds, because NaN has no order.
    pub(crate) fn create(
        target: &Target,
        (file, tags): (&str, BTreeMap<String, String>),
        encodings: &Encodings,
        rows: usize,
        may_hold_nan: impl Fn(&str) -> bool,
    ) -> Result<Self, TableError> {
        let Target { root, disk, schema, options } = target;
        let mut segment = Segment { tags, ..Segment::default() };
        segment.path =
            segment.part().map_or_else(|| format!("{file}.parquet"), |part| format!("{part}/{file}.parquet"));
        let path = root.join(&segment.path);
        let failed = |cause| TableError::encode(&path, cause);
        let group_rows = group_rows(rows, options.group_rows);
        let parquet = ArrowSchemaConverter::new().convert(schema).map_err(failed)?;
        one_leaf_each(root, schema, &parquet)?;
        let page_rows = PAGE_ROWS.min(options.group_rows.div_ceil(GROUP_PAGES_MIN));
        let is_bounded = |field: &FieldRef| !(field.data_type().is_floating() && may_hold_nan(field.name()));
        let bounded: Vec<bool> =
            schema.fields().iter().map(|field| options.has_statistics() && is_bounded(field)).collect();
        let properties =
            properties((schema, &parquet), options, encodings, (group_rows, page_rows), &bounded).map_err(failed)?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, NewFile::create(disk.clone(), &path)?);
        let writer =
            SerializedFileWriter::new(file, parquet.root_schema_ptr(), Arc::new(properties)).map_err(failed)?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
        let column = |(field, statistics): (&FieldRef, bool)| {
            let bloom = has_bloom(options, field);
            let is_time = options.has_statistics() && matches!(field.data_type(), DataType::Timestamp(..));
            let is_ordered = is_time || options.clusters(field.name());
            let page_rows = if is_ordered { page_rows.min(ORDERED_PAGE_ROWS) } else { page_rows };
            let extras = Extras { statistics, bloom, page_rows, by_hour: is_time, page_bytes: PAGE_BYTES };
            encodings.own(field).map(|(form, compressed)| (form, compressed, extras))
        };
        let columns = schema.fields().iter().zip(bounded).map(column).collect();
        let sets = schema.fields().iter().filter(|f| options.has_statistics() && f.data_type().is_nested());
        let nulls = sets.map(|f| (f.name().clone(), 0)).collect();
        let compressor = Compressor::new(options.codec).map_err(failed)?;
        let lookup = LookupWriter::new(&path, schema, &options.lookup);
        let target = target.clone();
        let group = None;
        Ok(Self {
            path,
            segment,
            target,
            parquet,
            columns,
            compressor,
            nulls,
            factory,
            writer,
            group,
            group_rows,
            lookup,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        let row_bytes = batch.columns().iter().map(bytes_of_one).sum::<Result<usize, ArrowError>>()?.max(1);
        let mut from = 0;
        while from < batch.num_rows() {
            let (rows, bytes) = self.group.as_ref().map_or((0, 0), |g| (g.rows, g.bytes));
            let fitting = GROUP_BYTES.saturating_sub(bytes) / row_bytes;
            if fitting == 0 && rows > 0 {
                self.end_group()?;
                continue;
            }
            let rows = (self.group_rows - rows).min(fitting.max(1)).min(batch.num_rows() - from);
            let part = batch.slice(from, rows);
            self.write_to_group(&part, row_bytes * rows).map_err(|cause| TableError::encode(&self.path, cause))?;
            from += rows;
        }
        Ok(())
    }

    fn write_to_group(&mut self, rows: &RecordBatch, bytes: usize) -> Result<(), ParquetError> {
        if self.group.is_none() {
            self.group = Some(self.begin_group()?);
        }
        if let Some(lookup) = &mut self.lookup {
            lookup.add(rows, self.writer.flushed_row_groups().len());
        }
        let Some(group) = &mut self.group else { return Ok(()) };
        for ((column, array), field) in group.columns.iter_mut().zip(rows.columns()).zip(self.target.schema.fields()) {
            match column {
                ColumnUnderWay::Own(own) => own.write(array),
                ColumnUnderWay::Library(writer) => {
                    // The library ends pages after so many values, whatever they take.
                    let rows_at_once = (PAGE_BYTES / bytes_of_one(array)?).max(1);
                    for from in (0..array.len()).step_by(rows_at_once) {
                        let part = array.slice(from, rows_at_once.min(array.len() - from));
                        compute_leaves(field, &part)?.iter().try_for_each(|leaf| writer.write(leaf))?;
                    }
                }
            }
            if let Some(nulls) = self.nulls.get_mut(field.name()) {
                *nulls += array.null_count() as u64;
            }
        }
        group.rows += rows.num_rows();
        group.bytes += bytes;
        self.segment.rows += rows.num_rows() as u64;
        if group.rows >= self.group_rows { self.finish_group() } else { Ok(()) }
    }

    fn begin_group(&self) -> Result<Group, ParquetError> {
        // Each of the library's writers has memory of its own, even one that writes nothing.
        let is_needed = self.columns.iter().any(Option::is_none);
        let group = self.writer.flushed_row_groups().len();
        let library = if is_needed { self.factory.create_column_writers(group)? } else { Vec::new() };
        let mut library = library.into_iter();
        let column = |(place, own): (usize, &Option<(Form, bool, Extras)>)| match (own, library.next()) {
            (Some((form, _, extras)), _) => {
                Ok(ColumnUnderWay::Own(Box::new(OwnColumn::new(self.parquet.column(place), *form, *extras))))
            }
            (None, Some(writer)) => Ok(ColumnUnderWay::Library(Box::new(writer))),
            (None, None) => Err(ParquetError::General(format!("column {place} has no writer"))),
        };
        let columns = self.columns.iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Group { columns, rows: 0, bytes: 0 })
    }

    /// Ends the row group; later rows go to the next.
    pub(crate) fn end_group(&mut self) -> Result<(), TableError> {
        self.finish_group().map_err(|cause| TableError::encode(&self.path, cause))
    }

    pub(super) fn finish_group(&mut self) -> Result<(), ParquetError> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let mut out = self.writer.next_row_group()?;
        let mut uncompressed = Compressor::new(Codec::None)?;
        for (column, own) in group.columns.into_iter().zip(&self.columns) {
            let compressed = own.is_some_and(|(_, compressed, _)| compressed);
            match column {
                ColumnUnderWay::Library(writer) => writer.close()?.append_to_row_group(&mut out)?,
                ColumnUnderWay::Own(own) => {
                    let compressor = if compressed { &mut self.compressor } else { &mut uncompressed };
                    let EncodedColumn { bytes, close } = own.close(compressor)?;
                    out.append_column(&bytes, close)?;
                }
            }
        }
        out.close().map(|_| ())
    }

    /// Writes the footer, then syncs and names the file, then writes its secondary index. Every writer of a part also
    /// makes the name of its folder durable, because the creator of the folder may have failed before its sync.
    pub(crate) fn finish(mut self) -> Result<Segment, TableError> {
        self.end_group()?;
        let Self { path, mut segment, target: Target { root, disk, schema, .. }, nulls, .. } = self;
        let failed = |cause| TableError::encode(&path, cause);
        let metadata = self.writer.finish().map_err(failed)?;
        let file = self.writer.inner_mut();
        file.flush().map_err(TableError::io("write", &path))?;
        segment.bytes = file.get_mut().finish()?;
        segment.columns = statistics::of_file(&schema, &metadata);
        let of_set = |nulls| ColumnStatistics { nulls: Some(nulls), ..ColumnStatistics::default() };
        segment.columns.extend(nulls.into_iter().map(|(name, nulls)| (name, of_set(nulls))));
        let groups = metadata.num_row_groups();
        segment.tags.insert(Segment::GROUPS_TAG.to_owned(), groups.to_string());
        if let Some(lookup) = self.lookup {
            lookup.finish(disk.clone(), segment.rows, groups).inspect_err(|_| remove_unnamed(&*disk, &path))?;
        }
        if segment.part().is_some() {
            disk.sync_dir(&root).map_err(TableError::io("sync the folder", &root))?;
        }
        Ok(segment)
    }
}

/// Checks that every column is one Parquet leaf. All storable types are; tables of other writers may have nested
/// columns.
fn one_leaf_each(root: &Path, schema: &SchemaRef, parquet: &SchemaDescriptor) -> Result<(), TableError> {
    let roots = (0..parquet.num_columns()).map(|leaf| (leaf, parquet.get_column_root_idx(leaf)));
    let Some((_, place)) = roots.into_iter().find(|(leaf, root)| leaf != root) else { return Ok(()) };
    let field = schema.field(place);
    let reason =
        format!("type {} is not supported: write it with the engine that created the table", field.data_type());
    Err(TableError::rows(root, field.name(), reason))
}

/// Removes an uncommitted segment and its secondary index.
pub(crate) fn remove_unnamed(disk: &dyn Disk, segment: &Path) {
    for path in [segment.to_owned(), lookup::path_of(segment)] {
        match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // Harmless: the log does not name it, and `vacuum` removes it.
                tracing::debug!(path = %path.display(), %error, "cannot remove an uncommitted file");
            }
            _ => {}
        }
    }
}

fn properties(
    (schema, parquet): (&SchemaRef, &SchemaDescriptor),
    options: &TableOptions,
    encodings: &Encodings,
    (group_rows, page_rows): (usize, usize),
    bounded: &[bool],
) -> Result<WriterProperties, ParquetError> {
    let statistics = if options.has_statistics() { EnabledStatistics::Page } else { EnabledStatistics::None };
    let mut properties = encodings
        .apply(schema)?
        .set_created_by(CREATED_BY.to_owned())
        .set_key_value_metadata(Some(vec![options.in_footer()]))
        .set_statistics_enabled(statistics)
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(page_rows)
        // Pages end with a batch of values.
        .set_write_batch_size(page_rows.min(DEFAULT_WRITE_BATCH_SIZE))
        .set_bloom_filter_position(BloomFilterPosition::End);
    for ((field, leaf), bounded) in schema.fields().iter().zip(parquet.columns()).zip(bounded) {
        let path = leaf.path().clone();
        if !bounded || field.data_type().is_nested() {
            properties = properties.set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
        }
        if matches!(field.data_type(), DataType::Timestamp(..)) && options.has_statistics() {
            properties = properties.set_column_data_page_size_limit(path.clone(), TIME_PAGE_BYTES);
        }
        if has_bloom(options, field) {
            // Reserve for a group of distinct values, then shrink to the actual number.
            properties = properties
                .set_column_bloom_filter_max_ndv(path.clone(), group_rows as u64)
                .set_column_bloom_filter_fpp(path, BLOOM_FALSE_POSITIVES);
        }
    }
    Ok(properties.build())
}

/// Whether a column gets a Bloom filter. One that another process widened to real numbers gets none, also if this process
/// does not know yet that the option is gone.
fn has_bloom(options: &TableOptions, field: &Field) -> bool {
    options.bloom.contains(field.name()) && !field.data_type().is_floating()
}

/// Bytes of a value, on average, at least 1.
fn bytes_of_one(column: &ArrayRef) -> Result<usize, ArrowError> {
    Ok(column.to_data().get_slice_memory_size()?.div_ceil(column.len().max(1)).max(1))
}

/// Rows per row group, if `rows` rows are split into as few groups as possible of about equal size.
fn group_rows(rows: usize, max: usize) -> usize {
    let groups = rows.div_ceil(max).max(1);
    rows.div_ceil(groups).max(1)
}

pub(crate) fn holds_nan(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::Float32 => any(column.as_primitive::<Float32Type>(), f32::is_nan),
        DataType::Float64 => any(column.as_primitive::<Float64Type>(), f64::is_nan),
        _ => false,
    }
}

fn any<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, is: impl Fn(T::Native) -> bool) -> bool {
    if column.null_count() > 0 {
        return column.iter().flatten().any(is);
    }
    // Without an early end this becomes vector instructions.
    column.values().iter().fold(false, |any, value| any | is(*value))
}
