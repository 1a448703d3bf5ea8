//! Translates statements of InfluxDB's and Arc's clients to SQL.

/// A statement other than SQL.
#[derive(Debug, PartialEq)]
pub(crate) enum Statement {
    /// `SHOW DATABASES`
    Databases,
    /// `SHOW TABLES FROM d`, `SHOW MEASUREMENTS`, `SHOW MEASUREMENTS ON d`: of one database, by default the request's.
    Tables(Option<String>),
    /// `CREATE DATABASE d`
    Create(String),
}

impl Statement {
    /// Parses a text; `None` for other statements.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.trim().trim_end_matches(';').split_whitespace().collect();
        let (last, before) = words.split_last()?;
        let name = || last.trim_matches('"').to_owned();
        match (before.join(" ").to_ascii_lowercase().as_str(), last.to_ascii_lowercase().as_str()) {
            ("show", "databases") => Some(Self::Databases),
            ("show", "measurements") => Some(Self::Tables(None)),
            ("show measurements on" | "show tables from", _) => Some(Self::Tables(Some(name()))),
            ("create database", _) => Some(Self::Create(name())),
            _ => None,
        }
    }

    /// The SQL; it returns one name per row, without hidden names. `None` for [`Self::Create`].
    pub(crate) fn in_sql(&self, database: &str) -> Option<String> {
        let (name, of) = match self {
            Self::Databases => ("table_schema", "table_schema <> 'information_schema'".to_owned()),
            Self::Tables(named) => {
                let database = named.as_deref().unwrap_or(database).replace('\'', "''");
                ("table_name", format!("table_schema = '{database}'"))
            }
            Self::Create(_) => return None,
        };
        Some(format!("SELECT DISTINCT {name} AS name FROM information_schema.tables WHERE {of} ORDER BY name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_clients_are_told_from_questions() {
        let named = |name: &str| Some(name.to_owned());
        for (text, statement) in [
            ("SHOW DATABASES", Some(Statement::Databases)),
            (" show  databases; ", Some(Statement::Databases)),
            ("SHOW MEASUREMENTS", Some(Statement::Tables(None))),
            ("SHOW MEASUREMENTS ON \"d\"", Some(Statement::Tables(named("d")))),
            ("SHOW TABLES FROM d", Some(Statement::Tables(named("d")))),
            ("CREATE DATABASE \"Mine\"", Some(Statement::Create("Mine".to_owned()))),
            ("SHOW TABLES", None),
            ("SELECT databases", None),
            ("CREATE DATABASE a b", None),
            ("", None),
        ] {
            assert_eq!(Statement::of(text), statement, "{text}");
        }
        let sql = Statement::Tables(named("a'b")).in_sql("d").unwrap();
        assert!(sql.contains("table_schema = 'a''b'"), "{sql}");
    }
}
