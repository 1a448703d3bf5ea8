//! The function `worlds('ensemble', 'entity')`: one row per world, one column per outcome.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use ensemble::{Column, Columns, Narrow, OutcomeRef, StoredEnsemble};
use model::{Outcome, OutcomeKind};

use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::forward::base_table;
use crate::rows::{batch, int, project};
use crate::scan::{BATCH_ROWS, Out, Piece, ScanExec};
use crate::stored::EnsembleSnapshot;

#[derive(Debug)]
pub(crate) struct WorldsFunction(pub(crate) Arc<EnsembleSnapshot>);

impl TableFunctionImpl for WorldsFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let arguments = Arguments::new("worlds('ensemble', 'entity')", args.exprs(), 2)?;
        let ensemble = self.0.ensemble(&arguments.text(0)?)?;
        let entity = ensemble.plan.catalogue.find_entity(&arguments.text(1)?).map_err(QueryError::from)?;
        Ok(Arc::new(Worlds::new(self.0.clone(), ensemble.clone(), entity)))
    }
}

/// The outcomes of one entity.
#[derive(Debug)]
struct Worlds {
    snapshot: Arc<EnsembleSnapshot>,
    ensemble: Arc<StoredEnsemble>,
    entity: usize,
    schema: SchemaRef,
}

impl Worlds {
    fn new(snapshot: Arc<EnsembleSnapshot>, ensemble: Arc<StoredEnsemble>, entity: usize) -> Self {
        let outcomes = ensemble.plan.catalogue.kind_of(entity).outcomes.iter();
        let fields = outcomes.map(|o| Field::new(&o.name, column_type(o), false));
        let fields: Vec<Field> = std::iter::once(int("world")).chain(fields).collect();
        Self { snapshot, ensemble, entity, schema: Arc::new(Schema::new(fields)) }
    }
}

fn column_type(outcome: &Outcome) -> DataType {
    if outcome.scale == 1 && outcome.kind != OutcomeKind::Real { DataType::Int64 } else { DataType::Float64 }
}

#[async_trait]
impl TableProvider for Worlds {
    base_table!();

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let named = columns.iter().filter_map(|c| c.checked_sub(1));
        let wanted = named.map(|outcome| OutcomeRef { entity: self.entity, outcome }).collect();
        let numbers: Arc<[i32]> = self.ensemble.world_numbers().map(|world| world.0 as i32).collect();
        let source = Arc::new(Source {
            columns: self.snapshot.columns(&self.ensemble)?,
            wanted,
            read: Mutex::default(),
            numbers,
        });
        let worlds = source.numbers.len();
        let each = worlds.div_ceil(session.config().target_partitions()).max(BATCH_ROWS);
        let first = (0..worlds).step_by(each);
        let pieces = first.map(|first| {
            let (source, schema, columns) = (source.clone(), schema.clone(), columns.clone());
            let end = (first + each).min(worlds);
            Arc::new(Wide { source, schema, columns, rows: (first, end) }) as Arc<dyn Piece>
        });
        let name = &self.ensemble.plan.catalogue.entities[self.entity].name;
        let table = format!("worlds('{}', '{name}')", self.ensemble.plan.name);
        Ok(ScanExec::plan(table, schema.clone(), pieces.collect(), Some(worlds)))
    }
}

/// Shared by all pieces of one scan: the named columns, read by the first piece that needs them.
struct Source {
    columns: Arc<Columns>,
    wanted: Vec<OutcomeRef>,
    read: Mutex<Option<Read>>,
    numbers: Arc<[i32]>,
}

/// Columns in memory, which counts while they are.
struct Read {
    columns: Arc<[Arc<Column>]>,
    _reservation: MemoryReservation,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl Source {
    fn read(&self, out: &Out) -> Result<Arc<[Arc<Column>]>, QueryError> {
        /// Most outcomes fit in one byte, nearly all in two.
        const VALUE_BYTES: usize = 2;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*read {
            return Ok(read.columns.clone());
        }
        let reservation = MemoryConsumer::new("worlds").register(&out.context().runtime_env().memory_pool);
        reservation.try_grow(self.wanted.len() * self.numbers.len() * VALUE_BYTES)?;
        let before = self.columns.pages_read();
        let columns: Arc<[Arc<Column>]> = self.columns.get(&self.wanted)?.into();
        out.count_pages((self.columns.pages_read() - before) as usize);
        reservation.try_resize(columns.iter().map(|column| column.bytes()).sum())?;
        *read = Some(Read { columns: columns.clone(), _reservation: reservation });
        Ok(columns)
    }
}

/// Consecutive worlds.
#[derive(Debug)]
struct Wide {
    source: Arc<Source>,
    schema: SchemaRef,
    columns: Vec<usize>,
    rows: (usize, usize),
}

impl Piece for Wide {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        let read = self.source.read(out)?;
        for first in (self.rows.0..self.rows.1).step_by(BATCH_ROWS) {
            let rows = first..(first + BATCH_ROWS).min(self.rows.1);
            let mut outcomes = read.iter();
            let arrays = self.columns.iter().zip(self.schema.fields()).filter_map(|(&column, field)| {
                if column == 0 {
                    let worlds = self.source.numbers[rows.clone()].iter().copied();
                    return Some(Arc::new(Int32Array::from_iter_values(worlds)) as ArrayRef);
                }
                outcomes.next().map(|c| values(c, rows.clone(), field.data_type()))
            });
            if !out.give(batch(&self.schema, arrays.collect(), rows.len())?) {
                break;
            }
        }
        Ok(())
    }
}

/// Some worlds' values of an outcome.
fn values(column: &Column, rows: std::ops::Range<usize>, ty: &DataType) -> ArrayRef {
    if *ty == DataType::Float64 {
        return Arc::new(Float64Array::from_iter_values(rows.map(|world| column.value(world))));
    }
    Arc::new(match &column.values {
        Narrow::U8(v) => Int64Array::from_iter_values(v[rows].iter().map(|&x| i64::from(x))),
        Narrow::I16(v) => Int64Array::from_iter_values(v[rows].iter().map(|&x| i64::from(x))),
        Narrow::I32(v) => Int64Array::from_iter_values(v[rows].iter().map(|&x| i64::from(x))),
        Narrow::F64(v) => Int64Array::from_iter_values(v[rows].iter().map(|&x| x as i64)),
    })
}
