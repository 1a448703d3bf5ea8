//! Statements, as tickets and handles hold them.

use axum::http::StatusCode;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sql::Literal;
use tonic::Status;

use super::Client;
use super::status::{invalid, status, unsupported};
use crate::answers::{Answer, Asked};
use crate::error::Refusal;
use crate::processes::{Failure, Names, Question, Sql, Wanted};
use crate::statement;

/// A statement with its values. Clients send it back as they got it, or changed: it gives no permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Statement {
    pub(super) sql: String,
    /// The values of `$1`, `$2`.
    #[serde(default)]
    pub(super) values: Vec<Literal>,
    /// The database of tables that are named without one; `None`: that of the request.
    #[serde(default)]
    database: Option<String>,
    /// The number of the ticket, by which its query can be cancelled; handles have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ticket: Option<u64>,
}

/// A ticket of InfluxDB's clients.
#[derive(Debug, Deserialize)]
struct Ticket {
    database: Option<String>,
    sql_query: String,
    query_type: Option<String>,
    #[serde(default)]
    params: Map<String, Value>,
}

impl Statement {
    pub(super) fn new(sql: String) -> Self {
        Self { sql, values: Vec::new(), database: None, ticket: None }
    }

    /// Reads a handle that [`Self::handle`] wrote.
    pub(super) fn of_handle(handle: &[u8]) -> Result<Self, Status> {
        serde_json::from_slice(handle).map_err(|_| invalid("unknown handle: prepare the statement again"))
    }

    pub(super) fn handle(&self) -> Result<Bytes, Status> {
        serde_json::to_vec(self).map(Bytes::from).map_err(|e| Status::internal(e.to_string()))
    }

    /// Reads a ticket of InfluxDB's clients, in JSON.
    pub(super) fn of_json(ticket: &[u8]) -> Result<Self, Status> {
        let ticket: Ticket = serde_json::from_slice(ticket).map_err(|error| {
            invalid(format!("unknown ticket: {error}; send one of this server, or {{\"sql_query\": \"...\"}}"))
        })?;
        let text = ticket.sql_query;
        match ticket.query_type.as_deref().unwrap_or("sql") {
            "sql" => {}
            "influxql" if statement::Statement::of(&text).is_some() => {}
            "influxql" => return Err(unsupported("InfluxQL is not supported: ask in SQL, with language=\"sql\"")),
            other => return Err(invalid(format!("unknown query_type {other:?}: send \"sql\""))),
        }
        let names: Vec<&str> = ticket.params.keys().map(String::as_str).collect();
        let values = ticket.params.iter().map(|(name, value)| literal(name, value)).collect::<Result<_, _>>()?;
        Ok(Self {
            sql: sql::with_numbers(&text, &names),
            values,
            database: ticket.database.filter(|name| !name.is_empty()),
            ticket: None,
        })
    }
}

fn literal(name: &str, value: &Value) -> Result<Literal, Status> {
    Ok(match value {
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Number(number) => Literal::Number(number.to_string()),
        Value::String(text) => Literal::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            return Err(invalid(format!("the parameter ${name} is a list or an object: send a text or a number")));
        }
    })
}

impl Client {
    fn question(&self, text: String, database: String, wanted: Wanted) -> Question {
        let databases = self.asker.access.databases().map(<[_]>::to_vec);
        Question::Sql(Sql { text, database, databases, ensemble: None, login: None, wanted })
    }

    fn ask(&self, statement: Statement, wanted: impl FnOnce(Vec<Literal>) -> Wanted) -> Result<Question, Refusal> {
        let Statement { sql, values, database, .. } = statement;
        if let Some(database) = &database {
            self.asker.access.may_read_of(database)?;
        }
        let database = database.unwrap_or_else(|| self.database.clone());
        let known = statement::Statement::of(&sql).and_then(|statement| statement.in_sql(&database));
        Ok(self.question(known.unwrap_or(sql), database, wanted(values)))
    }

    /// Describes a statement. Its values have no influence: what they are is only known when it runs.
    pub(super) async fn describe(&self, statement: &Statement) -> Result<Asked, Status> {
        let question = self.ask(statement.clone(), |_| Wanted::Description(Vec::new()));
        let patience = self.asker.app.settings.question_timeout;
        self.asker.clone().describe(question.map_err(status)?, patience).await.map_err(status)
    }

    /// Starts a query.
    pub(super) fn begin(&self, statement: Statement) -> Result<Answer, Status> {
        Ok(self.start(self.ask(statement, Wanted::Rows).map_err(status)?))
    }

    /// Starts to list databases or tables.
    pub(super) fn list(&self, names: Names) -> Answer {
        self.start(self.question(String::new(), self.database.clone(), Wanted::Names(names)))
    }

    fn start(&self, question: Question) -> Answer {
        self.asker.clone().begin(question, self.asker.app.settings.question_timeout)
    }
}

/// The error of a statement that changes data in a protocol that only asks.
pub(super) fn only_queries(what: &str) -> Status {
    status(Failure::new(StatusCode::BAD_REQUEST, "25006", format!("cannot run {what}: only queries are allowed")))
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn tickets_of_influxdb_are_read() {
        let of = |text: &str| Statement::of_json(text.as_bytes());
        let read = of(r#"{"database":"d","sql_query":"SELECT 1","query_type":"sql"}"#).unwrap();
        assert_eq!(read, Statement { database: Some("d".to_owned()), ..Statement::new("SELECT 1".to_owned()) });
        assert!(of(r#"{"sql_query":"SHOW MEASUREMENTS","query_type":"influxql"}"#).is_ok());
        let read = of(r#"{"sql_query":"SELECT $b, $a","params":{"a":1,"b":"x"}}"#).unwrap();
        let values = vec![Literal::Number("1".to_owned()), Literal::Text("x".to_owned())];
        assert_eq!(read, Statement { values, ..Statement::new("SELECT $2, $1".to_owned()) });
        for (text, code) in [
            (r#"{"sql_query":"SELECT mean(a) FROM t","query_type":"influxql"}"#, Code::Unimplemented),
            (r#"{"sql_query":"SELECT $a","params":{"a":[1]}}"#, Code::InvalidArgument),
            (r#"{"sql_query":"SELECT 1","query_type":"flux"}"#, Code::InvalidArgument),
            (r#"{"sql":"SELECT 1"}"#, Code::InvalidArgument),
            ("{", Code::InvalidArgument),
        ] {
            assert_eq!(of(text).unwrap_err().code(), code, "{text}");
        }
    }

    #[test]
    fn handles_keep_statement_and_values() {
        let values = vec![Literal::Null, Literal::Text("it's".to_owned()), Literal::Bytes(vec![0, 255])];
        let statement = Statement { values, ..Statement::new("SELECT $1".to_owned()) };
        assert_eq!(Statement::of_handle(&statement.handle().unwrap()).unwrap(), statement);
        assert_eq!(Statement::of_handle(b"\xff{").unwrap_err().code(), Code::InvalidArgument);
    }
}
