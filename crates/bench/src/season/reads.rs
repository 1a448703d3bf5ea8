//! Latencies of reads of the stored season, numbered as in the requirements (OC-R1 to OC-R6).

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::RealDisk;
use ensemble::{Column, Columns, OutcomeRef, Store, StoredEnsemble, correlation, price};
use serde::Serialize;

use super::launch::RunRequest;
use super::questions::{
    GAME, TEAM, all_seasons, basket, bet_in_sql, conditions, count_by_brute_force, points_of_team, season_in_sql, whole,
};
use super::workload::{READ_NAME, SeasonWorkload};
use crate::error::BenchError;
use crate::harness::bench::{Ask, Bench};
use crate::harness::child::Running;
use crate::harness::statistics::{Latency, repeat};

/// Cache for columns: enough for all questions, so that warm reads come from memory.
const CACHE_BYTES: usize = 4 << 30;
const COLD_REPEATS: usize = 300;
const WARM_REPEATS: usize = 20_000;
/// Worlds per range of the season written during reads. A low number makes commits frequent.
const WRITER_RANGE_WORLDS: u32 = 20;
const WRITER_WORLDS: u32 = 100_000;
const WRITER_NAME: &str = "beside";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Read {
    /// The requirement's number.
    pub id: &'static str,
    /// The question in plain words.
    pub what: String,
    /// Values in the answer.
    pub values: usize,
    /// The first read after opening; the page cache may hold the files.
    pub cold: Latency,
    /// Repeated reads, from this process's memory.
    pub warm: Latency,
    pub limit: Limit,
}

/// The required p99.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Whether it applies to warm or to cold reads.
    pub warm: bool,
    pub p99_ms: f64,
    pub met: bool,
}

/// The same question natively and in SQL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The question in plain words.
    pub what: String,
    /// The question in SQL.
    pub statement: String,
    /// Answered natively, from columns in memory.
    pub native: Latency,
    /// The engine's first answer, including opening the session.
    pub sql_first: Latency,
    /// The engine's later answers.
    pub sql: Latency,
    /// Rows of the answer in SQL.
    pub rows: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reads {
    pub worlds: usize,
    pub reads: Vec<Read>,
    /// Worlds that the other process committed during R5.
    pub written_beside: usize,
    /// The probability of the bet, confirmed by brute force.
    pub probability: f64,
    /// Native answers compared with SQL.
    pub sql: Vec<Comparison>,
}

/// The stored season, and how long to repeat each read.
struct StoredSeason {
    stored: StoredEnsemble,
    budget: Duration,
}

pub(crate) async fn read_all(bench: &Bench<'_, SeasonWorkload>, sql: Ask<'_>) -> Result<Reads, BenchError> {
    bench.check_stop("reads")?;
    let data = bench.read_folder();
    let stored = open_store(&data).await?.ensemble(READ_NAME).await?;
    let budget = Duration::from_secs_f64(bench.workload.read_seconds);
    let season = StoredSeason { stored, budget };
    let catalogue = &season.stored.plan.catalogue;
    let five = basket(catalogue, 5)?;
    let points = points_of_team(catalogue, TEAM)?;
    let one_game = whole(catalogue, GAME)?;
    let game_limit = if season.stored.worlds() <= 10_000 { 100.0 } else { 500.0 };
    let mut reads = vec![
        season.ask("R1", &format!("all {} outcomes of one game", one_game.len()), game_limit, &one_game)?,
        season.ask("R2", "5 named outcomes of one game", 10.0, &five)?,
        season.ask("R2", "12 named outcomes of one game", 10.0, &basket(catalogue, 12)?)?,
        season.ask("R3", &format!("points of one team in its {} games", points.len()), 100.0, &points)?,
        season.ask("R4", "season outcomes of one team", 50.0, &whole(catalogue, TEAM)?)?,
        season.ask("R4", "season outcomes of all teams", 50.0, &all_seasons(catalogue)?)?,
    ];
    let (beside, written_beside) = read_beside_writer(bench, &season, &reads[1], &five).await?;
    reads.push(beside);
    bench.check_stop("prices")?;
    let (priced, probability) = season.price_five_legs()?;
    let sql = season.compare(&data, sql)?;
    reads.push(priced);
    bench.check_stop("correlations")?;
    reads.push(season.correlate()?);
    Ok(Reads { worlds: season.stored.worlds(), reads, written_beside, probability, sql })
}

