//! The events of one entity: read if stored, else replayed from the seed.

use std::sync::Arc;

use model::{Catalogue, EventBlock, EventRows, EventValues, Model, OutcomeBlock, OwnedEventValues, Sink, Stop, Wanted};
use world::WorldRange;

use crate::declared::check_events;
use crate::error::EnsembleError;
use crate::event_reader::{EntityRows, reals};
use crate::plan::{MakeModel, ModelError};
use crate::range_reader::RangeReader;
use crate::stored::StoredEnsemble;

/// The events of one entity in one completed range.
pub struct EventSource<'a> {
    ensemble: &'a StoredEnsemble,
    entity: usize,
    from: From,
}

enum From {
    Segment(Box<RangeReader>, EntityRows),
    Model(Arc<dyn Model>),
}

impl StoredEnsemble {
    /// The model that replays events; `None` if they are stored.
    ///
    /// # Errors
    /// When the model is missing, or now emits other events than in the ensemble.
    pub fn replayer(
        &self,
        make_model: impl FnOnce() -> Result<Arc<dyn Model>, ModelError>,
    ) -> Result<Option<Arc<dyn Model>>, EnsembleError> {
        if self.plan.events.is_stored() {
            return Ok(None);
        }
        let model = make_model().map_err(|error| self.cannot_replay(error.to_string()))?;
        if !model.catalogue().has_events_of(&self.plan.catalogue) {
            let reason = "its model has changed since; use the version of the program that played it, or play it anew";
            return Err(self.cannot_replay(reason.to_owned()));
        }
        Ok(Some(model))
    }

    /// The events of an entity in the completed range that contains the first of `worlds`. `replayer` is the result of
    /// [`Self::replayer`].
    ///
    /// # Errors
    /// [`EnsembleError::NoEvents`] if the entity has no stored events; also when the segment cannot be opened.
    pub fn event_source(
        &self,
        entity: usize,
        worlds: WorldRange,
        replayer: Option<&Arc<dyn Model>>,
    ) -> Result<EventSource<'_>, EnsembleError> {
        let from = match (replayer, self.event_segments(worlds)?.first()) {
            (_, Some(segment)) => {
                let reader = self.open(segment)?;
                if !reader.metadata().entities.contains(&entity) {
                    return Err(self.no_events(entity));
                }
                let rows = reader.entity_rows(entity)?;
                From::Segment(Box::new(reader), rows)
            }
            (Some(model), None) => From::Model(model.clone()),
            (None, None) => return Err(self.cannot_replay("no model was made for it".to_owned())),
        };
        Ok(EventSource { ensemble: self, entity, from })
    }

    /// The events of an entity in some worlds of one completed range, with all columns.
    ///
    /// # Errors
    /// [`EnsembleError::NoEvents`] if the entity has none; also when they can be neither read nor replayed.
    pub fn events_of(
        &self,
        entity: usize,
        worlds: WorldRange,
        make_model: &MakeModel,
    ) -> Result<EventRows, EnsembleError> {
        if self.plan.catalogue.events.is_empty() {
            return Err(self.no_events(entity));
        }
        let replayer = self.replayer(|| make_model(&self.plan))?;
        self.event_source(entity, worlds, replayer.as_ref())?.read(worlds, |_| true)
    }

    fn no_events(&self, entity: usize) -> EnsembleError {
        EnsembleError::NoEvents { entity: self.plan.catalogue.entities[entity].name.clone() }
    }

    pub(crate) fn cannot_replay(&self, reason: String) -> EnsembleError {
        EnsembleError::Replay { ensemble: self.plan.name.clone(), reason }
    }
}

impl EventSource<'_> {
    /// The events in some of the range's worlds, with the columns for which `wants` returns true, by catalogue index.
    ///
    /// # Errors
    /// [`EnsembleError::NoEvents`] if the entity has none; also when they can be neither read nor replayed.
    pub fn read(&self, worlds: WorldRange, wants: impl Fn(usize) -> bool) -> Result<EventRows, EnsembleError> {
        let Self { ensemble, entity, from } = self;
        let model = match from {
            From::Segment(reader, rows) => return Ok(reader.events(&ensemble.plan.catalogue, rows, worlds, wants)?),
            From::Model(model) => model,
        };
        if let Some(events) = self.replay(model, worlds, wants)? {
            return Ok(events);
        }
        // As in a segment, an entity without events in some worlds may have some in others of their range.
        let range = ensemble.range_with(worlds.first())?.0;
        if range.count() == worlds.count() || self.replay(model, range, |_| false)?.is_none() {
            return Err(ensemble.no_events(*entity));
        }
        let columns = ensemble.plan.catalogue.events.iter().map(|column| OwnedEventValues::empty(&column.kind));
        let rows = vec![0; worlds.count()];
        Ok(EventRows { entity: *entity, range: worlds, rows, columns: columns.collect() })
    }

    /// Plays worlds again; `None` if the model emits no event of the entity.
    fn replay(
        &self,
        model: &Arc<dyn Model>,
        worlds: WorldRange,
        wants: impl Fn(usize) -> bool,
    ) -> Result<Option<EventRows>, EnsembleError> {
        let Self { ensemble, entity, .. } = self;
        let catalogue = &ensemble.plan.catalogue;
        let mut kept = KeepEvents { catalogue, entity: *entity, wants, events: None, refused: None };
        let wanted = Wanted { events: true, entity: Some(*entity) };
        let played = model.simulate(ensemble.plan.seed, worlds, wanted, &mut kept);
        let name = &catalogue.entities[*entity].name;
        let cannot = |reason: &str| ensemble.cannot_replay(format!("worlds {worlds} of {name}: {reason}"));
        if let Some(reason) = kept.refused {
            return Err(cannot(&reason));
        }
        played.map_err(|stop| cannot(&stop.reason(&ensemble.plan.model)))?;
        Ok(kept.events)
    }
}

/// Keeps some event columns of one entity as a model emits them.
struct KeepEvents<'a, W> {
    catalogue: &'a Catalogue,
    entity: usize,
    wants: W,
    events: Option<EventRows>,
    /// Why a block differs from the catalogue.
    refused: Option<String>,
}

impl<W: Fn(usize) -> bool> Sink for KeepEvents<'_, W> {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let own = |(place, values): (usize, &EventValues<'_>)| match *values {
            _ if !(self.wants)(place) => OwnedEventValues::Label(Vec::new()),
            EventValues::Label(v) => OwnedEventValues::Label(v.to_vec()),
            EventValues::I8(v) => OwnedEventValues::I8(v.to_vec()),
            EventValues::I16(v) => OwnedEventValues::I16(v.to_vec()),
            EventValues::I32(v) => OwnedEventValues::I32(v.to_vec()),
            EventValues::F64 { values, valid } => reals(values, valid),
        };
        if let Err(reason) = check_events(self.catalogue, &block) {
            self.refused = Some(reason);
            return Err(Stop::Sink);
        }
        if block.entity == self.entity {
            let columns = block.columns.iter().enumerate().map(own).collect();
            let EventBlock { entity, range, rows, .. } = block;
            self.events = Some(EventRows { entity, range, rows: rows.to_vec(), columns });
        }
        Ok(())
    }
}
