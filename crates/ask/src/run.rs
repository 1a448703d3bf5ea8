//! Computes answers: segments in parallel, then the unflushed rows.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use snapshot::Snapshot;
use table::Segment;

use crate::answer::Answer;
use crate::cache::{Cache, CacheKey};
use crate::error::AskError;
use crate::partial::{Partial, Shape};
use crate::plan::Plan;
use crate::question::Question;
use crate::reading::Reading;
use crate::segment::{Matching, Opened, Unit, match_batch, of_segment, read, units_of};
use crate::state::{Gathered, Groups, Joining};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub threads: usize,
    /// Memory limit of groups and accumulators, in bytes.
    pub memory_bytes: usize,
    /// The cache of segments' answers; `None` to disable it.
    pub cache: Option<Cache>,
}

impl Default for Options {
    /// One thread per hardware thread, and 1 GiB of memory.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 1 << 30, cache: None }
    }
}

type Result<T> = std::result::Result<T, AskError>;

/// Answers a question.
///
/// # Errors
/// If the question does not fit the table, the answer exceeds the memory limit, or a segment cannot be read.
pub fn answer(source: &Snapshot, question: &Question, options: &Options) -> Result<Answer> {
    if question.samples.is_some() {
        return crate::samples::samples(source, question);
    }
    // Groups past the limit need not be kept.
    compute(source, question, options, question.limit.is_some())?.answer()
}

/// Computes this machine's partial answer, to merge with those of other machines.
///
/// # Errors
/// See [`answer`]; also if the question asks for samples.
pub fn partial(source: &Snapshot, question: &Question, options: &Options) -> Result<Partial> {
    if question.samples.is_some() {
        return Err(AskError::invalid("samples have no partial answer: ask for groups or measures"));
    }
    compute(source, question, options, false)
}

/// Computes the groups; if `first_only`, those past the question's limit may be left out.
fn compute(source: &Snapshot, question: &Question, options: &Options, first_only: bool) -> Result<Partial> {
    let plan = Plan::new(question, &source.schema)?;
    let mut reading = Reading { segments: source.segments.len(), ..Reading::default() };
    let mut groups = Gathered::new(&plan);
    let budget = Budget { limit: options.memory_bytes, used: AtomicUsize::new(0) };
    let wanted = plan.answered();
    let mut fresh = Share::new(&budget);
    for batch in &source.unflushed {
        let matching = match_batch(batch, &plan, &wanted)?;
        reading.rows_unflushed += batch.num_rows() as u64;
        reading.rows_matching += matching.rows as u64;
        groups.update(&plan, matching.rows, &matching.columns)?;
        fresh.check(groups.len(), || groups.memory())?;
    }
    let cache = options.cache.as_ref();
    let jobs = jobs(source, &plan, (&wanted, cache), &mut groups, &mut reading);
    let work = Work {
        root: &source.root,
        plan: &plan,
        wanted: &wanted,
        jobs,
        cache,
        wrote: AtomicBool::new(false),
        too_large: AtomicBool::new(false),
        budget: &budget,
        cursor: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        failed: Mutex::new(None),
    };
    let mut all = vec![groups];
    for (more, read) in work.run(options.threads)? {
        reading.add(read);
        all.push(more);
    }
    if let Some(cache) = cache.filter(|_| work.wrote.load(Ordering::Relaxed)) {
        cache.trim();
    }
    reading.bytes += reading.skipped.bytes;
    let shape = Shape::new(question.clone(), &plan);
    let first = |groups: &mut Groups| shape.first(groups);
    let check = |memory: usize, groups: usize| budget.check(memory, groups);
    let joining = Joining {
        plan: &plan,
        threads: options.threads.max(1),
        check: &check,
        first: if first_only { Some(&first) } else { None },
    };
    let joined = joining.join(all)?;
    Ok(Partial::new(shape, joined, reading))
}

/// A segment to read, and the conditions that the log does not decide.
struct Job<'a> {
    segment: &'a Segment,
    conditions: Vec<usize>,
    /// The cache key, if the answer is to be cached.
    key: Option<CacheKey>,
    begun: OnceLock<Begun>,
    next: AtomicUsize,
    /// For an answer to cache: what the threads found so far.
    shared: Mutex<Shared>,
}

/// A segment's answer to cache, from several threads.
#[derive(Default)]
struct Shared {
    groups: Option<Groups>,
    rows_matching: u64,
    units: usize,
    /// The answer is too large, so threads keep what they find.
    too_large: bool,
}

enum Begun {
    /// Nothing: the answer was cached, or the segment cannot be read.
    Done,
    /// Units to read. `store`: cache the answer; decided once, so that all threads agree.
    Units { opened: Opened, units: Vec<Unit>, store: bool },
}