async fn open_store(data: &Path) -> Result<Store, BenchError> {
    let store = Store::open(data, Arc::new(RealDisk)).await?;
    store.ok_or_else(|| BenchError::Missing(format!("tables in {}", data.display())))
}

impl StoredSeason {
    fn open(&self) -> Result<Columns, BenchError> {
        Ok(Columns::open(self.stored.clone(), CACHE_BYTES)?)
    }

    /// Measures one read; its cold p99 must not exceed `most_ms`.
    fn ask(&self, id: &'static str, what: &str, most_ms: f64, wanted: &[OutcomeRef]) -> Result<Read, BenchError> {
        self.measure(id, what, wanted.len(), (false, most_ms), |columns| Ok(columns.get(wanted)?))
    }

    /// Measures a question about `outcomes` outcomes, in new columns and in kept ones. `limit` is whether the required
    /// p99 applies to warm reads, and its milliseconds.
    fn measure<T>(
        &self,
        id: &'static str,
        what: &str,
        outcomes: usize,
        (warm_limit, p99_ms): (bool, f64),
        question: impl Fn(&Columns) -> Result<T, BenchError>,
    ) -> Result<Read, BenchError> {
        let cold = repeat(self.budget, COLD_REPEATS, |_| {
            let columns = self.open()?;
            timed(|| question(&columns))
        })?;
        let columns = self.open()?;
        question(&columns)?;
        let warm = repeat(self.budget, WARM_REPEATS, |_| timed(|| question(&columns)))?;
        let measured = if warm_limit { warm } else { cold };
        let limit = Limit { warm: warm_limit, p99_ms, met: measured.p99_ms <= p99_ms };
        Ok(Read { id, what: what.to_owned(), values: outcomes * self.stored.worlds(), cold, warm, limit })
    }

    /// R6: the probability that five conditions hold together, confirmed by brute force.
    fn price_five_legs(&self) -> Result<(Read, f64), BenchError> {
        let columns = self.open()?;
        let conditions = conditions(&self.stored.plan.catalogue)?;
        let answer = price(&columns, &conditions, None)?;
        let counted = count_by_brute_force(&columns)?;
        if answer.hits != counted {
            return Err(BenchError::Wrong(format!("{} worlds were priced; brute force counts {counted}", answer.hits)));
        }
        let what = "five-leg price, equal to brute force";
        let question = |columns: &Columns| Ok(price(columns, &conditions, None)?);
        Ok((self.measure("R6", what, conditions.len(), (true, 10.0), question)?, answer.probability))
    }

    /// The correlation matrix of all outcomes of a game.
    fn correlate(&self) -> Result<Read, BenchError> {
        let wanted = whole(&self.stored.plan.catalogue, GAME)?;
        let question = |columns: &Columns| Ok(correlation(&columns.get(&wanted)?));
        self.measure("M", "correlations of all outcomes of one game", wanted.len(), (true, 8000.0), question)
    }

