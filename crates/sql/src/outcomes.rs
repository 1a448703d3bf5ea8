//! The table `outcomes`: one row per number of every world.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use ensemble::{RangeReader, StoredEnsemble};
use table::ListValues;

use crate::error::QueryError;
use crate::filter::{Conditions, support};
use crate::forward::base_table;
use crate::rows::{batch, int, project, take_texts, text};
use crate::scan::{BATCH_ROWS, Out, Piece, ScanExec};
use crate::stored::EnsembleSnapshot;

const ENSEMBLE: usize = 0;
const ENTITY: usize = 1;
const OUTCOME: usize = 2;
const WORLD: usize = 3;
const VALUE: usize = 4;

#[derive(Debug)]
pub(crate) struct Outcomes {
    snapshot: Arc<EnsembleSnapshot>,
    schema: SchemaRef,
}

impl Outcomes {
    pub(crate) fn new(snapshot: Arc<EnsembleSnapshot>) -> Self {
        let fields = vec![
            text("ensemble", false),
            text("entity", false),
            text("outcome", false),
            int("world"),
            Field::new("value", DataType::Float64, false),
        ];
        Self { snapshot, schema: Arc::new(Schema::new(fields)) }
    }

    /// The units that match the conditions, in file order.
    fn units(&self, conditions: &Conditions<'_>) -> Result<Vec<Unit>> {
        let mut units = Vec::new();
        for ensemble in self.snapshot.wanted(conditions)? {
            let catalogue = &ensemble.plan.catalogue;
            let entities = conditions.names("entity", catalogue.entities.iter().map(|e| e.name.as_str()))?;
            let kinds = catalogue.kinds.iter();
            let outcomes: Vec<Arc<[usize]>> = kinds
                .map(|k| Ok(conditions.names("outcome", k.outcomes.iter().map(|o| o.name.as_str()))?.into()))
                .collect::<Result<_>>()?;
            let names = Arc::new(Names::of(ensemble));
            for (place, (range, _, _)) in ensemble.outcomes.iter().enumerate() {
                if !conditions.any_world(*range)? {
                    continue;
                }
                let outcomes_of = |entity: usize| outcomes[catalogue.entities[entity].kind].clone();
                let of_range = entities.iter().map(|&entity| Unit {
                    ensemble: ensemble.clone(),
                    names: names.clone(),
                    range: place,
                    entity,
                    outcomes: outcomes_of(entity),
                });
                units.extend(of_range.filter(|u| !u.outcomes.is_empty()));
            }
        }
        Ok(units)
    }
}

#[async_trait]
impl TableProvider for Outcomes {
    base_table!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(support(filters, &["ensemble", "entity", "outcome"], &["world"]))
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let units = self.units(&Conditions::new(session, filters))?;
        let rows = units.iter().map(Unit::rows).sum();
        let pages: usize = units.iter().map(|u| u.outcomes.len()).sum();
        let each = units.len().div_ceil(session.config().target_partitions()).max(1);
        let pieces = units.chunks(each).map(|units| {
            let (schema, columns) = (schema.clone(), columns.clone());
            Arc::new(Lists { schema, columns, units: units.to_vec() }) as Arc<dyn Piece>
        });
        Ok(ScanExec::plan(format!("outcomes, lists={pages}"), schema.clone(), pieces.collect(), Some(rows)))
    }
}

/// Some outcomes of one entity in one range.
#[derive(Debug, Clone)]
struct Unit {
    ensemble: Arc<StoredEnsemble>,
    names: Arc<Names>,
    range: usize,
    entity: usize,
    outcomes: Arc<[usize]>,
}

impl Unit {
    fn rows(&self) -> usize {
        self.ensemble.outcomes[self.range].0.count() * self.outcomes.len()
    }
}

/// The names of an ensemble, as arrays.
#[derive(Debug)]
struct Names {
    ensemble: StringViewArray,
    entities: StringViewArray,
    outcomes: Vec<StringViewArray>,
}

impl Names {
    fn of(ensemble: &StoredEnsemble) -> Self {
        let catalogue = &ensemble.plan.catalogue;
        let outcomes = |k: &model::EntityKind| StringViewArray::from_iter_values(k.outcomes.iter().map(|o| &o.name));
        Self {
            ensemble: StringViewArray::from_iter_values([&ensemble.plan.name]),
            entities: StringViewArray::from_iter_values(catalogue.entities.iter().map(|e| &e.name)),
            outcomes: catalogue.kinds.iter().map(outcomes).collect(),
        }
    }
}

/// Units for one thread to read.
#[derive(Debug)]
struct Lists {
    schema: SchemaRef,
    columns: Vec<usize>,
    units: Vec<Unit>,
}

