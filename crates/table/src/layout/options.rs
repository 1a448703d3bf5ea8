//! A table's layout and options, stored as properties in the Delta log.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use arrow::datatypes::{DataType, Schema};
use parquet::file::metadata::KeyValue;
use strum::{Display, EnumString};

use super::limits::GROUP_ROWS_MAX;
use crate::error::TableError;
use pages::{Codec, EncodingSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_layout)]
pub enum Layout {
    /// Parquet with the best encoding per column, without statistics.
    Column,
    /// Like `Column`, with statistics by file, row group and page, and Bloom filters.
    Pruned,
    /// Like `Pruned`; rows with similar values in several columns are adjacent.
    Clustered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_curve)]
pub enum Curve {
    /// The Hilbert curve through all clustering columns.
    #[default]
    Hilbert,
    /// The Z curve (Morton order).
    ZOrder,
    /// The first column, then the second, and so on.
    Lexical,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clustering {
    /// At least one column. Their order matters only for [`Curve::Lexical`].
    pub columns: Vec<String>,
    pub curve: Curve,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    pub layout: Layout,
    /// Columns with a Bloom filter in every row group, for questions by equality.
    pub bloom: Vec<String>,
    /// Columns with a secondary index per segment. It maps values to row groups, for questions by equality, list and
    /// range.
    pub lookup: Vec<String>,
    /// The clustering, for layout `Clustered` only.
    pub clustering: Option<Clustering>,
    /// Codec of pages that compress well.
    pub codec: Codec,
    pub encodings: EncodingSet,
    /// Maximum rows of a row group. Larger groups make files smaller; smaller groups let questions skip more.
    pub group_rows: usize,
}

impl TableOptions {
    /// Default options: no Bloom filters, secondary indexes or clustering.
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            bloom: Vec::new(),
            lookup: Vec::new(),
            clustering: None,
            codec: Codec::default(),
            encodings: EncodingSet::default(),
            group_rows: GROUP_ROWS_MAX,
        }
    }

    /// Whether rows are ordered by a column, with others.
    pub(crate) fn clusters(&self, column: &str) -> bool {
        self.clustering.as_ref().is_some_and(|clustering| clustering.columns.iter().any(|name| name == column))
    }

    pub(crate) fn has_statistics(&self) -> bool {
        matches!(self.layout, Layout::Pruned | Layout::Clustered)
    }

    pub fn check(&self, root: &Path, schema: &Schema) -> Result<(), TableError> {
        let refuse = |reason: String| Err(TableError::options(root, reason));
        if self.group_rows == 0 {
            return refuse("a row group needs at least one row".to_owned());
        }
        if !self.bloom.is_empty() && !self.has_statistics() {
            return refuse(format!("layout {} has no Bloom filters: choose pruned or clustered", self.layout));
        }
        if let Some((_, twice)) = self.lookup.iter().enumerate().find(|(i, name)| self.lookup[..*i].contains(name)) {
            return refuse(format!("column {twice:?} is listed twice for secondary indexes: list it once"));
        }
        match (&self.clustering, self.layout) {
            (None, Layout::Clustered) => return refuse("layout clustered needs the columns to cluster by".to_owned()),
            (Some(_), layout) if layout != Layout::Clustered => {
                return refuse(format!("layout {layout} has no clustering: choose clustered"));
            }
            (Some(clustering), _) if clustering.columns.is_empty() => {
                return refuse("name at least one column to cluster by".to_owned());
            }
            _ => {}
        }
        let clustering = self.clustering.iter().flat_map(|c| &c.columns);
        for column in self.bloom.iter().chain(&self.lookup).chain(clustering) {
            let Ok(field) = schema.field_with_name(column) else {
                return Err(TableError::no_column(root, schema, column));
            };
            if field.data_type().is_nested() {
                return refuse(format!(
                    "column {column:?} holds sets: Bloom filters, secondary indexes and clustering do not support them"
                ));
            }
            if self.bloom.contains(column) && *field.data_type() == DataType::Boolean {
                return refuse(format!("column {column:?} is boolean: a Bloom filter would skip nothing"));
            }
            // 0 and -0 are equal, but their hashes differ.
            if self.bloom.contains(column) && field.data_type().is_floating() {
                return refuse(format!("column {column:?} holds real numbers: Bloom filters do not support them"));
            }
        }
        Ok(())
    }

    pub(crate) fn to_properties(&self) -> BTreeMap<String, String> {
        let mut properties = BTreeMap::new();
        let mut put = |key: &str, value: String| drop(properties.insert(key.to_owned(), value));
        put(LAYOUT, self.layout.to_string());
        put(CODEC, self.codec.to_string());
        if self.encodings != EncodingSet::default() {
            put(ENCODINGS, self.encodings.to_string());
        }
        if !self.bloom.is_empty() {
            put(BLOOM, self.bloom.join(","));
        }
        if !self.lookup.is_empty() {
            put(LOOKUP, self.lookup.join(","));
        }
        if let Some(clustering) = &self.clustering {
            put(CLUSTER, clustering.columns.join(","));
            put(CURVE, clustering.curve.to_string());
        }
        if self.group_rows != GROUP_ROWS_MAX {
            put(GROUP_ROWS, self.group_rows.to_string());
        }
        properties
    }

    /// The entry of a segment's footer that names the options with which it was written.
    pub(super) fn in_footer(&self) -> KeyValue {
        let properties = self.to_properties().into_iter().map(|(key, value)| format!("{key}={value}"));
        KeyValue::new(OPTIONS.to_owned(), properties.collect::<Vec<_>>().join(" "))
    }

    /// The property changes that turn the options `before` into these.
    pub(crate) fn property_changes(&self, before: &Self) -> BTreeMap<String, Option<String>> {
        if self == before {
            return BTreeMap::new();
        }
        let gone = before.to_properties().into_keys().map(|key| (key, None));
        gone.chain(self.to_properties().into_iter().map(|(key, value)| (key, Some(value)))).collect()
    }

    /// Parses the properties of a Delta table. The default layout is `column`.
    pub(crate) fn from_properties(root: &Path, properties: &HashMap<String, String>) -> Result<Self, TableError> {
        let refuse = |reason: String| TableError::options(root, reason);
        let names = |key: &str| -> Vec<String> {
            properties.get(key).map(|names| names.split(',').map(str::to_owned).collect()).unwrap_or_default()
        };
        let layout = properties.get(LAYOUT).map_or(Ok(Layout::Column), |l| l.parse()).map_err(refuse)?;
        let codec = properties.get(CODEC).map_or(Ok(Codec::default()), |c| c.parse());
        let codec = codec.map_err(|e| refuse(e.to_string()))?;
        let encodings = properties.get(ENCODINGS).map_or(Ok(EncodingSet::default()), |e| e.parse()).map_err(refuse)?;
        let curve = properties.get(CURVE).map_or(Ok(Curve::default()), |c| c.parse()).map_err(refuse)?;
        let clustering = properties.contains_key(CLUSTER).then(|| Clustering { columns: names(CLUSTER), curve });
        let group_rows = properties.get(GROUP_ROWS).map_or(Ok(GROUP_ROWS_MAX), |rows| {
            rows.parse().map_err(|_| refuse(format!("property {GROUP_ROWS} is {rows:?}: expected a number")))
        })?;
        Ok(Self { layout, bloom: names(BLOOM), lookup: names(LOOKUP), clustering, codec, encodings, group_rows })
    }
}

const LAYOUT: &str = "manyworlds.layout";
const CODEC: &str = "manyworlds.codec";
const ENCODINGS: &str = "manyworlds.encodings";
const BLOOM: &str = "manyworlds.bloom";
const LOOKUP: &str = "manyworlds.lookup";
const CLUSTER: &str = "manyworlds.cluster";
const CURVE: &str = "manyworlds.curve";
const GROUP_ROWS: &str = "manyworlds.group_rows";
/// The key of all of them in the footer of a segment.
const OPTIONS: &str = "manyworlds.options";

fn unknown_layout(text: &str) -> String {
    format!("unknown layout {text:?}: choose column, pruned or clustered")
}

fn unknown_curve(text: &str) -> String {
    format!("unknown curve {text:?}: choose hilbert, zorder or lexical")
}
