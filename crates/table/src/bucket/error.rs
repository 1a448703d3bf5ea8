//! What can go wrong with a store.

use std::error::Error;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

/// A store refused, or did not answer. Its words say what, where, and what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {doing} {place}: {trouble}")]
pub struct BucketError {
    doing: &'static str,
    place: String,
    pub(super) trouble: Trouble,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    #[error("there is no bucket {bucket:?} at {endpoint}: make it, or name another")]
    NoBucket { bucket: String, endpoint: String },
    #[error("no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    NoCredentials,
    #[error(
        "{endpoint} refuses ({code}): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and what this key may do \
         with the bucket"
    )]
    Denied { code: String, endpoint: String },
    #[error("{endpoint} cannot be reached ({reason}): check AWS_ENDPOINT_URL and the network, and run it again")]
    Unreachable { endpoint: String, reason: String },
    #[error("AWS_ENDPOINT_URL is {endpoint}, which is not encrypted: set AWS_ALLOW_HTTP=true to use it all the same")]
    Plain { endpoint: String },
    #[error("there is no such object")]
    NoObject,
    #[error("the name is taken")]
    Taken,
    #[error("{0}")]
    Other(String),
}

impl BucketError {
    pub(super) fn new(doing: &'static str, place: impl Into<String>, trouble: Trouble) -> Self {
        Self { doing, place: place.into(), trouble }
    }

    /// The error of a store inside another, if there is one.
    pub(crate) fn inside<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            // An I/O error gives the cause of its cause as its own.
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
    /// What an error of the client means.
    pub(super) fn of(error: &object_store::Error, bucket: &str, endpoint: &str) -> Self {
        let (bucket, endpoint) = (bucket.to_owned(), endpoint.to_owned());
        let said = chain(error);
        match error {
            _ if said.contains("scheme is not allowed") => Self::Plain { endpoint },
            _ if said.contains("NoSuchBucket") => Self::NoBucket { bucket, endpoint },
            // Without a key the client asks the machine it runs on, where that is one of Amazon's.
            _ if said.contains(METADATA) => Self::NoCredentials,
            object_store::Error::NotFound { .. } => Self::NoObject,
            object_store::Error::AlreadyExists { .. } => Self::Taken,
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Self::Denied { code: code(&said).unwrap_or("access denied").to_owned(), endpoint }
            }
            // Some requests come back without their status.
            _ if code(&said).is_some_and(|code| DENIALS.contains(&code)) => {
                Self::Denied { code: code(&said).unwrap_or_default().to_owned(), endpoint }
            }
            _ => match unreached(error) {
                Some(reason) => Self::Unreachable { endpoint, reason },
                None => Self::Other(code(&said).map_or(error.to_string(), |code| format!("{endpoint} answers {code}"))),
            },
        }
    }
}

/// Codes of replies that refuse a key.
const DENIALS: [&str; 5] =
    ["AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"];

/// Where a machine of Amazon's is asked for its credentials.
const METADATA: &str = "/latest/api/token";

/// The code in a reply of a store.
fn code(said: &str) -> Option<&str> {
    Some(said.split_once("<Code>")?.1.split_once("</Code>")?.0)
}

/// Why no reply came, where none came.
fn unreached(error: &object_store::Error) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(http) = error.downcast_ref::<HttpError>() {
            return match http.kind() {
                HttpErrorKind::Connect | HttpErrorKind::Request | HttpErrorKind::Interrupted => Some(root(http)),
                HttpErrorKind::Timeout => Some("it does not answer in time".to_owned()),
                _ => None,
            };
        }
        cause = error.source();
    }
    None
}

/// The words of an error and of its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// The words of what began it.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}
