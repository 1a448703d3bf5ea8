//! A loaded ensemble, shared by all its ranges.

use ensemble::{EnsembleError, Follow, MakeModel};
use run::{Player, Until};
use table::{PageFormat, UnknownCodec};

use crate::error::FleetError;
use crate::ledger::Submitted;
use crate::tables::Tables;

/// An ensemble ready to play.
pub(crate) struct Job {
    /// Its number in the ledger.
    pub(crate) id: i64,
    pub(crate) player: Player,
    pub(crate) replaces: bool,
    pub(crate) until: Option<Until>,
}

impl Job {
    /// Loads a submitted ensemble from the tables.
    pub(crate) async fn load(
        submitted: &Submitted,
        tables: &Tables,
        make_model: &MakeModel,
    ) -> Result<Self, FleetError> {
        let damaged = |reason| EnsembleError::Damaged { name: submitted.name.clone(), reason };
        let mut store = tables.open(&submitted.name).await?;
        let ensemble = store.take_up(&submitted.name, submitted.version).await?;
        let missing = |reason| EnsembleError::NoModel { ensemble: submitted.name.clone(), reason };
        let model = make_model(&ensemble.plan).map_err(|error| missing(error.to_string()))?;
        // All workers use the submitted format, so that a range's files have the same bytes from any worker.
        let format = PageFormat {
            codec: submitted.codec.parse().map_err(|error: UnknownCodec| damaged(error.to_string()))?,
            encodings: submitted.encodings.parse().map_err(damaged)?,
        };
        let followed = submitted.until.iter().map(|until| (until.entity, until.outcome)).collect();
        let follow = Follow::new(&ensemble.plan.catalogue, followed);
        let player = Player { model, ensemble, disk: tables.disk().clone(), format, follow };
        Ok(Self { id: submitted.id, player, replaces: submitted.replaces, until: submitted.until })
    }

    pub(crate) fn name(&self) -> &str {
        &self.player.ensemble.plan.name
    }
}
