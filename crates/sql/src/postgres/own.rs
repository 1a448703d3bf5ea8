//! PostgreSQL's own schemas, `pg_catalog` and `information_schema`. Tables are made when a query reads them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{MemTable, SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::sql::sqlparser::keywords::{RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_TABLE_ALIAS};

use super::columns::Opened;
use super::layout::{self, Layout};
use super::relations::{CATALOG_SCHEMA, Numbers, Relations};
use super::rows::{Column, batch};
use super::types::TYPES;
use super::{CATALOG, INFORMATION, Login, is_own, settings};
use crate::literals::quoted_if_needed;

/// PostgreSQL's numbers of the owner of everything, and of the place where databases are.
pub(super) const OWNER: i64 = 10;
const TABLESPACE: i64 = 1663;

/// Tables that have rows here; all others of PostgreSQL's are empty.
pub(super) const FILLED: [(&str, &str); 18] = [
    (CATALOG, "pg_attribute"),
    (CATALOG, "pg_class"),
    (CATALOG, "pg_database"),
    (CATALOG, "pg_get_keywords"),
    (CATALOG, "pg_namespace"),
    (CATALOG, TYPE_FUNCTIONS),
    (CATALOG, "pg_roles"),
    (CATALOG, "pg_settings"),
    (CATALOG, "pg_show_all_settings"),
    (CATALOG, "pg_tables"),
    (CATALOG, "pg_tablespace"),
    (CATALOG, "pg_type"),
    (CATALOG, "pg_user"),
    (INFORMATION, "character_sets"),
    (INFORMATION, "columns"),
    (INFORMATION, "information_schema_catalog_name"),
    (INFORMATION, "schemata"),
    (INFORMATION, "tables"),
];

/// The rows of `pg_proc` that types refer to. A table of its own, because no other query needs a function, and the
/// answers about functions are known without planning as long as there are none.
pub(super) const TYPE_FUNCTIONS: &str = "pg_proc_of_types";

/// One of the schemas, as seen by a client.
pub(super) struct Own {
    pub(super) schema: &'static str,
    pub(super) relations: Arc<Relations>,
    pub(super) login: Login,
    /// The source of tables that only DataFusion has.
    pub(super) more: Option<Arc<dyn SchemaProvider>>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.schema).finish()
    }
}

#[async_trait]
impl SchemaProvider for Own {
    fn table_names(&self) -> Vec<String> {
        layout::tables().filter(|t| t.schema == self.schema).map(|t| t.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(layout) = layout::find(self.schema, name) else {
            return match &self.more {
                Some(more) => more.table(name).await,
                None => Ok(None),
            };
        };
        let database = self.login.database.clone();
        match (self.schema, layout.name) {
            (CATALOG, "pg_attribute") | (INFORMATION, "columns") => {
                return Ok(Some(Arc::new(Opened::new(layout, self.relations.clone(), database))));
            }
            _ => {}
        }
        let rows = batch(layout, self.rows(layout))?;
        Ok(Some(Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]])?)))
    }

    fn table_exist(&self, name: &str) -> bool {
        layout::find(self.schema, name).is_some() || self.more.as_ref().is_some_and(|more| more.table_exist(name))
    }
}

impl Own {
    /// The columns of a table that are not the same in all rows; none for an empty table.
    fn rows(&self, of: Layout) -> Vec<(&'static str, Column)> {
        match (of.schema, of.name) {
            (CATALOG, "pg_namespace") => self.namespaces(),
            (CATALOG, "pg_class") => self.classes(),
            (CATALOG, "pg_tables") => self.pg_tables(),
            (CATALOG, "pg_database") => self.databases(),
            (CATALOG, "pg_type") => types(),
            (CATALOG, TYPE_FUNCTIONS) => type_functions(),
            (CATALOG, "pg_tablespace") => vec![
                ("oid", Column::Integers(vec![TABLESPACE])),
                ("spcname", Column::Text("pg_default")),
                ("spcowner", Column::Integer(OWNER)),
            ],
            (CATALOG, "pg_roles") => self.roles(),
            (CATALOG, "pg_user") => self.users(),
            (CATALOG, "pg_settings" | "pg_show_all_settings") => self.settings(),
            (CATALOG, "pg_get_keywords") => keywords(),
            (INFORMATION, "tables") => self.tables(),
            (INFORMATION, "schemata") => self.schemata(),
            (INFORMATION, "character_sets") => vec![
                ("character_set_name", Column::texts(["UTF8".to_owned()])),
                ("character_repertoire", Column::Text("UCS")),
                ("form_of_use", Column::Text("UTF8")),
                ("default_collate_catalog", Column::texts([self.login.database.clone()])),
                ("default_collate_schema", Column::Text(CATALOG)),
                ("default_collate_name", Column::Text("C")),
            ],
            (INFORMATION, "information_schema_catalog_name") => {
                vec![("catalog_name", Column::texts([self.login.database.clone()]))]
            }
            _ => Vec::new(),
        }
    }

