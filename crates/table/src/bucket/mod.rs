//! Tables in an S3-compatible store, and their mirror on this machine.
//!
//! All code reads and writes files of a folder. A [`BucketDisk`] makes such a folder the mirror of a prefix of a bucket: what
//! gets its final name here is taken by the bucket first, and what others named there is brought here before it is read.
//! Segments never change under their name, nor do entries of a log, so that each is brought once.
//!
//! Enters: `s3://BUCKET/PREFIX`, and the usual `AWS_*` variables. Leaves: a folder, and the disk to use it with.
//!
//! Promises
//! - a name in the mirror is a name in the bucket: the mirror can be removed at any time that nobody uses it;
//! - of two writers that give one name to a log entry, on whatever machines, one learns that it was taken;
//! - several processes may share a mirror.

mod address;
mod client;
mod disk;
mod error;
mod mirror;

pub use address::BucketUrl;
pub use disk::BucketDisk;
pub use error::BucketError;
