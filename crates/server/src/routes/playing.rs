//! Routes for playing ensembles, and for the definitions that they play.

use serde_json::{Value, json};

use super::schema::{JSON, boolean, integer, list, map, named, nullable, number, object, record, text, word};
use crate::api::{In, Route};
use crate::{definitions, playing};

const STATES: [&str; 9] =
    ["starting", "queued", "running", "pausing", "paused", "failed", "cancelled", "complete", "enough"];

pub(super) fn routes() -> Vec<Route> {
    let wish = || named("Wish");
    let of_run = |route: Route| {
        route
            .asks(&record(&json!({"ensemble": text()})))
            .answers(&[JSON], &named("Run"), "The run")
            .refuses(&[404, 409])
    };
    let events = "Server-sent events: `status` with the answer of `/api/v1/status`, at once and whenever it changes; \
                  `ensembles` when the list of ensembles has changed";
    let saved = object(&["name", "model", "text"], &json!({"name": text(), "model": text(), "text": text()}));
    let checked = object(&["model", "definition"], &json!({"model": text(), "definition": text()}));
    vec![
        Route::get("/api/v1/models", playing::models, "Describe the models").guarded().answers(
            &[JSON],
            &list(&named("Model")),
            "The models that can be played",
        ),
        Route::post("/api/v1/run", playing::run, "Play an ensemble in a process of this server")
            .asks(&wish())
            .accepts(&named("Run"), "It is registered, and plays or waits")
            .refuses(&[404, 409, 429]),
        Route::post("/api/v1/submit", playing::submit, "Submit an ensemble to the fleet")
            .asks(&wish())
            .accepts(&named("Run"), "It is submitted")
            .refuses(&[404, 409]),
        Route::get("/api/v1/status", playing::status, "Report what runs, and what can be done with it")
            .guarded()
            .answers(&[JSON], &named("Status"), "The runs and the workers of the fleet")
            .refuses(&[500]),
        Route::get("/api/v1/status/stream", playing::stream, "Watch what runs")
            .guarded()
            .answers(&["text/event-stream"], &text(), events)
            .refuses(&[500]),
        of_run(Route::post("/api/v1/pause", playing::pause, "Stop a run at the end of the ranges in progress")),
        of_run(Route::post("/api/v1/resume", playing::resume, "Continue a paused run with its stored plan")),
        of_run(Route::post("/api/v1/cancel", playing::cancel, "Stop a run now; its stored worlds stay readable")),
        of_run(Route::post("/api/v1/retry", playing::retry, "Continue a run that failed or was cancelled")),
        Route::post("/api/v1/check", definitions::check, "Find the faults of a definition").asks(&checked).answers(
            &[JSON],
            &named("Checked"),
            "The faults, with lines where the text allows it",
        ),
        Route::get("/api/v1/definitions", definitions::definitions, "List the kept definitions")
            .guarded()
            .answers(&[JSON], &list(&named("KeptDefinition")), "The definitions")
            .refuses(&[500]),
        Route::get("/api/v1/definition", definitions::definition, "Return a version of a definition")
            .needs(In::Query, "name", text(), "The definition")
            .takes(In::Query, "version", integer(), "The version. Default: the newest")
            .guarded()
            .answers(&[JSON], &named("Definition"), "The definition")
            .refuses(&[400, 404, 500]),
        Route::post("/api/v1/definition", definitions::save, "Save a version of a definition")
            .asks(&saved)
            .answers(
                &[JSON],
                &record(&json!({"version": integer()})),
                "The version; the newest if its text is the same",
            )
            .refuses(&[409]),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("Wish", wish()),
        ("Run", run()),
        ("Worker", worker()),
        (
            "Status",
            record(&json!({
                "runs": list(&named("Run")), "workers": list(&named("Worker")), "fleet_error": nullable(&text()),
            })),
        ),
        ("Model", model()),
        (
            "KeptDefinition",
            record(&json!({
                "name": text(), "model": text(), "versions": integer(), "latest": integer(), "changed": text(),
            })),
        ),
        (
            "Definition",
            record(&json!({"name": text(), "model": text(), "version": integer(), "text": text(), "created": text()})),
        ),
        ("DefinitionFault", fault()),
        (
            "Checked",
            record(&json!({
                "valid": boolean(), "faults": list(&named("DefinitionFault")), "advice": list(&named("DefinitionFault")),
                "canonical": nullable(&text()), "is_part": boolean(),
                "uses": list(&record(&json!({"name": text(), "version": integer()}))),
            })),
        ),
    ]
}

fn wish() -> Value {
    let about = |mut schema: Value, about: &str| {
        schema["description"] = about.into();
        schema
    };
    let kept = object(&["name"], &json!({"name": text(), "version": integer()}));
    let goal = json!({"anyOf": [text(), number()]});
    let mut wish = object(
        &["model", "worlds"],
        &json!({
            "model": text(),
            "name": about(text(), "The name of the ensemble. Default: that of the model"),
            "worlds": about(integer(), "Worlds to play; with `extend`, worlds after the extension"),
            "seed": {"anyOf": [integer(), text()], "default": 1},
            "parameters": about(map(&json!({})), "Values of parameters; others have their defaults"),
            "definition": about(json!({"anyOf": [text(), kept]}), "A text, or a kept definition"),
            "events": {"type": "string", "enum": ["store", "compact", "replay"], "default": "store"},
            "replace": about(boolean(), "Replace an ensemble of this name"),
            "extend": about(boolean(), "Add worlds to a complete ensemble of this name"),
            "until": about(
                record(&json!({"outcome": text(), "goal": goal})),
                "Stop once the mean of the outcome, as ENTITY:OUTCOME, is this precise: `0.5%`, or a number in its unit",
            ),
            "threads": about(integer(), "Threads. Default: one per processor"),
        }),
    );
    wish["additionalProperties"] = false.into();
    wish
}

fn run() -> Value {
    let properties = json!({
        "ensemble": text(), "version": nullable(&integer()), "by": word(&["process", "fleet", "elsewhere"]),
        "state": word(&STATES), "worlds": integer(), "worlds_done": integer(), "worlds_stored": integer(),
        "worlds_per_s": number(), "left_s": nullable(&number()), "started": text(), "model": text(),
        "error": nullable(&text()), "can": list(&word(&["pause", "resume", "cancel", "retry"])),
        "workers": list(&named("Worker")),
    });
    let mut run = record(&properties);
    if let Some(required) = run["required"].as_array_mut() {
        required.retain(|name| name != "workers");
    }
    run
}

fn worker() -> Value {
    record(&json!({
        "id": text(), "host": text(), "pid": integer(), "threads": integer(), "is_there": boolean(),
        "worlds_done": integer(), "worlds_per_s": number(), "trouble": nullable(&text()),
    }))
}

fn model() -> Value {
    let value = || json!({"anyOf": [text(), number(), list(&text()), list(&number())]});
    let parameter = object(
        &["name", "kind", "default", "doc"],
        &json!({
            "name": text(), "kind": word(&["number", "text", "numbers", "texts"]), "default": value(), "doc": text(),
            "min": nullable(&number()), "max": nullable(&number()), "words": list(&text()), "items_max": integer(),
        }),
    );
    let definition = record(&json!({"name": text(), "doc": text(), "required": boolean(), "parts": list(&text())}));
    record(&json!({
        "model": text(), "summary": text(), "parameters": list(&parameter), "definition": nullable(&definition),
    }))
}

fn fault() -> Value {
    object(
        &["place", "reason"],
        &json!({"place": text(), "reason": text(), "line": integer(), "column": integer(), "part": text()}),
    )
}
