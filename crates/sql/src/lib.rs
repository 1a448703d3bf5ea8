//! Queries in SQL. Only this crate depends on DataFusion.
//!
//! Enters: a data folder, a function that creates the model of a stored plan, and SQL. Leaves: [`Rows`], a stream of
//! Arrow record batches, and [`Reading`], the data read for them.
//!
//! The default schema, `sim`, has three tables and two table functions:
//! - `outcomes` (ensemble, entity, outcome, world, value): every number of every world, in long form;
//! - `events` (ensemble, entity, world, number, the models' columns): every stored event;
//! - `ensembles`: one row per stored ensemble;
//! - `worlds('ensemble', 'entity')`: one row per world, one column per outcome;
//! - `events('ensemble', 'entity', worlds)`: the events of some worlds, replayed unless they are stored.
//!
//! The schema `default` has the tables of inserted rows, and Delta tables of other writers. Their names need no schema
//! unless `sim` has a table with the same name.
//!
//! Guarantees
//! - An [`Engine`] answers from one snapshot: the current version of each ensemble with its completed ranges, and for
//!   each table of `default` the version at its first use.
//! - Queries read only the parts that they need: pages of outcomes; columns, row groups and pages of events;
//!   segments, row groups, pages and columns of tables. Statistics never exclude a matching row.
//! - Memory is bounded: tables stream, and all other memory of a query counts against [`Options::memory_bytes`].
//!
//! [`Engine::for_postgres`] adds the catalogue that clients of PostgreSQL expect. [`Condition`] selects the rows of a
//! table to delete.
//!
//! The crate never writes: it rejects all statements except queries before planning. It depends on no model or
//! terminal.

mod arguments;
mod compact_events;
mod condition;
mod distinct;
mod engine;
mod ensembles;
mod entity_events;
mod error;
mod events;
mod exact;
mod filter;
mod forward;
mod functions;
mod limits;
mod literals;
mod outcomes;
mod parser;
mod pauses;
pub mod postgres;
mod reading;
mod rows;
mod scan;
mod seconds;
mod session;
mod statements;
mod stored;
mod syntax;
mod tables;
mod wildcards;
mod worlds;

pub use condition::Condition;
/// For [`Engine::add_table`].
pub use datafusion;
pub use engine::{Asked, Engine, Rows, Scope, databases};
pub use ensemble::{MakeModel, ModelError};
pub use error::QueryError;
pub use limits::STACK_BYTES;
pub use literals::{Literal, boolean_of, quoted, texts_of};
pub use reading::Reading;
pub use rows::{JsonRows, check_texts, in_cells};
pub use session::{CATALOG, Options, Session, Spill};
pub use statements::{closing, is_empty, split, with_numbers, without_comments};
pub use stored::Ensembles;
pub use tables::Unique;
