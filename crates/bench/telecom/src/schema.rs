//! The columns of a call record.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

pub const COLUMNS: usize = 18;

pub(crate) const BILLING: (u8, i8) = (10, 4);
pub(crate) const QUALITY: (u8, i8) = (3, 2);
pub(crate) const LOSS: (u8, i8) = (5, 2);

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let required = |name: &str, kind: DataType| Field::new(name, kind, false);
    let optional = |name: &str, kind: DataType| Field::new(name, kind, true);
    let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        required("call_id", DataType::Utf8),
        required("call_timestamp", instant),
        required("call_date", DataType::Date32),
        required("call_hour", DataType::Int32),
        required("caller_number", DataType::Utf8),
        required("callee_number", DataType::Utf8),
        required("duration_seconds", DataType::Int32),
        required("cell_tower_id", DataType::Int32),
        required("call_type", DataType::Utf8),
        required("network_type", DataType::Utf8),
        optional("bytes_transferred", DataType::Int64),
        required("termination_code", DataType::Int32),
        required("billing_amount", decimal(BILLING)),
        optional("rate_plan_id", DataType::Int32),
        optional("is_roaming", DataType::Boolean),
        optional("call_quality_mos", decimal(QUALITY)),
        optional("packet_loss_percent", decimal(LOSS)),
        optional("sequence_number", DataType::Int64),
    ]))
});

/// The columns of a call record, in order, with the types and nullability of the public call-record benchmark. Only
/// `bytes_transferred` may be NULL. `call_timestamp` is UTC in microseconds; money and quality are decimals.
pub fn schema() -> SchemaRef {
    SCHEMA.clone()
}

pub(crate) fn decimal((precision, scale): (u8, i8)) -> DataType {
    DataType::Decimal128(precision, scale)
}
