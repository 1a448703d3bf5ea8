//! Rows that depend on no data: the catalogue, the types of tables, and keys.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::sql::Command;
use arrow_flight::sql::metadata::{GetCatalogsBuilder, XdbcTypeInfoDataBuilder};
use sql::CATALOG;
use tonic::Status;

use super::abilities;
use super::status::unsupported;
use crate::processes::TABLE;

/// The rows of a command.
pub(super) fn rows(command: Command) -> Result<RecordBatch, Status> {
    let keys = |columns: &[(&str, DataType, bool)]| {
        let field = |(name, of, nullable): &(&str, DataType, bool)| Field::new(*name, of.clone(), *nullable);
        RecordBatch::new_empty(Schema::new(columns.iter().map(field).collect::<Vec<_>>()).into())
    };
    let rows = match command {
        Command::CommandGetCatalogs(_) => {
            let mut catalogs = GetCatalogsBuilder::new();
            catalogs.append(CATALOG);
            catalogs.build()
        }
        Command::CommandGetTableTypes(command) => {
            let mut types = command.into_builder();
            types.append(TABLE);
            types.build()
        }
        Command::CommandGetSqlInfo(command) => abilities::rows(command.info),
        Command::CommandGetXdbcTypeInfo(command) => {
            XdbcTypeInfoDataBuilder::new().build().and_then(|types| types.record_batch(command.data_type))
        }
        Command::CommandGetPrimaryKeys(_) => Ok(keys(&[
            ("catalog_name", DataType::Utf8, true),
            ("db_schema_name", DataType::Utf8, true),
            ("table_name", DataType::Utf8, false),
            ("column_name", DataType::Utf8, false),
            ("key_name", DataType::Utf8, true),
            ("key_sequence", DataType::Int32, false),
        ])),
        Command::CommandGetExportedKeys(_)
        | Command::CommandGetImportedKeys(_)
        | Command::CommandGetCrossReference(_) => Ok(keys(&[
            ("pk_catalog_name", DataType::Utf8, true),
            ("pk_db_schema_name", DataType::Utf8, true),
            ("pk_table_name", DataType::Utf8, false),
            ("pk_column_name", DataType::Utf8, false),
            ("fk_catalog_name", DataType::Utf8, true),
            ("fk_db_schema_name", DataType::Utf8, true),
            ("fk_table_name", DataType::Utf8, false),
            ("fk_column_name", DataType::Utf8, false),
            ("key_sequence", DataType::Int32, false),
            ("fk_key_name", DataType::Utf8, true),
            ("pk_key_name", DataType::Utf8, true),
            ("update_rule", DataType::UInt8, false),
            ("delete_rule", DataType::UInt8, false),
        ])),
        other => return Err(unsupported(format!("{} is not supported", name(&other)))),
    };
    rows.map_err(|error| Status::internal(error.to_string()))
}

/// The name of a command.
pub(super) fn name(command: &Command) -> &str {
    command.type_url().rsplit(['.', '/']).next().unwrap_or_default()
}
