//! Files and folders with durability made explicit, on this machine or in an S3-compatible bucket.
//!
//! Enters: paths and bytes, or the address of a bucket. Leaves: a [`Disk`], through which every crate writes what must
//! survive a power cut.
//!
//! Guarantees
//! - [`RealDisk`] syncs exactly where the caller asks, and [`Disk::link`] never replaces a file.
//! - [`bucket::BucketDisk`] creates a name only after the bucket has the bytes.
//! - [`power_loss::PowerLossDisk`] forgets all unsynced data, so that tests can cut the power at every operation.
//! - [`watched::WatchedDisk`] lets tests refuse an operation, or act before it.
//!
//! Knows nothing of tables, logs or formats.

pub mod bucket;
mod files;
mod lock;
mod place;
pub mod power_loss;
pub mod watched;

pub use files::{
    Disk, DiskFile, RealDisk, TEMPORARY_SUFFIX, create_dir, create_dir_all, create_dirs, create_options, parent,
    temporary_name, write_file,
};
pub use lock::FileLock;
pub use place::{Place, PlaceError};
