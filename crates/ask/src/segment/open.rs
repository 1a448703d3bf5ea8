//! Opens a segment.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::datatypes::{DataType, TimeUnit};
use pages::{Codes, Dictionary, SharedFile};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use table::Segment;

use crate::column::{Column, Kind, Values};
use crate::error::AskError;
use crate::expression::{days_of, micros_of};
use crate::plan::Plan;
use crate::prune::{Bound, Nulls, Summary};

pub(crate) struct Opened {
    pub(super) path: PathBuf,
    pub(super) file: SharedFile,
    pub(super) footer: ArrowReaderMetadata,
    /// One per column of the table.
    pub(super) columns: Vec<Place>,
    /// Bytes read of the footer and the page index.
    pub(crate) bytes: u64,
}

/// Where a column's values are stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// Missing from the file: NULL in every row.
    Missing,
    /// Stored in the log: a partition column, the same in all rows.
    Constant(Constant),
    /// Stored in the file: the number of its column, and of its leaf if it has only one. `bounded`: its statistics
    /// apply to the table's type.
    Stored { root: usize, leaf: Option<usize>, bounded: bool },
}

/// The value of a partition column; `None` for NULL.
pub(crate) type Constant = Option<Bound>;

impl Opened {
    /// Opens a segment of the table in the folder `root`.
    pub(crate) fn open(root: &Path, segment: &Segment, plan: &Plan) -> Result<Self, AskError> {
        let path = root.join(&segment.path);
        let file = File::open(&path).and_then(SharedFile::new).map_err(AskError::io("open", &path))?;
        let failed = |e| AskError::pages(&path, e);
        let (footer, bytes) = pages::read_footer(&file).map_err(failed)?;
        let footer = table::arrow_footer(footer.into()).map_err(failed)?;
        let columns =
            (0..plan.names.len()).map(|column| place(column, segment, plan, &footer)).collect::<Result<_, _>>()?;
        Ok(Self { path, file, footer, columns, bytes })
    }

    pub(super) fn metadata(&self) -> &ParquetMetaData {
        self.footer.metadata()
    }

    /// Number of row groups.
    pub(crate) fn groups(&self) -> usize {
        self.metadata().num_row_groups()
    }

    /// Number of rows of a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        self.metadata().row_group(group).num_rows() as usize
    }

    /// Reads the page index, unless it was read already.
    pub(super) fn read_page_index(&mut self) -> Result<(), AskError> {
        if self.metadata().offset_index().is_some() {
            return Ok(());
        }
        let failed = |e| AskError::pages(&self.path, e);
        let metadata = pages::read_page_index(&self.file, self.metadata().clone()).map_err(failed)?;
        let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
        let index = |c: &parquet::file::metadata::ColumnChunkMetaData| {
            i64::from(c.column_index_length().unwrap_or(0)) + i64::from(c.offset_index_length().unwrap_or(0))
        };
        self.bytes += chunks.map(index).sum::<i64>() as u64;
        self.footer = table::arrow_footer(metadata.into()).map_err(failed)?;
        Ok(())
    }

    /// The bounds and positions of the pages of a column, once [`Self::read_page_index`] has read them.
    pub(super) fn page_index(&self, group: usize, leaf: usize) -> Option<(&ColumnIndexMetaData, &[PageLocation])> {
        let index = self.metadata().column_index()?.get(group)?.get(leaf)?;
        let pages = self.metadata().offset_index()?.get(group)?.get(leaf)?;
        Some((index, pages.page_locations()))
    }

    /// The values of a column outside the file; `None` if the file has the column.
    pub(super) fn unstored(&self, column: usize, kind: Kind, rows: usize) -> Option<Column> {
        match &self.columns[column] {
            Place::Missing => Some(Column::nulls(kind, rows)),
            Place::Constant(value) => Some(repeated(value.as_ref(), kind, rows)),
            Place::Stored { .. } => None,
        }
    }
}

fn place(column: usize, segment: &Segment, plan: &Plan, footer: &ArrowReaderMetadata) -> Result<Place, AskError> {
    let name = &plan.names[column];
    match constant(column, segment, plan) {
        Ok(Some(value)) => return Ok(Place::Constant(value)),
        Ok(None) => {}
        Err(error) if plan.is_used(column) => return Err(error),
        Err(_) => return Ok(Place::Missing),
    }
    let Ok(root) = footer.schema().index_of(name) else { return Ok(Place::Missing) };
    let stored = footer.schema().field(root).data_type();
    let leaves = footer.parquet_schema();
    let mut own = (0..leaves.num_columns()).filter(|leaf| leaves.get_column_root_idx(*leaf) == root);
    let leaf = own.next().filter(|_| own.next().is_none());
    let wanted = &plan.types[column];
    let bounded = leaf.is_some() && (stored == wanted || is_alike(stored, wanted));
    Ok(Place::Stored { root, leaf, bounded })
}

/// Whether both types store the same values in the same way.
fn is_alike(stored: &DataType, wanted: &DataType) -> bool {
    let is_text = |ty: &DataType| matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match (stored, wanted) {
        (DataType::Timestamp(TimeUnit::Microsecond, _), DataType::Timestamp(TimeUnit::Microsecond, _))
        | (DataType::Float32, DataType::Float64) => true,
        (DataType::List(stored) | DataType::LargeList(stored), DataType::List(wanted)) => {
            is_text(stored.data_type()) && is_text(wanted.data_type())
        }
        (stored, wanted) => {
            (stored.is_signed_integer() && wanted.is_signed_integer()) || (is_text(stored) && is_text(wanted))
        }
    }
}

/// The value of a partition column; outer `None` if the column is in the file.
pub(super) fn constant(column: usize, segment: &Segment, plan: &Plan) -> Result<Option<Constant>, AskError> {
    let name = &plan.names[column];
    let Some(text) = segment.partition.get(name) else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(None));
    }
    let value = match plan.kinds[column] {
        Kind::Int => text.parse().ok().map(Bound::Int),
        Kind::Bool => text.parse::<bool>().ok().map(|v| Bound::Int(i64::from(v))),
        Kind::Time => micros_of(text).map(Bound::Int),
        Kind::Date => days_of(text).map(Bound::Int),
        Kind::Float => text.parse().ok().map(|x| Bound::Float(pages::plain(x))),
        Kind::Text => Some(Bound::Text(text.clone())),
        Kind::Set | Kind::Other => None,
    };
    let fail = || {
        AskError::invalid(format!(
            "cannot read column {name:?}: unsupported partition value {text:?} in the table's log"
        ))
    };
    value.map(|value| Some(Some(value))).ok_or_else(fail)
}

pub(super) fn constant_summary(value: &Constant) -> Summary {
    let nulls = if value.is_some() { Nulls::None } else { Nulls::All };
    Summary { low: value.clone(), high: value.clone(), nulls }
}

fn repeated(value: Option<&Bound>, kind: Kind, rows: usize) -> Column {
    let values = match value {
        None => return Column::nulls(kind, rows),
        Some(Bound::Int(value)) => Values::Ints(vec![*value; rows]),
        Some(Bound::Float(value)) => Values::Floats(vec![*value; rows]),
        Some(Bound::Text(text)) => {
            let mut dictionary = Dictionary::default();
            dictionary.push(text);
            Values::Texts { codes: Codes::U8(vec![0; rows]), dictionary: dictionary.into() }
        }
    };
    Column { values, valid: None }
}
