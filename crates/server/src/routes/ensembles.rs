//! Routes for queries about ensembles.

use serde_json::{Value, json};

use super::schema::{
    ARROW, CSV, JSON, PARQUET, boolean, integer, list, map, named, nullable, number, object, record, text, word,
};
use crate::api::{In, Route};
use crate::{ensembles, worlds};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/ensembles", ensembles::ensembles, "List the ensembles")
            .guarded()
            .answers(&[JSON], &list(&named("Ensemble")), "The ensembles")
            .refuses(&[500]),
        Route::get("/api/v1/catalogue", ensembles::catalogue, "Describe the outputs and parameters of an ensemble")
            .needs(In::Query, "ensemble", text(), "The ensemble")
            .guarded()
            .answers(&[JSON], &named("Description"), "The parameters and the catalogue")
            .refuses(&[400, 404, 500]),
        Route::post("/api/v1/price", ensembles::price, "Estimate the probability that all conditions hold")
            .asks(&named("PriceQuestion"))
            .answers(&[JSON], &named("Price"), "The probability, its interval, and that of each condition alone")
            .refuses(&[404]),
        Route::post("/api/v1/book", ensembles::book, "Measure the risk of a book of bets")
            .asks(&book())
            .answers(
                &[JSON],
                &json!({"type": "object"}),
                "The distribution of the profit, value at risk, expected shortfall, the worst worlds, and each bet",
            )
            .refuses(&[404]),
        Route::post("/api/v1/verify", ensembles::verify, "Check everything stored of an ensemble")
            .asks(&object(&["ensemble"], &json!({"ensemble": text()})))
            .answers(&[JSON], &named("Verification"), "The checks, and the content hashes")
            .refuses(&[404]),
        Route::post("/api/v1/outcome", ensembles::outcome, "Show how outcomes are distributed")
            .asks(&named("OutcomeQuestion"))
            .answers(&[JSON], &list(&named("Outcome")), "The distributions")
            .refuses(&[404]),
        Route::post("/api/v1/leverage", ensembles::leverage, "Find the events that move a probability most")
            .asks(&named("LeverageQuestion"))
            .answers(&[JSON], &named("Leverage"), "The events, those that move it most first")
            .refuses(&[404]),
        Route::post("/api/v1/events", ensembles::events, "Return the events of an entity in one world")
            .asks(&named("EventsQuestion"))
            .answers(&[JSON], &named("Events"), "The events, one row each")
            .refuses(&[404]),
        Route::post("/api/v1/summary", ensembles::summary, "Return the model's own tables about one world")
            .asks(&object(&["ensemble", "world"], &json!({"ensemble": text(), "entity": text(), "world": integer()})))
            .answers(&[JSON], &named("Summary"), "The tables, and every outcome of the entity")
            .refuses(&[404]),
        Route::post("/api/v1/worlds", worlds::worlds, "Return the values of outcomes in each world")
            .takes(
                In::Query,
                "format",
                json!({"type": "string", "enum": ["arrow", "csv", "parquet"], "default": "arrow"}),
                "Format of the answer. Default: the header `accept`",
            )
            .asks(&named("WorldsQuestion"))
            .answers(
                &[ARROW, CSV, PARQUET],
                &json!({}),
                "The column `world`, and one for each outcome: booleans, 32-bit integers or 64-bit real numbers. The \
                 metadata has the ensemble's `version`",
            )
            .refuses(&[404]),
        Route::post("/api/v1/correlate", ensembles::correlate, "Correlate outcomes of an ensemble")
            .asks(&object(&["ensemble"], &json!({"ensemble": text(), "entity": text(), "outcomes": list(&text())})))
            .answers(&[JSON], &named("Correlations"), "The matrix of correlations")
            .refuses(&[404]),
        Route::post("/api/v1/compare", ensembles::compare, "Compare outcomes of two ensembles")
            .asks(&object(
                &["first", "second", "outcomes"],
                &json!({"first": text(), "second": text(), "outcomes": list(&text())}),
            ))
            .answers(&[JSON], &list(&named("Comparison")), "The differences")
            .refuses(&[404]),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("Ensemble", ensemble()),
        ("Description", description()),
        ("PriceQuestion", price_question()),
        ("Price", price()),
        ("Verification", verification()),
        ("OutcomeQuestion", outcome_question()),
        ("Outcome", outcome()),
        ("WorldsQuestion", worlds_question()),
        ("LeverageQuestion", leverage_question()),
        ("Leverage", leverage()),
        ("EventsQuestion", events_question()),
        ("Events", events()),
        ("Summary", summary()),
        ("Correlations", correlations()),
        ("Comparison", comparison()),
    ]
}

