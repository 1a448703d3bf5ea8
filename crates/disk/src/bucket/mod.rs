//! Tables in an S3-compatible object store, with a mirror on this machine.
//!
//! All code works on files in a folder. A [`BucketDisk`] makes this folder a mirror of a bucket's prefix: it uploads
//! a file before the file gets its final name, and fetches other writers' files before they are read. Segments and
//! log entries never change, so each is fetched once.
//!
//! Enters: `s3://BUCKET/PREFIX` and the usual `AWS_*` variables. Leaves: a folder, and the disk to use with it.
//!
//! Guarantees
//! - every name in the mirror exists in the bucket: an unused mirror can be removed at any time;
//! - of two writers, on any machines, that create the same log entry, one fails;
//! - several processes can share a mirror.

mod address;
mod client;
mod disk;
mod error;
mod mirror;

pub use address::{AddressError, BucketUrl};
pub use disk::BucketDisk;
pub use error::BucketError;
