//! A table's layout and what goes with it, as properties that the Delta log keeps.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;

use super::limits::GROUP_ROWS_MAX;
use crate::error::TableError;
use crate::log::Definition;
use pages::{Codec, EncodingSet};

/// How the rows of a table are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// Row by row in Avro files, without a Delta log: the plain baseline.
    Row,
    /// Parquet, every column in the encoding that suits it, without statistics.
    Column,
    /// As `Column`, with statistics of every column by file, row group and page, and Bloom filters.
    Pruned,
    /// As `Pruned`, its rows ordered so that those alike in several columns lie together.
    Clustered,
}

/// The order of clustered rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Curve {
    /// Along the Hilbert curve through all clustering columns.
    #[default]
    Hilbert,
    /// Along the Z curve (Morton order).
    ZOrder,
    /// By the first column, then the second, and so on.
    Lexical,
}

/// By what a table is clustered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clustering {
    /// The columns, at least one; their order matters for [`Curve::Lexical`] only.
    pub columns: Vec<String>,
    /// The order.
    pub curve: Curve,
}

/// How a table stores what is inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    /// How rows are stored.
    pub layout: Layout,
    /// Columns with a Bloom filter in every row group, for questions by equality.
    pub bloom: Vec<String>,
    /// Columns with a look-up beside every segment, which says in which row groups a value is: for questions by
    /// equality, by a list and by a range. Every layout but `Row` has them.
    pub lookup: Vec<String>,
    /// By what a clustered table is clustered.
    pub clustering: Option<Clustering>,
    /// What compresses pages, where compression gains anything.
    pub codec: Codec,
    /// Which encodings pages may have.
    pub encodings: EncodingSet,
    /// Rows of a row group, at most: more make files smaller, fewer let questions skip more.
    pub group_rows: usize,
}

impl TableOptions {
    /// A layout without Bloom filters, look-ups and clustering.
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

    /// Whether files carry statistics.
    pub(crate) fn has_statistics(&self) -> bool {
        matches!(self.layout, Layout::Pruned | Layout::Clustered)
    }

    /// Whether these options fit the columns of a table.
    ///
    /// # Errors
    /// Where a named column does not exist or holds what the option cannot use, and where the options contradict the
    /// layout.
    pub fn check(&self, root: &Path, schema: &Schema) -> Result<(), TableError> {
        let refuse = |reason: String| Err(TableError::Options { path: root.to_owned(), reason });
        if self.group_rows == 0 {
            return refuse("a row group needs at least one row".to_owned());
        }
        if !self.bloom.is_empty() && !self.has_statistics() {
            return refuse(format!("layout {} has no Bloom filters: choose pruned or clustered", self.layout));
        }
        if !self.lookup.is_empty() && self.layout == Layout::Row {
            return refuse("layout row has no look-ups: choose column, pruned or clustered".to_owned());
        }
        if let Some((_, twice)) = self.lookup.iter().enumerate().find(|(i, name)| self.lookup[..*i].contains(name)) {
            return refuse(format!("column {twice:?} is named twice for look-ups: once will do"));
        }
        match (&self.clustering, self.layout) {
            (None, Layout::Clustered) => return refuse("layout clustered needs the columns to cluster by".to_owned()),
            (Some(_), layout) if layout != Layout::Clustered => {
                return refuse(format!("layout {layout} is not clustered: choose clustered"));
            }
            (Some(clustering), _) if clustering.columns.is_empty() => {
                return refuse("name at least one column to cluster by".to_owned());
            }
            _ => {}
        }
        if self.layout == Layout::Row && *self != Self::new(Layout::Row) {
            return refuse("layout row has neither codecs nor encodings nor row groups: leave them out".to_owned());
        }
        let clustering = self.clustering.iter().flat_map(|c| &c.columns);
        for column in self.bloom.iter().chain(&self.lookup).chain(clustering) {
            let Ok(field) = schema.field_with_name(column) else {
                let have = schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ");
                return refuse(format!("there is no column {column:?}: the columns are {have}"));
            };
            if field.data_type().is_nested() {
                return refuse(format!(
                    "column {column:?} holds sets, which have no Bloom filters and no look-ups, and order no rows"
                ));
            }
            if self.bloom.contains(column) && *field.data_type() == DataType::Boolean {
                return refuse(format!("column {column:?} is true or false: a Bloom filter would skip nothing"));
            }
            // 0 and -0 are equal, and a filter tells them apart.
            if self.bloom.contains(column) && field.data_type().is_floating() {
                return refuse(format!("column {column:?} holds real numbers, which a Bloom filter does not fit"));
            }
        }
        Ok(())
    }

