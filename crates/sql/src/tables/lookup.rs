//! Selects row groups by the secondary indexes next to the segments.
//!
//! Supports comparisons of an indexed column with a value, lists of values, and `AND` and `OR` of those. Other
//! conditions exclude nothing.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema, TimeUnit};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use table::{Key, KeyRange, Lookup, Segment};

/// Maximum key ranges to search for in one query. For more, reading the row groups costs no more.
const RANGES_MAX: usize = 32;
/// Memory for the block indexes of a table's secondary indexes, in bytes. The rest is read again for each query.
const MEMORY: usize = 64 << 20;

#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// Rows with a key in one of the ranges.
    Keys { column: String, ranges: Vec<KeyRange> },
    /// Rows that all parts select.
    All(Vec<Self>),
    /// Rows that any part selects.
    Any(Vec<Self>),
}

impl Wanted {
    /// The rows that all `conditions` select, by the indexes of `columns`; `None` if the indexes do not help.
    pub(super) fn of(conditions: &[Expr], schema: &Schema, columns: &[String]) -> Option<Self> {
        if columns.is_empty() {
            return None;
        }
        let indexed = Columns { schema, columns };
        let wanted = indexed.all(conditions.iter().collect())?;
        (wanted.ranges() <= RANGES_MAX).then_some(wanted)
    }

    fn ranges(&self) -> usize {
        match self {
            Self::Keys { ranges, .. } => ranges.len(),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::ranges).sum(),
        }
    }

    /// The row groups of a segment that may hold selected rows; `None` if unknown. Adds the bytes read.
    fn find(&self, lookup: &Lookup, bytes: &mut u64) -> Option<Vec<bool>> {
        match self {
            Self::Keys { column, ranges } => {
                let found = lookup.find(column, ranges)?;
                *bytes += found.bytes;
                Some(found.groups)
            }
            Self::All(parts) => {
                let mut all: Option<Vec<bool>> = None;
                for part in parts {
                    // Stop once no row group is left.
                    if all.as_ref().is_some_and(|groups| !groups.contains(&true)) {
                        break;
                    }
                    let Some(found) = part.find(lookup, bytes) else { continue };
                    all = Some(match all {
                        Some(groups) => groups.iter().zip(found).map(|(a, b)| *a && b).collect(),
                        None => found,
                    });
                }
                all
            }
            Self::Any(parts) => {
                let mut any = vec![false; lookup.groups()];
                for part in parts {
                    let found = part.find(lookup, bytes)?;
                    any.iter_mut().zip(found).for_each(|(a, b)| *a |= b);
                }
                Some(any)
            }
        }
    }
}

struct Columns<'a> {
    schema: &'a Schema,
    columns: &'a [String],
}

impl Columns<'_> {
    fn wanted(&self, condition: &Expr) -> Option<Wanted> {
        match condition {
            Expr::BinaryExpr(BinaryExpr { op: Operator::And, left, right }) => self.all(vec![left, right]),
            Expr::BinaryExpr(BinaryExpr { op: Operator::Or, left, right }) => {
                Some(Wanted::Any(vec![self.wanted(left)?, self.wanted(right)?]))
            }
            Expr::BinaryExpr(BinaryExpr { op, left, right }) => {
                self.compared(left, *op, right).or_else(|| self.compared(right, op.swap()?, left))
            }
            Expr::Between(between) if !between.negated => {
                let low = self.compared(&between.expr, Operator::GtEq, &between.low)?;
                let high = self.compared(&between.expr, Operator::LtEq, &between.high)?;
                Some(together(vec![low, high]))
            }
            Expr::InList(list) if !list.negated && list.list.len() <= RANGES_MAX => {
                let (column, ty) = self.column(&list.expr)?;
                let values = list.list.iter().map(|value| literal(value, ty)).collect::<Option<Vec<_>>>()?;
                let keys = values.iter().filter_map(|value| Key::of(value, 0));
                Some(Wanted::Keys { column, ranges: keys.map(|key| KeyRange::of(&key)).collect() })
            }
            _ => None,
        }
    }

    /// The rows that all conditions select; `None` if no index supports any of them.
    fn all(&self, conditions: Vec<&Expr>) -> Option<Wanted> {
        let parts: Vec<Wanted> = conditions.into_iter().filter_map(|condition| self.wanted(condition)).collect();
        (!parts.is_empty()).then(|| together(parts))
    }

    fn column(&self, expr: &Expr) -> Option<(String, &DataType)> {
        let Expr::Column(column) = expr else { return None };
        let field = self.schema.field_with_name(&column.name).ok()?;
        self.columns.contains(field.name()).then(|| (field.name().clone(), field.data_type()))
    }

    fn compared(&self, column: &Expr, op: Operator, value: &Expr) -> Option<Wanted> {
        let (column, ty) = self.column(column)?;
        let between: fn(&Key) -> KeyRange = match op {
            Operator::Eq => KeyRange::of,
            Operator::Lt => |key| KeyRange::between(Bound::Unbounded, Bound::Excluded(key)),
            Operator::LtEq => |key| KeyRange::between(Bound::Unbounded, Bound::Included(key)),
            Operator::Gt => |key| KeyRange::between(Bound::Excluded(key), Bound::Unbounded),
            Operator::GtEq => |key| KeyRange::between(Bound::Included(key), Bound::Unbounded),
            _ => return None,
        };
        // A comparison with NULL is never true.
        Some(Wanted::Keys { column, ranges: Key::of(&literal(value, ty)?, 0).iter().map(between).collect() })
    }
}

