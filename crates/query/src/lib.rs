//! Answers SQL; the only crate that names DataFusion.
//!
//! Enters: a data folder, a function that builds the model of a stored plan, and SQL. Leaves: [`Rows`], a stream of
//! Arrow record batches, and [`Reading`], which counts what was read.
//!
//! The schema `sim`, the default, has three tables and two table functions:
//! - `outcomes` (ensemble, entity, outcome, world, value): every number of every world, long;
//! - `events` (ensemble, entity, world, number, the models' columns): every stored event;
//! - `ensembles`: one row an ensemble;
//! - `worlds('ensemble', 'entity')`: one row a world, one column an outcome;
//! - `events('ensemble', 'entity', worlds)`: the events of some worlds, replayed if they were not stored.
//!
//! The schema `default` has the tables of rows, of any layout, and Delta tables of other programs. Their names need no
//! schema unless `sim` has a table of the same name.
//!
//! Guarantees
//! - an [`Engine`] answers from one snapshot: the current version of each ensemble with its completed ranges, and the
//!   version that a table of `default` had when a question first named it;
//! - only named data is read: outcomes page by page, events by column, row group and page, tables by segment, row
//!   group, page and column. Statistics never exclude a row that meets the conditions;
//! - memory is bounded: tables stream, and buffered data counts against [`Options::memory_bytes`].
//!
//! [`Engine::for_postgres`] adds the catalogue that PostgreSQL clients read. [`Condition`] selects the rows of a table
//! to delete.
//!
//! Never writes: other statements are refused before planning. Knows no model and no terminal.

mod arguments;
mod condition;
mod distinct;
mod engine;
mod ensembles;
mod error;
mod events;
mod exact;
mod filter;
mod functions;
mod limits;
mod literals;
mod outcomes;
mod pauses;
mod plays;
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