    fn namespaces(&self) -> Vec<(&'static str, Column)> {
        let all = || self.relations.all_schemas();
        vec![
            ("oid", Column::Integers(all().map(|(oid, _)| oid).collect())),
            ("nspname", Column::texts(all().map(|(_, name)| name.to_owned()))),
            ("nspowner", Column::Integer(OWNER)),
        ]
    }

    fn classes(&self) -> Vec<(&'static str, Column)> {
        let (relations, tables) = (&self.relations, &self.relations.tables);
        let owner = quoted_if_needed(&self.login.user);
        vec![
            ("oid", Column::Integers(tables.iter().map(|t| t.oid).collect())),
            ("relname", Column::texts(tables.iter().map(|t| t.name.clone()))),
            (
                "relnamespace",
                Column::Integers(tables.iter().map(|t| relations.schema_number(&t.schema).unwrap_or(0)).collect()),
            ),
            ("relowner", Column::Integer(OWNER)),
            // The type of its rows. Prisma skips tables without.
            ("reltype", Column::Integers(tables.iter().map(|t| t.oid).collect())),
            ("reltuples", Column::Integer(-1)),
            ("relpersistence", Column::Text("p")),
            ("relkind", Column::Text("r")),
            ("relhasoids", Column::Boolean(false)),
            ("relispopulated", Column::Boolean(true)),
            ("relreplident", Column::Text("n")),
            // The owner may read, and nobody may write.
            ("relacl", Column::ListOf(format!("{owner}=r/{owner}"))),
        ]
    }

    fn pg_tables(&self) -> Vec<(&'static str, Column)> {
        let tables = &self.relations.tables;
        vec![
            ("schemaname", Column::texts(tables.iter().map(|t| t.schema.clone()))),
            ("tablename", Column::texts(tables.iter().map(|t| t.name.clone()))),
            ("tableowner", Column::texts(tables.iter().map(|_| self.login.user.clone()))),
        ]
    }

    fn databases(&self) -> Vec<(&'static str, Column)> {
        let mut names: Vec<String> = self.relations.schemas.iter().map(|(_, name)| name.clone()).collect();
        names.push(self.login.database.clone());
        names.retain(|name| !is_own(name));
        names.sort_unstable();
        names.dedup();
        let mut numbers = Numbers::default();
        vec![
            ("oid", Column::Integers(names.iter().map(|name| numbers.of(name)).collect())),
            ("datname", Column::texts(names)),
            ("datdba", Column::Integer(OWNER)),
            ("encoding", Column::Integer(6)),
            ("datcollate", Column::Text("C")),
            ("datctype", Column::Text("C")),
            ("datlocprovider", Column::Text("c")),
            ("datallowconn", Column::Boolean(true)),
            ("datconnlimit", Column::Integer(-1)),
            ("dattablespace", Column::Integer(TABLESPACE)),
        ]
    }

    fn roles(&self) -> Vec<(&'static str, Column)> {
        vec![
            ("oid", Column::Integers(vec![OWNER])),
            ("rolname", Column::texts([self.login.user.clone()])),
            ("rolcanlogin", Column::Boolean(true)),
            ("rolconnlimit", Column::Integer(-1)),
        ]
    }

    fn users(&self) -> Vec<(&'static str, Column)> {
        vec![("usename", Column::texts([self.login.user.clone()])), ("usesysid", Column::Integers(vec![OWNER]))]
    }

    fn settings(&self) -> Vec<(&'static str, Column)> {
        let all = settings::all(&self.login);
        vec![
            ("name", Column::texts(all.iter().map(|(name, _)| (*name).to_owned()))),
            ("setting", Column::texts(all.iter().map(|(_, value)| value.clone()))),
            ("boot_val", Column::texts(all.iter().map(|(_, value)| value.clone()))),
            ("reset_val", Column::texts(all.into_iter().map(|(_, value)| value))),
            ("source", Column::Text("default")),
        ]
    }

