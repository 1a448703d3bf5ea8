//! Rows that depend on no data: the catalogue, the types of tables, the abilities of this server, and keys.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{GetCatalogsBuilder, SqlInfoDataBuilder, XdbcTypeInfoDataBuilder};
use arrow_flight::sql::{
    Command, SqlInfo, SqlNullOrdering, SqlSupportedCaseSensitivity, SqlSupportedTransaction,
    SqlTransactionIsolationLevel,
};
use sql::CATALOG;
use tonic::Status;

use super::status::unsupported;
use crate::processes::TABLE;

/// The version of the format of batches.
const ARROW_FORMAT: &str = "1.5";

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
        Command::CommandGetSqlInfo(command) => abilities(command.info),
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

/// The requested abilities of this server; all if `wanted` is empty.
fn abilities(mut wanted: Vec<u32>) -> Result<RecordBatch, FlightError> {
    /// Maximum abilities to look for.
    const WANTED_MAX: usize = 1000;
    let mut infos = SqlInfoDataBuilder::new();
    infos.append(SqlInfo::FlightSqlServerName, "manyworlds");
    infos.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    infos.append(SqlInfo::FlightSqlServerArrowVersion, ARROW_FORMAT);
    infos.append(SqlInfo::FlightSqlServerReadOnly, true);
    infos.append(SqlInfo::FlightSqlServerSql, true);
    infos.append(SqlInfo::FlightSqlServerSubstrait, false);
    infos.append(SqlInfo::FlightSqlServerTransaction, SqlSupportedTransaction::None as i32);
    infos.append(SqlInfo::FlightSqlServerCancel, false);
    infos.append(SqlInfo::FlightSqlServerBulkIngestion, false);
    infos.append(SqlInfo::SqlDdlCatalog, false);
    infos.append(SqlInfo::SqlDdlSchema, false);
    infos.append(SqlInfo::SqlDdlTable, false);
    infos.append(SqlInfo::SqlIdentifierCase, SqlSupportedCaseSensitivity::SqlCaseSensitivityLowercase as i32);
    infos.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    infos.append(
        SqlInfo::SqlQuotedIdentifierCase,
        SqlSupportedCaseSensitivity::SqlCaseSensitivityCaseInsensitive as i32,
    );
    infos.append(SqlInfo::SqlAllTablesAreSelectable, true);
    infos.append(SqlInfo::SqlNullOrdering, SqlNullOrdering::SqlNullsSortedAtEnd as i32);
    infos.append(SqlInfo::SqlCatalogTerm, "catalog");
    infos.append(SqlInfo::SqlSchemaTerm, "database");
    infos.append(SqlInfo::SqlDefaultTransactionIsolation, SqlTransactionIsolationLevel::SqlTransactionNone as i32);
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(WANTED_MAX);
    infos.build()?.record_batch(wanted)
}
