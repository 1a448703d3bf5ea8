//! Values of parameters, from a batch with one row.

use arrow::array::{Array, AsArray as _, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Schema};
use arrow::error::ArrowError;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::{FlightData, error::FlightError};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use sql::Literal;
use sql::postgres::type_of;
use tonic::Status;

use super::status::{invalid, unsupported};

/// Maximum nesting of lists.
const DEPTH_MAX: usize = 6;

/// Reads the values of one run of a statement.
pub(super) async fn read(
    data: impl Stream<Item = Result<FlightData, Status>> + Send + 'static,
) -> Result<Vec<Literal>, Status> {
    let data = data.map(|sent| sent.and_then(plain).map_err(|status| FlightError::Tonic(Box::new(status))));
    let batches: Vec<RecordBatch> = FlightRecordBatchStream::new_from_flight_data(data)
        .try_collect()
        .await
        .map_err(|error| invalid(format!("cannot read the parameters: {error}")))?;
    let mut rows = batches.iter().filter(|batch| batch.num_rows() > 0);
    match (rows.next(), rows.next()) {
        (Some(batch), None) if batch.num_rows() == 1 => {
            batch.columns().iter().map(|column| value(column, 0, 0)).collect()
        }
        (None, _) => Ok(Vec::new()),
        _ => Err(unsupported("cannot run a query for several rows of parameters: send one row")),
    }
}

/// Refuses batches that take Arrow's reader more memory or time than they have bytes.
fn plain(data: FlightData) -> Result<FlightData, Status> {
    match decode::fault_of_message(&data.data_header, &data.data_body) {
        Some(fault) => Err(unsupported(format!("cannot read the parameters: {fault}"))),
        None => Ok(data),
    }
}

/// The columns of the parameters of a statement, named `$1`, `$2`.
pub(super) fn schema(types: &[u32]) -> Schema {
    let field =
        |(number, oid): (usize, &u32)| Field::new(format!("${number}"), type_of(*oid).unwrap_or(DataType::Utf8), true);
    Schema::new((1..).zip(types).map(field).collect::<Vec<_>>())
}

fn value(column: &dyn Array, row: usize, depth: usize) -> Result<Literal, Status> {
    let of = column.data_type();
    if let DataType::Dictionary(_, values) = of {
        return value(&converted(&column.slice(row, 1), values)?, 0, depth);
    }
    if of.is_null() {
        return Ok(Literal::Null);
    }
    if column.is_null(row) {
        return Ok(Literal::NullOf(of.to_string()));
    }
    let text = || -> Result<String, Status> {
        Ok(converted(&column.slice(row, 1), &DataType::Utf8)?.as_string::<i32>().value(0).to_owned())
    };
    Ok(match of {
        DataType::Boolean => Literal::Bool(column.as_boolean().value(row)),
        of if of.is_integer() => Literal::Number(text()?),
        of if of.is_floating() => {
            let number = converted(&column.slice(row, 1), &DataType::Float64)?.as_primitive::<Float64Type>().value(0);
            Literal::real(number)
        }
        of if of.is_string() => Literal::Text(text()?),
        of if of.is_binary() => {
            let bytes = converted(&column.slice(row, 1), &DataType::Binary)?;
            Literal::Bytes(bytes.as_binary::<i32>().value(0).to_vec())
        }
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) if depth < DEPTH_MAX => {
            let item = Field::new_list_field(item_of(of), true);
            let list = converted(&column.slice(row, 1), &DataType::List(item.into()))?;
            let items = list.as_list::<i32>().value(0);
            let items = (0..items.len()).map(|place| value(&items, place, depth + 1));
            Literal::List(items.collect::<Result<_, _>>()?)
        }
        of if of.is_temporal() || of.is_decimal() => Literal::Typed(text()?, of.to_string()),
        other => return Err(unsupported(format!("parameters of type {other} are not supported"))),
    })
}

fn item_of(list: &DataType) -> DataType {
    match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type().clone(),
        other => other.clone(),
    }
}

fn converted(column: &dyn Array, to: &DataType) -> Result<arrow::array::ArrayRef, Status> {
    cast(column, to).map_err(|error: ArrowError| invalid(format!("cannot read a parameter: {error}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringViewArray};
    use arrow::ipc::CompressionType;
    use arrow::ipc::writer::IpcWriteOptions;
    use arrow_flight::encode::FlightDataEncoderBuilder;
    use futures::stream;

    use super::*;

    async fn sent(column: ArrayRef, compression: Option<CompressionType>) -> Result<Vec<Literal>, Status> {
        let batch = RecordBatch::try_from_iter([("$1", column)]).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let data = FlightDataEncoderBuilder::new().with_options(options).build(stream::iter([Ok(batch)]));
        read(data.map_err(|error| Status::internal(error.to_string()))).await
    }

    #[tokio::test]
    async fn compressed_parameters_are_refused_before_they_are_expanded() {
        let seven: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        assert!(matches!(&sent(seven.clone(), None).await.unwrap()[..], [Literal::Number(seven)] if seven == "7"));
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let status = sent(seven.clone(), Some(compression)).await.unwrap_err();
            assert!(status.message().contains("compressed batches are not supported"), "{status}");
        }
    }

    #[tokio::test]
    async fn parameters_of_many_views_are_refused_before_they_are_checked() {
        let text = "a text that is longer than its view";
        let views = |rows: usize| -> ArrayRef { Arc::new(StringViewArray::from(vec![text; rows])) };
        assert!(matches!(&sent(views(1), None).await.unwrap()[..], [Literal::Text(sent)] if sent == text));
        let status = sent(views(60_000), None).await.unwrap_err();
        assert!(status.message().contains("its views are too many"), "{status}");
    }
}
