//! The function `events('ensemble', 'entity', worlds)`: the events of some worlds, read from segments if stored,
//! otherwise replayed from the seed.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use ensemble::{EnsembleError, StoredEnsemble};
use model::{Catalogue, EventColumn, EventRows, MemberNames, Model};
use world::WorldRange;

use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::forward::base_table;
use crate::rows::{batch, emitted, event_type, int, project};
use crate::scan::{Out, Piece, ScanExec};
use crate::stored::EnsembleSnapshot;

const WORLD: usize = 0;
const NUMBER: usize = 1;
const FIRST_OWN: usize = 2;

/// Worlds to replay or read at a time: few enough that their events fit in memory easily.
const WORLDS_AT_ONCE: u32 = 64;

#[derive(Debug)]
pub(crate) struct EventsFunction(pub(crate) Arc<EnsembleSnapshot>);

impl TableFunctionImpl for EventsFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        const CALL: &str = "events('ensemble', 'entity', worlds)";
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
        Ok(Arc::new(EntityEvents::new(self.0.clone(), ensemble.clone(), entity, worlds)))
    }
}

/// The events of one entity in some worlds.
#[derive(Debug)]
struct EntityEvents {
    snapshot: Arc<EnsembleSnapshot>,
    ensemble: Arc<StoredEnsemble>,
    entity: usize,
    worlds: WorldRange,
    schema: SchemaRef,
}

impl EntityEvents {
    fn new(snapshot: Arc<EnsembleSnapshot>, ensemble: Arc<StoredEnsemble>, entity: usize, worlds: WorldRange) -> Self {
        let own = ensemble.plan.catalogue.events.iter();
        let own = own.map(|c| Field::new(&c.name, event_type(c), true));
        let names = named(&ensemble.plan.catalogue).map(|c| Field::new(name_column(c), DataType::Utf8View, true));
        let fields: Vec<Field> = [int("world"), int("number")].into_iter().chain(own).chain(names).collect();
        Self { snapshot, ensemble, entity, worlds, schema: Arc::new(Schema::new(fields)) }
    }

    /// The worlds of each piece: those of one segment, or an even share if the worlds are replayed.
    fn shares(&self, is_replayed: bool, cores: usize) -> Vec<WorldRange> {
        if is_replayed {
            let each = self.worlds.count().div_ceil(cores).max(WORLDS_AT_ONCE as usize);
            return self.worlds.split(each as u32);
        }
        self.ensemble.outcomes.iter().filter_map(|(range, _, _)| shared(*range, self.worlds)).collect()
    }
}

/// The columns whose words stand for members with names.
fn named(catalogue: &Catalogue) -> impl Iterator<Item = &EventColumn> {
    catalogue.events.iter().filter(|column| column.members.is_some())
}

/// The column of the names behind the words of a column.
fn name_column(column: &EventColumn) -> String {
    format!("{}_name", column.name)
}

/// The worlds in both ranges.
fn shared(one: WorldRange, other: WorldRange) -> Option<WorldRange> {
    let first = one.first().max(other.first());
    WorldRange::new(first, one.end().min(other.end()).checked_sub(first.0)?).ok()
}

#[async_trait]
impl TableProvider for EntityEvents {
    base_table!();

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let model = self.snapshot.replayer(&self.ensemble)?;
        let how = if model.is_some() { "replayed" } else { "stored" };
        let shares = self.shares(model.is_some(), session.config().target_partitions()).into_iter();
        let pieces = shares.map(|worlds| {
            let (ensemble, model) = (self.ensemble.clone(), model.clone());
            let (schema, columns) = (schema.clone(), columns.clone());
            Arc::new(Share { ensemble, model, entity: self.entity, worlds, schema, columns }) as Arc<dyn Piece>
        });
        let name = &self.ensemble.plan.catalogue.entities[self.entity].name;
        let table = format!("events('{}', '{name}', '{}'), {how}", self.ensemble.plan.name, self.worlds);
        Ok(ScanExec::plan(table, schema.clone(), pieces.collect(), None))
    }
}

/// The events of some of the worlds, read or replayed by one thread.
struct Share {
    ensemble: Arc<StoredEnsemble>,
    /// The model that replays the events; `None` if they are stored.
    model: Option<Arc<dyn Model>>,
    entity: usize,
    worlds: WorldRange,
    schema: SchemaRef,
    columns: Vec<usize>,
}

/// Where a column of the result is from.
enum Source<'a> {
    /// The number of the world or of the row.
    Common,
    /// A column of the events.
    Column(usize),
    /// The names behind the words of a column.
    Names(usize, MemberNames<'a>),
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("worlds", &self.worlds).finish_non_exhaustive()
    }
}

impl Piece for Share {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        match self.read(out) {
            // An entity without events has no rows.
            Err(QueryError::Ensemble(EnsembleError::NoEvents { .. })) => Ok(()),
            read => read,
        }
    }
}

impl Share {
    fn read(&self, out: &Out) -> Result<(), QueryError> {
        let source = self.ensemble.event_source(self.entity, self.worlds, self.model.as_ref())?;
        let reads: BTreeSet<usize> = self.columns.iter().flat_map(|column| self.reads(*column)).collect();
        for worlds in self.worlds.split(WORLDS_AT_ONCE) {
            let events = source.read(worlds, |place| reads.contains(&place))?;
            if !out.give(self.batch(&events)?) {
                break;
            }
        }
        Ok(())
    }

    /// The event columns that a column of the result needs.
    fn reads(&self, column: usize) -> Vec<usize> {
        match self.source(column) {
            Source::Common => Vec::new(),
            Source::Column(place) => vec![place],
            Source::Names(place, names) => vec![place, names.chooser],
        }
    }

    fn source(&self, column: usize) -> Source<'_> {
        let catalogue = &self.ensemble.plan.catalogue;
        let Some(place) = column.checked_sub(FIRST_OWN) else { return Source::Common };
        let Some(name) = place.checked_sub(catalogue.events.len()) else { return Source::Column(place) };
        let own = named(catalogue).nth(name).and_then(|own| catalogue.event_column(&own.name));
        let names = own.and_then(|own| Some((own, catalogue.member_names(self.entity, own)?)));
        names.map_or(Source::Common, |(own, names)| Source::Names(own, names))
    }

    fn batch(&self, events: &EventRows) -> Result<RecordBatch, QueryError> {
        let block = events.block();
        let worlds = || block.range.worlds().zip(block.rows);
        let columns = self.columns.iter().map(|&column| -> Result<ArrayRef, QueryError> {
            let integers: Vec<i32> = match column {
                WORLD => worlds().flat_map(|(w, &n)| std::iter::repeat_n(w.0 as i32, n as usize)).collect(),
                NUMBER => worlds().flat_map(|(_, &n)| 0..n as i32).collect(),
                _ => match self.source(column) {
                    Source::Common => Vec::new(),
                    Source::Column(place) => {
                        return emitted(&self.ensemble.plan.catalogue.events[place], block.columns[place]);
                    }
                    Source::Names(place, names) => {
                        let [own, chooser] = [place, names.chooser].map(|column| block.columns[column]);
                        let texts = (0..own.len()).map(|row| names.name(own, chooser, row));
                        return Ok(Arc::new(texts.collect::<StringViewArray>()));
                    }
                },
            };
            Ok(Arc::new(Int32Array::from(integers)))
        });
        let rows = block.rows.iter().map(|&n| n as usize).sum();
        batch(&self.schema, columns.collect::<Result<_, _>>()?, rows)
    }
}
