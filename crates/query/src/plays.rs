//! `plays('ensemble', 'entity', worlds)`: the events of some worlds, from the segments where they are stored, else
//! played again from the seed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use ensemble::{EnsembleError, EventMode, RangeFile, StoredEnsemble};
use model::{EventBlock, EventColumn, Model, OutcomeBlock, Sink, Stop, Wanted};
use table::FlatValues;
use world::WorldRange;

use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::rows::{batch, emitted, event_type, int, project, stored};
use crate::scan::{Out, Piece, ScanExec};
use crate::stored::EnsembleSnapshot;

const WORLD: usize = 0;
const NUMBER: usize = 1;
const FIRST_OWN: usize = 2;

/// Worlds that are played, or read, at a time: few enough that their events fit in memory easily.
const WORLDS_AT_ONCE: u32 = 64;

/// The function.
#[derive(Debug)]
pub(crate) struct PlaysFunction(pub(crate) Arc<EnsembleSnapshot>);

impl TableFunctionImpl for PlaysFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        const CALL: &str = "plays('ensemble', 'entity', worlds)";
        let arguments = Arguments::new(CALL, args.exprs(), 3)?;
        let ensemble = self.0.ensemble(&arguments.text(0)?)?;
        let entity = ensemble.plan.catalogue.find_entity(&arguments.text(1)?).map_err(QueryError::from)?;
        let worlds = arguments.worlds(2)?;
        if let Err(error) = ensemble.event_segments(worlds) {
            return Err(match error {
                EnsembleError::World { .. } => QueryError::Arguments { function: CALL, reason: error.to_string() },
                other => other.into(),
            }
            .into());
        }
        Ok(Arc::new(Plays::new(self.0.clone(), ensemble.clone(), entity, worlds)))
    }
}

/// The events of one entity in some worlds.
#[derive(Debug)]
struct Plays {
    snapshot: Arc<EnsembleSnapshot>,
    ensemble: Arc<StoredEnsemble>,
    entity: usize,
    worlds: WorldRange,
    schema: SchemaRef,
}

impl Plays {
    fn new(snapshot: Arc<EnsembleSnapshot>, ensemble: Arc<StoredEnsemble>, entity: usize, worlds: WorldRange) -> Self {
        let own = ensemble.plan.catalogue.events.iter();
        let own = own.map(|c| Field::new(&c.name, event_type(c), true));
        let fields: Vec<Field> = [int("world"), int("number")].into_iter().chain(own).collect();
        Self { snapshot, ensemble, entity, worlds, schema: Arc::new(Schema::new(fields)) }
    }

    fn shape(&self, projection: Option<&Vec<usize>>) -> Result<Shape> {
        let (schema, columns) = project(&self.schema, projection)?;
        Ok(Shape { ensemble: self.ensemble.clone(), entity: self.entity, schema, columns })
    }

    /// A piece for each segment that holds some of the worlds.
    fn stored(&self, shape: &Shape) -> Result<Vec<Arc<dyn Piece>>> {
        let segments = self.ensemble.event_segments(self.worlds).map_err(QueryError::from)?;
        let piece = |segment: &RangeFile| {
            Arc::new(Stored { shape: shape.clone(), segment: segment.clone(), worlds: self.worlds }) as Arc<dyn Piece>
        };
        Ok(segments.into_iter().map(piece).collect())
    }

    /// Pieces that share the worlds out among the cores.
    fn replayed(&self, shape: &Shape, cores: usize) -> Result<Vec<Arc<dyn Piece>>> {
        let model = self.snapshot.model(&self.ensemble)?;
        if model.catalogue() != &self.ensemble.plan.catalogue {
            let reason = "its model has changed since; use the version of the program that played it, or play it anew";
            let ensemble = self.ensemble.plan.name.clone();
            return Err(QueryError::Replay { ensemble, reason: reason.to_owned() }.into());
        }
        let each = self.worlds.count().div_ceil(cores).max(WORLDS_AT_ONCE as usize);
        let piece =
            |worlds| Arc::new(Replayed { shape: shape.clone(), model: model.clone(), worlds }) as Arc<dyn Piece>;
        Ok(self.worlds.split(each as u32).into_iter().map(piece).collect())
    }
}

#[async_trait]
impl TableProvider for Plays {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let shape = self.shape(projection)?;
        let replay = self.ensemble.plan.events == EventMode::Replay;
        let pieces =
            if replay { self.replayed(&shape, session.config().target_partitions())? } else { self.stored(&shape)? };
        let name = &self.ensemble.plan.catalogue.entities[self.entity].name;
        let how = if replay { "replayed" } else { "stored" };
        let table = format!("plays('{}', '{name}', '{}'), {how}", self.ensemble.plan.name, self.worlds);
        Ok(ScanExec::plan(table, shape.schema, pieces, None))
    }
}

