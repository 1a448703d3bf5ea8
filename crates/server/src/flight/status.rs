//! Errors with gRPC's codes.

use axum::http::StatusCode;
use tonic::{Code, Status};

use crate::processes::Failure;

/// The error of a request, with its text as in other protocols.
pub(super) fn status(failure: impl Into<Failure>) -> Status {
    let failure = failure.into();
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = match (&*failure.code, status) {
        ("42P01" | "42703" | "42704" | "42883", _) | (_, StatusCode::NOT_FOUND) => Code::NotFound,
        (_, StatusCode::UNAUTHORIZED) => Code::Unauthenticated,
        (_, StatusCode::FORBIDDEN) => Code::PermissionDenied,
        (_, StatusCode::REQUEST_TIMEOUT) => Code::DeadlineExceeded,
        (_, StatusCode::PAYLOAD_TOO_LARGE) => Code::ResourceExhausted,
        (_, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => Code::Unavailable,
        (_, status) if status.is_server_error() => Code::Internal,
        _ => Code::InvalidArgument,
    };
    Status::new(code, failure.text)
}

/// The error of a request that this server does not understand.
pub(super) fn invalid(text: impl Into<String>) -> Status {
    Status::invalid_argument(text)
}

/// The error of a request for something that this server does not do.
pub(super) fn unsupported(text: impl Into<String>) -> Status {
    Status::unimplemented(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_codes_of_grpc() {
        for (of, code, expected) in [
            (StatusCode::BAD_REQUEST, "42P01", Code::NotFound),
            (StatusCode::FORBIDDEN, "42501", Code::PermissionDenied),
            (StatusCode::UNAUTHORIZED, "42000", Code::Unauthenticated),
            (StatusCode::REQUEST_TIMEOUT, "57014", Code::DeadlineExceeded),
            (StatusCode::PAYLOAD_TOO_LARGE, "53200", Code::ResourceExhausted),
            (StatusCode::SERVICE_UNAVAILABLE, "53000", Code::Unavailable),
            (StatusCode::INTERNAL_SERVER_ERROR, "XX000", Code::Internal),
            (StatusCode::BAD_REQUEST, "25006", Code::InvalidArgument),
        ] {
            let found = status(Failure::new(of, code, "why"));
            assert_eq!((found.code(), found.message()), (expected, "why"), "{of} {code}");
        }
    }
}
