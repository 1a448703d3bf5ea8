//! Permissions of a request.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::StatusCode;

use crate::error::Refusal;
use crate::tokens::Grant;

/// Permissions of a request. `None` grants everything: the server has no tokens.
#[derive(Debug, Clone)]
pub(crate) struct Access(Option<Arc<Grant>>);

impl Access {
    pub(crate) fn all() -> Self {
        Self(None)
    }

    /// The permissions of a token.
    pub(crate) fn of(grant: Arc<Grant>) -> Self {
        Self(Some(grant))
    }

    /// The token's name, if the server has tokens.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.as_deref().map(|grant| grant.name.as_str())
    }

    /// # Errors
    /// 403 if the token may not write to `database`.
    pub(crate) fn may_write(&self, database: &str) -> Result<(), Refusal> {
        match &self.0 {
            Some(grant) if !grant.write => Err(forbidden(grant, "may not write")),
            Some(grant) if !grant.covers(database) => Err(beyond(grant, database)),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// 403 if the token may not read.
    pub(crate) fn may_read(&self) -> Result<(), Refusal> {
        match &self.0 {
            Some(grant) if !grant.read => Err(forbidden(grant, "may not read")),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// 403 if the token may not read `database`.
    pub(crate) fn may_read_of(&self, database: &str) -> Result<(), Refusal> {
        self.may_read()?;
        match &self.0 {
            Some(grant) if !grant.covers(database) => Err(beyond(grant, database)),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// 403 if the token may not manage tokens.
    pub(crate) fn may_administer(&self) -> Result<(), Refusal> {
        match &self.0 {
            Some(grant) if !grant.administers() => Err(forbidden(grant, "may not manage tokens")),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// 403 if the token may not read everything.
    pub(crate) fn may_read_all(&self) -> Result<(), Refusal> {
        self.may_read()?;
        match &self.0 {
            Some(grant) if !grant.databases.is_empty() => Err(forbidden(grant, "is for some databases only")),
            _ => Ok(()),
        }
    }

    /// Whether the token, if any, has a permission.
    pub(crate) fn has(&self, permission: impl FnOnce(&Grant) -> bool) -> bool {
        self.0.as_deref().is_none_or(permission)
    }

    /// The readable databases; `None`: all.
    pub(crate) fn databases(&self) -> Option<&[String]> {
        let limited = self.0.as_deref().filter(|grant| !grant.databases.is_empty());
        limited.map(|grant| grant.databases.as_slice())
    }

    /// 403 if `unknown`, a name in a query, is missing because the token cannot read its database.
    pub(crate) fn hides(&self, unknown: Option<&str>) -> Option<Refusal> {
        let (grant, database) = (self.0.as_deref()?, unknown?.split_once('.')?.0);
        (!grant.covers(database)).then(|| beyond(grant, database))
    }
}

/// The address of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

fn forbidden(grant: &Grant, what: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, format!("the token {:?} {what}", grant.name))
}

fn beyond(grant: &Grant, database: &str) -> Refusal {
    forbidden(grant, &format!("is not for database {database:?}"))
}
