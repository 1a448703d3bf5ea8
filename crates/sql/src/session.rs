//! Settings, functions, memory and temporary files of queries.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::MemoryCatalogProviderList;
use datafusion::execution::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use snapshot::Opened;
use table::SIM;

use crate::error::QueryError;
use crate::exact;
use crate::functions;
use crate::pauses::PauseInJoins;

/// The name of the catalogue that holds all databases.
pub const CATALOG: &str = "manyworlds";

/// Resources of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Threads per query.
    pub threads: usize,
    /// Memory limit of all queries together, in bytes. Larger sorts, joins and groups spill to temporary files.
    pub memory_bytes: usize,
    /// The place for spilled data; `None`: the system's temporary folder, without a limit.
    pub spill: Option<Spill>,
}

/// A place for temporary files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    /// The folder; it must exist.
    pub folder: PathBuf,
    /// Limit for all files of one query together, in bytes.
    pub bytes: u64,
}

impl Default for Options {
    /// One thread per core, 1 GB of memory, and the system's temporary folder.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 1 << 30, spill: None }
    }
}

/// State shared by all queries: settings, functions, memory and temporary files. Creating it takes longer than a small
/// query.
#[derive(Clone)]
pub struct Session {
    state: SessionState,
    /// The tables of earlier queries.
    pub(crate) opened: Arc<Opened>,
}

impl Session {
    /// # Errors
    /// If the folder for temporary files cannot be used.
    pub fn new(options: Options) -> Result<Self, QueryError> {
        let mut state = state(options)?;
        functions::register(&mut state)?;
        Ok(Self { state, opened: Arc::default() })
    }

    /// The tables of earlier queries, which other questions may open faster, too.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// A new context without tables or cached files.
    pub(crate) fn context(&self) -> SessionContext {
        let mut state = self.state.clone();
        state.register_catalog_list(Arc::new(MemoryCatalogProviderList::new()));
        // A query may have replaced the file.
        state.runtime_env().cache_manager.get_file_metadata_cache().clear();
        SessionContext::new_with_state(state)
    }
}

/// A session state without tables.
pub(crate) fn state(options: Options) -> Result<SessionState, QueryError> {
    /// Number of memory consumers to name when memory runs out.
    const NAMED: std::num::NonZeroUsize = std::num::NonZeroUsize::MIN;
    let mut config = SessionConfig::new()
        .with_target_partitions(options.threads)
        .with_default_catalog_and_schema(CATALOG, SIM)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(true);
    // The filter of `min(a)` would drop rows that another aggregate, `max(b + 1)`, needs. It would also drop NaN
    // values, which statistics omit: https://github.com/apache/datafusion/issues/24816.
    config.options_mut().optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    let pool = TrackConsumersPool::new(FairSpillPool::new(options.memory_bytes), NAMED);
    let mut disk = DiskManagerBuilder::default();
    if let Some(Spill { folder, bytes }) = options.spill {
        disk = disk.with_mode(DiskManagerMode::Directories(vec![folder])).with_max_temp_directory_size(bytes);
    }
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).with_disk_manager_builder(disk);
    let runtime = runtime.build_arc()?;
    let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    let builder = builder.with_analyzer_rules(exact::analyzer_rules()).with_optimizer_rules(exact::optimizer_rules());
    let mut state = builder.with_physical_optimizer_rule(Arc::new(PauseInJoins)).build();
    exact::register(&mut state)?;
    Ok(state)
}