/// A number, or a text for what JSON has no number.
fn real() -> Value {
    json!({"anyOf": [{"type": "number"}, word(&["NaN", "Infinity", "-Infinity"])]})
}

fn interval(of: &Value) -> Value {
    let ends = json!({"type": "array", "items": of, "minItems": 2, "maxItems": 2});
    let mut interval = nullable(&ends);
    interval["description"] = json!("The 95% confidence interval: both ends");
    interval
}

fn ensemble() -> Value {
    object(
        &["ensemble", "state"],
        &json!({
            "ensemble": text(), "state": word(&["complete", "enough", "incomplete", "unreadable"]),
            "parameters": map(&json!({})), "definition": nullable(&record(&json!({"hash": text()}))),
            "enough": nullable(&text()), "version": integer(), "model": text(), "worlds": integer(),
            "planned": integer(), "seed": integer(), "events": word(&["store", "compact", "replay"]),
            "outcome_bytes": integer(), "event_bytes": integer(), "created": text(),
            "error": {"type": "string", "description": "Why it cannot be read"},
        }),
    )
}

fn description() -> Value {
    let outcome = object(
        &["name", "unit", "kind", "scale"],
        &json!({
            "name": text(), "unit": text(), "kind": word(&["number", "flag", "code", "real"]), "scale": integer(),
            "labels": list(&text()),
        }),
    );
    let event = object(
        &["name", "doc", "kind", "nullable"],
        &json!({
            "name": text(), "doc": text(), "nullable": boolean(), "members": {"type": "object"},
            "kind": {"anyOf": [word(&["i8", "i16", "i32", "f64"]), record(&json!({"label": list(&text())}))]},
        }),
    );
    let entity = record(&json!({"name": text(), "kind": integer(), "title": text(), "members": list(&text())}));
    let catalogue = record(&json!({
        "kinds": list(&record(&json!({"name": text(), "outcomes": list(&outcome)}))),
        "entities": list(&entity), "events": list(&event),
    }));
    record(&json!({"ensemble": text(), "parameters": map(&json!({})), "catalogue": catalogue}))
}

fn price_question() -> Value {
    object(
        &["ensemble", "legs"],
        &json!({
            "ensemble": text(), "entity": text(), "legs": list(&text()), "given": list(&text()),
            "min_worlds": {"type": "integer", "default": 100},
        }),
    )
}

fn price() -> Value {
    record(&json!({
        "probability": number(), "ci": interval(&number()), "standard_error": number(), "worlds": integer(),
        "hits": integer(), "fair_odds": nullable(&number()), "independent": number(),
        "legs": list(&record(&json!({"leg": text(), "probability": number()}))),
    }))
}

fn verification() -> Value {
    let check = record(&json!({"name": text(), "ok": nullable(&boolean()), "detail": text()}));
    record(&json!({
        "ok": boolean(), "hash": text(), "event_hash": nullable(&text()), "checks": list(&check),
    }))
}

fn outcome_question() -> Value {
    object(
        &["ensemble", "outcomes"],
        &json!({
            "ensemble": text(), "entities": list(&text()), "cdf": boolean(),
            "bins": {"type": "integer", "default": 20, "minimum": 1, "maximum": 1_000},
            "quantiles": {
                "type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "maxItems": 1_000,
                "default": [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99],
            },
            "outcomes": {
                "type": "array", "items": text(),
                "description": "Names of outcomes, or expressions such as `wins - losses`",
            },
        }),
    )
}

fn outcome() -> Value {
    let bin = record(&json!({"from": real(), "to": real(), "worlds": integer()}));
    let label = record(&json!({"label": text(), "code": number(), "worlds": integer(), "share": number()}));
    object(
        &[
            "entity",
            "outcome",
            "unit",
            "worlds",
            "mean",
            "ci",
            "standard_deviation",
            "min",
            "max",
            "quantiles",
            "histogram",
        ],
        &json!({
            "entity": nullable(&text()), "outcome": text(), "unit": text(), "worlds": integer(), "mean": real(),
            "ci": interval(&real()), "standard_deviation": real(), "min": real(), "max": real(),
            "quantiles": map(&real()), "histogram": list(&bin), "labels": list(&label),
            "cdf": list(&record(&json!({"value": real(), "probability": number()}))),
        }),
    )
}

fn leverage_question() -> Value {
    let outcomes = "Names of outcomes, and expressions; none for all flags and labelled codes, and for as many numbers as \
                    the ensemble's size allows";
    let mut body = object(
        &["ensemble", "condition"],
        &json!({
            "ensemble": text(), "condition": text(), "entity": text(), "given": list(&text()),
            "entities": {"type": "array", "items": text(), "description": "None for all"},
            "outcomes": {"type": "array", "items": text(), "description": outcomes},
            "limit": {"type": "integer", "default": 50, "maximum": 10_000},
            "min_worlds": {"type": "integer", "default": 100},
        }),
    );
    body["additionalProperties"] = false.into();
    body
}

