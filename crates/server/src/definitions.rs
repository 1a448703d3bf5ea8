//! Kept definitions.

use ::definitions::{Checked, Kept, Listed, check as check_text};
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use serde::Deserialize;
use serde_json::{Value, json};
use table::SIM;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::query::Parameters;
use crate::questions::broken;
use crate::runs::refuse::of_definitions;

/// Lists the definitions.
pub(crate) async fn definitions(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Listed>>, Refusal> {
    access.may_read_of(SIM)?;
    let library = app.library.clone();
    let listed = tokio::task::spawn_blocking(move || library.list()).await.map_err(|e| broken(&e))?;
    Ok(Json(listed.map_err(|e| of_definitions(&e))?))
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    name: String,
    version: Option<u32>,
}

/// Returns a version of a definition.
pub(crate) async fn definition(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Kept>, Refusal> {
    access.may_read_of(SIM)?;
    let library = app.library.clone();
    let got = tokio::task::spawn_blocking(move || library.get(&wanted.name, wanted.version)).await;
    Ok(Json(got.map_err(|e| broken(&e))?.map_err(|e| of_definitions(&e))?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    name: String,
    model: String,
    text: String,
}

/// Saves a version of a definition, also one with faults: a draft.
pub(crate) async fn save(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    access.may_write(SIM)?;
    let Saved { name, model, text } = app.question(body).await?;
    if app.models.find(&model)?.definition.is_none() {
        return Err(Refusal::bad(format!("{model} takes no definition")).with("field", json!("model")));
    }
    let library = app.library.clone();
    let saved = tokio::task::spawn_blocking(move || library.save(&name, &model, &text)).await;
    Ok(Json(json!({"version": saved.map_err(|e| broken(&e))?.map_err(|e| of_definitions(&e))?})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckQuestion {
    model: String,
    definition: String,
}

/// Finds the faults of a definition, and what is questionable in it.
pub(crate) async fn check(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Checked>, Refusal> {
    access.may_read_of(SIM)?;
    let CheckQuestion { model, definition } = app.question(body).await?;
    let plugin = app.models.find(&model)?.clone();
    if plugin.definition.is_none() {
        return Err(Refusal::bad(format!("{model} takes no definition")).with("field", json!("model")));
    }
    let library = app.library.clone();
    let checked = tokio::task::spawn_blocking(move || {
        plugin.definition.as_ref().map(|spec| check_text(spec, &plugin.name, &definition, &library))
    });
    let checked = checked.await.map_err(|e| broken(&e))?;
    checked.map(Json).ok_or_else(|| Refusal::internal("the model has no definition"))
}
