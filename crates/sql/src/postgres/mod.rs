//! The tables and functions of `pg_catalog`, and PostgreSQL's notation, as needed by `psql`, drivers and tools.

mod functions;
mod relations;
mod rewrite;
mod types;

use std::sync::Arc;

use datafusion::catalog::CatalogProvider;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use serde::{Deserialize, Serialize};

use relations::Relations;
pub(crate) use rewrite::{Rewritten, rewrite};
pub use types::{length_of, oid_of, type_of};

/// A connection's user and database.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Login {
    /// The database.
    pub database: String,
    /// The user name that the client sent.
    pub user: String,
}

/// The PostgreSQL release whose catalogue this imitates; drivers check it.
pub const SERVER_VERSION: &str = "15.0";

const CATALOG: &str = "pg_catalog";

/// Whether a schema belongs to PostgreSQL and is not a database.
pub(crate) fn is_own(schema: &str) -> bool {
    matches!(schema, CATALOG | "information_schema")
}

/// The tables of `pg_catalog` in a session.
pub(crate) struct Catalog(Arc<Relations>);

impl Catalog {
    /// Adds the tables and functions to a session.
    pub(crate) fn register(context: &SessionContext, catalog: &dyn CatalogProvider, login: &Login) -> Result<Self> {
        let relations = Arc::new(Relations::list(catalog, &login.database));
        catalog.register_schema(CATALOG, relations.clone().schema(catalog, login)?)?;
        functions::register(context, &relations, login);
        Ok(Self(relations))
    }

    /// The number (OID) of the table that a text names.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.0.number(name)
    }
}
