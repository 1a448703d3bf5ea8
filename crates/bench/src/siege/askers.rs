//! Actors that ask questions with known answers, over every interface.

use serde_json::{Value, json};
use world::Stream;

use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::{Front, pick};
use super::known::bet;
use super::postgres::PgConnection;
use super::rows::{self, DATABASE, ROWS};
use super::shell::{Ended, Shell};
use super::writers::{exchange, post, status, words};
use crate::error::BenchError;
use crate::harness::http::Connection;

/// Asks questions until the life is over.
pub(super) fn ask(front: &Front<'_>, mut dice: Stream) {
    let mut asker = Asker { front, http: None, postgres: None };
    while !front.is_over() {
        let table = dice.below(rows::TABLES as u32) as usize;
        match dice.below(6) {
            0 => asker.count(table, Asker::over_http),
            1 => asker.count(table, Asker::over_postgres),
            2 => asker.request(table, &mut dice),
            3 => asker.price(),
            _ => asker.page(&mut dice),
        }
        front.rest(50 + dice.below(200));
    }
}

/// Asks with processes of `ask` and `sql` until the life is over.
pub(super) fn ask_by_process(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let campaign = front.campaign;
    while !front.is_over() {
        let table = dice.below(rows::TABLES as u32) as usize;
        let name = format!("{DATABASE}.{}", campaign.tables[table].name);
        let before = campaign.ledger.acknowledged(table);
        let sql = format!("SELECT count(*) AS count FROM {name}");
        let words = match dice.below(2) {
            0 => ["ask", &name, "--count", "--format", "json"].to_vec(),
            _ => ["sql", &sql, "--format", "json"].to_vec(),
        };
        // The program may refuse a table that does not exist yet.
        let shell = Shell { campaign, life: front.life, actor: "ask" };
        match shell.run(&words, None, None)? {
            Ended::Well(printed) => {
                let rows: Value = serde_json::from_slice(&printed).unwrap_or_default();
                held(front, table, &before, rows[0]["count"].as_u64(), &words.join(" "));
            }
            Ended::Refused(said) if !before.is_empty() && !front.is_disk_full() => {
                campaign.findings.add(Kind::Wrong, front.life, 1, format!("`{}`: {said}", words.join(" ")));
            }
            _ => {}
        }
        front.rest(500 + dice.below(1_500));
    }
    Ok(())
}

/// Compares a count of rows with the requests acknowledged before the question and those sent before the answer.
fn held(front: &Front<'_>, table: usize, before: &[u64], counted: Option<u64>, question: &str) {
    let ledger = &front.campaign.ledger;
    // The count may miss removed requests.
    let removed = ledger.removed_below(table);
    let least = before.iter().filter(|request| **request >= removed).count() as u64 * ROWS;
    let most = ledger.sent(table) * ROWS;
    ActionCounts::count(&front.campaign.actions.answers);
    if !counted.is_some_and(|counted| (least..=most).contains(&counted)) {
        let what = format!("{question}: {counted:?}, where {least} to {most} rows are there");
        front.campaign.findings.add(Kind::Wrong, front.life, 1, what);
    }
}

struct Asker<'a, 'b> {
    front: &'a Front<'b>,
    http: Option<Connection>,
    postgres: Option<PgConnection>,
}

impl Asker<'_, '_> {
    /// The JSON that a POST gets; `None` if the server is busy, if it `may_fail` and does, or after a finding.
    fn post(&mut self, path: &str, body: &Value, what: &str, may_fail: bool) -> Option<Value> {
        let request = post(path, "content-type: application/json\r\n", body.to_string().as_bytes());
        let reply = exchange(self.front, &mut self.http, &request);
        match status(&reply) {
            Some(200) => return Some(serde_json::from_slice(&reply.ok()?.body).unwrap_or_default()),
            Some(408 | 503) => ActionCounts::count(&self.front.campaign.actions.busy),
            Some(_) if may_fail => {}
            _ => self.front.find(Kind::Wrong, format!("{what}: {}", words(&reply))),
        }
        None
    }

    /// The rows of an answer over HTTP, if any.
    fn over_http(&mut self, sql: &str) -> Option<Vec<Vec<Value>>> {
        // A question may need temporary files, which fail on a full disk.
        let answer = self.post("/api/v1/sql", &json!({"sql": sql}), sql, self.front.is_disk_full())?;
        let values = |row: &Value| row.as_object().into_iter().flat_map(|row| row.values().cloned()).collect();
        Some(answer.as_array().into_iter().flatten().map(values).collect())
    }