    fn tables(&self) -> Vec<(&'static str, Column)> {
        let tables = &self.relations.tables;
        vec![
            ("table_catalog", Column::texts(tables.iter().map(|_| self.login.database.clone()))),
            ("table_schema", Column::texts(tables.iter().map(|t| t.schema.clone()))),
            ("table_name", Column::texts(tables.iter().map(|t| t.name.clone()))),
            ("table_type", Column::Text("BASE TABLE")),
            ("is_insertable_into", Column::Text("NO")),
            ("is_typed", Column::Text("NO")),
        ]
    }

    fn schemata(&self) -> Vec<(&'static str, Column)> {
        let all = || self.relations.all_schemas();
        vec![
            ("catalog_name", Column::texts(all().map(|_| self.login.database.clone()))),
            ("schema_owner", Column::texts(all().map(|_| self.login.user.clone()))),
            ("schema_name", Column::texts(all().map(|(_, name)| name.to_owned()))),
        ]
    }
}

/// Types whose functions have an underscore in their names, as in `date_in`. ADBC knows types by these names.
const UNDERSCORED: [&str; 9] =
    ["date", "interval", "json", "jsonb", "numeric", "time", "timestamp", "timestamptz", "uuid"];

fn types() -> Vec<(&'static str, Column)> {
    let lists = TYPES.iter().map(|t| (t.array, format!("_{}", t.name), -1, "A", 0, t.oid));
    let all: Vec<_> = TYPES
        .iter()
        .map(|t| (t.oid, t.name.to_owned(), i64::from(t.length), t.category, t.array, 0))
        .chain(lists)
        .collect();
    let numbers = |of: &dyn Fn(usize) -> i64| Column::Integers((0..all.len()).map(of).collect());
    let function = |place: usize, ending: &str| match &all[place] {
        (_, _, _, _, 0, _) => format!("{LIST}_{ending}"),
        (_, name, ..) => function_of(name, ending),
    };
    let functions = |ending| Column::texts((0..all.len()).map(|place| function(place, ending)));
    vec![
        ("oid", numbers(&|n| all[n].0.into())),
        ("typname", Column::texts(all.iter().map(|t| t.1.clone()))),
        ("typnamespace", Column::Integer(CATALOG_SCHEMA)),
        ("typowner", Column::Integer(OWNER)),
        ("typlen", numbers(&|n| all[n].2)),
        ("typtype", Column::Text("b")),
        ("typcategory", Column::texts(all.iter().map(|t| t.3.to_owned()))),
        ("typisdefined", Column::Boolean(true)),
        ("typdelim", Column::Text(",")),
        ("typelem", numbers(&|n| all[n].5.into())),
        ("typarray", numbers(&|n| all[n].4.into())),
        ("typinput", functions("in")),
        ("typoutput", functions("out")),
        ("typreceive", functions("recv")),
        ("typsend", functions("send")),
        ("typtypmod", Column::Integer(-1)),
    ]
}

/// The name in the functions of lists.
const LIST: &str = "array";

/// The name of the function of a type with an ending, such as `recv`.
fn function_of(name: &str, ending: &str) -> String {
    let underscore = if UNDERSCORED.contains(&name) { "_" } else { "" };
    format!("{name}{underscore}{ending}")
}

/// The functions that [`types`] names.
fn type_functions() -> Vec<(&'static str, Column)> {
    let endings = ["in", "out", "recv", "send"];
    let of_types = TYPES.iter().flat_map(|ty| endings.map(|ending| function_of(ty.name, ending)));
    let names: Vec<_> = of_types.chain(endings.map(|ending| format!("{LIST}_{ending}"))).collect();
    let mut numbers = Numbers::default();
    vec![
        ("oid", Column::Integers(names.iter().map(|name| numbers.of(name)).collect())),
        ("proname", Column::texts(names)),
        ("pronamespace", Column::Integer(CATALOG_SCHEMA)),
        ("proowner", Column::Integer(OWNER)),
        ("prokind", Column::Text("f")),
    ]
}

/// Words that need quotes as a name of a column or a table.
fn keywords() -> Vec<(&'static str, Column)> {
    let words = RESERVED_FOR_COLUMN_ALIAS.iter().chain(RESERVED_FOR_TABLE_ALIAS);
    let mut words: Vec<String> = words.map(|word| format!("{word:?}").to_lowercase()).collect();
    words.sort_unstable();
    words.dedup();
    vec![("word", Column::texts(words)), ("catcode", Column::Text("R")), ("catdesc", Column::Text("reserved"))]
}
