//! Runs `tests/slt/*.slt`: SQL with expected answers and errors.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sql::{Engine, QueryError};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner, parse_file};

use crate::support::{ask, cells, stored};

struct Asker(Arc<Engine>);

#[async_trait]
impl AsyncDB for Asker {
    type Error = QueryError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, QueryError> {
        let answer = ask(&self.0, sql).await?;
        Ok(DBOutput::Rows { types: vec![DefaultColumnType::Any; answer.num_columns()], rows: cells(&answer) })
    }

    async fn shutdown(&mut self) {}
}

/// Runs files of `tests/slt` on `engine`; returns the failures.
pub(crate) async fn failures(engine: &Arc<Engine>, files: &[&str]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let mut failures = Vec::new();
    for file in files {
        let mut runner = Runner::new(async || Ok(Asker(engine.clone())));
        for record in parse_file(folder.join(file)).unwrap() {
            failures.extend(runner.run_async(record).await.err().map(|e| e.to_string()));
        }
    }
    failures
}

#[tokio::test(flavor = "multi_thread")]
async fn slt_files_pass() {
    let stored = stored().await;
    let failures = failures(&stored.engine, &["tables.slt", "functions.slt", "events.slt", "refusals.slt"]).await;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
