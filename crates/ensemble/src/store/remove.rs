//! Removes ensembles, versions and files from the data folder.

use std::io;

use table::upkeep::{VacuumOptions, Vacuumed, vacuum_but};
use table::{Change, Segment, TableError};

use super::{Result, Store};
use crate::error::EnsembleError;
use crate::paths::{TABLES, is_of, table_folder, version_of};
use crate::playing::is_played;

impl Store {
    /// Removes an ensemble and all its versions from the tables, then their files. Its registration goes first: without
    /// it readers see none of the rest. Also finishes what an interrupted call left. Returns its newest version.
    ///
    /// # Errors
    /// When no table has rows of it, a run on this machine plays it and would add more, or the disk fails.
    pub async fn drop_ensemble(&mut self, name: &str) -> Result<u64> {
        if is_played(&self.data, name) {
            return Err(EnsembleError::Played { name: name.to_owned() });
        }
        self.refresh().await?;
        let mut newest = None;
        for table in [&mut self.ensembles, &mut self.outcomes, &mut self.events] {
            let remove: Vec<Segment> = table.segments().await?.into_iter().filter(|s| is_of(s, name)).collect();
            newest = newest.max(remove.iter().map(version_of).max());
            if !remove.is_empty() {
                table.commit(&Change { remove, ..Change::default() }).await?;
            }
        }
        let Some(newest) = newest else { return Err(self.unknown(name).await?) };
        for table in TABLES {
            let folder = table_folder(&self.data, table).join(format!("ensemble={name}"));
            match self.disk.remove_dir(&folder) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(TableError::Io { doing: "remove", path: folder, cause }.into());
                }
                _ => {}
            }
        }
        Ok(newest)
    }

    /// Removes files that no version needs: those of replaced versions, and uncommitted ones. Keeps the files of
    /// registered versions: a replacing version commits nothing until it is complete.
    ///
    /// # Errors
    /// When the disk fails; files removed until then were not needed.
    pub async fn vacuum(&self, options: VacuumOptions) -> Result<Vacuumed> {
        let folder = |row: &Segment| row.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
        // A version registered after this point writes files too young to be removed.
        let registered: Vec<String> = self.ensembles.segments().await?.iter().filter_map(folder).collect();
        let may_come = |file: &str| registered.iter().any(|folder| file.starts_with(folder));
        let mut vacuumed = Vacuumed::default();
        for table in TABLES {
            vacuumed += vacuum_but(&table_folder(&self.data, table), self.disk.clone(), options, may_come).await?;
        }
        Ok(vacuumed)
    }
}
