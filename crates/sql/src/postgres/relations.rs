//! The tables of `pg_catalog`, with the columns that clients read.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemTable, MemorySchemaProvider, SchemaProvider, Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::scalar::ScalarValue;
use table::SIM;

use super::types::{TYPES, oid_of};
use super::{Login, is_own};

/// PostgreSQL reserves lower numbers for itself.
const FIRST: u32 = 16_384;
/// PostgreSQL's numbers of schemas and of the owner of everything.
const CATALOG_SCHEMA: i64 = 11;
const INFORMATION_SCHEMA: i64 = 13_000;
const OWNER: i64 = 10;

struct Relation {
    oid: i64,
    schema: String,
    name: String,
    /// Whether its name needs no schema.
    visible: bool,
    home: Arc<dyn SchemaProvider>,
}

/// All tables. A number changes only when another table takes it first.
pub(super) struct Relations {
    schemas: Vec<(i64, String)>,
    tables: Vec<Relation>,
}

impl fmt::Debug for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relations").field("schemas", &self.schemas).finish_non_exhaustive()
    }
}

/// Assigns numbers to names. The same name gets the same number, unless another name has it.
#[derive(Default)]
struct Numbers(BTreeSet<u32>);

impl Numbers {
    fn of(&mut self, name: &str) -> i64 {
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let mut number = FIRST + hash % (1 << 30);
        while !self.0.insert(number) {
            number += 1;
        }
        i64::from(number)
    }
}

impl Relations {
    /// Lists a catalogue as seen from `database`.
    pub(super) fn list(catalog: &dyn CatalogProvider, database: &str) -> Self {
        let mut numbers = Numbers::default();
        let mut names = catalog.schema_names();
        names.sort_unstable();
        let mut found = Self { schemas: Vec::new(), tables: Vec::new() };
        for schema in names {
            let Some(home) = catalog.schema(&schema) else { continue };
            found.schemas.push((numbers.of(&schema), schema.clone()));
            let mut tables = home.table_names();
            tables.sort_unstable();
            for name in tables {
                let visible = schema == SIM || schema == database;
                let oid = numbers.of(&format!("{schema}.{name}"));
                found.tables.push(Relation { oid, schema: schema.clone(), name, visible, home: home.clone() });
            }
        }
        found
    }