/// Whose events, and which columns of them.
#[derive(Debug, Clone)]
struct Shape {
    ensemble: Arc<StoredEnsemble>,
    entity: usize,
    schema: SchemaRef,
    columns: Vec<usize>,
}

impl Shape {
    /// Makes a batch of rows whose worlds and numbers are given, and whose other columns `own` reads.
    fn batch(
        &self,
        rows: usize,
        world: &dyn Fn() -> Result<ArrayRef, QueryError>,
        number: &dyn Fn() -> Result<ArrayRef, QueryError>,
        own: &dyn Fn(usize, &EventColumn) -> Result<ArrayRef, QueryError>,
    ) -> Result<arrow::record_batch::RecordBatch, QueryError> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            arrays.push(match column {
                WORLD => world()?,
                NUMBER => number()?,
                _ => {
                    let place = column - FIRST_OWN;
                    own(place, &self.ensemble.plan.catalogue.events[place])?
                }
            });
        }
        batch(&self.schema, arrays, rows)
    }
}

/// Events from one segment.
#[derive(Debug)]
struct Stored {
    shape: Shape,
    segment: RangeFile,
    worlds: WorldRange,
}

impl Piece for Stored {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        let reader = self.shape.ensemble.open(&self.segment)?;
        let groups = reader.facts().entities.iter();
        let Some(group) = groups.clone().position(|&e| e == self.shape.entity) else {
            return Ok(());
        };
        let segment = reader.segment();
        let whole = 0..segment.rows(group);
        let FlatValues::Integers(worlds) = segment.flat(group, segment.column("world")?, whole)? else {
            return Err(QueryError::Invalid { reason: format!("{} has no world numbers", self.segment.1.display()) });
        };
        for part in self.worlds.split(WORLDS_AT_ONCE) {
            let row_of = |world: u32| worlds.partition_point(|&w| w < world as i32);
            let rows = row_of(part.first().0)..row_of(part.end());
            if rows.is_empty() {
                continue;
            }
            let integers = |name: &str| -> Result<ArrayRef, QueryError> {
                match segment.flat(group, segment.column(name)?, rows.clone())? {
                    FlatValues::Integers(v) => Ok(Arc::new(Int32Array::from(v))),
                    FlatValues::Texts { .. } => Ok(Arc::new(Int32Array::new_null(rows.len()))),
                }
            };
            let own = |_, column: &EventColumn| {
                stored(column, segment.flat(group, segment.column(&column.name)?, rows.clone())?)
            };
            let batch = self.shape.batch(rows.len(), &|| integers("world"), &|| integers("number"), &own)?;
            if !out.give(batch) {
                break;
            }
        }
        Ok(())
    }
}

/// Events that are played again.
struct Replayed {
    shape: Shape,
    model: Arc<dyn Model>,
    worlds: WorldRange,
}

impl fmt::Debug for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replayed").field("worlds", &self.worlds).finish_non_exhaustive()
    }
}

impl Piece for Replayed {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        let plan = &self.shape.ensemble.plan;
        let wanted = Wanted { events: true, entity: Some(self.shape.entity) };
        for worlds in self.worlds.split(WORLDS_AT_ONCE) {
            let mut catch = Catch { shape: &self.shape, out };
            match self.model.simulate(plan.seed, worlds, wanted, &mut catch) {
                Ok(()) => {}
                Err(stop) if stop.0.is::<Unwanted>() => return Ok(()),
                Err(stop) => {
                    return Err(match stop.0.downcast::<QueryError>() {
                        Ok(error) => *error,
                        Err(other) => QueryError::Replay { ensemble: plan.name.clone(), reason: other.to_string() },
                    });
                }
            }
        }
        Ok(())
    }
}

/// Nobody wants more rows.
#[derive(Debug, thiserror::Error)]
#[error("nobody wants more rows")]
struct Unwanted;

/// Catches the events that a model emits.
struct Catch<'a> {
    shape: &'a Shape,
    out: &'a Out,
}

impl Sink for Catch<'_> {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        if block.entity != self.shape.entity {
            return Ok(());
        }
        let rows: usize = block.rows.iter().map(|&n| n as usize).sum();
        let world = || {
            let worlds = block.range.worlds().zip(block.rows);
            let worlds = worlds.flat_map(|(w, &n)| std::iter::repeat_n(w.0 as i32, n as usize));
            Ok(Arc::new(Int32Array::from_iter_values(worlds)) as ArrayRef)
        };
        let number = || {
            let numbers = block.rows.iter().flat_map(|&n| Range { start: 0, end: n as i32 });
            Ok(Arc::new(Int32Array::from_iter_values(numbers)) as ArrayRef)
        };
        let own = |place: usize, column: &EventColumn| emitted(column, block.columns[place]);
        let batch = self.shape.batch(rows, &world, &number, &own).map_err(|e| Stop(Box::new(e)))?;
        if self.out.give(batch) { Ok(()) } else { Err(Stop(Box::new(Unwanted))) }
    }
}
