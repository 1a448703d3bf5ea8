//! Addresses of tables in an object store.

use std::fmt;
use std::str::FromStr;

use object_store::path::Path as Key;

/// A prefix of a bucket, written `s3://BUCKET/PREFIX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketUrl {
    pub(super) bucket: String,
    pub(super) prefix: Key,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("invalid bucket address {text:?}: write s3://BUCKET/PREFIX")]
pub struct AddressError {
    text: String,
}

impl BucketUrl {
    pub const SCHEME: &str = "s3://";

    pub(super) fn of(&self, key: &Key) -> String {
        format!("{}{}/{key}", Self::SCHEME, self.bucket)
    }
}

impl FromStr for BucketUrl {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refused = || AddressError { text: text.to_owned() };
        let rest = text.strip_prefix(Self::SCHEME).ok_or_else(refused)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let good = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bucket.is_empty() || !bucket.chars().all(good) {
            return Err(refused());
        }
        let prefix = Key::parse(prefix.trim_matches('/')).map_err(|_| refused())?;
        Ok(Self { bucket: bucket.to_owned(), prefix })
    }
}

impl fmt::Display for BucketUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.of(&self.prefix).trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for (text, written) in
            [("s3://b", "s3://b"), ("s3://b/", "s3://b"), ("s3://some.bucket-1/a/b=c/", "s3://some.bucket-1/a/b=c")]
        {
            assert_eq!(text.parse::<BucketUrl>().unwrap().to_string(), written);
        }
        for bad in ["", "data", "s3:/b", "S3://b", "s3://", "s3:///a", "s3://b c", "s3://b/a//b", "s3://b/../c"] {
            assert!(bad.parse::<BucketUrl>().is_err(), "{bad}");
        }
    }
}
