//! An ensemble that a worker plays: what is loaded once, and used for all its ranges.

use std::path::Path;
use std::sync::Arc;

use ensemble::{EnsembleError, Follow, MakeModel, Store};
use run::{Player, Until};
use table::disk::Disk;
use table::{PageFormat, UnknownCodec};

use crate::error::FleetError;
use crate::ledger::Submitted;

/// An ensemble that can be played.
pub(crate) struct Job {
    /// Its number in the ledger.
    pub(crate) id: i64,
    pub(crate) player: Player,
    pub(crate) replaces: bool,
    pub(crate) until: Option<Until>,
}

impl Job {
    /// Loads what the tables in a folder say of a submitted ensemble.
    ///
    /// # Errors
    /// Where they have no such version of it, and where its model cannot be made here.
    pub(crate) async fn load(
        submitted: &Submitted,
        data: &Path,
        disk: &Arc<dyn Disk>,
        make_model: &MakeModel,
    ) -> Result<Self, FleetError> {
        let damaged = |reason| EnsembleError::Damaged { name: submitted.name.clone(), reason };
        let mut store = open_store(&submitted.name, data, disk).await?;
        let ensemble = store.take_up(&submitted.name, submitted.version).await?;
        let model = make_model(&ensemble.plan).map_err(|error| damaged(error.to_string()))?;
        // All who play it must write alike: a range's files are the same bytes whoever writes them.
        let format = PageFormat {
            codec: submitted.codec.parse().map_err(|error: UnknownCodec| damaged(error.to_string()))?,
            encodings: submitted.encodings.parse().map_err(damaged)?,
        };
        let followed = submitted.until.iter().map(|until| (until.entity, until.outcome)).collect();
        let follow = Follow::new(&ensemble.plan.catalogue, followed);
        let player = Player::new(model, ensemble, disk.clone(), format, follow);
        Ok(Self { id: submitted.id, player, replaces: submitted.replaces, until: submitted.until })
    }
}

/// Opens the tables in a folder, which have an ensemble of a name.
///
/// # Errors
/// Where there are none.
pub(crate) async fn open_store(name: &str, data: &Path, disk: &Arc<dyn Disk>) -> Result<Store, FleetError> {
    let unknown = || EnsembleError::Unknown { name: name.to_owned(), data: disk.shown(data), have: Vec::new() };
    Ok(Store::open(data, disk.clone()).await?.ok_or_else(unknown)?)
}
