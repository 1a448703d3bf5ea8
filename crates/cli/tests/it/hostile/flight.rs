//! Requests of Arrow Flight, as they should be and damaged.

use arrow_flight::sql::{
    ActionCreatePreparedStatementRequest, Any, CommandGetDbSchemas, CommandGetSqlInfo, CommandGetTables,
    CommandPreparedStatementQuery, CommandStatementQuery, CommandStatementUpdate, ProstMessageExt,
    TicketStatementQuery,
};
use arrow_flight::{FlightData, FlightDescriptor};
use prost::Message as _;
use serde_json::json;

use super::http::{fill, probe, start};
use super::{Dice, rounds, sql};
use crate::flight::Client;

#[test]
fn hostile_calls_leave_the_server_alive() {
    let data = tempfile::tempdir().unwrap();
    fill(data.path());
    let mut server = start(data.path());
    let mut client = Client::open(server.flight.unwrap(), &[("database", "d")]);
    rounds(1, |dice| {
        let mut bytes = message(dice);
        if dice.one_in(2) {
            dice.damage(&mut bytes);
        }
        // Each call ends, with rows or an error.
        match dice.below(5) {
            0 | 1 => {
                if let Ok(mut rows) = client.get(bytes) {
                    let mut left = dice.below(20);
                    while left > 0 && matches!(client.next(&mut rows), Ok(Some(_))) {
                        left -= 1;
                    }
                }
            }
            2 => drop(client.info(bytes)),
            3 => drop(client.action(dice.pick(&["CreatePreparedStatement", "ClosePreparedStatement", "x"]), bytes)),
            _ => drop(client.put(batches(dice, bytes))),
        }
        probe(&mut server);
    });
    let said = server.stop();
    assert!(!said.contains("panicked"), "{said}");
}

fn packed(message: &impl ProstMessageExt) -> Vec<u8> {
    Any::pack(message).unwrap().encode_to_vec()
}

fn handle(dice: &mut Dice) -> Vec<u8> {
    let value = match dice.below(6) {
        0 => json!("Null"),
        1 => json!({"NullOf": dice.pick(&["Int64", "List(Utf8)", "", "Timestamp(ns, \"x\")"])}),
        2 => json!({"Number": dice.pick(&["1", "1e999", "", "--1", "0x", "); DROP"])}),
        3 => json!({"Typed": ["soon", dice.pick(&["Date32", "Decimal128(99, -1)", "Interval(MonthDayNano)"])]}),
        4 => json!({"List": [{"Text": "a"}, {"List": ["Null"]}]}),
        _ => json!({"Bytes": [0, 255]}),
    };
    let sql = if dice.one_in(2) { "SELECT $1, ?".to_owned() } else { sql::statement(dice) };
    let sql = if dice.one_in(2) { "SELECT $1 AS a, n FROM cpu WHERE n > $2".to_owned() } else { sql };
    json!({"sql": sql, "values": [value, {"Number": "3"}], "database": dice.pick(&["d", "sim", "nope"])})
        .to_string()
        .into_bytes()
}

fn message(dice: &mut Dice) -> Vec<u8> {
    let pattern = |dice: &mut Dice| {
        let some = dice.pick(&["", "%", "c_u", "\\", "%%%%%%%%%%%%a", "(.*)*"]).to_owned();
        (!dice.one_in(3)).then_some(some)
    };
    let query = sql::statement(dice);
    match dice.below(10) {
        0 | 1 => packed(&CommandStatementQuery { query, transaction_id: None }),
        2 => packed(&TicketStatementQuery { statement_handle: handle(dice).into() }),
        3 => packed(&CommandPreparedStatementQuery { prepared_statement_handle: handle(dice).into() }),
        4 => packed(&CommandGetDbSchemas { catalog: pattern(dice), db_schema_filter_pattern: pattern(dice) }),
        5 => packed(&CommandGetTables {
            catalog: pattern(dice),
            db_schema_filter_pattern: pattern(dice),
            table_name_filter_pattern: pattern(dice),
            table_types: pattern(dice).into_iter().collect(),
            include_schema: dice.one_in(2),
        }),
        6 => packed(&CommandGetSqlInfo { info: (0..dice.below(9)).map(|_| dice.below(700) as u32).collect() }),
        7 => packed(&ActionCreatePreparedStatementRequest { query, transaction_id: None }),
        8 => packed(&CommandStatementUpdate { query, transaction_id: None }),
        _ => {
            let language = dice.pick(&["sql", "influxql", "x"]);
            json!({"database": "d", "sql_query": query, "query_type": language}).to_string().into_bytes()
        }
    }
}

/// Messages of a client that sends values for a statement.
fn batches(dice: &mut Dice, command: Vec<u8>) -> Vec<FlightData> {
    let bytes = |dice: &mut Dice| (0..dice.below(200)).map(|_| dice.roll() as u8).collect::<Vec<u8>>();
    let some = |dice: &mut Dice| FlightData {
        data_header: bytes(dice).into(),
        data_body: bytes(dice).into(),
        ..FlightData::default()
    };
    let descriptor = (!dice.one_in(9)).then(|| FlightDescriptor::new_cmd(command));
    let first = FlightData { flight_descriptor: descriptor, ..some(dice) };
    let others = (0..dice.below(3)).map(|_| some(dice)).collect();
    [vec![first], others].concat()
}
