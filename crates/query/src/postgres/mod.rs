//! What clients of PostgreSQL ask besides questions: the tables and functions of `pg_catalog`, and their ways to write
//! things, as far as `psql`, drivers and tools need them.

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
pub use types::{oid_of, type_of};

/// Who is connected to what.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Login {
    /// The database.
    pub database: String,
    /// The name that the client gave itself.
    pub user: String,
}

/// The release of PostgreSQL whose catalogue this is like, as drivers want to know it.
pub const SERVER_VERSION: &str = "15.0";

const CATALOG: &str = "pg_catalog";

/// Whether a schema is no database.
pub(crate) fn is_own(schema: &str) -> bool {
    matches!(schema, CATALOG | "information_schema")
}

/// The tables of `pg_catalog` as they are in a session.
pub(crate) struct Catalog(Arc<Relations>);

impl Catalog {
    /// Adds them to what a session has.
    pub(crate) fn register(context: &SessionContext, catalog: &dyn CatalogProvider, login: &Login) -> Result<Self> {
        let relations = Arc::new(Relations::list(catalog, &login.database));
        catalog.register_schema(CATALOG, relations.clone().schema(catalog, login)?)?;
        functions::register(context, &relations, login);
        Ok(Self(relations))
    }

    /// The number of the table that a text names.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.0.number(name)
    }
}