/// Intersects parts that must all hold, and merges those of one column. The intersection of keys selects fewer row
/// groups than the intersection of row groups.
fn together(parts: Vec<Wanted>) -> Wanted {
    let mut by_column: BTreeMap<String, Vec<KeyRange>> = BTreeMap::new();
    let mut others = Vec::new();
    let mut waiting = parts;
    while let Some(part) = waiting.pop() {
        match part {
            Wanted::All(parts) => waiting.extend(parts),
            Wanted::Any(_) => others.push(part),
            Wanted::Keys { column, ranges } => {
                let both = match by_column.remove(&column) {
                    Some(have) => {
                        let both: Vec<_> = have.iter().flat_map(|a| ranges.iter().filter_map(|b| a.and(b))).collect();
                        // Repeated values multiply. Either list alone selects all rows that are wanted.
                        if both.len() <= RANGES_MAX { both } else { have }
                    }
                    None => ranges,
                };
                by_column.insert(column, both);
            }
        }
    }
    let keys = by_column.into_iter().map(|(column, ranges)| Wanted::Keys { column, ranges });
    Wanted::All(keys.chain(others).collect())
}

/// A value in the stored type of a column of type `ty`; `None` if the types differ.
fn literal(value: &Expr, ty: &DataType) -> Option<ArrayRef> {
    let Expr::Literal(value, _) = value else { return None };
    let same = match (&value.data_type(), ty) {
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, DataType::Utf8 | DataType::Utf8View) => {
            DataType::Utf8
        }
        (DataType::Binary | DataType::LargeBinary | DataType::BinaryView, DataType::Binary | DataType::BinaryView) => {
            DataType::Binary
        }
        // Time zones may have different names; the stored times are in UTC.
        (DataType::Timestamp(TimeUnit::Microsecond, Some(_)), DataType::Timestamp(TimeUnit::Microsecond, Some(_))) => {
            ty.clone()
        }
        (of_value, ty) if of_value == ty => ty.clone(),
        _ => return None,
    };
    cast(&value.to_array().ok()?, &same).ok()
}

/// The secondary indexes of a table's segments, opened at first use.
#[derive(Debug)]
pub(super) struct Lookups {
    root: PathBuf,
    segments: Arc<Vec<Segment>>,
    open: Vec<OnceLock<Option<Arc<Lookup>>>>,
    memory: AtomicUsize,
}

pub(super) struct FoundIn {
    pub(super) segment: usize,
    /// Its row groups that may hold selected rows; `None` if unknown.
    pub(super) groups: Option<Vec<bool>>,
    pub(super) bytes: u64,
}

impl Lookups {
    pub(super) fn new(root: PathBuf, segments: Arc<Vec<Segment>>) -> Self {
        let open = segments.iter().map(|_| OnceLock::new()).collect();
        Self { root, segments, open, memory: AtomicUsize::new(0) }
    }

    /// Searches the indexes of some segments, on several threads.
    pub(super) async fn find(
        self: &Arc<Self>,
        wanted: Wanted,
        segments: &[usize],
        threads: usize,
    ) -> Result<Vec<FoundIn>> {
        let wanted = Arc::new(wanted);
        let share = segments.len().div_ceil(threads.max(1)).max(1);
        let work = segments.chunks(share).map(|share| {
            let (lookups, wanted, share) = (self.clone(), wanted.clone(), share.to_vec());
            let find = move || share.into_iter().map(|segment| lookups.find_in(segment, &wanted)).collect::<Vec<_>>();
            tokio::task::spawn_blocking(find)
        });
        let mut found = Vec::with_capacity(segments.len());
        for share in work.collect::<Vec<_>>() {
            found.extend(share.await.map_err(|e| DataFusionError::External(Box::new(e)))?);
        }
        Ok(found)
    }

    fn find_in(&self, segment: usize, wanted: &Wanted) -> FoundIn {
        let mut bytes = 0;
        let groups = self.get(segment).and_then(|lookup| wanted.find(&lookup, &mut bytes));
        FoundIn { segment, groups, bytes }
    }

    fn get(&self, segment: usize) -> Option<Arc<Lookup>> {
        if let Some(lookup) = self.open[segment].get() {
            return lookup.clone();
        }
        let lookup = Lookup::open(&self.root, &self.segments[segment]).map(Arc::new);
        let memory = lookup.as_ref().map_or(0, |lookup| lookup.memory());
        if self.memory.fetch_add(memory, Ordering::Relaxed) + memory <= MEMORY {
            return self.open[segment].get_or_init(|| lookup).clone();
        }
        self.memory.fetch_sub(memory, Ordering::Relaxed);
        lookup
    }
}
