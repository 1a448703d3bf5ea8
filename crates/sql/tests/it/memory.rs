//! Memory of this crate's functions counts against the query.

use std::sync::Arc;

use disk::RealDisk;
use sql::{Engine, Options, QueryError, Session};

use crate::support::{ask, stored_in};

#[tokio::test(flavor = "multi_thread")]
async fn quantiles_respect_the_memory_limit() {
    let data = tempfile::tempdir().unwrap();
    stored_in(data.path()).await;
    let session = Session::new(Options { threads: 2, memory_bytes: 4 << 20, spill: None }).unwrap();
    let engine =
        Engine::open(data.path(), Arc::new(RealDisk), Arc::new(|_| unreachable!()), &session).await.unwrap().unwrap();
    for function in ["quantile(value, 0.5)", "histogram(value, 10)"] {
        let few = format!("SELECT {function} FROM (SELECT value % 1000 AS value FROM generate_series(1, 3000000))");
        assert_eq!(ask(&engine, &few).await.unwrap().num_rows(), 1);
        let many = ask(&engine, &format!("SELECT {function} FROM generate_series(1, 3000000)")).await;
        assert!(matches!(many, Err(QueryError::Memory { .. })), "{function}: {many:?}");
        let groups = format!("SELECT {function} FROM generate_series(1, 3000000) GROUP BY value % 2");
        let many = ask(&engine, &groups).await;
        assert!(matches!(many, Err(QueryError::Memory { .. })), "{function} of groups: {many:?}");
    }
    // Few values, but 10,000 buckets of each group.
    let wide = "SELECT histogram(value, 10000) FROM generate_series(1, 20000) GROUP BY value % 1000";
    let wide = ask(&engine, wide).await;
    assert!(matches!(wide, Err(QueryError::Memory { .. })), "{wide:?}");
}