    /// A Delta table of these columns, which is to be made.
    pub(crate) fn definition(&self, schema: &Schema) -> Result<Definition, ArrowError> {
        Definition::of_schema(schema, "rows inserted in batches", self.to_properties())
    }

    /// As properties of a Delta table.
    pub(crate) fn to_properties(&self) -> BTreeMap<String, String> {
        let mut properties =
            BTreeMap::from([(LAYOUT.to_owned(), self.layout.to_string()), (CODEC.to_owned(), self.codec.to_string())]);
        if self.encodings != EncodingSet::default() {
            properties.insert(ENCODINGS.to_owned(), self.encodings.to_string());
        }
        if !self.bloom.is_empty() {
            properties.insert(BLOOM.to_owned(), self.bloom.join(","));
        }
        if !self.lookup.is_empty() {
            properties.insert(LOOKUP.to_owned(), self.lookup.join(","));
        }
        if let Some(clustering) = &self.clustering {
            properties.insert(CLUSTER.to_owned(), clustering.columns.join(","));
            properties.insert(CURVE.to_owned(), clustering.curve.to_string());
        }
        if self.group_rows != GROUP_ROWS_MAX {
            properties.insert(GROUP_ROWS.to_owned(), self.group_rows.to_string());
        }
        properties
    }

    /// The properties that a Delta table with the options `before` is given to have these.
    pub(crate) fn property_changes(&self, before: &Self) -> BTreeMap<String, Option<String>> {
        if self == before {
            return BTreeMap::new();
        }
        let gone = before.to_properties().into_keys().map(|key| (key, None));
        gone.chain(self.to_properties().into_iter().map(|(key, value)| (key, Some(value)))).collect()
    }

    /// From properties of a Delta table; one that says nothing of them is of layout `column`.
    pub(crate) fn from_properties(root: &Path, properties: &HashMap<String, String>) -> Result<Self, TableError> {
        let refuse = |reason: String| TableError::Options { path: root.to_owned(), reason };
        let names = |key: &str| -> Vec<String> {
            properties.get(key).map(|names| names.split(',').map(str::to_owned).collect()).unwrap_or_default()
        };
        let layout = properties.get(LAYOUT).map_or(Ok(Layout::Column), |l| l.parse()).map_err(refuse)?;
        let codec =
            properties.get(CODEC).map_or(Ok(Codec::default()), |c| c.parse()).map_err(|e| refuse(format!("{e}")))?;
        let encodings = properties.get(ENCODINGS).map_or(Ok(EncodingSet::default()), |e| e.parse()).map_err(refuse)?;
        let curve = properties.get(CURVE).map_or(Ok(Curve::default()), |c| c.parse()).map_err(refuse)?;
        let clustering = properties.contains_key(CLUSTER).then(|| Clustering { columns: names(CLUSTER), curve });
        let group_rows = properties.get(GROUP_ROWS).map_or(Ok(GROUP_ROWS_MAX), |rows| {
            rows.parse().map_err(|_| refuse(format!("its property {GROUP_ROWS} is {rows:?}, which is no number")))
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

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Row => "row",
            Self::Column => "column",
            Self::Pruned => "pruned",
            Self::Clustered => "clustered",
        })
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "row" => Ok(Self::Row),
            "column" => Ok(Self::Column),
            "pruned" => Ok(Self::Pruned),
            "clustered" => Ok(Self::Clustered),
            _ => Err(format!("{text:?} is no layout: choose row, column, pruned or clustered")),
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Hilbert => "hilbert",
            Self::ZOrder => "zorder",
            Self::Lexical => "lexical",
        })
    }
}

impl FromStr for Curve {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "hilbert" => Ok(Self::Hilbert),
            "zorder" => Ok(Self::ZOrder),
            "lexical" => Ok(Self::Lexical),
            _ => Err(format!("{text:?} is no curve: choose hilbert, zorder or lexical")),
        }
    }
}
