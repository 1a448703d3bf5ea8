//! Settings that clients ask for: `SHOW name`, `current_setting('name')`, `pg_settings`.

use table::SIM;

use super::{Login, SERVER_VERSION};
use crate::literals::quoted_if_needed;

/// Settings with the same value in all sessions, sorted by name.
const SETTINGS: &[(&str, &str)] = &[
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("extra_float_digits", "1"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("intervalstyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("server_encoding", "UTF8"),
    ("server_version", SERVER_VERSION),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];

/// The value of a setting that is the same in all sessions.
pub fn setting(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// The schemas of tables whose names need none, in order.
pub(super) fn schemas(login: &Login) -> Vec<String> {
    let mut schemas = vec![SIM.to_owned()];
    schemas.extend((login.schema != SIM).then(|| login.schema.clone()));
    schemas
}

/// The setting `search_path` of a session.
pub fn search_path(login: &Login) -> String {
    schemas(login).iter().map(|name| quoted_if_needed(name)).collect::<Vec<_>>().join(", ")
}

/// The names and values of all settings of a session.
pub(super) fn all(login: &Login) -> Vec<(&'static str, String)> {
    let mut all: Vec<_> = SETTINGS.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    all.push(("search_path", search_path(login)));
    all.sort_unstable();
    all
}