    /// Measures the same questions natively and in SQL.
    fn compare(&self, data: &Path, sql: Ask<'_>) -> Result<Vec<Comparison>, BenchError> {
        let columns = self.open()?;
        let catalogue = &self.stored.plan.catalogue;
        let (conditions, team) = (conditions(catalogue)?, whole(catalogue, TEAM)?);
        let bet = repeat(self.budget, WARM_REPEATS, |_| timed(|| Ok(price(&columns, &conditions, None)?)))?;
        let season = repeat(self.budget, WARM_REPEATS, |_| timed(|| Ok(columns.get(&team)?)))?;
        let questions = [
            ("five-leg price", bet, bet_in_sql(READ_NAME)),
            ("season outcomes of one team", season, season_in_sql(READ_NAME)),
        ];
        let ask = |(what, native, statement): (&str, Latency, String)| {
            let mut rows = 0;
            let mut once = || {
                let started = Instant::now();
                let refused = |source| BenchError::Sql { statement: statement.clone(), source };
                rows = sql(data, &statement).map_err(refused)?;
                Ok::<_, BenchError>(started.elapsed())
            };
            let sql_first = Latency::of(&[once()?]);
            let sql = repeat(self.budget, COLD_REPEATS, |_| once())?;
            Ok(Comparison { what: what.to_owned(), native, sql_first, sql, rows, statement })
        };
        questions.into_iter().map(ask).collect()
    }
}

/// R5: the basket of R2, read while another process writes a season into the same tables on the remaining cores. The
/// answers must equal those without a writer.
async fn read_beside_writer(
    bench: &Bench<'_, SeasonWorkload>,
    season: &StoredSeason,
    idle: &Read,
    wanted: &[OutcomeRef],
) -> Result<(Read, usize), BenchError> {
    bench.check_stop("reads beside a writer")?;
    let data = bench.read_folder();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let request = RunRequest {
        name: WRITER_NAME,
        worlds: WRITER_WORLDS,
        threads: Some(cores.saturating_sub(1).max(1)),
        range_worlds: Some(WRITER_RANGE_WORLDS),
        ..bench.request(&data)
    };
    let expected = season.open()?.get(wanted)?;
    let mut writer = request.start()?;
    let before = first_commit(&data, &mut writer).await?;
    // A store opened between commits must still show the same season.
    let season = StoredSeason { stored: open_store(&data).await?.ensemble(READ_NAME).await?, budget: season.budget };
    let (mut read, after) = loop {
        let read = season.ask("R5", "5 named outcomes while another season is written", f64::MAX, wanted)?;
        let after = written(&data).await?;
        // Repeat until a commit happens during the reads.
        if after > before || !writer.is_alive() {
            break (read, after);
        }
    };
    let alive = writer.is_alive();
    drop(writer);
    let seen: Vec<Arc<Column>> = season.open()?.get(wanted)?;
    if seen != expected {
        return Err(BenchError::Wrong("a read beside a writer differs from the same read without".to_owned()));
    }
    if !alive {
        return Err(BenchError::Missing("writer any more: it ended too early".to_owned()));
    }
    open_store(&data).await?.drop_ensemble(WRITER_NAME).await?;
    let p99_ms = 2.0 * idle.cold.p99_ms;
    read.limit = Limit { warm: false, p99_ms, met: read.cold.p99_ms <= p99_ms };
    Ok((read, after - before))
}

/// Waits for the writer's first commit.
async fn first_commit(data: &Path, writer: &mut Running) -> Result<usize, BenchError> {
    const PATIENCE: Duration = Duration::from_mins(2);
    let started = Instant::now();
    while writer.is_alive() && started.elapsed() < PATIENCE {
        if let worlds @ 1.. = written(data).await? {
            return Ok(worlds);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(BenchError::Run {
        command: format!("manyworlds run --name {WRITER_NAME}"),
        said: "it committed nothing".into(),
    })
}

/// Worlds that the writer has committed.
async fn written(data: &Path) -> Result<usize, BenchError> {
    let store = open_store(data).await?;
    if !store.names().await?.iter().any(|name| name == WRITER_NAME) {
        return Ok(0);
    }
    Ok(store.ensemble(WRITER_NAME).await?.worlds())
}

/// Times `work`, excluding the drop of its result.
fn timed<T>(work: impl FnOnce() -> Result<T, BenchError>) -> Result<Duration, BenchError> {
    let started = Instant::now();
    let result = black_box(work()?);
    let took = started.elapsed();
    drop(result);
    Ok(took)
}
