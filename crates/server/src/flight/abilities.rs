//! What this server can do, as clients ask for it before they ask for rows. The JDBC driver fails on what is missing.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::SqlInfoDataBuilder;
use arrow_flight::sql::{
    SqlInfo, SqlNullOrdering, SqlSupportedCaseSensitivity, SqlSupportedTransaction, SqlTransactionIsolationLevel,
};

/// The version of the format of batches.
const ARROW_FORMAT: &str = "1.5";
/// Whether procedures can be called as functions, which `arrow-flight` has no name for.
const CALLS_FUNCTIONS: u32 = 576;
/// Maximum abilities to look for.
const WANTED_MAX: usize = 1000;

/// What SQL can do here, and is true or false.
const WORKS: [(SqlInfo, bool); 25] = [
    (SqlInfo::SqlDdlCatalog, false),
    (SqlInfo::SqlDdlSchema, false),
    (SqlInfo::SqlDdlTable, false),
    (SqlInfo::SqlAllTablesAreSelectable, true),
    (SqlInfo::SqlSupportsColumnAliasing, true),
    (SqlInfo::SqlNullPlusNullIsNull, true),
    (SqlInfo::SqlSupportsTableCorrelationNames, true),
    (SqlInfo::SqlSupportsDifferentTableCorrelationNames, false),
    (SqlInfo::SqlSupportsExpressionsInOrderBy, true),
    (SqlInfo::SqlSupportsOrderByUnrelated, true),
    (SqlInfo::SqlSupportsLikeEscapeClause, true),
    (SqlInfo::SqlSupportsNonNullableColumns, true),
    (SqlInfo::SqlSupportsIntegrityEnhancementFacility, false),
    (SqlInfo::SqlCatalogAtStart, true),
    (SqlInfo::SqlSelectForUpdateSupported, false),
    (SqlInfo::SqlStoredProceduresSupported, false),
    (SqlInfo::SqlCorrelatedSubqueriesSupported, true),
    (SqlInfo::SqlMaxRowSizeIncludesBlobs, true),
    (SqlInfo::SqlTransactionsSupported, false),
    (SqlInfo::SqlDataDefinitionCausesTransactionCommit, false),
    (SqlInfo::SqlDataDefinitionsInTransactionsIgnored, false),
    (SqlInfo::SqlBatchUpdatesSupported, false),
    (SqlInfo::SqlSavepointsSupported, false),
    (SqlInfo::SqlNamedParametersSupported, false),
    (SqlInfo::SqlLocatorsUpdateCopy, false),
];

/// What SQL can do here, as sets of bits.
const SETS: [(SqlInfo, i32); 10] = [
    // Columns beside those that are grouped by, and columns that are not selected.
    (SqlInfo::SqlSupportedGroupBy, 0b11),
    (SqlInfo::SqlSupportedGrammar, 0b1),
    (SqlInfo::SqlAnsi92SupportedLevel, 0b1),
    // Limited and full outer joins.
    (SqlInfo::SqlOuterJoinsSupportLevel, 0b110),
    // No procedures, definitions or privileges.
    (SqlInfo::SqlSchemasSupportedActions, 0),
    (SqlInfo::SqlCatalogsSupportedActions, 0),
    (SqlInfo::SqlSupportedPositionedCommands, 0),
    // In comparisons, EXISTS, IN, and with ANY and ALL.
    (SqlInfo::SqlSupportedSubqueries, 0b1111),
    // UNION and UNION ALL.
    (SqlInfo::SqlSupportedUnions, 0b11),
    (SqlInfo::SqlSupportedTransactionsIsolationLevels, 0b1),
];

/// Lengths and counts that have no limit of their own, or one that is not known: 0.
const UNLIMITED: [SqlInfo; 21] = [
    SqlInfo::SqlMaxBinaryLiteralLength,
    SqlInfo::SqlMaxCharLiteralLength,
    SqlInfo::SqlMaxColumnNameLength,
    SqlInfo::SqlMaxColumnsInGroupBy,
    SqlInfo::SqlMaxColumnsInIndex,
    SqlInfo::SqlMaxColumnsInOrderBy,
    SqlInfo::SqlMaxColumnsInSelect,
    SqlInfo::SqlMaxColumnsInTable,
    SqlInfo::SqlMaxConnections,
    SqlInfo::SqlMaxCursorNameLength,
    SqlInfo::SqlMaxIndexLength,
    SqlInfo::SqlDbSchemaNameLength,
    SqlInfo::SqlMaxProcedureNameLength,
    SqlInfo::SqlMaxCatalogNameLength,
    SqlInfo::SqlMaxRowSize,
    SqlInfo::SqlMaxStatementLength,
    SqlInfo::SqlMaxStatements,
    SqlInfo::SqlMaxTableNameLength,
    SqlInfo::SqlMaxTablesInSelect,
    SqlInfo::SqlMaxUsernameLength,
    SqlInfo::FlightSqlServerTransactionTimeout,
];

/// The requested abilities of this server; all if `wanted` is empty.
pub(super) fn rows(mut wanted: Vec<u32>) -> Result<RecordBatch, FlightError> {
    let mut infos = SqlInfoDataBuilder::new();
    of_server(&mut infos);
    of_names(&mut infos);
    for (info, works) in WORKS {
        infos.append(info, works);
    }
    for (info, set) in SETS {
        infos.append(info, set);
    }
    for info in UNLIMITED {
        infos.append(info, 0_i64);
    }
    infos.append(CALLS_FUNCTIONS, false);
    infos.append(SqlInfo::SqlSupportsConvert, BTreeMap::<i32, Vec<i32>>::new());
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(WANTED_MAX);
    infos.build()?.record_batch(wanted)
}

fn of_server(infos: &mut SqlInfoDataBuilder) {
    infos.append(SqlInfo::FlightSqlServerName, "manyworlds");
    infos.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    infos.append(SqlInfo::FlightSqlServerArrowVersion, ARROW_FORMAT);
    infos.append(SqlInfo::FlightSqlServerReadOnly, true);
    infos.append(SqlInfo::FlightSqlServerSql, true);
    infos.append(SqlInfo::FlightSqlServerSubstrait, false);
    infos.append(SqlInfo::FlightSqlServerTransaction, SqlSupportedTransaction::None as i32);
    infos.append(SqlInfo::FlightSqlServerCancel, true);
    infos.append(SqlInfo::FlightSqlServerBulkIngestion, false);
    let isolation = i64::from(SqlTransactionIsolationLevel::SqlTransactionNone as i32);
    infos.append(SqlInfo::SqlDefaultTransactionIsolation, isolation);
}

fn of_names(infos: &mut SqlInfoDataBuilder) {
    let quoted = SqlSupportedCaseSensitivity::SqlCaseSensitivityCaseInsensitive as i32;
    infos.append(SqlInfo::SqlIdentifierCase, SqlSupportedCaseSensitivity::SqlCaseSensitivityLowercase as i32);
    infos.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    infos.append(SqlInfo::SqlQuotedIdentifierCase, quoted);
    infos.append(SqlInfo::SqlNullOrdering, SqlNullOrdering::SqlNullsSortedAtEnd as i32);
    infos.append(SqlInfo::SqlSearchStringEscape, "\\");
    infos.append(SqlInfo::SqlExtraNameCharacters, "");
    infos.append(SqlInfo::SqlCatalogTerm, "catalog");
    infos.append(SqlInfo::SqlSchemaTerm, "database");
    infos.append(SqlInfo::SqlProcedureTerm, "procedure");
}