fn leverage() -> Value {
    let about = |schema: Value, about: &str| {
        let mut schema = schema;
        schema["description"] = about.into();
        schema
    };
    let event = record(&json!({
        "entity": nullable(&text()), "title": text(),
        "event": about(text(), "A condition about the entity, such as `wins > 9`"),
        "leg": about(nullable(&text()), "The same with the entity"),
        "worlds": about(integer(), "Worlds with the event"),
        "with": about(number(), "The probability in worlds with the event"),
        "without": about(number(), "The probability in the other worlds"),
        "swing": about(number(), "`with` minus `without`"),
        "movement": about(number(), "2 p (1 - p) |swing|, where p is the share of worlds with the event"),
    }));
    record(&json!({
        "worlds": integer(), "probability": number(), "compared": about(integer(), "Events compared"),
        "left_out": about(integer(), "Numbers not examined, because the ensemble has too many"),
        "chance": about(number(), "Movement that chance alone exceeds in no event, with 95% confidence"),
        "events": list(&event),
    }))
}

fn events_question() -> Value {
    let conditions = json!({
        "anyOf": [text(), list(&text())], "description": "Conditions over the columns; all must hold",
    });
    let mut body = object(
        &["ensemble", "entity", "world"],
        &json!({
            "ensemble": text(), "entity": text(), "world": integer(), "where": conditions,
            "limit": {"type": "integer", "default": 1_000, "maximum": 100_000},
            "offset": {"type": "integer", "default": 0},
        }),
    );
    body["additionalProperties"] = false.into();
    body
}

/// A cell of a table: a number, a text, or nothing.
fn cell() -> Value {
    json!({"type": ["number", "string", "null"]})
}

fn events() -> Value {
    record(&json!({"columns": list(&text()), "rows": list(&list(&cell())), "total": integer()}))
}

fn summary() -> Value {
    let table = record(&json!({"name": text(), "columns": list(&text()), "rows": list(&list(&cell()))}));
    object(
        &["entity", "title", "outcomes", "tables"],
        &json!({
            "entity": text(), "title": text(), "outcomes": map(&real()), "tables": list(&table),
            "note": {"type": "string", "description": "Why the tables are not the model's"},
        }),
    )
}

fn correlations() -> Value {
    record(&json!({
        "entity": nullable(&text()), "worlds": integer(), "outcomes": list(&text()),
        "matrix": list(&list(&nullable(&number()))),
    }))
}

fn comparison() -> Value {
    record(&json!({
        "outcome": text(), "worlds": integer(), "is_paired": boolean(), "means": list(&real()),
        "difference": real(), "ci": interval(&number()), "ci_half_width": nullable(&number()),
        "unpaired_half_width": nullable(&number()), "correlation": nullable(&number()),
        "shares": nullable(&list(&number())),
    }))
}

/// The schema of a query for values in each world.
fn worlds_question() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let entities = "Without entities, each outcome names its own, as in `team-03:wins`";
    let outcomes =
        "Names of outcomes, or expressions such as `wins - losses`; none for the numbers of the worlds alone";
    let mut body = object(
        &["ensemble"],
        &json!({
            "ensemble": text(), "version": count("Refuse any other version"),
            "entities": {"type": "array", "items": text(), "description": entities},
            "outcomes": {"type": "array", "items": text(), "description": outcomes},
            "first": count("Place of the first world among the stored ones"),
            "worlds": count("Worlds to return. An answer has at most 4,194,304 values, with the numbers of the worlds"),
        }),
    );
    body["additionalProperties"] = false.into();
    body
}

/// The schema of a query about a book of bets.
fn book() -> Value {
    let decimal = |about: &str| json!({"type": ["number", "string"], "description": about});
    let side = json!({"type": "string", "enum": ["back", "lay"], "default": "back"});
    let bet = object(
        &["legs", "stake", "odds"],
        &json!({
            "id": text(), "entity": text(), "legs": list(&text()), "stake": decimal("0 or more"),
            "odds": decimal("Decimal odds, above 1"), "side": side,
        }),
    );
    object(
        &["ensemble", "bets"],
        &json!({
            "ensemble": text(), "entity": text(), "bets": list(&bet), "given": list(&text()),
            "min_worlds": {"type": "integer", "default": 100},
            "levels": {"type": "array", "items": decimal("Between 0 and 1"), "default": [0.95, 0.99]},
            "worst": {"type": "integer", "default": 10, "maximum": 1000},
        }),
    )
}
