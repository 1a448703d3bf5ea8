//! The SQL face over stored ensembles. One binary, because each that links DataFusion is large.

mod agree;
mod pages;
mod slt;
mod support;
mod versions;
