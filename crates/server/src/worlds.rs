//! Values of single worlds, as columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, UInt32Array};
use arrow::csv;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ensemble::{Column, Narrow, WorldsAnswer, WorldsColumn, WorldsQuestion};
use table::SIM;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::parquet;
use crate::processes::Format;
use crate::query::Parameters;
use crate::sql::{FormatQuery, content_type};

/// Replies with the column `world`, and a column for each outcome: in the requested format, or in one that the client
/// accepts.
pub(crate) async fn worlds(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(format): Parameters<FormatQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    access.may_read_of(SIM)?;
    let format = format.of_columns(&headers)?;
    let content = content_type(&format);
    let question: WorldsQuestion = app.question(body).await?;
    let name = question.ensemble.clone();
    let answered = app.ask_of(&access, name, move |columns, place| {
        let answer = question.answer(columns, &|| !place.is_given_up())?;
        Ok(encoded(&question.ensemble, answer, &format))
    });
    let Json(encoded) = answered.await?;
    let broken = |error: ArrowError| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    Ok(([(header::CONTENT_TYPE, content)], encoded.map_err(broken)?).into_response())
}

fn encoded(ensemble: &str, answer: WorldsAnswer, format: &Format) -> Result<Vec<u8>, ArrowError> {
    let batch = batch_of(ensemble, answer)?;
    match format {
        Format::Csv => {
            let mut writer = csv::WriterBuilder::new().with_header(true).build(Vec::new());
            writer.write(&batch)?;
            Ok(writer.into_inner())
        }
        Format::Parquet => {
            let mut writer = parquet::writer(Vec::new(), &batch.schema())?;
            parquet::write(&mut writer, &batch)?;
            Ok(writer.into_inner()?)
        }
        _ => {
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
            writer.write(&batch)?;
            writer.into_inner()
        }
    }
}

fn batch_of(ensemble: &str, answer: WorldsAnswer) -> Result<RecordBatch, ArrowError> {
    let WorldsAnswer { version, worlds, columns } = answer;
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(worlds))];
    let mut names = vec!["world".to_owned()];
    for WorldsColumn { name, is_flag, values } in columns {
        arrays.push(array(is_flag, &values));
        names.push(name);
    }
    let fields = names.into_iter().zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), false));
    let about = [("ensemble".to_owned(), ensemble.to_owned()), ("version".to_owned(), version.to_string())];
    let schema = Schema::new(fields.collect::<Vec<_>>()).with_metadata(about.into());
    RecordBatch::try_new(Arc::new(schema), arrays)
}

/// Booleans for flags, 32-bit integers for whole numbers and codes, real numbers otherwise: one type for all parts of an
/// outcome.
fn array(is_flag: bool, column: &Column) -> ArrayRef {
    let integers =
        |column: &Column| Int32Array::from_iter_values((0..column.len()).map(|place| column.value(place) as i32));
    match &column.values {
        Narrow::U8(values) if is_flag && values.iter().all(|value| *value < 2) => {
            Arc::new(values.iter().map(|value| Some(*value == 1)).collect::<BooleanArray>())
        }
        Narrow::F64(values) => Arc::new(Float64Array::from(values.clone())),
        _ if column.scale == 1 => Arc::new(integers(column)),
        _ => Arc::new(Float64Array::from_iter_values((0..column.len()).map(|place| column.value(place)))),
    }
}
