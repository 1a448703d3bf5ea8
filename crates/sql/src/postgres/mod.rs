//! The tables and functions of `pg_catalog` and `information_schema`, and PostgreSQL's notation, as needed by `psql`,
//! drivers and tools.
//!
//! The crate `datafusion-pg-catalog` 0.19 offers the same. It does not serve here: its table numbers come from a counter
//! in memory, and each question runs in a process of its own, where they would differ; its tables of functions, types
//! and constraints are exports of a real PostgreSQL, with keys and functions that this program lacks; its rewriting
//! needs a parser of its own, outside the limits of `crate::parser`; and it needs `arrow-pg` and `postgres-types`.

mod columns;
pub(crate) mod explain;
mod functions;
pub(crate) mod inferred;
mod json;
mod layout;
mod own;
mod parameters;
mod relations;
mod rewrite;
mod rows;
mod settings;
mod times;
mod types;

use std::sync::Arc;

use datafusion::catalog::information_schema::InformationSchemaProvider;
use datafusion::catalog::{CatalogProvider, SchemaProvider};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use serde::{Deserialize, Serialize};

use own::Own;
pub(crate) use parameters::written_types;
use relations::Relations;
pub(crate) use rewrite::{Rewritten, conditions, is_about_postgres, rewrite, without_mark};
pub use settings::{search_path, setting};
pub(crate) use types::oids;
pub use types::{JSON, JSONB, length_of, null, oid_of, oid_of_field, type_of};

/// A connection's user and database.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Login {
    /// The database.
    pub database: String,
    /// The database of plain table names: the same, unless the client sets its search path.
    pub schema: String,
    /// The user name that the client sent.
    pub user: String,
    /// The number of the connection.
    pub pid: i32,
}

/// The PostgreSQL release whose catalogue this imitates; drivers check it.
pub const SERVER_VERSION: &str = "15.0";

const CATALOG: &str = "pg_catalog";
const INFORMATION: &str = "information_schema";

/// Whether a schema belongs to PostgreSQL and is not a database.
pub(crate) fn is_own(schema: &str) -> bool {
    matches!(schema, CATALOG | INFORMATION)
}

/// The tables of `pg_catalog` in a session.
pub(crate) struct Catalog(Arc<Relations>);

impl Catalog {
    /// Adds the tables and functions to a session.
    pub(crate) fn register(context: &SessionContext, catalog: &dyn CatalogProvider, login: &Login) -> Result<Self> {
        let relations = Arc::new(Relations::list(catalog, &login.schema));
        let own = |schema, more| Own { schema, relations: relations.clone(), login: login.clone(), more };
        catalog.register_schema(CATALOG, Arc::new(own(CATALOG, None)))?;
        let state = context.state_ref();
        let lists = state.read().catalog_list().clone();
        let more: Arc<dyn SchemaProvider> = Arc::new(InformationSchemaProvider::new(lists));
        catalog.register_schema(INFORMATION, Arc::new(own(INFORMATION, Some(more))))?;
        {
            let mut state = state.write();
            let options = state.config_mut().options_mut();
            // DataFusion's own schema of this name would hide ours.
            options.catalog.information_schema = false;
            // Without a zone, a cast to `timestamptz` yields a time without one.
            options.execution.time_zone = Some("UTC".to_owned());
        }
        functions::register(context, &relations, login);
        json::register(context);
        times::register(context);
        Ok(Self(relations))
    }

    /// The number (OID) of the table that a text names.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.0.number(name)
    }
}