/// The segments to open. Segments that the log can count are added to `groups` right away.
fn jobs<'a>(
    source: &'a Snapshot,
    plan: &Plan,
    (wanted, cache): (&[usize], Option<&Cache>),
    groups: &mut Gathered,
    reading: &mut Reading,
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for segment in &source.segments {
        let Some(conditions) = of_segment(segment, plan) else {
            reading.segments_by_log += 1;
            continue;
        };
        if conditions.is_empty() && wanted.is_empty() && segment.rows > 0 {
            reading.segments_counted += 1;
            reading.rows_matching += segment.rows;
            groups.groups.count_rows(segment.rows);
            continue;
        }
        let key = cache.and_then(|cache| cache.key(plan, segment, &conditions));
        let (begun, next, shared) = (OnceLock::new(), AtomicUsize::new(0), Mutex::default());
        jobs.push(Job { segment, conditions, key, begun, next, shared });
    }
    jobs
}

/// Memory that all threads share, in bytes.
struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// One thread's part of the budget.
struct Share<'a> {
    budget: &'a Budget,
    own: usize,
    /// Units to read before the next check.
    left: usize,
}

impl<'a> Share<'a> {
    fn new(budget: &'a Budget) -> Self {
        Self { budget, own: 0, left: 0 }
    }

    /// Fails if the memory exceeds the limit.
    fn check(&mut self, groups: usize, memory: impl FnOnce() -> usize) -> Result<()> {
        /// Measuring the memory of this many groups takes about as long as reading a unit.
        const GROUPS_EACH: usize = 1 << 18;
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        self.left = groups / GROUPS_EACH;
        let now = memory();
        let before = self.budget.used.fetch_add(now, Ordering::Relaxed);
        self.budget.used.fetch_sub(self.own, Ordering::Relaxed);
        let used = (before + now).saturating_sub(self.own);
        self.own = now;
        self.budget.check(used, groups)
    }
}

impl Budget {
    /// Fails if so much memory exceeds the limit.
    fn check(&self, used: usize, groups: usize) -> Result<()> {
        if used <= self.limit {
            return Ok(());
        }
        let wanted = format!("one thread alone holds {groups} groups");
        Err(AskError::Memory { limit: self.limit, wanted })
    }
}

struct Work<'a> {
    root: &'a Path,
    plan: &'a Plan,
    wanted: &'a [usize],
    jobs: Vec<Job<'a>>,
    cache: Option<&'a Cache>,
    wrote: AtomicBool,
    /// Set when an answer was too large to cache, to stop caching those of other segments.
    too_large: AtomicBool,
    budget: &'a Budget,
    cursor: AtomicUsize,
    stop: AtomicBool,
    failed: Mutex<Option<AskError>>,
}

