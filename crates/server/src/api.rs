//! Routes: a handler each, and its description for the `OpenAPI` 3.1 document.

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};
use serde_json::{Map, Value, json};

use crate::app::{App, DATABASE_HEADER};
use crate::write::{CONFLICT_HEADER, KEY_HEADER};

/// One operation: its path, handler and description.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) handler: MethodRouter<App>,
    /// Whether the route requires a token on a server that has tokens.
    pub(crate) guarded: bool,
    method: &'static str,
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    replies: Map<String, Value>,
}

/// The place of a parameter in a request.
#[derive(Clone, Copy)]
pub(crate) enum In {
    Query,
    Header,
}

impl Route {
    pub(crate) fn get<T: 'static>(path: &'static str, handler: impl Handler<T, App>, summary: &'static str) -> Self {
        Self::new(path, "get", get(handler), summary)
    }

    pub(crate) fn post<T: 'static>(path: &'static str, handler: impl Handler<T, App>, summary: &'static str) -> Self {
        Self::new(path, "post", post(handler), summary)
    }

    pub(crate) fn delete<T: 'static>(path: &'static str, handler: impl Handler<T, App>, summary: &'static str) -> Self {
        Self::new(path, "delete", delete(handler), summary)
    }

    fn new(path: &'static str, method: &'static str, handler: MethodRouter<App>, summary: &'static str) -> Self {
        let (parameters, replies) = (Vec::new(), Map::new());
        Self { path, handler, guarded: false, method, summary, parameters, body: None, replies }
    }

    /// Requires a token.
    pub(crate) fn guarded(mut self) -> Self {
        self.guarded = true;
        self.refuses(&[401, 403, 503])
    }

    /// Adds an optional parameter.
    pub(crate) fn takes(self, place: In, name: &str, schema: Value, about: &str) -> Self {
        self.parameter(place, name, schema, about, false)
    }

    /// Adds a required parameter.
    pub(crate) fn needs(self, place: In, name: &str, schema: Value, about: &str) -> Self {
        self.parameter(place, name, schema, about, true)
    }

    fn parameter(mut self, place: In, name: &str, schema: Value, about: &str, required: bool) -> Self {
        let place = match place {
            In::Query => "query",
            In::Header => "header",
        };
        let mut parameter = json!({"name": name, "in": place, "required": required, "description": about});
        parameter["schema"] = schema;
        self.parameters.push(parameter);
        self
    }

    /// Adds the header that names a database.
    pub(crate) fn of_database(self) -> Self {
        let about = "Database of tables that are named without one. Default: `default`";
        self.takes(In::Header, DATABASE_HEADER, json!({"type": "string"}), about)
    }

    /// Adds everything that a write of `content` needs.
    pub(crate) fn writes(self, content: &str, schema: &Value) -> Self {
        let about = "Requests with the same key store their rows once within a day";
        let mut route = self.guarded().of_database();
        route = route.takes(In::Header, KEY_HEADER, json!({"type": "string"}), about);
        let about = "What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, \
                     `refuse` refuses its row";
        let choices = json!({"type": "string", "enum": ["overflow", "refuse"], "default": "overflow"});
        route = route.takes(In::Header, CONFLICT_HEADER, choices, about);
        route.body(content, schema).empty("Every row is stored").refuses(&[400, 408, 413, 429, 500])
    }

    /// Adds everything that a query needs.
    pub(crate) fn asks(self, schema: &Value) -> Self {
        self.guarded().body("application/json", schema).refuses(&[400, 408, 413, 429, 500])
    }

    /// Adds a request body.
    pub(crate) fn body(mut self, content: &str, schema: &Value) -> Self {
        self.body = Some(json!({"required": true, "content": contents(&[content], schema)}));
        self
    }

    /// Replies 204.
    pub(crate) fn empty(self, about: &str) -> Self {
        self.reply(204, json!({"description": about}))
    }

    /// Replies 200 with a body in any of the content types.
    pub(crate) fn answers(self, content: &[&str], schema: &Value, about: &str) -> Self {
        self.reply(200, json!({"description": about, "content": contents(content, schema)}))
    }

    /// Replies 202 with a body in JSON.
    pub(crate) fn accepts(self, schema: &Value, about: &str) -> Self {
        self.reply(202, json!({"description": about, "content": contents(&["application/json"], schema)}))
    }

    /// Adds error replies.
    pub(crate) fn refuses(self, statuses: &[u16]) -> Self {
        statuses.iter().fold(self, |route, &status| route.reply(status, refusal(status)))
    }

    fn reply(mut self, status: u16, reply: Value) -> Self {
        self.replies.insert(status.to_string(), reply);
        self
    }

    fn operation(&self, asks_tokens: bool) -> Value {
        let mut operation = json!({
            "operationId": format!("{}{}", self.method, self.path.replace(['/', '.'], "_")),
            "summary": self.summary,
            "parameters": self.parameters,
            "responses": self.replies,
        });
        if let Some(body) = &self.body {
            operation["requestBody"] = body.clone();
        }
        if self.guarded && asks_tokens {
            operation["security"] = schemes().keys().map(|scheme| json!({scheme: []})).collect();
        }
        operation
    }
}