    /// The number of the table that a text names, as `table` or `schema.table`.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let plain: String = name.chars().filter(|&c| c != '"').collect();
        let found = match plain.split_once('.') {
            Some((schema, name)) => self.tables.iter().find(|t| t.schema == schema && t.name == name),
            None => self.tables.iter().find(|t| t.visible && t.name == plain),
        };
        found.map(|t| t.oid)
    }

    pub(super) fn is_visible(&self, oid: i64) -> bool {
        self.tables.iter().any(|t| t.visible && t.oid == oid)
    }

    fn schema_number(&self, name: &str) -> i64 {
        self.schemas.iter().find(|(_, other)| other == name).map_or(0, |(oid, _)| *oid)
    }

    /// The tables of `pg_catalog`, as a schema.
    pub(super) fn schema(
        self: Arc<Self>,
        catalog: &dyn CatalogProvider,
        login: &Login,
    ) -> Result<Arc<dyn SchemaProvider>> {
        let schema = MemorySchemaProvider::new();
        let add = |name: &str, columns: Vec<(&str, Column)>| -> Result<()> {
            schema.register_table(name.to_owned(), memory(columns)?).map(drop)
        };
        add("pg_namespace", self.namespaces())?;
        add("pg_class", self.classes())?;
        add("pg_tables", self.pg_tables())?;
        add("pg_database", databases(catalog, login))?;
        add("pg_type", types())?;
        add("pg_roles", roles(login))?;
        add("pg_user", users(login))?;
        for (name, columns) in EMPTY {
            add(name, columns.iter().map(|column| (*column, Column::Texts(Vec::new()))).collect())?;
        }
        schema.register_table("pg_attribute".to_owned(), Arc::new(Attributes(self)))?;
        Ok(Arc::new(schema))
    }

    fn namespaces(&self) -> Vec<(&'static str, Column)> {
        let own = [(CATALOG_SCHEMA, "pg_catalog".to_owned()), (INFORMATION_SCHEMA, "information_schema".to_owned())];
        let all: Vec<_> = self.schemas.iter().cloned().chain(own).collect();
        let rows = all.len();
        vec![
            ("oid", Column::Integers(all.iter().map(|(oid, _)| *oid).collect())),
            ("nspname", Column::texts(all.into_iter().map(|(_, name)| name))),
            ("nspowner", Column::Integers(vec![OWNER; rows])),
            ("nspacl", Column::nothing(rows)),
        ]
    }

    fn classes(&self) -> Vec<(&'static str, Column)> {
        let rows = self.tables.len();
        let zero = || Column::Integers(vec![0; rows]);
        let no = || Column::Booleans(vec![false; rows]);
        let text = |text: &str| Column::texts(vec![text.to_owned(); rows]);
        vec![
            ("oid", Column::Integers(self.tables.iter().map(|t| t.oid).collect())),
            ("relname", Column::texts(self.tables.iter().map(|t| t.name.clone()))),
            ("relnamespace", Column::Integers(self.tables.iter().map(|t| self.schema_number(&t.schema)).collect())),
            ("reltype", zero()),
            ("reloftype", zero()),
            ("relowner", Column::Integers(vec![OWNER; rows])),
            ("relam", zero()),
            ("relfilenode", zero()),
            ("reltablespace", zero()),
            ("relpages", zero()),
            ("reltuples", Column::Integers(vec![-1; rows])),
            ("reltoastrelid", zero()),
            ("relhasindex", no()),
            ("relisshared", no()),
            ("relpersistence", text("p")),
            ("relkind", text("r")),
            ("relchecks", zero()),
            ("relhasrules", no()),
            ("relhastriggers", no()),
            ("relhassubclass", no()),
            ("relrowsecurity", no()),
            ("relforcerowsecurity", no()),
            ("relhasoids", no()),
            ("relispopulated", Column::Booleans(vec![true; rows])),
            ("relreplident", text("n")),
            ("relispartition", no()),
            ("relacl", Column::nothing(rows)),
            ("reloptions", Column::nothing(rows)),
            ("relpartbound", Column::nothing(rows)),
        ]
    }

    fn pg_tables(&self) -> Vec<(&'static str, Column)> {
        let rows = self.tables.len();
        vec![
            ("schemaname", Column::texts(self.tables.iter().map(|t| t.schema.clone()))),
            ("tablename", Column::texts(self.tables.iter().map(|t| t.name.clone()))),
            ("tableowner", Column::texts(vec![SIM.to_owned(); rows])),
            ("tablespace", Column::nothing(rows)),
            ("hasindexes", Column::Booleans(vec![false; rows])),
            ("hasrules", Column::Booleans(vec![false; rows])),
            ("hastriggers", Column::Booleans(vec![false; rows])),
            ("rowsecurity", Column::Booleans(vec![false; rows])),
        ]
    }
}

/// Tables that clients join; they have no rows here.
const EMPTY: &[(&str, &[&str])] = &[
    ("pg_am", &["oid", "amname"]),
    ("pg_tablespace", &["oid", "spcname"]),
    ("pg_description", &["objoid", "classoid", "objsubid", "description"]),
    ("pg_shdescription", &["objoid", "classoid", "description"]),
    (
        "pg_index",
        &["indexrelid", "indrelid", "indnatts", "indisunique", "indisprimary", "indkey", "indpred", "indexprs"],
    ),
    ("pg_constraint", &["oid", "conname", "contype", "conrelid", "confrelid", "conkey", "confkey", "connamespace"]),
    ("pg_attrdef", &["oid", "adrelid", "adnum", "adbin"]),
    ("pg_proc", &["oid", "proname", "pronamespace", "prorettype", "prokind", "proargtypes"]),
    ("pg_enum", &["oid", "enumtypid", "enumsortorder", "enumlabel"]),
    ("pg_range", &["rngtypid", "rngsubtype"]),
    ("pg_views", &["schemaname", "viewname", "viewowner", "definition"]),
    ("pg_matviews", &["schemaname", "matviewname", "definition"]),
    ("pg_settings", &["name", "setting", "unit", "category"]),
    ("pg_collation", &["oid", "collname", "collnamespace"]),
    ("pg_extension", &["oid", "extname", "extversion", "extnamespace"]),
    ("pg_depend", &["classid", "objid", "objsubid", "refclassid", "refobjid", "refobjsubid", "deptype"]),
    ("pg_sequence", &["seqrelid", "seqtypid"]),
];

