//! Answers questions: segments in parallel, then the rows that are in none yet.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use snapshot::Snapshot;
use table::Segment;

use crate::answer::Answer;
use crate::cache::{Asked, Cache};
use crate::error::AskError;
use crate::partial::Partial;
use crate::plan::Plan;
use crate::question::Question;
use crate::reading::Reading;
use crate::segment::{Opened, Unit, left_over, of_segment, read, take_batch};
use crate::state::Groups;

/// How a question is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Threads that work on it.
    pub threads: usize,
    /// Bytes that groups and what is known of them may take.
    pub memory_bytes: usize,
    /// Where answers of segments are kept for the next time; nowhere where there is none.
    pub cache: Option<Cache>,
}

impl Default for Options {
    /// As many threads as the machine runs at a time, and a gibibyte.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 1 << 30, cache: None }
    }
}

type Result<T> = std::result::Result<T, AskError>;

/// Answers a question.
///
/// # Errors
/// Where the question makes no sense for the table, where its answer needs more memory than it may have, and where a
/// segment cannot be read.
pub fn answer(source: &Snapshot, question: &Question, options: &Options) -> Result<Answer> {
    if question.samples.is_some() {
        return crate::samples::samples(source, question);
    }
    partial(source, question, options)?.answer()
}

/// What this machine knows of the answer, to be merged with what others know.
///
/// # Errors
/// As of [`answer`]; and where the question asks for samples, which are no groups.
pub fn partial(source: &Snapshot, question: &Question, options: &Options) -> Result<Partial> {
    if question.samples.is_some() {
        return Err(AskError::invalid("samples are rows as they are, of which there is no partial answer"));
    }
    let plan = Plan::new(question, &source.schema)?;
    let mut reading = Reading { segments: source.segments.len(), ..Reading::default() };
    let mut groups = Groups::new(&plan);
    let budget = Budget { limit: options.memory_bytes, used: AtomicUsize::new(0) };
    let wanted = plan.answered();
    let mut fresh = Share::new(&budget);
    for batch in &source.unflushed {
        let taken = take_batch(batch, &plan, &wanted)?;
        reading.rows_fresh += batch.num_rows() as u64;
        reading.rows_met += taken.rows as u64;
        groups.update(&plan, taken.rows, &taken.columns)?;
        fresh.check(groups.keys.len(), || groups.memory())?;
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
    for (more, read) in work.run(options.threads)? {
        reading.add(read);
        groups.merge(more)?;
    }
    if let Some(cache) = cache.filter(|_| work.wrote.load(Ordering::Relaxed)) {
        cache.trim();
    }
    reading.bytes += reading.skipped.bytes;
    Ok(Partial::new(question.clone(), &plan, groups, reading))
}

/// A segment to read, and the conditions that the log leaves over.
struct Job<'a> {
    segment: &'a Segment,
    conditions: Vec<usize>,
    /// Under what its answer is kept, where it is.
    asked: Option<Asked>,
    begun: OnceLock<Begun>,
    next: AtomicUsize,
    /// Where the answer is to be kept: what of it is known, of how many rows, and how many units that is of.
    together: Mutex<(Option<Groups>, u64, usize)>,
}

/// What there is to do for a segment.
enum Begun {
    /// Nothing more: the answer was kept, or it cannot be read.
    Done,
    /// Units to be read, and whether the answer is to be kept: so that all threads do the same.
    Units { opened: Opened, units: Vec<Unit>, keep: bool },
}

/// The segments that have to be opened; those whose rows the log counts are counted.
fn jobs<'a>(
    source: &'a Snapshot,
    plan: &Plan,
    (wanted, cache): (&[usize], Option<&Cache>),
    groups: &mut Groups,
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
            reading.rows_met += segment.rows;
            groups.count_rows(segment.rows);
            continue;
        }
        let asked = cache.and_then(|cache| cache.asked(plan, segment, &conditions));
        let (begun, next, together) = (OnceLock::new(), AtomicUsize::new(0), Mutex::default());
        jobs.push(Job { segment, conditions, asked, begun, next, together });
    }
    jobs
}

/// Memory that all threads share.
struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// What one thread takes of it.
struct Share<'a> {
    budget: &'a Budget,
    own: usize,
    /// Units of work until it is looked at again.
    left: usize,
}

impl<'a> Share<'a> {
    fn new(budget: &'a Budget) -> Self {
        Self { budget, own: 0, left: 0 }
    }

    /// Looks whether there is still room for what so many groups take.
    fn check(&mut self, groups: usize, memory: impl FnOnce() -> usize) -> Result<()> {
        /// Groups whose memory is added up in the time in which a unit is read, about.
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
        if used <= self.budget.limit {
            return Ok(());
        }
        let wanted = format!("one thread alone has {groups} groups so far");
        Err(AskError::Memory { limit: self.budget.limit, wanted })
    }
}

struct Work<'a> {
    root: &'a Path,
    plan: &'a Plan,
    wanted: &'a [usize],
    jobs: Vec<Job<'a>>,
    cache: Option<&'a Cache>,
    wrote: AtomicBool,
    /// An answer took more than is kept: those of other segments will too.
    too_large: AtomicBool,
    budget: &'a Budget,
    cursor: AtomicUsize,
    stop: AtomicBool,
    failed: Mutex<Option<AskError>>,
}

