//! `pg_attribute` and `information_schema.columns`: the columns of all tables. Reading them opens the tables.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::scalar::ScalarValue;

use super::CATALOG;
use super::layout::Layout;
use super::relations::{Relation, Relations};
use super::rows::{Column, batch};
use super::types::{length_of, name_of, oid_of, written};

/// A column of a table.
struct Found<'a> {
    relation: &'a Relation,
    /// Its position, from 1.
    place: i64,
    name: String,
    data_type: DataType,
    nullable: bool,
}

/// One of the two tables.
#[derive(Debug)]
pub(super) struct Opened {
    layout: Layout,
    relations: Arc<Relations>,
    database: String,
}

impl Opened {
    pub(super) fn new(layout: Layout, relations: Arc<Relations>, database: String) -> Self {
        Self { layout, relations, database }
    }

    fn rows(&self, found: &[Found<'_>]) -> Result<RecordBatch> {
        let columns = match self.layout.schema {
            CATALOG => attributes(found),
            _ => described(found, &self.database),
        };
        batch(self.layout, columns)
    }
}

/// Whether the conditions of a query may select columns of a table.
fn may_select(filters: &[Expr], table: &Relation) -> bool {
    filters.iter().all(|filter| match equality(filter) {
        Some(("attrelid", value)) => value.parse() == Ok(table.oid),
        Some(("table_name", value)) => value == table.name,
        Some(("table_schema", value)) => value == table.schema,
        _ => true,
    })
}

/// The column and the value, as text, of a condition `column = value`.
fn equality(filter: &Expr) -> Option<(&str, String)> {
    fn sides<'a>(column: &'a Expr, value: &Expr) -> Option<(&'a str, String)> {
        let column = match column {
            Expr::Cast(cast) => &cast.expr,
            other => other,
        };
        let (Expr::Column(column), Expr::Literal(value, _)) = (column, value) else { return None };
        match value.cast_to(&DataType::Utf8) {
            Ok(ScalarValue::Utf8(Some(text))) => Some((column.name.as_str(), text)),
            _ => None,
        }
    }
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = filter else { return None };
    sides(left, right).or_else(|| sides(right, left))
}

fn attributes(found: &[Found<'_>]) -> Vec<(&'static str, Column)> {
    let oids = || found.iter().map(|c| oid_of(&c.data_type));
    vec![
        ("attrelid", Column::Integers(found.iter().map(|c| c.relation.oid).collect())),
        ("attname", Column::texts(found.iter().map(|c| c.name.clone()))),
        ("atttypid", Column::Integers(oids().map(i64::from).collect())),
        ("attlen", Column::Integers(oids().map(|oid| length_of(oid).into()).collect())),
        ("attnum", Column::Integers(found.iter().map(|c| c.place).collect())),
        ("attndims", Column::Integers(found.iter().map(|c| c.data_type.is_list().into()).collect())),
        ("atttypmod", Column::Integers(found.iter().map(|c| modifier(&c.data_type)).collect())),
        ("attnotnull", Column::Booleans(found.iter().map(|c| !c.nullable).collect())),
        ("attislocal", Column::Boolean(true)),
        ("attidentity", Column::Text("")),
        ("attgenerated", Column::Text("")),
        ("attstorage", Column::Text("p")),
        ("attcompression", Column::Text("")),
        ("attstattarget", Column::Integer(-1)),
    ]
}

/// The precision and scale of a decimal as PostgreSQL keeps them; -1 for other types.
fn modifier(of: &DataType) -> i64 {
    match decimal(of) {
        Some((precision, scale)) => ((precision << 16) | (scale & 0x7ff)) + 4,
        None => -1,
    }
}

fn decimal(of: &DataType) -> Option<(i64, i64)> {
    match of {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some(((*precision).into(), (*scale).into())),
        _ => None,
    }
}

/// Precision, its radix, and scale of a number; precision of a time.
fn precision(of: &DataType) -> [Option<i64>; 4] {
    let number = |bits, scale| [Some(bits), Some(2), scale, None];
    match oid_of(of) {
        20 => number(64, Some(0)),
        21 => number(16, Some(0)),
        23 => number(32, Some(0)),
        700 => number(24, None),
        701 => number(53, None),
        1700 => match decimal(of) {
            Some((precision, scale)) => [Some(precision), Some(10), Some(scale), None],
            None => [None, Some(10), None, None],
        },
        1082 => [None, None, None, Some(0)],
        1083 | 1114 | 1184 => [None, None, None, Some(6)],
        _ => [None; 4],
    }
}

fn described(found: &[Found<'_>], database: &str) -> Vec<(&'static str, Column)> {
    let texts = |of: &dyn Fn(&Found<'_>) -> String| Column::texts(found.iter().map(of));
    let precisions: Vec<_> = found.iter().map(|c| precision(&c.data_type)).collect();
    let numbers = |place: usize| Column::Optional(precisions.iter().map(|precision| precision[place]).collect());
    let type_name = |c: &Found<'_>| {
        if c.data_type.is_list() { "ARRAY".to_owned() } else { written(oid_of(&c.data_type).into()) }
    };
    vec![
        ("table_catalog", texts(&|_| database.to_owned())),
        ("table_schema", texts(&|c| c.relation.schema.clone())),
        ("table_name", texts(&|c| c.relation.name.clone())),
        ("column_name", texts(&|c| c.name.clone())),
        ("ordinal_position", Column::Integers(found.iter().map(|c| c.place).collect())),
        ("is_nullable", texts(&|c| if c.nullable { "YES" } else { "NO" }.to_owned())),
        ("data_type", texts(&type_name)),
        ("numeric_precision", numbers(0)),
        ("numeric_precision_radix", numbers(1)),
        ("numeric_scale", numbers(2)),
        ("datetime_precision", numbers(3)),
        ("udt_catalog", texts(&|_| database.to_owned())),
        ("udt_schema", Column::Text(CATALOG)),
        ("udt_name", texts(&|c| name_of(oid_of(&c.data_type)))),
        ("dtd_identifier", texts(&|c| c.place.to_string())),
        ("is_self_referencing", Column::Text("NO")),
        ("is_identity", Column::Text("NO")),
        ("identity_cycle", Column::Text("NO")),
        ("is_generated", Column::Text("NEVER")),
        ("is_updatable", Column::Text("NO")),
    ]
}

#[async_trait]
impl TableProvider for Opened {
    fn schema(&self) -> SchemaRef {
        // Creating no rows cannot fail.
        self.rows(&[]).map_or_else(|_| Arc::new(Schema::empty()), |rows| rows.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut found = Vec::new();
        let wanted: Vec<_> = self.relations.tables.iter().filter(|t| may_select(filters, t)).collect();
        let only = wanted.len() == 1;
        for relation in wanted {
            let table = match relation.home.table(&relation.name).await {
                Ok(table) => table,
                // Skip tables that cannot be opened, unless the query names one.
                Err(_) if !only => continue,
                Err(error) => return Err(error),
            };
            let schema = table.map(|table| table.schema());
            for (place, field) in schema.iter().flat_map(|schema| schema.fields()).enumerate() {
                found.push(Found {
                    relation,
                    place: place as i64 + 1,
                    name: field.name().clone(),
                    data_type: field.data_type().clone(),
                    nullable: field.is_nullable(),
                });
            }
        }
        let rows = self.rows(&found)?;
        let schema = rows.schema();
        Ok(MemorySourceConfig::try_new_exec(&[vec![rows]], schema, projection.cloned())?)
    }
}