fn databases(catalog: &dyn CatalogProvider, login: &Login) -> Vec<(&'static str, Column)> {
    let mut names: BTreeSet<String> = catalog.schema_names().into_iter().filter(|name| !is_own(name)).collect();
    names.insert(login.database.clone());
    let rows = names.len();
    let text = |text: &str| Column::texts(vec![text.to_owned(); rows]);
    let mut numbers = Numbers::default();
    vec![
        ("oid", Column::Integers(names.iter().map(|name| numbers.of(name)).collect())),
        ("datname", Column::texts(names)),
        ("datdba", Column::Integers(vec![OWNER; rows])),
        ("encoding", Column::Integers(vec![6; rows])),
        ("datcollate", text("C")),
        ("datctype", text("C")),
        ("daticulocale", Column::nothing(rows)),
        ("datlocprovider", text("c")),
        ("datistemplate", Column::Booleans(vec![false; rows])),
        ("datallowconn", Column::Booleans(vec![true; rows])),
        ("datconnlimit", Column::Integers(vec![-1; rows])),
        ("dattablespace", Column::Integers(vec![0; rows])),
        ("datacl", Column::nothing(rows)),
    ]
}

fn types() -> Vec<(&'static str, Column)> {
    let lists = TYPES.iter().map(|t| (t.array, format!("_{}", t.name), -1, "A", 0, t.oid));
    let all: Vec<_> = TYPES
        .iter()
        .map(|t| (t.oid, t.name.to_owned(), i64::from(t.length), t.category, t.array, 0))
        .chain(lists)
        .collect();
    let rows = all.len();
    let numbers = |of: &dyn Fn(usize) -> i64| Column::Integers((0..rows).map(of).collect());
    let text = |text: &str| Column::texts(vec![text.to_owned(); rows]);
    vec![
        ("oid", numbers(&|n| all[n].0.into())),
        ("typname", Column::texts(all.iter().map(|t| t.1.clone()))),
        ("typnamespace", Column::Integers(vec![CATALOG_SCHEMA; rows])),
        ("typowner", Column::Integers(vec![OWNER; rows])),
        ("typlen", numbers(&|n| all[n].2)),
        ("typtype", text("b")),
        ("typcategory", Column::texts(all.iter().map(|t| t.3.to_owned()))),
        ("typispreferred", Column::Booleans(vec![false; rows])),
        ("typisdefined", Column::Booleans(vec![true; rows])),
        ("typdelim", text(",")),
        ("typrelid", Column::Integers(vec![0; rows])),
        ("typelem", numbers(&|n| all[n].5.into())),
        ("typarray", numbers(&|n| all[n].4.into())),
        (
            "typinput",
            Column::texts(all.iter().map(|t| if t.4 == 0 { "array_in".to_owned() } else { format!("{}in", t.1) })),
        ),
        (
            "typreceive",
            Column::texts(all.iter().map(|t| if t.4 == 0 { "array_recv".to_owned() } else { format!("{}recv", t.1) })),
        ),
        ("typnotnull", Column::Booleans(vec![false; rows])),
        ("typbasetype", Column::Integers(vec![0; rows])),
        ("typtypmod", Column::Integers(vec![-1; rows])),
        ("typndims", Column::Integers(vec![0; rows])),
        ("typcollation", Column::Integers(vec![0; rows])),
        ("typdefault", Column::nothing(rows)),
    ]
}

fn roles(login: &Login) -> Vec<(&'static str, Column)> {
    let no = || Column::Booleans(vec![false]);
    vec![
        ("oid", Column::Integers(vec![OWNER])),
        ("rolname", Column::texts([login.user.clone()])),
        ("rolsuper", no()),
        ("rolinherit", no()),
        ("rolcreaterole", no()),
        ("rolcreatedb", no()),
        ("rolcanlogin", Column::Booleans(vec![true])),
        ("rolreplication", no()),
        ("rolconnlimit", Column::Integers(vec![-1])),
        ("rolvaliduntil", Column::nothing(1)),
        ("rolbypassrls", no()),
    ]
}

fn users(login: &Login) -> Vec<(&'static str, Column)> {
    vec![
        ("usename", Column::texts([login.user.clone()])),
        ("usesysid", Column::Integers(vec![OWNER])),
        ("usesuper", Column::Booleans(vec![false])),
    ]
}

enum Column {
    Integers(Vec<i64>),
    Texts(Vec<Option<String>>),
    Booleans(Vec<bool>),
}