impl Piece for Lists {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        let needs_values = self.columns.contains(&VALUE);
        let same_file = |a: &Unit, b: &Unit| Arc::ptr_eq(&a.ensemble, &b.ensemble) && a.range == b.range;
        let files: Vec<&[Unit]> = self.units.chunk_by(same_file).collect();
        if needs_values {
            for of_ensemble in files.chunk_by(|a, b| Arc::ptr_eq(&a[0].ensemble, &b[0].ensemble)) {
                let ensemble = &of_ensemble[0][0].ensemble;
                ensemble.fetch(of_ensemble.iter().map(|units| &ensemble.outcomes[units[0].range]))?;
            }
        }
        for units in files {
            let ensemble = &units[0].ensemble;
            let reader = needs_values.then(|| ensemble.open(&ensemble.outcomes[units[0].range])).transpose()?;
            for unit in units {
                let mut lists = Long { piece: self, unit, out, lists: Vec::new(), values: Vec::new(), wanted: true };
                match &reader {
                    Some(reader) => lists.read(reader)?,
                    None => lists.name()?,
                }
                if !lists.wanted {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Converts the lists of one unit to rows.
struct Long<'a> {
    piece: &'a Lists,
    unit: &'a Unit,
    out: &'a Out,
    /// Outcomes whose rows are pending.
    lists: Vec<usize>,
    values: Vec<f64>,
    wanted: bool,
}

impl Long<'_> {
    /// Rows without values, for queries that need no values.
    fn name(&mut self) -> Result<(), QueryError> {
        for &outcome in &*self.unit.outcomes {
            self.lists.push(outcome);
            self.give_if_enough()?;
        }
        self.give()
    }

    fn read(&mut self, reader: &RangeReader) -> Result<(), QueryError> {
        let entity = self.unit.entity;
        let catalogue = &self.unit.ensemble.plan.catalogue;
        let kind = catalogue.kind_of(entity);
        let mut failure = None;
        reader.outcomes(catalogue, entity, self.unit.outcomes.iter().copied(), |outcome, values| {
            if self.wanted && failure.is_none() {
                self.push(outcome, values, f64::from(kind.outcomes[outcome].scale));
                failure = self.give_if_enough().err();
            }
        })?;
        match failure {
            Some(error) => Err(error),
            None => self.give(),
        }
    }

    fn push(&mut self, outcome: usize, values: ListValues, scale: f64) {
        self.out.count_pages(1);
        self.lists.push(outcome);
        match values {
            ListValues::I16(v) => self.values.extend(v.into_iter().map(|x| f64::from(x) / scale)),
            ListValues::I32(v) => self.values.extend(v.into_iter().map(|x| f64::from(x) / scale)),
            ListValues::F64(v) => self.values.extend(v),
            ListValues::Null => {}
        }
    }

    fn worlds(&self) -> usize {
        self.unit.ensemble.outcomes[self.unit.range].0.count()
    }

    fn give_if_enough(&mut self) -> Result<(), QueryError> {
        if self.lists.len() * self.worlds() >= BATCH_ROWS { self.give() } else { Ok(()) }
    }

    /// Sends the pending rows.
    fn give(&mut self) -> Result<(), QueryError> {
        if self.lists.is_empty() || !self.wanted {
            return Ok(());
        }
        let (range, _, _) = self.unit.ensemble.outcomes[self.unit.range];
        let rows = self.lists.len() * range.count();
        let repeat = |place: usize| std::iter::repeat_n(place as u32, rows);
        let names = &self.unit.names;
        let kind = self.unit.ensemble.plan.catalogue.entities[self.unit.entity].kind;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.piece.columns.len());
        for &column in &self.piece.columns {
            columns.push(match column {
                ENSEMBLE => take_texts(&names.ensemble, repeat(0))?,
                ENTITY => take_texts(&names.entities, repeat(self.unit.entity))?,
                OUTCOME => {
                    let of_list = |&o: &usize| std::iter::repeat_n(o as u32, range.count());
                    take_texts(&names.outcomes[kind], self.lists.iter().flat_map(of_list))?
                }
                WORLD => {
                    let worlds = self.lists.iter().flat_map(|_| range.worlds().map(|w| w.0 as i32));
                    Arc::new(Int32Array::from_iter_values(worlds))
                }
                _ => Arc::new(Float64Array::from(std::mem::take(&mut self.values))),
            });
        }
        self.lists.clear();
        self.values.clear();
        self.wanted = self.out.give(batch(&self.piece.schema, columns, rows)?);
        Ok(())
    }
}