impl Work<'_> {
    /// What each thread found.
    fn run(&self, threads: usize) -> Result<Vec<(Groups, Reading)>> {
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

    /// Threads that there is work for.
    fn worth(&self) -> usize {
        /// Rows that take longer to read than a thread takes to start, and rows of a segment of which nobody knows.
        const ROWS_EACH: u64 = 1 << 16;
        const ROWS_UNKNOWN: u64 = 1 << 20;
        let rows = self.jobs.iter().map(|job| if job.segment.rows > 0 { job.segment.rows } else { ROWS_UNKNOWN });
        rows.sum::<u64>().div_ceil(ROWS_EACH) as usize
    }

    fn fail(&self, error: AskError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Takes up segment after segment; then helps with those of others.
    fn thread(&self) -> (Groups, Reading) {
        let mut groups = Groups::new(self.plan);
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

    fn job(&self, job: &Job<'_>, groups: &mut Groups, reading: &mut Reading, share: &mut Share<'_>) {
        let done = match job.begun.get_or_init(|| self.begin(job, groups, reading)) {
            Begun::Done => return,
            Begun::Units { opened, units, keep } => match job.asked.as_ref().filter(|_| *keep) {
                None => self.units(job, (opened, units), groups, Groups::memory, reading, share).map(|_| ()),
                Some(asked) => self.answer_of(job, asked, (opened, units), groups, reading, share),
            },
        };
        if let Err(error) = done {
            self.fail(error);
        }
    }

    /// Finds the answer of a segment where it was kept; otherwise opens it.
    fn begin(&self, job: &Job<'_>, groups: &mut Groups, reading: &mut Reading) -> Begun {
        if self.stop.load(Ordering::Relaxed) {
            return Begun::Done;
        }
        if let Some(asked) = &job.asked
            && let Some(kept) = Cache::find(self.plan, asked)
        {
            reading.segments_cached += 1;
            reading.rows_met += kept.rows_met;
            if let Err(error) = groups.merge(kept.groups) {
                self.fail(error);
            }
            return Begun::Done;
        }
        match self.open(job, reading) {
            Ok((opened, units)) => Begun::Units { opened, units, keep: !self.too_large.load(Ordering::Relaxed) },
            Err(error) => {
                self.fail(error);
                Begun::Done
            }
        }
    }

    /// Takes in units of a segment as long as there are any; gives how many that were.
    fn units(
        &self,
        job: &Job<'_>,
        (opened, units): (&Opened, &[Unit]),
        groups: &mut Groups,
        memory: impl Fn(&Groups) -> usize,
        reading: &mut Reading,
        share: &mut Share<'_>,
    ) -> Result<usize> {
        let mut done = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let Some(unit) = units.get(job.next.fetch_add(1, Ordering::Relaxed)) else { break };
            self.unit(opened, unit, groups, reading)?;
            share.check(groups.keys.len(), || memory(groups))?;
            done += 1;
        }
        Ok(done)
    }

    /// As [`Self::units`], and whoever is the last keeps the answer of the segment.
    fn answer_of(
        &self,
        job: &Job<'_>,
        asked: &Asked,
        (opened, units): (&Opened, &[Unit]),
        groups: &mut Groups,
        reading: &mut Reading,
        share: &mut Share<'_>,
    ) -> Result<()> {
        let before = reading.rows_met;
        let mut own = Groups::new(self.plan);
        let rest = groups.memory();
        let done = self.units(job, (opened, units), &mut own, |own| own.memory() + rest, reading, share)?;
        if done == 0 {
            return Ok(());
        }
        let mut together = job.together.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, rows_met, units_done) = &mut *together;
        match all.as_mut() {
            Some(all) => all.merge(own)?,
            None => *all = Some(own),
        }
        *rows_met += reading.rows_met - before;
        *units_done += done;
        if *units_done == units.len()
            && let Some(mut all) = all.take()
        {
            if let Some(cache) = self.cache {
                let kept = cache.keep(asked, &mut all, *rows_met);
                (if kept { &self.wrote } else { &self.too_large }).store(true, Ordering::Relaxed);
            }
            groups.merge(all)?;
        }
        Ok(())
    }

    fn open(&self, job: &Job<'_>, reading: &mut Reading) -> Result<(Opened, Vec<Unit>)> {
        let mut opened = Opened::open(self.root, job.segment, self.plan)?;
        let from = (self.root, job.segment);
        let units = left_over(&mut opened, from, self.plan, &job.conditions, &mut reading.skipped)?;
        reading.bytes += opened.bytes;
        reading.groups += opened.groups();
        let mut groups: Vec<usize> = units.iter().map(|unit| unit.group).collect();
        groups.dedup();
        reading.groups_read += groups.len();
        Ok((opened, units))
    }

    fn unit(&self, opened: &Opened, unit: &Unit, groups: &mut Groups, reading: &mut Reading) -> Result<()> {
        let taken = read(opened, unit, self.plan, self.wanted, reading)?;
        reading.rows += unit.rows() as u64;
        reading.rows_met += taken.rows as u64;
        groups.update(self.plan, taken.rows, &taken.columns)
    }
}