impl Work<'_> {
    /// Returns the result of each thread.
    fn run(&self, threads: usize) -> Result<Vec<(Gathered, Reading)>> {
        if self.jobs.is_empty() {
            return Ok(Vec::new());
        }
        let helpers = threads.min(self.worth()).max(1) - 1;
        let done = std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(|| self.thread())).collect();
            let mut done = vec![self.thread()];
            for helper in helpers {
                match helper.join() {
                    Ok(found) => done.push(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// Number of threads that pay off.
    fn worth(&self) -> usize {
        /// Reading this many rows takes longer than starting a thread. Segments without a row count use `ROWS_UNKNOWN`.
        const ROWS_EACH: u64 = 1 << 16;
        const ROWS_UNKNOWN: u64 = 1 << 20;
        let rows = self.jobs.iter().map(|job| if job.segment.rows > 0 { job.segment.rows } else { ROWS_UNKNOWN });
        rows.sum::<u64>().div_ceil(ROWS_EACH) as usize
    }

    fn fail(&self, error: AskError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Starts segments one after the other, then helps with those of other threads.
    fn thread(&self) -> (Gathered, Reading) {
        let mut groups = Gathered::new(self.plan);
        let mut reading = Reading::default();
        let mut share = Share::new(self.budget);
        while let Some(job) = self.jobs.get(self.cursor.fetch_add(1, Ordering::Relaxed)) {
            self.job(job, &mut groups, &mut reading, &mut share);
        }
        for job in &self.jobs {
            self.job(job, &mut groups, &mut reading, &mut share);
        }
        (groups, reading)
    }

    fn job(&self, job: &Job<'_>, groups: &mut Gathered, reading: &mut Reading, share: &mut Share<'_>) {
        let done = match job.begun.get_or_init(|| self.begin(job, groups, reading)) {
            Begun::Done => return,
            Begun::Units { opened, units, store } => match job.key.as_ref().filter(|_| *store) {
                None => self.units(job, (opened, units), groups, reading, share),
                Some(key) => self.answer_of(job, key, (opened, units), groups, reading, share),
            },
        };
        if let Err(error) = done {
            self.fail(error);
        }
    }

    /// Finds the cached answer of a segment, or opens the segment.
    fn begin(&self, job: &Job<'_>, groups: &mut Gathered, reading: &mut Reading) -> Begun {
        if self.stop.load(Ordering::Relaxed) {
            return Begun::Done;
        }
        if let Some(key) = &job.key
            && let Some(cached) = Cache::find(self.plan, key)
        {
            reading.segments_cached += 1;
            reading.rows_matching += cached.rows_matching;
            if let Err(error) = groups.merge(cached.groups) {
                self.fail(error);
            }
            return Begun::Done;
        }
        match self.open(job, reading) {
            Ok((opened, units)) => Begun::Units { opened, units, store: !self.too_large.load(Ordering::Relaxed) },
            Err(error) => {
                self.fail(error);
                Begun::Done
            }
        }
    }

    /// The next unit of a segment that no thread reads yet.
    fn next_unit<'a>(&self, job: &Job<'_>, units: &'a [Unit]) -> Option<&'a Unit> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        units.get(job.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Reads units of a segment until none are left.
    fn units(
        &self,
        job: &Job<'_>,
        (opened, units): (&Opened, &[Unit]),
        groups: &mut Gathered,
        reading: &mut Reading,
        share: &mut Share<'_>,
    ) -> Result<()> {
        while let Some(unit) = self.next_unit(job, units) {
            let matching = self.unit(opened, unit, reading)?;
            groups.update(self.plan, matching.rows, &matching.columns)?;
            share.check(groups.len(), || groups.memory())?;
        }
        Ok(())
    }

    /// See [`Self::units`]; the last thread to finish caches the segment's answer.
    fn answer_of(
        &self,
        job: &Job<'_>,
        key: &CacheKey,
        (opened, units): (&Opened, &[Unit]),
        groups: &mut Gathered,
        reading: &mut Reading,
        share: &mut Share<'_>,
    ) -> Result<()> {
        let before = reading.rows_matching;
        let mut own = Groups::new(self.plan);
        let rest = groups.memory();
        let mut done = 0;
        while let Some(unit) = self.next_unit(job, units) {
            let matching = self.unit(opened, unit, reading)?;
            own.update(self.plan, matching.rows, &matching.columns)?;
            done += 1;
            let memory = own.memory();
            share.check(own.keys.len(), || memory + rest)?;
            // Where keys rarely repeat, each of the other units will need as much.
            let repeat_rarely = own.keys.len() as u64 * 10 > (reading.rows_matching - before) * 9;
            let expected = if repeat_rarely { memory / done * units.len() } else { memory };
            if !Cache::fits(expected) || self.too_large.load(Ordering::Relaxed) {
                self.too_large.store(true, Ordering::Relaxed);
                let mut shared = job.shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.too_large = true;
                let others = shared.groups.take();
                drop(shared);
                groups.merge(own)?;
                others.map_or(Ok(()), |others| groups.merge(others))?;
                return self.units(job, (opened, units), groups, reading, share);
            }
        }
        if done == 0 {
            return Ok(());
        }
        let mut shared = job.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.too_large {
            drop(shared);
            return groups.merge(own);
        }
        match shared.groups.as_mut() {
            Some(all) => all.merge(own)?,
            None => shared.groups = Some(own),
        }
        shared.rows_matching += reading.rows_matching - before;
        shared.units += done;
        if shared.units == units.len()
            && let Some(mut all) = shared.groups.take()
        {
            if let Some(cache) = self.cache {
                let fits = cache.store(key, &mut all, shared.rows_matching);
                (if fits { &self.wrote } else { &self.too_large }).store(true, Ordering::Relaxed);
            }
            groups.merge(all)?;
        }
        Ok(())
    }

    fn open(&self, job: &Job<'_>, reading: &mut Reading) -> Result<(Opened, Vec<Unit>)> {
        let mut opened = Opened::open(self.root, job.segment, self.plan)?;
        let from = (self.root, job.segment);
        let units = units_of(&mut opened, from, self.plan, &job.conditions, &mut reading.skipped)?;
        reading.bytes += opened.bytes;
        reading.groups += opened.groups();
        let mut groups: Vec<usize> = units.iter().map(|unit| unit.group).collect();
        groups.dedup();
        reading.groups_read += groups.len();
        Ok((opened, units))
    }

    fn unit(&self, opened: &Opened, unit: &Unit, reading: &mut Reading) -> Result<Matching> {
        let matching = read(opened, unit, self.plan, self.wanted, reading)?;
        reading.rows += unit.rows() as u64;
        reading.rows_matching += matching.rows as u64;
        Ok(matching)
    }
}