impl Column {
    fn texts(values: impl IntoIterator<Item = String>) -> Self {
        Self::Texts(values.into_iter().map(Some).collect())
    }

    fn nothing(rows: usize) -> Self {
        Self::Texts(vec![None; rows])
    }

    fn array(self) -> ArrayRef {
        match self {
            Self::Integers(values) => Arc::new(Int64Array::from(values)),
            Self::Texts(values) => Arc::new(StringArray::from(values)),
            Self::Booleans(values) => Arc::new(BooleanArray::from(values)),
        }
    }
}

fn batch(columns: Vec<(&str, Column)>) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| (name, column.array(), true));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn memory(columns: Vec<(&str, Column)>) -> Result<Arc<dyn TableProvider>> {
    let rows = batch(columns)?;
    Ok(Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]])?))
}

/// `pg_attribute`: the columns of all tables; opens the tables when read.
#[derive(Debug)]
struct Attributes(Arc<Relations>);

/// A column of a table: table number, position, name, type, and whether it is nullable.
type Attribute = (i64, i64, String, DataType, bool);

fn attribute_rows(found: &[Attribute]) -> Result<RecordBatch> {
    let rows = found.len();
    let no = || Column::Booleans(vec![false; rows]);
    let empty = || Column::texts(vec![String::new(); rows]);
    batch(vec![
        ("attrelid", Column::Integers(found.iter().map(|a| a.0).collect())),
        ("attname", Column::texts(found.iter().map(|a| a.2.clone()))),
        ("atttypid", Column::Integers(found.iter().map(|a| oid_of(&a.3).into()).collect())),
        ("attnum", Column::Integers(found.iter().map(|a| a.1).collect())),
        ("attlen", Column::Integers(vec![-1; rows])),
        ("atttypmod", Column::Integers(vec![-1; rows])),
        ("attndims", Column::Integers(vec![0; rows])),
        ("attnotnull", Column::Booleans(found.iter().map(|a| !a.4).collect())),
        ("atthasdef", no()),
        ("attisdropped", no()),
        ("attislocal", Column::Booleans(vec![true; rows])),
        ("attidentity", empty()),
        ("attgenerated", empty()),
        ("attcollation", Column::Integers(vec![0; rows])),
        ("attstorage", Column::texts(vec!["p".to_owned(); rows])),
        ("attcompression", empty()),
        ("attstattarget", Column::Integers(vec![-1; rows])),
        ("attacl", Column::nothing(rows)),
        ("attoptions", Column::nothing(rows)),
    ])
}

/// The single table that conditions select, if any.
fn wanted(filters: &[Expr]) -> Option<i64> {
    filters.iter().find_map(|filter| {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = filter else { return None };
        let value = |column: &Expr, value: &Expr| {
            let column = match column {
                Expr::Cast(cast) => &cast.expr,
                other => other,
            };
            let (Expr::Column(column), Expr::Literal(value, _)) = (column, value) else { return None };
            let number = value.cast_to(&DataType::Int64).ok()?;
            match number {
                ScalarValue::Int64(number) if column.name == "attrelid" => number,
                _ => None,
            }
        };
        value(left, right).or_else(|| value(right, left))
    })
}

#[async_trait]
impl TableProvider for Attributes {
    fn schema(&self) -> SchemaRef {
        // Creating rows of no attributes cannot fail.
        attribute_rows(&[]).map_or_else(|_| Arc::new(Schema::empty()), |rows| rows.schema())
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
        let only = wanted(filters);
        let mut found = Vec::new();
        for relation in self.0.tables.iter().filter(|t| only.is_none_or(|oid| oid == t.oid)) {
            let table = match relation.home.table(&relation.name).await {
                Ok(table) => table,
                // Skip tables that cannot be opened, unless the query names one.
                Err(_) if only.is_none() => continue,
                Err(error) => return Err(error),
            };
            let schema = table.map(|table| table.schema());
            for (place, field) in schema.iter().flat_map(|s| s.fields()).enumerate() {
                let name = field.name().clone();
                found.push((relation.oid, place as i64 + 1, name, field.data_type().clone(), field.is_nullable()));
            }
        }
        let rows = attribute_rows(&found)?;
        let schema = rows.schema();
        Ok(MemorySourceConfig::try_new_exec(&[vec![rows]], schema, projection.cloned())?)
    }
}
