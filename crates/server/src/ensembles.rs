//! Queries about ensembles.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use ensemble::{
    BookAnswer, BookQuestion, Columns, CompareQuestion, Comparison, CorrelationQuestion, EventsAnswer, EventsQuestion,
    LeverageAnswer, LeverageQuestion, OutcomeQuestion, Price, PriceQuestion, Progress, QuestionError, SummaryAnswer,
    SummaryQuestion, Verification, verify_with,
};
use serde::Deserialize;
use serde_json::{Value, json};
use table::SIM;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::query::Parameters;
use crate::questions::{Place, broken};

/// Returns the output of `manyworlds ensembles --format json`.
pub(crate) async fn ensembles(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let ensembles = app.warm.ensembles(&app.settings.data).await?;
    let found = ensembles.iter().map(|(name, found)| match found {
        Ok(ensemble) => ensemble.to_json(),
        Err(error) => json!({"ensemble": name, "state": "unreadable", "error": error.to_string()}),
    });
    Ok(Json(found.collect()))
}

#[derive(Deserialize)]
pub(crate) struct CatalogueQuery {
    ensemble: String,
}

/// Returns an ensemble's parameters and catalogue.
pub(crate) async fn catalogue(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(query): Parameters<CatalogueQuery>,
) -> Result<Json<Value>, Refusal> {
    access.may_read_of(SIM)?;
    Ok(Json(app.warm.ensemble(&app.settings.data, &query.ensemble).await?.description()))
}

/// Returns the output of `manyworlds price --format json`.
pub(crate) async fn price(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Price>, Refusal> {
    access.may_read_of(SIM)?;
    let question: PriceQuestion = app.question(body).await?;
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, place| question.answer(columns, &make_model, &|| !place.is_given_up()))
        .await
}

/// Returns the output of `manyworlds book --format json`.
pub(crate) async fn book(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<BookAnswer>, Refusal> {
    access.may_read_of(SIM)?;
    let question: BookQuestion = app.question(body).await?;
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, place| question.answer(columns, &make_model, &|| !place.is_given_up()))
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyQuestion {
    ensemble: String,
}

/// Returns the output of `manyworlds verify --format json`.
pub(crate) async fn verify(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Verification>, Refusal> {
    access.may_read_of(SIM)?;
    let VerifyQuestion { ensemble: name } = app.question(body).await?;
    let make_model = app.make_model.clone();
    app.ask_of(&access, name, move |columns, _| Ok(verify_with(columns.ensemble(), &make_model, &Progress::default())?))
        .await
}

/// Returns the output of `manyworlds outcome --format json`.
pub(crate) async fn outcome(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let question: OutcomeQuestion = app.question(body).await?;
    let name = question.ensemble.clone();
    app.ask_of(&access, name, move |columns, place| {
        let answers = question.answer(columns, &|| !place.is_given_up())?;
        Ok(answers.iter().map(|a| a.to_json(&question)).collect())
    })
    .await
}

/// Returns the output of `manyworlds correlate --format json`.
pub(crate) async fn correlate(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    access.may_read_of(SIM)?;
    let question: CorrelationQuestion = app.question(body).await?;
    let name = question.ensemble.clone();
    app.ask_of(&access, name, move |columns, place| Ok(question.answer(columns, &|| !place.is_given_up())?.to_json()))
        .await
}

/// Returns the output of `manyworlds compare --format json`.
pub(crate) async fn compare(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Vec<Comparison>>, Refusal> {
    access.may_read_of(SIM)?;
    let question: CompareQuestion = app.question(body).await?;
    let names = vec![question.first.clone(), question.second.clone()];
    app.ask_of_each(&access, names, move |columns, place| {
        question.answer(&columns[0], &columns[1], &|| !place.is_given_up())
    })
    .await
}

/// Returns the events that move the probability of a condition most.
pub(crate) async fn leverage(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<LeverageAnswer>, Refusal> {
    access.may_read_of(SIM)?;
    let question: LeverageQuestion = app.question(body).await?;
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, place| question.answer(columns, &make_model, &|| !place.is_given_up()))
        .await
}

/// Events in one answer, by default and at most.
const EVENTS: usize = 1_000;
const EVENTS_MAX: usize = 100_000;

/// Returns the events of an entity in one world.
pub(crate) async fn events(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<EventsAnswer>, Refusal> {
    access.may_read_of(SIM)?;
    let mut question: EventsQuestion = app.question(body).await?;
    if *question.limit.get_or_insert(EVENTS) > EVENTS_MAX {
        return Err(Refusal::bad(format!("an answer has at most {EVENTS_MAX} events: ask with an offset")));
    }
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, _| question.answer(columns, &make_model)).await
}

/// Returns the model's tables about an entity in one world.
pub(crate) async fn summary(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<SummaryAnswer>, Refusal> {
    access.may_read_of(SIM)?;
    let question: SummaryQuestion = app.question(body).await?;
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, _| question.answer(columns, &make_model)).await
}

impl App {
    /// Answers a query about an ensemble.
    pub(crate) async fn ask_of<T: Send + 'static>(
        &self,
        access: &Access,
        name: String,
        answer: impl FnOnce(&Columns, &Place) -> Result<T, QuestionError> + Send + 'static,
    ) -> Result<Json<T>, Refusal> {
        self.ask_of_each(access, vec![name], move |columns, place| answer(&columns[0], place)).await
    }

    /// Answers a query about several ensembles. Their columns have the order of their names.
    async fn ask_of_each<T: Send + 'static>(
        &self,
        access: &Access,
        names: Vec<String>,
        answer: impl FnOnce(&[Arc<Columns>], &Place) -> Result<T, QuestionError> + Send + 'static,
    ) -> Result<Json<T>, Refusal> {
        self.counters.asked();
        let app = self.clone();
        let answered = self.questions.ask(access, |place| async move {
            let data = &app.settings.data;
            let answered = async {
                let mut columns = Vec::with_capacity(names.len());
                for name in &names {
                    columns.push(app.warm.columns(data, name).await?);
                }
                let answered = tokio::task::spawn_blocking(move || answer(&columns, &place));
                Ok(answered.await.map_err(|e| broken(&e))??)
            };
            match answered.await {
                Ok(answer) => Ok(answer),
                Err(failed) => Err(app.warm.reason(data, &names, failed).await),
            }
        });
        Ok(Json(answered.await?))
    }
}
