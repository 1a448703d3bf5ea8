//! Queries over one data folder.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::catalog::{
    CatalogProvider, MemoryCatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider,
};
use datafusion::common::{Column, TableReference};
use datafusion::config::Dialect;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SQLOptions, SessionContext};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;
use disk::Disk;
use ensemble::{MakeModel, ReadRows, Store};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use table::{DATABASE, SIM};

use crate::distinct;
use crate::ensembles;
use crate::entity_events::EventsFunction;
use crate::error::{NO_TABLE, QueryError, no_table};
use crate::events::Events;
use crate::limits::check_statement;
use crate::literals::{Literal, number_marks, place, quoted};
use crate::outcomes::Outcomes;
use crate::parser::parse;
use crate::postgres::{self, Login, Rewritten, rewrite};
use crate::reading::Reading;
use crate::session::{CATALOG, Session};
use crate::stored::{EnsembleSnapshot, Ensembles};
use crate::tables::{Sim, Tables, Unique};
use crate::wildcards;
use crate::worlds::WorldsFunction;

/// Names that a query can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope<'a> {
    /// The database of tables named without one.
    pub database: &'a str,
    /// The visible databases; ensembles are in `sim`. `None`: all.
    pub databases: Option<&'a [String]>,
}

impl Scope<'_> {
    /// Whether a database is visible.
    pub fn sees(&self, database: &str) -> bool {
        self.databases.is_none_or(|seen| seen.iter().any(|d| d == database))
    }
}

/// Answers queries from one snapshot of a data folder. Open another engine to see newer data.
pub struct Engine {
    context: SessionContext,
    tables: Arc<Tables>,
    catalog: Arc<MemoryCatalogProvider>,
    /// The catalogue for clients of PostgreSQL.
    postgres: Option<postgres::Catalog>,
}

/// The futures are boxed. Otherwise each crate that polls one compiles it, with the planning of DataFusion.
impl Engine {
    /// Takes a snapshot of the folder `data` with its ensembles on `disk`; `None` if both are empty. `make_model`
    /// creates the model to replay an ensemble's events.
    ///
    /// # Errors
    /// If the folder or its ensembles cannot be read.
    pub fn open<'a>(
        data: &'a Path,
        disk: Arc<dyn Disk>,
        make_model: MakeModel,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<Option<Self>, QueryError>> {
        Box::pin(async move {
            let databases = Tables::list(data, &Unique::new(), &session.opened)?;
            let store = Store::open(data, disk).await?;
            if store.is_none() && databases.values().all(|tables| tables.names().next().is_none()) {
                return Ok(None);
            }
            let ensembles = Ensembles::read(store.as_ref(), &mut ReadRows::default()).await?;
            Self::over(ensembles, databases, make_model, session, DATABASE).map(Some)
        })
    }

