//! A table or an ensemble, as commands name it.

use anyhow::Result;
use ensemble::{Store, StoredEnsemble};
use model::UnknownName;
use sql::{Engine, Options, Session};
use table::TableName;

use super::open_store;
use super::sql::open_engine;
use crate::args::NamedArgs;
use crate::output::note;

pub(super) enum Named {
    Table(TableName, Engine),
    Ensemble(StoredEnsemble),
}

/// Finds what the arguments name: the table, unless only an ensemble has the name.
pub(super) async fn find(args: &NamedArgs) -> Result<Named> {
    let (place, name) = (&args.data.data, &args.name);
    let ensemble = async || Ok(Named::Ensemble(open_store(place).await?.ensemble(name).await?));
    if args.ensemble {
        return ensemble().await;
    }
    let (data, disk) = place.open()?;
    let ensembles = match Store::open(&data, disk).await? {
        Some(store) => store.names().await?,
        None => Vec::new(),
    };
    let (engine, is_ensemble) =
        (open_engine(place, &Session::new(Options::default())?).await?, ensembles.contains(name));
    let tables = engine.tables();
    match name.parse::<TableName>() {
        Ok(table) if tables.contains(&(table.database().to_owned(), table.name().to_owned())) => {
            if is_ensemble {
                note(&format!("{name} is also the name of an ensemble: --ensemble takes it"));
            }
            Ok(Named::Table(table, engine))
        }
        _ if is_ensemble => ensemble().await,
        Err(error) => Err(error.into()),
        Ok(_) => {
            let tables = tables.iter().filter_map(|(database, name)| TableName::new(database, name).ok());
            let known: Vec<String> = tables.map(|table| table.to_string()).chain(ensembles).collect();
            Err(UnknownName::new("no table or ensemble", name, known.iter().map(String::as_str)).into())
        }
    }
}