fn contents(types: &[&str], schema: &Value) -> Value {
    let of = |name: &&str| match *name {
        "application/json" => ((*name).to_owned(), json!({"schema": schema})),
        // Only JSON has a schema.
        other => (other.to_owned(), json!({})),
    };
    Value::Object(types.iter().map(of).collect())
}

fn refusal(status: u16) -> Value {
    let about = match status {
        400 => "The request is malformed, or some of its rows are rejected; the others are stored",
        401 => "The token is missing or unknown",
        403 => "The token does not permit this",
        404 => "The ensemble or table does not exist",
        409 => "Not possible in the current state",
        408 => "The request arrived too slowly, or the query took too long: reduce its work",
        413 => "The body is too large, or the query needs too much memory: send or select less",
        429 => "Memory is full or the disk too slow; nothing was done: retry later",
        503 => "The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later",
        _ => "An internal error: see the server's log",
    };
    let mut reply = json!({
        "description": about,
        "content": contents(&["application/json"], &json!({"$ref": "#/components/schemas/Error"})),
    });
    if matches!(status, 429 | 503) {
        let about = "Seconds to wait";
        reply["headers"] = json!({"retry-after": {"description": about, "schema": {"type": "integer"}}});
    }
    reply
}

fn schemes() -> Map<String, Value> {
    let key = |place: &str, name: &str, about: &str| json!({"type": "apiKey", "in": place, "name": name, "description": about});
    Map::from_iter([
        ("bearer".to_owned(), json!({"type": "http", "scheme": "bearer"})),
        ("key".to_owned(), key("header", "x-api-key", "The token")),
        ("token".to_owned(), key("header", "authorization", "`Token TOKEN`, as clients of line protocol send it")),
        ("basic".to_owned(), json!({"type": "http", "scheme": "basic", "description": "The token as the password"})),
        (
            "cookie".to_owned(),
            key("cookie", "manyworlds_PORT", "The cookie of a login; the name ends with the server's port"),
        ),
        ("password".to_owned(), key("query", "p", "The token as the password, beside a user `u`")),
    ])
}

/// The `OpenAPI` document of all routes.
pub(crate) fn document(
    routes: &[Route],
    schemas: impl Iterator<Item = (&'static str, Value)>,
    asks_tokens: bool,
) -> Value {
    let mut paths = Map::new();
    for route in routes {
        paths.entry(route.path).or_insert_with(|| json!({}))[route.method] = route.operation(asks_tokens);
    }
    let refused = json!({"type": "object", "properties": {
        "position": {"type": "integer", "description": "The item's line, from 1, or index, from 0, in the body"},
        "row": {"type": "integer", "description": "Without a position: the first such row among its table's, from 1"},
        "table": {"type": ["string", "null"]},
        "field": {"type": ["string", "null"]},
        "reason": {"type": "string"},
    }});
    let error = json!({"type": "object", "required": ["error"], "properties": {
        "error": {"type": "string", "description": "What failed, why, and what to do next"},
        "kind": {"type": "string", "description": "The kind of the error, for programs"},
        "text": {"type": "string", "description": "The expression with the error"},
        "position": {"type": "integer", "description": "Position of the error in `text`, in bytes from 0"},
        "stored": {"type": "integer", "description": "Rows that were stored"},
        "refused": {"type": "array", "items": refused, "description": "The first refused items, at most 100"},
        "refused_count": {"type": "integer", "description": "Items and rows that were refused"},
        "notices": {"type": "array", "items": {"type": "string"}, "description": "What was stored differently from what was sent"},
    }});
    let mut schemas: Map<String, Value> = schemas.map(|(name, schema)| (name.to_owned(), schema)).collect();
    schemas.insert("Error".to_owned(), error);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "manyworlds",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Ingests rows, and answers queries about them and about ensembles of simulated worlds.",
        },
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": schemes()},
    })
}