    /// Like [`Self::open`], with `ensembles` that are already read. Databases outside `scope` are invisible.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open_scoped(
        data: &Path,
        ensembles: Ensembles,
        make_model: MakeModel,
        session: &Session,
        unique: &Unique,
        scope: Scope<'_>,
    ) -> Result<Self, QueryError> {
        let mut databases = Tables::list(data, unique, &session.opened)?;
        databases.retain(|name, _| scope.sees(name));
        let ensembles = if scope.sees(SIM) { ensembles } else { Ensembles::default() };
        Self::over(ensembles, databases, make_model, session, scope.database)
    }

    fn over(
        ensembles: Ensembles,
        databases: BTreeMap<String, Arc<Tables>>,
        make_model: MakeModel,
        session: &Session,
        database: &str,
    ) -> Result<Self, QueryError> {
        let snapshot = Arc::new(EnsembleSnapshot::new(ensembles, make_model));
        let own = MemorySchemaProvider::new();
        own.register_table("outcomes".to_owned(), Arc::new(Outcomes::new(snapshot.clone())))?;
        own.register_table("events".to_owned(), Arc::new(Events::new(snapshot.clone())))?;
        own.register_table("ensembles".to_owned(), Arc::new(ensembles::table(&snapshot)?))?;
        let catalog = Arc::new(MemoryCatalogProvider::new());
        let tables = databases.get(database).cloned().unwrap_or_default();
        catalog.register_schema(SIM, Arc::new(Sim { own, tables: tables.clone() }))?;
        for (name, tables) in databases {
            catalog.register_schema(&name, tables)?;
        }
        let context = session.context();
        context.register_catalog(CATALOG, catalog.clone());
        context.register_udtf("worlds", Arc::new(WorldsFunction(snapshot.clone())));
        // `plays` is the old name, for one more release.
        for name in ["events", "plays"] {
            context.register_udtf(name, Arc::new(EventsFunction(snapshot.clone())));
        }
        Ok(Self { context, tables, catalog, postgres: None })
    }

    /// Adds the catalogue and the functions that clients of PostgreSQL expect.
    ///
    /// # Errors
    /// If a table of the catalogue cannot be created.
    pub fn for_postgres(mut self, login: &Login) -> Result<Self, QueryError> {
        self.postgres = Some(postgres::Catalog::register(&self.context, &*self.catalog, login)?);
        Ok(self)
    }

    /// Adds a table that the caller reads to the schema `sim`.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add_table(&self, name: &str, table: Arc<dyn TableProvider>) -> Result<(), QueryError> {
        self.context.register_table(TableReference::bare(name), table)?;
        Ok(())
    }

    /// All visible databases, sorted by name.
    pub fn databases(&self) -> Vec<String> {
        let mut names = self.catalog.schema_names();
        names.retain(|name| !postgres::is_own(name));
        names.sort_unstable();
        names
    }

    /// All visible tables, as database and name.
    pub fn tables(&self) -> Vec<(String, String)> {
        let named = |database: String| {
            let tables = self.catalog.schema(&database).map(|schema| schema.table_names()).unwrap_or_default();
            tables.into_iter().map(move |table| (database.clone(), table))
        };
        let mut tables: Vec<_> = self.databases().into_iter().flat_map(named).collect();
        tables.sort_unstable();
        tables
    }

    /// The columns of a table.
    ///
    /// # Errors
    /// If the table is unknown or cannot be read.
    pub fn columns<'a>(&'a self, database: &'a str, table: &'a str) -> BoxFuture<'a, Result<SchemaRef, QueryError>> {
        Box::pin(async move {
            let table = TableReference::full(CATALOG, database, table);
            Ok(self.context.table_provider(table).await?.schema())
        })
    }

    /// The names of all functions.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let names = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        let names = names.chain(state.window_functions().keys()).chain(state.table_functions().keys());
        let mut names: Vec<String> = names.cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Starts a query.
    ///
    /// # Errors
    /// If `sql` is not a query or names something unknown. [`Rows::next`] reports later errors.
    pub fn query<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Rows, QueryError>> {
        self.ask(sql, &[])
    }

    /// Like [`Self::query`], with values for the parameters `$1`, `$2`.
    ///
    /// # Errors
    /// See [`Self::query`]; also if a value is missing.
    pub fn ask<'a>(&'a self, sql: &'a str, values: &'a [Literal]) -> BoxFuture<'a, Result<Rows, QueryError>> {
        Box::pin(async move {
            let (mut statement, about) = self.parse(sql)?;
            let values = self.converted(&mut statement, about, values).await?;
            let mut statement = self.rewrite(statement, about)?;
            if let Some(statement) = inner(&mut statement) {
                place(statement, Some(&values))?;
            }
            let explained = self.explained(&statement);
            let mut plan = self.plan(statement).await?;
            if about {
                plan = with_lists_of_oids(plan)?;
            }
            let answer = self.context.execute_logical_plan(plan).await?;
            let context = Arc::new(answer.task_ctx());
            let plan = answer.create_physical_plan().await?;
            let stream = execute_stream(plan.clone(), context)?;
            let explains = explained.is_some();
            let schema = explained.unwrap_or_else(|| self.sent(&stream.schema()));
            Ok(Rows { stream, schema, plan, explains })
        })
    }

    /// Describes a query with parameters without running it. `types` are the known types of the first parameters, as
    /// PostgreSQL's numbers (OIDs), 0 if unknown.
    ///
    /// # Errors
    /// See [`Self::query`].
    pub fn describe<'a>(&'a self, sql: &'a str, types: &'a [u32]) -> BoxFuture<'a, Result<Asked, QueryError>> {
        Box::pin(async move {
            let (mut statement, about) = self.parse(sql)?;
            let mut types = types.to_vec();
            if let Some(inner) = inner(&mut statement) {
                types.resize(place(inner, None)?, 0);
                self.infer(inner, about, &mut types).await?;
            }
            let mut statement = self.rewrite(statement, about)?;
            if let Some(statement) = inner(&mut statement) {
                place(statement, Some(&types.iter().map(|oid| postgres::null(*oid)).collect::<Vec<_>>()))?;
            }
            let explained = self.explained(&statement);
            let mut plan = self.plan(statement).await?;
            if about {
                plan = with_lists_of_oids(plan)?;
            }
            Ok(Asked { types, columns: explained.unwrap_or_else(|| self.sent(plan.schema().inner())) })
        })
    }

    /// Gives values without a type the one that the statement tells.
    async fn converted<'a>(
        &self,
        statement: &mut Statement,
        about: bool,
        values: &'a [Literal],
    ) -> Result<Cow<'a, [Literal]>, QueryError> {
        let is_untyped = |value: &Literal| matches!(value, Literal::Untyped(_));
        let Some(statement) = inner(statement) else { return Ok(values.into()) };
        if !values.iter().any(is_untyped) {
            return Ok(values.into());
        }
        let mut types = vec![0; values.len()];
        self.infer(statement, about, &mut types).await?;
        let converted = |(value, oid): (&Literal, u32)| match postgres::type_of(oid) {
            Some(of) => value.converted(&of),
            None => value.clone(),
        };
        Ok(values.iter().zip(types).map(converted).collect())
    }

    /// Finds the types of parameters that are unknown, where the statement tells them.
    async fn infer(&self, statement: &ast::Statement, about: bool, types: &mut [u32]) -> Result<(), QueryError> {
        if !types.contains(&0) {
            return Ok(());
        }
        let mut statement = Box::new(statement.clone());
        let written = postgres::written_types(&mut statement)?;
        let statement = self.rewrite(Statement::Statement(statement), about)?;
        let mut inferred = match self.plan(statement).await {
            Ok(plan) => postgres::inferred::types(&plan).unwrap_or_default(),
            Err(_) => HashMap::new(),
        };
        for (number, oid) in (1..).zip(types.iter_mut()).filter(|(_, oid)| **oid == 0) {
            let inferred = inferred.remove(&number).map(|item| {
                let is_list = written.lists.contains(&number);
                postgres::oid_of(&if is_list { DataType::new_list(item, true) } else { item })
            });
            *oid = written.types.get(&number).copied().or(inferred).unwrap_or(0);
        }
        Ok(())
    }

    /// Parses a statement. Also returns whether it is about PostgreSQL's catalogue.
    fn parse(&self, sql: &str) -> Result<(Statement, bool), QueryError> {
        let about = self.postgres.is_some() && postgres::is_about_postgres(sql);
        let dialect = if about { Dialect::PostgreSQL } else { Dialect::Generic };
        let explained = if self.postgres.is_some() { postgres::explain::statement(sql)? } else { None };
        Ok((question(explained.as_deref().unwrap_or(sql), dialect)?, about))
    }

    /// The column for a client of PostgreSQL that asks for a plan.
    fn explained(&self, statement: &Statement) -> Option<SchemaRef> {
        self.postgres.as_ref().and_then(|_| postgres::explain::columns(statement))
    }

    /// Rewrites a statement to one that DataFusion can plan, with PostgreSQL's notation if a client of it asks.
    fn rewrite(&self, mut statement: Statement, about: bool) -> Result<Statement, QueryError> {
        if let Statement::Explain(mut explain) = statement {
            *explain.statement = self.rewrite(*explain.statement, about)?;
            return Ok(Statement::Explain(explain));
        }
        let Statement::Statement(inner) = &mut statement else { return Ok(statement) };
        let Some(catalog) = &self.postgres else {
            postgres::conditions(inner)?;
            return Ok(statement);
        };
        match rewrite(inner, about, &|name| catalog.number(name))? {
            Rewritten::Nothing(columns) => question(&nothing(&columns), Dialect::Generic),
            Rewritten::Question => Ok(statement),
        }
    }

    /// The columns of an answer as the client gets them.
    fn sent(&self, columns: &SchemaRef) -> SchemaRef {
        if self.postgres.is_none() {
            return columns.clone();
        }
        let sent = |field: &FieldRef| field.as_ref().clone().with_name(postgres::without_mark(field.name()));
        Arc::new(Schema::new(columns.fields().iter().map(sent).collect::<Vec<_>>()))
    }

    async fn plan(&self, statement: Statement) -> Result<LogicalPlan, QueryError> {
        let plan = self.context.state().statement_to_plan(statement).await.map_err(|e| self.named(e.into()))?;
        allowed().verify_plan(&plan)?;
        Ok(plan)
    }

    /// Adds the names of all tables to an error about an unknown table.
    fn named(&self, error: QueryError) -> QueryError {
        match error {
            QueryError::Unknown(unknown) if unknown.what == NO_TABLE => no_table(&unknown.name, self.tables.names()),
            other => other,
        }
    }
}

