//! Errors of an object store.

use std::error::Error;
use std::{io, iter};

use object_store::client::{HttpError, HttpErrorKind};

/// An object store failed. The message says what, where, and what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {doing} {place}: {trouble}")]
pub struct BucketError {
    doing: &'static str,
    place: String,
    pub(super) trouble: Trouble,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    #[error("no bucket {bucket:?} at {endpoint}: create it or choose another")]
    NoBucket { bucket: String, endpoint: String },
    #[error("no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    NoCredentials,
    #[error(
        "{endpoint} denied access ({code}): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, and the key's \
         permissions on the bucket"
    )]
    Denied { code: String, endpoint: String },
    #[error("cannot reach {endpoint} ({reason}): check AWS_ENDPOINT_URL and the network, and run it again")]
    Unreachable { endpoint: String, reason: String },
    #[error("AWS_ENDPOINT_URL {endpoint} is not encrypted: set AWS_ALLOW_HTTP=true to allow it")]
    Plain { endpoint: String },
    #[error("no such object")]
    NoObject,
    #[error("the object already exists")]
    Taken,
    #[error("{0}")]
    Other(String),
}

impl BucketError {
    pub(super) fn new(doing: &'static str, place: impl Into<String>, trouble: Trouble) -> Self {
        Self { doing, place: place.into(), trouble }
    }

    /// Finds a store's error among the causes of another.
    pub fn inside<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            // The source of an I/O error skips the error inside it.
            let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            cause = match inner {
                Some(inner) => Some(inner as &(dyn Error + 'static)),
                None => error.source(),
            };
        }
        None
    }
}

impl From<BucketError> for io::Error {
    fn from(error: BucketError) -> Self {
        let kind = match error.trouble {
            Trouble::NoObject => io::ErrorKind::NotFound,
            Trouble::Taken => io::ErrorKind::AlreadyExists,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl Trouble {
    /// Classifies an error of the object store library.
    pub(super) fn of(error: &object_store::Error, bucket: &str, endpoint: &str) -> Self {
        let (bucket, endpoint) = (bucket.to_owned(), endpoint.to_owned());
        let said = causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
        match error {
            _ if said.contains("scheme is not allowed") => Self::Plain { endpoint },
            _ if said.contains("NoSuchBucket") => Self::NoBucket { bucket, endpoint },
            // Without a key, the library asks the EC2 metadata service.
            _ if said.contains(METADATA) => Self::NoCredentials,
            object_store::Error::NotFound { .. } => Self::NoObject,
            object_store::Error::AlreadyExists { .. } => Self::Taken,
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Self::Denied { code: code(&said).unwrap_or("access denied").to_owned(), endpoint }
            }
            // Some errors lose the HTTP status.
            _ if code(&said).is_some_and(|code| DENIALS.contains(&code)) => {
                Self::Denied { code: code(&said).unwrap_or_default().to_owned(), endpoint }
            }
            _ => match unreached(error) {
                Some(reason) => Self::Unreachable { endpoint, reason },
                None => {
                    Self::Other(code(&said).map_or(error.to_string(), |code| format!("{endpoint} returned {code}")))
                }
            },
        }
    }
}

/// Error codes of rejected keys.
const DENIALS: [&str; 5] =
    ["AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"];

/// The path of the EC2 metadata service for credentials.
const METADATA: &str = "/latest/api/token";

fn code(said: &str) -> Option<&str> {
    Some(said.split_once("<Code>")?.1.split_once("</Code>")?.0)
}

/// Why no reply arrived; `None` if one did.
fn unreached(error: &object_store::Error) -> Option<String> {
    let http = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>())?;
    match http.kind() {
        // The root cause says most.
        HttpErrorKind::Connect | HttpErrorKind::Request | HttpErrorKind::Interrupted => {
            causes(http).last().map(ToString::to_string)
        }
        HttpErrorKind::Timeout => Some("timed out".to_owned()),
        _ => None,
    }
}

/// An error, its cause, the cause of that, and so on.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}
