//! Arrays as rows: an array over worlds is an outcome, an array over worlds and entities an outcome of each entity.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, DictionaryArray, RecordBatch, RecordBatchReader, StringArray, UInt32Array, UInt64Array,
};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use arrow::error::ArrowError;

use super::npy::Array;
use super::rows_of;
use crate::options::Options;

/// Batches of arrays of one shape, with the rows of a world beside each other.
pub(super) struct Batches {
    schema: SchemaRef,
    outcomes: Vec<Array>,
    /// The number of each world, if an array names it.
    worlds: Option<ArrayRef>,
    /// The names of the second axis.
    entities: Option<StringArray>,
    /// Worlds, and entities of each.
    shape: (usize, usize),
    /// The first row that is left.
    next: usize,
}

/// Arranges arrays as rows. Arrays with the names of the world and entity columns name the axes.
pub(super) fn batches(mut arrays: Vec<Array>, options: &Options) -> Result<Batches, String> {
    let world = options.columns.world.clone().unwrap_or_else(|| "world".to_owned());
    let entity = options.columns.entity.clone().unwrap_or_else(|| "entity".to_owned());
    let mut named = |name: &str| {
        let place = arrays.iter().position(|array| array.name == *name && array.shape.len() == 1)?;
        Some(arrays.remove(place))
    };
    let (worlds, entities) = (named(&world), named(&entity));
    let Some(first) = arrays.first() else { return Err("it has no array of outcomes".to_owned()) };
    let shape = match first.shape[..] {
        [worlds] => (worlds, None),
        [worlds, entities] => (worlds, Some(entities)),
        _ => {
            let (name, axes) = (&first.name, first.shape.len());
            return Err(format!("array {name:?} has {axes} axes: give (worlds) or (worlds, entities)"));
        }
    };
    let fits = |array: &Array, shape: &[usize], of: &str| {
        let reason = || format!("array {:?} has shape {:?}, and {of} has {shape:?}", array.name, array.shape);
        if array.shape == shape { Ok(()) } else { Err(reason()) }
    };
    arrays.iter().try_for_each(|array| fits(array, &first.shape, &format!("{:?}", first.name)))?;
    worlds.iter().try_for_each(|array| fits(array, &[shape.0], "the first axis"))?;
    entities.iter().try_for_each(|array| match shape.1 {
        Some(entities) => fits(array, &[entities], "the second axis"),
        None => Err(format!("array {entity:?} names the second axis, and array {:?} has none", first.name)),
    })?;
    let names = match (&entities, shape.1) {
        (Some(names), _) => {
            let names = cast(&names.values, &DataType::Utf8).map_err(|error| error.to_string())?;
            Some(StringArray::from(names.to_data()))
        }
        (None, Some(entities)) => Some((0..entities).map(|i| Some(format!("entity-{i}"))).collect()),
        (None, None) => None,
    };
    let mut fields = Vec::new();
    if let Some(worlds) = &worlds {
        fields.push(Field::new(world, worlds.values.data_type().clone(), true));
    } else if names.is_some() {
        fields.push(Field::new(world, DataType::UInt32, true));
    }
    if names.is_some() {
        let of = DataType::Dictionary(DataType::UInt32.into(), DataType::Utf8.into());
        fields.push(Field::new(entity, of, true));
    }
    fields.extend(arrays.iter().map(|array| Field::new(&array.name, array.values.data_type().clone(), true)));
    Ok(Batches {
        schema: Arc::new(Schema::new(fields)),
        outcomes: arrays,
        worlds: worlds.map(|array| array.values),
        entities: names,
        shape: (shape.0, shape.1.unwrap_or(1)),
        next: 0,
    })
}

impl Batches {
    pub(super) fn rows(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    fn batch(&self, rows: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let (worlds, entities) = self.shape;
        let world_of = || rows.clone().map(|row| (row / entities) as u32);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        match &self.worlds {
            Some(worlds) => columns.push(take(worlds, &UInt32Array::from_iter_values(world_of()), None)?),
            None if self.entities.is_some() => columns.push(Arc::new(UInt32Array::from_iter_values(world_of()))),
            None => {}
        }
        if let Some(names) = &self.entities {
            let keys = UInt32Array::from_iter_values(rows.clone().map(|row| (row % entities) as u32));
            columns.push(Arc::new(DictionaryArray::<UInt32Type>::try_new(keys, Arc::new(names.clone()))?));
        }
        for array in &self.outcomes {
            columns.push(if array.is_fortran && array.shape.len() == 2 {
                let places = rows.clone().map(|row| (row % entities * worlds + row / entities) as u64);
                take(&array.values, &UInt64Array::from_iter_values(places), None)?
            } else {
                array.values.slice(rows.start, rows.len())
            });
        }
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, all) = (self.next, self.rows());
        if start >= all {
            return None;
        }
        self.next = (start + rows_of(self.schema.fields().len())).min(all);
        Some(self.batch(start..self.next))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
