//! Shared by all benchmarks: the work folder, measured processes, statistics and reports.

pub(crate) mod bars;
pub(crate) mod bench;
pub(crate) mod child;
pub(crate) mod disk_space;
pub(crate) mod http;
pub(crate) mod machine;
pub(crate) mod report;
pub(crate) mod server;
pub(crate) mod statistics;
