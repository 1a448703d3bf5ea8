//! Lists databases and tables, in the form that Arrow Flight SQL prescribes.

use arrow::array::{AsArray as _, RecordBatch};
use arrow::datatypes::Schema;
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{GetDbSchemasBuilder, GetTablesBuilder};
use axum::http::StatusCode;
use sql::{CATALOG, Engine};

use super::message::{Failure, Names, Tables};

/// The only type of tables.
pub(crate) const TABLE: &str = "TABLE";

/// The matching databases or tables that `engine` can read.
pub(super) async fn list(engine: &Engine, wanted: &Names) -> Result<RecordBatch, Failure> {
    let Some(tables) = &wanted.tables else {
        let mut databases = GetDbSchemasBuilder::new(wanted.catalog.clone(), wanted.databases.clone());
        engine.databases().iter().for_each(|database| databases.append(CATALOG, database));
        return databases.build().map_err(|e| unlisted(&e));
    };
    let names = of_tables(engine, wanted, tables)?;
    if !tables.columns {
        return Ok(names);
    }
    // Only these tables are opened.
    let mut described = builder(wanted, tables, true);
    let [databases, tables] = [1, 2].map(|column| names.column(column).as_string::<i32>());
    for (database, table) in databases.iter().flatten().zip(tables.iter().flatten()) {
        // A table that cannot be read must not hide the others.
        let columns = engine.columns(database, table).await.unwrap_or_else(|_| Schema::empty().into());
        described.append(CATALOG, database, table, TABLE, &columns).map_err(|e| unlisted(&e))?;
    }
    described.build().map_err(|e| unlisted(&e))
}

fn of_tables(engine: &Engine, wanted: &Names, tables: &Tables) -> Result<RecordBatch, Failure> {
    let mut names = builder(wanted, tables, false);
    for (database, table) in engine.tables() {
        names.append(CATALOG, database, table, TABLE, &Schema::empty()).map_err(|e| unlisted(&e))?;
    }
    names.build().map_err(|e| unlisted(&e))
}

fn builder(wanted: &Names, tables: &Tables, columns: bool) -> GetTablesBuilder {
    let (catalog, databases) = (wanted.catalog.clone(), wanted.databases.clone());
    GetTablesBuilder::new(catalog, databases, tables.names.clone(), tables.types.clone(), columns)
}

/// The error of a pattern that `LIKE` does not accept.
fn unlisted(error: &FlightError) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "42000", format!("cannot list the tables: {error}"))
}
