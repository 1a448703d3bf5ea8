//! Inputs to import, and what was stored.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use disk::{Disk, RealDisk};
use ensemble::{Columns, OutcomeRef, Store, StoredEnsemble, verify};
use import::{ImportError, Input, Options, Report};
use model::{Catalogue, Model, Sink, Stop, Wanted};
use world::{Seed, WorldRange};

/// An input of columns, in batches of `rows`.
pub(crate) fn batches(name: &str, columns: Vec<(&str, ArrayRef)>, rows: usize) -> Input {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let cuts = (0..batch.num_rows()).step_by(rows);
    let pieces: Vec<_> = cuts.map(|at| Ok(batch.slice(at, rows.min(batch.num_rows() - at)))).collect();
    Input { name: name.to_owned(), rows: None, batches: Box::new(RecordBatchIterator::new(pieces, batch.schema())) }
}

/// An input of columns named `rows`, in one batch.
pub(crate) fn input(columns: Vec<(&str, ArrayRef)>) -> Input {
    batches("rows", columns, usize::MAX)
}

pub(crate) fn reals(values: impl IntoIterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

pub(crate) fn integers(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(crate) async fn import_on(
    disk: Arc<dyn Disk>,
    data: &Path,
    inputs: Vec<Input>,
    options: &Options,
) -> Result<Report, ImportError> {
    let options = Options { threads: 2, spill_folder: data.to_owned(), ..options.clone() };
    import::import(data, disk, "draws", inputs.into_iter().map(Ok), &options).await
}

/// Imports into a folder as the ensemble `draws`.
pub(crate) async fn import(data: &Path, inputs: Vec<Input>, options: &Options) -> Result<Report, ImportError> {
    import_on(Arc::new(RealDisk), data, inputs, options).await
}

/// Imports into a fresh folder, and returns the report and the stored ensemble.
pub(crate) async fn import_fresh(inputs: Vec<Input>, options: &Options) -> (Report, Columns, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let report = import(folder.path(), inputs, options).await.unwrap();
    let stored = stored(folder.path()).await;
    assert_sound(&stored, &report);
    (report, Columns::open(stored, 1 << 20).unwrap(), folder)
}

pub(crate) async fn stored(data: &Path) -> StoredEnsemble {
    let store = Store::open(data, Arc::new(RealDisk)).await.unwrap().unwrap();
    store.ensemble("draws").await.unwrap()
}

/// The values of an outcome in every world, read as questions read them.
pub(crate) fn values(columns: &Columns, entity: &str, outcome: &str) -> Vec<f64> {
    let catalogue = &columns.ensemble().plan.catalogue;
    let entity = catalogue.find_entity(entity).unwrap();
    let outcome = catalogue.kind_of(entity).find_outcome(outcome).unwrap();
    let column = &columns.get(&[OutcomeRef { entity, outcome }]).unwrap()[0];
    (0..column.len()).map(|place| column.value(place)).collect()
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Checks the stored content as `verify` does.
pub(crate) fn assert_sound(stored: &StoredEnsemble, report: &Report) {
    let found = verify(stored, &NoModel(stored.plan.catalogue.clone())).unwrap();
    assert!(found.ok && stored.is_complete(), "{found:?}");
    assert_eq!((&found.hash, stored.worlds()), (&report.hash, report.worlds));
}

/// Imported worlds cannot be played.
struct NoModel(Catalogue);

impl Model for NoModel {
    fn catalogue(&self) -> &Catalogue {
        &self.0
    }

    fn simulate(&self, _: Seed, _: WorldRange, _: Wanted, _: &mut dyn Sink) -> Result<(), Stop> {
        Err(Stop::Sink)
    }
}
