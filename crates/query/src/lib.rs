//! Questions in SQL: the only crate that names DataFusion.
//!
//! Enters: a data folder, a function that makes the model of a stored plan, and SQL. Leaves: [`Rows`], a stream of
//! Arrow record batches, and [`Reading`], what was read for them.
//!
//! The schema `sim`, which is also the default, has three tables and two table functions:
//! - `outcomes` (ensemble, entity, outcome, world, value): every number of every world, long;
//! - `events` (ensemble, entity, world, number, the models' columns): every stored event;
//! - `ensembles`: what is stored, one row an ensemble;
//! - `worlds('ensemble', 'entity')`: one row a world, one column an outcome;
//! - `events('ensemble', 'entity', worlds)`: the events of some worlds, played again where they were not stored.
//!
//! The schema `default` has the tables that rows were inserted into, of any layout, and Delta tables that others put
//! there. They need no schema before their names where `sim` has no such table.
//!
//! Promises
//! - an [`Engine`] answers from one snapshot: the current version of each ensemble and its completed ranges, and the
//!   version that a table of `default` had when a question first named it;
//! - only what a question names is read: outcomes page by page, events by column, row group and page, tables by
//!   segment, row group, page and column; statistics never exclude a row that meets the conditions;
//! - memory is bounded: tables stream, and what a question must hold counts against [`Options::memory_bytes`].
//!
//! [`Engine::for_postgres`] adds what clients of PostgreSQL look for before they ask.
//!
//! [`Condition`] tells `table` which rows of a table to delete.
//!
//! Never writes: whatever is no question is refused before it is planned. Knows no model, and no terminal.

mod arguments;
mod condition;
mod distinct;
mod engine;
mod ensembles;
mod entity_events;
mod error;
mod events;
mod exact;
mod filter;
mod functions;
mod limits;
mod literals;
mod outcomes;
mod pauses;
pub mod postgres;
mod reading;
mod rows;
mod scan;
mod statements;
mod stored;
mod tables;
mod worlds;

pub use condition::Condition;
pub use engine::{Asked, Engine, Options, Rows, Scope, Session, Spill, databases};
pub use ensemble::{MakeModel, ModelError};
pub use error::QueryError;
pub use limits::STACK_BYTES;
pub use literals::{Literal, quoted, texts_of};
pub use reading::Reading;
pub use rows::{JsonRows, in_cells};
pub use statements::{is_empty, split, without_comments};
pub use stored::Ensembles;
pub use tables::Unique;
