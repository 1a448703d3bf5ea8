//! Conditions in the words of an ensemble's model: `at q3 8:00`, or `game-017: at q3 8:00` for another entity.

use std::sync::Arc;

use model::{Catalogue, Condition, Model};

use crate::error::{EnsembleError, QuestionError};
use crate::given::Given;
use crate::plan::MakeModel;
use crate::stored::StoredEnsemble;

/// The model of an ensemble, created for the first condition that is not an expression.
pub(crate) struct ModelWords<'a> {
    ensemble: &'a StoredEnsemble,
    /// The entity of conditions that name none.
    entity: Option<usize>,
    make_model: &'a MakeModel,
    model: Option<Arc<dyn Model>>,
}

impl<'a> ModelWords<'a> {
    pub(crate) fn new(ensemble: &'a StoredEnsemble, entity: Option<usize>, make_model: &'a MakeModel) -> Self {
        Self { ensemble, entity, make_model, model: None }
    }

    /// Adds the condition `text`, which failed to parse as an expression with `error`.
    ///
    /// # Errors
    /// `error` if the model does not know the words either; otherwise what is wrong with them.
    pub(crate) fn add(
        &mut self,
        given: &mut Given,
        text: &str,
        error: expr::Error,
        wanted: &dyn Fn() -> bool,
    ) -> Result<(), QuestionError> {
        let catalogue = &self.ensemble.plan.catalogue;
        let (named, words) = named_entity(text, catalogue);
        let model = match &self.model {
            Some(model) => model.clone(),
            None => match (self.make_model)(&self.ensemble.plan) {
                Ok(model) => self.model.insert(model).clone(),
                Err(reason) => return Err(QuestionError::NoModel { error, reason: reason.to_string() }),
            },
        };
        let condition = model.condition(catalogue, words).ok_or(error)??;
        let entity = named.or(self.entity).ok_or_else(|| QuestionError::NoEntity { text: text.to_owned() })?;
        let distances = self.distances(&*condition, entity, &model, wanted)?;
        given.add_widening(text, &text[..text.len() - words.len()], condition, &distances);
        Ok(())
    }

    /// The distance of each world of the ensemble.
    fn distances(
        &self,
        condition: &dyn Condition,
        entity: usize,
        model: &Arc<dyn Model>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<u32>, QuestionError> {
        let ensemble = self.ensemble;
        let replayer = ensemble.replayer(|| Ok(model.clone()))?;
        let columns = condition.columns();
        let mut distances = Vec::with_capacity(ensemble.worlds());
        ensemble.fetch(&ensemble.events).map_err(EnsembleError::from)?;
        for (range, _, _) in &ensemble.outcomes {
            if !wanted() {
                return Err(QuestionError::GivenUp);
            }
            let source = ensemble.event_source(entity, *range, replayer.as_ref())?;
            let events = source.read(*range, |column| columns.contains(&column))?;
            distances.extend(condition.distances(&events.block()));
        }
        Ok(distances)
    }
}

/// The entity before a colon, if any, and the words after it.
fn named_entity<'t>(text: &'t str, catalogue: &Catalogue) -> (Option<usize>, &'t str) {
    let named = text.split_once(':').and_then(|(name, words)| Some((catalogue.entity(name.trim())?, words)));
    named.map_or((None, text.trim_start()), |(entity, words)| (Some(entity), words.trim_start()))
}