    /// The same over `PostgreSQL`'s protocol; all values are text.
    fn over_postgres(&mut self, sql: &str) -> Option<Vec<Vec<Value>>> {
        let connection = match self.postgres.take() {
            Some(connection) => Ok(connection),
            None => PgConnection::open(self.front.postgres),
        };
        let said = match connection.and_then(|mut connection| Ok((connection.ask(sql)?, connection))) {
            Ok((Ok(rows), connection)) => {
                self.postgres = Some(connection);
                let field = |field: Option<String>| {
                    field.map_or(Value::Null, |text| text.parse().unwrap_or(Value::String(text)))
                };
                return Some(rows.into_iter().map(|row| row.into_iter().map(field).collect()).collect());
            }
            // The server is busy, or its time limit stopped the question.
            Ok((Err(said), _)) if said.contains("57014") || said.contains("53") => {
                ActionCounts::count(&self.front.campaign.actions.busy);
                return None;
            }
            Ok((Err(_), _)) if self.front.is_disk_full() => return None,
            Ok((Err(said), _)) => said,
            Err(error) => error.to_string(),
        };
        self.front.find(Kind::Wrong, format!("over PostgreSQL, {sql}: {said}"));
        None
    }

    /// Counts a table.
    fn count(&mut self, table: usize, ask: impl Fn(&mut Self, &str) -> Option<Vec<Vec<Value>>>) {
        let before = self.front.campaign.ledger.acknowledged(table);
        if before.is_empty() {
            return;
        }
        let sql = format!("SELECT count(*) AS n FROM {DATABASE}.{}", self.front.campaign.tables[table].name);
        if let Some(rows) = ask(self, &sql) {
            held(self.front, table, &before, rows.first().and_then(|row| row.first()?.as_u64()), &sql);
        }
    }

    /// Asks for an acknowledged request; all its rows must be there.
    fn request(&mut self, table: usize, dice: &mut Stream) {
        let ledger = &self.front.campaign.ledger;
        let recent: Vec<u64> = ledger.acknowledged(table).into_iter().rev().take(200).collect();
        if recent.is_empty() {
            return;
        }
        let request = *pick(dice, &recent);
        let measurement = &self.front.campaign.tables[table];
        let sql = format!(
            "SELECT count(*) AS n, sum({}) AS total FROM {DATABASE}.{} WHERE CAST(time AS BIGINT) >= {} \
             AND CAST(time AS BIGINT) < {}",
            measurement.fields[0],
            measurement.name,
            rows::time_of_request(request),
            rows::time_of_request(request + 1)
        );
        let answer = if dice.chance(0.5) { self.over_http(&sql) } else { self.over_postgres(&sql) };
        let Some(rows) = answer.filter(|_| request >= ledger.removed_below(table)) else { return };
        ActionCounts::count(&self.front.campaign.actions.answers);
        let [n, total] = [0, 1].map(|place| rows.first().and_then(|row| row.get(place)?.as_f64()));
        let expected = rows::first_field_sum(request);
        if n != Some(ROWS as f64) || total.is_none_or(|total| (total - expected).abs() > 1e-6) {
            let what = format!("{sql}: {n:?} rows with a sum of {total:?}, where it is {ROWS} with {expected}");
            self.front.campaign.findings.add(Kind::Wrong, self.front.life, 1, what);
        }
    }

    /// Asks for the probability of the bet, and compares it with the known answer.
    fn price(&mut self) {
        let Some(priced) = self.post("/api/v1/price", &bet(), "price", false) else { return };
        ActionCounts::count(&self.front.campaign.actions.answers);
        if let Some(other) = self.front.campaign.known.differs(&priced) {
            self.front.find(Kind::Wrong, format!("price: {other}"));
        }
    }

    /// Asks for a page that always exists.
    fn page(&mut self, dice: &mut Stream) {
        let path = *pick(dice, &["/metrics", "/health", "/ready", "/api/v1/ensembles", "/api/v1/openapi.json"]);
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let reply = exchange(self.front, &mut self.http, request.as_bytes());
        match status(&reply) {
            Some(200) => ActionCounts::count(&self.front.campaign.actions.answers),
            // The server is not ready for ten seconds after a failed write.
            Some(503) if path == "/ready" => {}
            _ => self.front.find(Kind::Wrong, format!("GET {path}: {}", words(&reply))),
        }
    }
}