/// The databases of a data folder, including `sim`, sorted by name.
///
/// # Errors
/// If the folder cannot be listed.
pub fn databases(data: &Path) -> Result<Vec<String>, QueryError> {
    let mut names: BTreeSet<String> = Tables::list(data, &Unique::new(), &Arc::default())?.into_keys().collect();
    names.insert(SIM.to_owned());
    Ok(names.into_iter().collect())
}

/// Forbids statements that change tables, files or settings.
fn allowed() -> SQLOptions {
    SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false)
}

/// Types lists of numbers in answers about PostgreSQL's catalogue as lists of OIDs. Other lists of numbers make asyncpg
/// ask for their type, in a query that has such a list itself, and so forever.
fn with_lists_of_oids(plan: LogicalPlan) -> Result<LogicalPlan, QueryError> {
    let numbers = DataType::new_list(DataType::Int64, true);
    if plan.schema().fields().iter().all(|field| *field.data_type() != numbers) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().map(|(table, field)| {
        let column = Expr::Column(Column::from((table, field)));
        if *field.data_type() == numbers {
            cast(column, postgres::oids()).alias_qualified(table.cloned(), field.name())
        } else {
            column
        }
    });
    let columns: Vec<_> = columns.collect();
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// A query with these columns and no rows. A repeated name gets its position as a suffix.
fn nothing(columns: &[String]) -> String {
    let column = |(place, name): (usize, &String)| {
        let name = if columns[..place].contains(name) { format!("{name}_{}", place + 1) } else { name.clone() };
        format!("NULL::TEXT AS {}", quoted(&name))
    };
    let columns: Vec<_> = columns.iter().enumerate().map(column).collect();
    format!("SELECT {} WHERE false", columns.join(", "))
}

/// Parses the single statement in `sql`, which must be a query.
fn question(sql: &str, dialect: Dialect) -> Result<Statement, QueryError> {
    let mut statements = parse(sql, dialect, |mut parser| parser.parse_statements())?;
    let statement = match statements.len() {
        1 => statements.pop_front(),
        0 => None,
        _ => return Err(QueryError::Syntax { reason: "send one statement at a time".to_owned() }),
    };
    let mut statement = statement.ok_or_else(|| QueryError::Syntax { reason: "the statement is empty".to_owned() })?;
    if let Some(statement) = inner(&mut statement) {
        check_statement(statement)?;
        distinct::mend(statement)?;
        wildcards::complete(statement)?;
        number_marks(statement)?;
    }
    if asks(&statement) {
        return Ok(statement);
    }
    Err(QueryError::Refused { statement: word(&statement) })
}

/// The first word of a statement, or of the one that an `EXPLAIN` contains.
fn word(statement: &Statement) -> String {
    if let Statement::Explain(explain) = statement {
        return word(&explain.statement);
    }
    statement.to_string().split_whitespace().next().unwrap_or_default().to_uppercase()
}

/// The standard SQL statement, or the one that an `EXPLAIN` contains.
fn inner(statement: &mut Statement) -> Option<&mut ast::Statement> {
    match statement {
        Statement::Statement(statement) => Some(statement),
        Statement::Explain(explain) => inner(&mut explain.statement),
        _ => None,
    }
}

fn asks(statement: &Statement) -> bool {
    match statement {
        Statement::Explain(explain) => asks(&explain.statement),
        Statement::Statement(statement) => matches!(
            **statement,
            ast::Statement::Query(_)
                | ast::Statement::Explain { .. }
                | ast::Statement::ExplainTable { .. }
                | ast::Statement::ShowTables { .. }
                | ast::Statement::ShowColumns { .. }
                | ast::Statement::ShowFunctions { .. }
                | ast::Statement::ShowVariable { .. }
        ),
        _ => false,
    }
}

/// The description of a query.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Types of the parameters `$1`, `$2`, as PostgreSQL's numbers (OIDs); 0 for types that cannot be inferred.
    pub types: Vec<u32>,
    /// The columns of the answer.
    pub columns: SchemaRef,
}

/// The answer to a query, streamed batch by batch.
pub struct Rows {
    stream: SendableRecordBatchStream,
    schema: SchemaRef,
    plan: Arc<dyn ExecutionPlan>,
    /// Whether the rows are plans for a client of PostgreSQL.
    explains: bool,
}

impl Rows {
    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The data read for the rows so far; complete after the last row.
    pub fn reading(&self) -> Reading {
        Reading::of(&*self.plan)
    }

    /// The next rows; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<RecordBatch, QueryError>> {
        let batch = self.stream.next().await?;
        Some(batch.map_err(QueryError::from).and_then(|batch| {
            if self.explains {
                return postgres::explain::rows(&self.schema, &batch);
            }
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let named = RecordBatch::try_new_with_options(self.schema.clone(), batch.columns().to_vec(), &rows);
            named.map_err(|error| QueryError::Invalid { reason: error.to_string() })
        }))
    }
}
