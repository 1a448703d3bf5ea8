//! A folder or bucket of tables.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use ::ensemble::{MakeModel, ReadRows, Store as Tables, StoredEnsemble};
use disk::{Disk, Place};
use model::UnknownName;
use pyo3::prelude::*;
use serde_json::{Value, json};
use snapshot::Snapshot;
use sql::{Engine, Ensembles, Options, QueryError, Scope, Session, Unique};
use table::{DATABASE, TableName};

use crate::batches::Batches;
use crate::ensemble::Ensemble;
use crate::failure::Failure;
use crate::wait::{wait, wait_blocking};
use crate::write::{self, Body};

/// A folder or bucket of tables, and the limits of its questions.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Store {
    place: Place,
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    options: Options,
    session: OnceLock<Session>,
}

pub(crate) fn make_model() -> MakeModel {
    ::ensemble::make_model(cli::models())
}

impl Store {
    /// The tables of ensembles; `None` if the place has none.
    fn tables_of_ensembles(&self, py: Python<'_>) -> PyResult<Option<Tables>> {
        let (folder, disk) = (self.folder.clone(), self.disk.clone());
        wait(py, async move { Tables::open(&folder, disk).await })
    }

    /// The folder and its disk.
    pub(crate) fn opened(&self) -> (PathBuf, Arc<dyn Disk>) {
        (self.folder.clone(), self.disk.clone())
    }

    /// The folder of a table of rows.
    fn folder_of(&self, table: &str) -> Result<PathBuf, Failure> {
        if let Place::Bucket(_) = self.place {
            return Err(Failure::invalid("tables of rows need a folder: only ensembles can be stored in a bucket"));
        }
        Ok(table.parse::<TableName>()?.folder(&self.folder))
    }

    /// Says that a table of rows is missing, with similar names.
    fn no_table(&self, name: &str) -> Result<Failure, Failure> {
        let names: Vec<String> = snapshot::tables(&self.folder)?.iter().map(ToString::to_string).collect();
        let names = names.iter().map(String::as_str);
        Ok(Failure::unknown(UnknownName::new("no table", name, names)))
    }

    fn session(&self) -> Result<Session, Failure> {
        if let Some(session) = self.session.get() {
            return Ok(session.clone());
        }
        let session = Session::new(self.options.clone())?;
        Ok(self.session.get_or_init(|| session).clone())
    }
}

#[pymethods]
impl Store {
    #[new]
    fn new(place: PathBuf, threads: Option<usize>, memory_bytes: Option<usize>) -> PyResult<Self> {
        let place = Place::parse(place).map_err(Failure::from)?;
        let (folder, disk) = place.open().map_err(Failure::from)?;
        let usual = Options::default();
        let options = Options {
            threads: threads.unwrap_or(usual.threads),
            memory_bytes: memory_bytes.unwrap_or(usual.memory_bytes),
            ..usual
        };
        Ok(Self { place, folder, disk, options, session: OnceLock::new() })
    }

    /// The place, as a user writes it.
    #[getter]
    fn place(&self) -> String {
        self.place.to_string()
    }

    /// All ensembles, in the form of `GET /api/v1/ensembles`.
    fn ensembles(&self, py: Python<'_>) -> PyResult<String> {
        let Some(tables) = self.tables_of_ensembles(py)? else { return Ok("[]".to_owned()) };
        let found = wait(py, async move { tables.ensembles(&mut ReadRows::default()).await })?;
        let listed = found.into_iter().map(|(name, found)| match found {
            Ok(ensemble) => ensemble.to_json(),
            Err(error) => json!({"ensemble": name, "state": "unreadable", "error": error.to_string()}),
        });
        Ok(listed.collect::<Value>().to_string())
    }

    /// Opens the current version of an ensemble.
    fn ensemble(&self, py: Python<'_>, name: String) -> PyResult<Ensemble> {
        let Some(tables) = self.tables_of_ensembles(py)? else {
            return Err(
                Failure::unknown(format!("unknown ensemble {name:?}: {} stores no ensemble", self.place)).into()
            );
        };
        let stored = wait(py, async move { tables.ensemble(&name).await })?;
        wait_blocking(py, move || Ensemble::open(stored, make_model()))
    }

    /// All tables that SQL can name, as database and name.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let tables = self.tables_of_ensembles(py)?;
        let (folder, session) = (self.folder.clone(), self.session()?);
        wait(py, async move {
            let ensembles = Ensembles::read(tables.as_ref(), &mut ReadRows::default()).await?;
            let scope = Scope { database: DATABASE, databases: None };
            Ok::<_, QueryError>(
                Engine::open_scoped(&folder, ensembles, make_model(), &session, &Unique::new(), scope)?.tables(),
            )
        })
    }

    /// Answers a query in SQL; `only` shows it one ensemble.
    fn sql(&self, py: Python<'_>, query: String, only: Option<&Ensemble>) -> PyResult<Batches> {
        let one = only.map(|ensemble| Ensembles::from(StoredEnsemble::clone(ensemble.stored())));
        let tables = if one.is_some() { None } else { self.tables_of_ensembles(py)? };
        let (folder, session) = (self.folder.clone(), self.session()?);
        wait(py, async move {
            let ensembles = match one {
                Some(one) => one,
                None => Ensembles::read(tables.as_ref(), &mut ReadRows::default()).await?,
            };
            let scope = Scope { database: DATABASE, databases: None };
            let engine = Engine::open_scoped(&folder, ensembles, make_model(), &session, &Unique::new(), scope)?;
            let mut rows = engine.query(&query).await?;
            let (schema, mut batches) = (rows.schema(), Vec::new());
            while let Some(batch) = rows.next().await {
                batches.push(batch?);
            }
            Ok::<_, QueryError>(Batches::new(schema, batches))
        })
    }

    /// Answers a question about a table: the options of `ask` as JSON. Also returns remarks about the answer.
    fn ask(&self, py: Python<'_>, table: &str, request: &str) -> PyResult<(Batches, Vec<String>)> {
        let request: ask::Request = serde_json::from_str(request).map_err(Failure::invalid)?;
        let question = request.question(chrono::Utc::now().timestamp_micros()).map_err(Failure::from)?;
        let root = self.folder_of(table)?;
        let session = self.session()?;
        let opened = wait(py, async move { Snapshot::reopen(&root, &[], session.opened()).await })?;
        let Some(source) = opened else { return Err(self.no_table(table)?.into()) };
        let options = ask::Options {
            threads: self.options.threads,
            memory_bytes: self.options.memory_bytes,
            ..ask::Options::default()
        };
        let answer = wait_blocking(py, move || ask::answer(&source, &question, &options))?;
        Ok((Batches::new(answer.rows.schema(), vec![answer.rows]), answer.notes))
    }

    /// Stores the rows of a body, which has the form of a request to `/api/v1/write`. Returns the number of stored rows,
    /// the refused items and the notices, as JSON.
    fn write(&self, py: Python<'_>, table: String, format: &str, body: Vec<u8>, refuse: bool) -> PyResult<String> {
        let (root, disk) = (self.folder_of(&table)?, self.disk.clone());
        let body = Body::new(table, format, body, refuse)?;
        let written = wait_blocking(py, move || write::write(&root, &disk, &body))?;
        Ok(written.to_string())
    }
}
