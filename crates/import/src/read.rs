//! Reads an input to its end and checks all of it, before anything is stored.

use std::sync::atomic::Ordering;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use crate::before::Before;
use crate::error::{ImportError, Position, Result};
use crate::grid::{Grid, Rows};
use crate::kinds::Seen;
use crate::lanes::{Lanes, Owner};
use crate::layout::Layout;
use crate::names::Names;
use crate::numbers::{Class, Given, MISSING, Refused, first_null, numbers, values};
use crate::options::{Form, Kind, LABELS_MAX, Options};

/// Rows to import: a file, or arrays in memory. Several are read one after another, as if they were one.
pub struct Input {
    /// Names it in errors.
    pub name: String,
    pub batches: Box<dyn RecordBatchReader + Send>,
    /// All rows, if known: memory for them is then taken at once.
    pub rows: Option<usize>,
}

/// What all inputs hold.
pub(crate) struct Content {
    pub(crate) form: Form,
    pub(crate) lanes: Lanes,
    pub(crate) grid: Grid,
    /// By outcome.
    pub(crate) seen: Vec<Seen>,
    pub(crate) texts: Names,
    /// Worlds of a stored range.
    pub(crate) range_worlds: usize,
    /// Whether the rows name their worlds.
    pub(crate) names_worlds: bool,
}

/// Reads and checks all inputs. `before` is the ensemble that gets more worlds.
pub(crate) fn read(
    inputs: impl IntoIterator<Item = Result<Input>>,
    options: &Options,
    before: Option<&Before>,
) -> Result<Content> {
    let mut reader: Option<Reader<'_>> = None;
    for input in inputs {
        let Input { name, batches, rows: mut expected } = input?;
        let layout = Layout::of(&batches.schema(), options, &name)?;
        let (reader, layout) = match &mut reader {
            None => (reader.insert(Reader::new(options, before, &layout, &name)), layout),
            Some(reader) => {
                let layout = reader.layout.check(&reader.first, layout, &name)?;
                (reader, layout)
            }
        };
        let mut rows = 0;
        for batch in batches {
            if options.stop.load(Ordering::Relaxed) {
                return Err(ImportError::Stopped);
            }
            let unreadable = |error: arrow::error::ArrowError| ImportError::Unreadable {
                input: name.clone(),
                reason: format!("after row {rows}: {error}"),
            };
            let batch = batch.map_err(unreadable)?;
            reader.add(&Rowset { input: &name, before: rows, layout: &layout, batch: &batch })?;
            rows += batch.num_rows() as u64;
            if let Some(all) = expected.take() {
                reader.expect(all.saturating_sub(batch.num_rows()));
            }
        }
    }
    reader.ok_or(ImportError::Empty)?.finish()
}

/// A batch of rows, and where it comes from.
struct Rowset<'a> {
    input: &'a str,
    /// Rows of the input before these.
    before: u64,
    layout: &'a Layout,
    batch: &'a RecordBatch,
}

impl Rowset<'_> {
    fn at(&self, row: usize, column: usize) -> Position {
        let column = self.layout.names[column].clone();
        Position { input: self.input.to_owned(), row: self.before + row as u64 + 1, column }
    }

    fn refuse(&self, column: usize, (row, reason): Refused) -> ImportError {
        if let Some(row) = row {
            return ImportError::Value { at: self.at(row, column), reason };
        }
        let reason = format!("column {:?}: {reason}", self.layout.names[column]);
        ImportError::Columns { input: self.input.to_owned(), reason }
    }

    /// The column that names the world of a row, or else one that every row has.
    fn key(&self) -> usize {
        self.layout.world.unwrap_or(self.layout.values[0])
    }
}

struct Reader<'a> {
    options: &'a Options,
    before: Option<&'a Before>,
    /// The columns of the first input, and its name.
    layout: Layout,
    first: String,
    lanes: Lanes,
    grid: Grid,
    seen: Vec<Seen>,
    texts: Names,
    range_worlds: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(options: &'a Options, before: Option<&'a Before>, layout: &Layout, first: &str) -> Self {
        let (mut lanes, mut grid) = (Lanes::new(layout.form), Grid::default());
        if !layout.pairs.is_empty() {
            lanes = Lanes::new(Form::Long);
            for (entity, outcome) in &layout.pairs {
                let owner = Owner { entity: lanes.entities.id(entity), outcome: lanes.outcomes.id(outcome) };
                // The first lanes never come too late.
                let _ = lanes.of(owner, &mut grid);
            }
        } else if layout.form == Form::Wide {
            layout.values.iter().for_each(|column| _ = lanes.outcomes.id(&layout.names[*column]));
        }
        Self {
            options,
            before,
            layout: layout.clone(),
            first: first.to_owned(),
            seen: vec![Seen::default(); lanes.outcomes.len()],
            lanes,
            grid,
            texts: Names::default(),
            range_worlds: None,
        }
    }

    /// The first world of the input.
    fn first_world(&self) -> u32 {
        self.before.map_or(0, |before| before.worlds)
    }

    /// Its number in the input.
    fn first_shown(&self) -> u32 {
        self.first_world().saturating_add(self.options.first_world)
    }

    fn declared(&self, outcome: u32) -> Option<Kind> {
        let name = self.lanes.outcomes.get(outcome);
        match self.before {
            Some(before) => before.kind(name),
            None => self.options.kinds.get(name).copied(),
        }
    }

    /// Makes room for rows, as many for each lane.
    fn expect(&mut self, rows: usize) {
        let worlds = rows / self.grid.lanes().max(1);
        self.grid.reserve(worlds, self.options.memory_bytes.saturating_sub(self.grid.bytes()));
    }

    fn add(&mut self, rows: &Rowset<'_>) -> Result<()> {
        let layout = rows.layout;
        if rows.batch.num_rows() == 0 {
            return Ok(());
        }
        let worlds = layout.world.map(|column| self.worlds(rows, column)).transpose()?;
        let by_name = !self.layout.pairs.is_empty();
        let lanes = if by_name { None } else { self.lanes_of(rows)? };
        // Entities of different kinds have different outcomes.
        let may_lack = layout.form == Form::Wide && layout.entity.is_some();
        let mut columns = Vec::with_capacity(layout.values.len());
        for &column in &layout.values {
            let given = values(rows.batch.column(column), &mut self.texts, may_lack);
            columns.push(given.map_err(|e| rows.refuse(column, e))?);
            if self.texts.len() > LABELS_MAX * self.lanes.outcomes.len() {
                return Err(rows.refuse(column, (None, format!("it holds over {LABELS_MAX} different texts"))));
            }
        }
        self.seen.resize(self.lanes.outcomes.len(), Seen::default());
        let (limit, first_shown) = (self.options.memory_bytes, self.first_shown());
        let batch = Batch { rows, worlds: worlds.as_deref(), columns: &columns, limit, first_shown };
        let Self { grid, seen, lanes: all, .. } = self;
        match lanes {
            Some(lanes) if lanes.iter().any(|lane| *lane != lanes[0]) => {
                all.group(&lanes, |all, lane, rows| batch.put(all, grid, seen, lane, Rows::Some(rows)))?;
            }
            // Each column is a lane.
            _ if by_name => columns.iter().enumerate().try_for_each(|(lane, column)| {
                let columns = std::slice::from_ref(column);
                Batch { columns, ..batch }.put(all, grid, seen, lane, Rows::All)
            })?,
            lanes => {
                let lane = lanes.and_then(|lanes| lanes.first().copied()).unwrap_or(0);
                batch.put(all, grid, seen, lane as usize, Rows::All)?;
            }
        }
        self.check_classes(rows)?;
        if self.grid.bytes() > self.options.memory_bytes { self.spill(rows) } else { Ok(()) }
    }

    /// The world of each row, counted from the first of the input.
    fn worlds(&self, rows: &Rowset<'_>, column: usize) -> Result<Vec<u32>> {
        let (array, origin) = (rows.batch.column(column), self.options.first_world);
        let refuse = |row: usize, reason: &str| Err(rows.refuse(column, (Some(row), reason.to_owned())));
        if let Some(row) = first_null(array) {
            return refuse(row, "the world is missing (NULL)");
        }
        let (class, worlds) = match numbers(array) {
            // No number at all.
            Err((None, _)) => (Class::Texts, Vec::new().into()),
            numbers => numbers.map_err(|error| rows.refuse(column, error))?,
        };
        if class != Class::Numbers {
            let reason = format!("a column of {} names no worlds: give integers from {origin}", array.data_type());
            return Err(rows.refuse(column, (None, reason)));
        }
        let (origin, first) = (f64::from(origin), self.first_shown());
        let is_world = |world: f64| world >= origin && world < f64::from(u32::MAX) && world.fract() == 0.0;
        if let Some(row) = worlds.iter().position(|world| !is_world(*world)) {
            return refuse(row, &format!("{} is not a world number: give integers from {origin}", worlds[row]));
        }
        if let Some(row) = worlds.iter().position(|world| *world < f64::from(first)) {
            return refuse(row, &format!("world {} is stored already: continue with world {first}", worlds[row]));
        }
        Ok(worlds.iter().map(|world| *world as u32 - first).collect())
    }

    /// The lane of each row; `None` if all rows belong to the only one.
    fn lanes_of(&mut self, rows: &Rowset<'_>) -> Result<Option<Vec<u32>>> {
        let layout = rows.layout;
        let Lanes { entities, outcomes, .. } = &mut self.lanes;
        let names = |column: Option<usize>, what: &str, names: &mut Names| {
            column.map(|column| names_in(rows, column, what, names)).transpose()
        };
        let outcomes = names(layout.outcome, "outcome", outcomes)?;
        if layout.entity.is_none() {
            entities.id(&self.options.entity);
        }
        let entities = names(layout.entity, "entity", entities)?;
        let owner = |row: usize| Owner {
            entity: entities.as_ref().map_or(0, |ids| ids[row]),
            outcome: outcomes.as_ref().map_or(0, |ids| ids[row]),
        };
        let is_one = entities.is_none() && outcomes.is_none();
        let count = if is_one { 1 } else { rows.batch.num_rows() };
        let mut last = None;
        let mut lanes = Vec::with_capacity(count);
        for row in 0..count {
            let lane = match last {
                Some((before, lane)) if before == owner(row) => lane,
                _ => self.lanes.of(owner(row), &mut self.grid).ok_or_else(|| self.unsorted(rows, row))?,
            };
            last = Some((owner(row), lane));
            lanes.push(lane);
        }
        Ok((!is_one).then_some(lanes))
    }

    fn unsorted(&self, rows: &Rowset<'_>, row: usize) -> ImportError {
        ImportError::Memory { limit: self.options.memory_bytes, at: rows.at(row, rows.key()) }
    }

    /// Checks that the values of outcomes are of the kinds that were declared.
    fn check_classes(&self, rows: &Rowset<'_>) -> Result<()> {
        for (outcome, seen) in self.seen.iter().enumerate() {
            let declared = self.declared(outcome as u32);
            let is_code = matches!(declared, None | Some(Kind::Code));
            let name = self.lanes.outcomes.get(outcome as u32);
            if seen.class == Some(Class::Texts) && !is_code {
                let kind = declared.map_or_else(String::new, |kind| kind.to_string());
                let reason = format!("it is a {kind}, and holds texts in {}", rows.input);
                return Err(ImportError::Outcome { outcome: name.to_owned(), reason });
            }
            let has_labels = self.before.is_some_and(|before| !before.labels(name).is_empty());
            if has_labels && seen.class.is_some_and(|class| class != Class::Texts) {
                let reason = format!("its codes stand for texts, and it holds no texts in {}", rows.input);
                return Err(ImportError::Outcome { outcome: name.to_owned(), reason });
            }
        }
        Ok(())
    }

    /// Moves the complete worlds out of memory.
    fn spill(&mut self, rows: &Rowset<'_>) -> Result<()> {
        let complete = if self.gap().is_some() { 0 } else { self.complete() };
        let range_worlds = self.range_worlds();
        let ranges = (complete - self.grid.first()) / range_worlds;
        if ranges == 0 {
            return Err(self.unsorted(rows, rows.batch.num_rows() - 1));
        }
        self.observe(ranges * range_worlds)?;
        let spilled = self.grid.spill(ranges, range_worlds, &self.options.spill_folder);
        spilled.map_err(|cause| ImportError::Spill { doing: "write", cause })
    }

    /// An entity that lacks an outcome, and the outcome. Columns that name their entity may differ between entities.
    fn gap(&self) -> Option<(u32, u32)> {
        if self.layout.pairs.is_empty() { self.lanes.gap() } else { None }
    }

    /// One past the last world that every lane has, with all before it.
    fn complete(&self) -> usize {
        (0..self.grid.lanes()).map(|lane| self.grid.first_hole(lane)).min().unwrap_or(0)
    }

    /// Worlds of a stored range: many, because a question reads each range of an outcome as a page, but no more than a
    /// thread can hold of one entity.
    fn range_worlds(&mut self) -> usize {
        const RANGE_VALUES: usize = 16 << 20;
        const RANGE_WORLDS: usize = 1 << 16;
        let values = RANGE_VALUES.min(self.options.memory_bytes / 64);
        let per_world = self.lanes.width().max(1);
        *self.range_worlds.get_or_insert((values / per_world).clamp(1, RANGE_WORLDS))
    }

    /// Looks at the values of the next worlds in memory, to know the kinds of outcomes.
    fn observe(&mut self, worlds: usize) -> Result<()> {
        for lane in 0..self.grid.lanes() {
            for (column, &outcome) in self.lanes.held(lane).iter().enumerate() {
                let declared = self.declared(outcome);
                let values = &self.grid.column((lane, column))[..worlds];
                if let Err(place) = self.seen[outcome as usize].add(values, declared) {
                    return Err(ImportError::Kind {
                        entity: self.lanes.entities.get(self.lanes.owners[lane].entity).to_owned(),
                        outcome: self.lanes.outcomes.get(outcome).to_owned(),
                        world: self.first_shown() + (self.grid.first() + place) as u32,
                        value: values[place].to_string(),
                        kind: declared.unwrap_or(Kind::Real),
                    });
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Content> {
        let ends = (0..self.grid.lanes()).map(|lane| self.grid.end(lane));
        let Some(end) = ends.max() else { return Err(ImportError::Empty) };
        let holes = (0..self.grid.lanes()).map(|lane| (self.grid.first_hole(lane), lane));
        if let Some((hole, lane)) = holes.min().filter(|(hole, _)| *hole < end) {
            let (world, first) = (self.first_shown(), self.grid.first_filled().unwrap_or_default());
            if first > 0 && hole == 0 {
                return Err(ImportError::Begins { first: world + first as u32, expected: world });
            }
            return Err(ImportError::Missing { world: world + hole as u32, lane: self.lanes.shown(lane) });
        }
        if let Some((entity, outcome)) = self.gap() {
            let entity = self.lanes.entities.get(entity).to_owned();
            return Err(ImportError::NoOutcome { entity, outcome: self.lanes.outcomes.get(outcome).to_owned() });
        }
        let is_nowhere = |column: &usize| end > 0 && self.seen[*column].class.is_none();
        if let Some(column) = (0..self.seen.len()).find(is_nowhere) {
            let name = self.lanes.outcomes.get(column as u32);
            let reason = format!("column {name:?} holds nothing but missing values (NULL): leave it out");
            return Err(ImportError::Columns { input: self.first, reason });
        }
        self.observe(end - self.grid.first())?;
        let range_worlds = self.range_worlds();
        let Self { layout, lanes, grid, seen, texts, .. } = self;
        let names_worlds = layout.world.is_some();
        Ok(Content { form: layout.form, lanes, grid, seen, texts, range_worlds, names_worlds })
    }
}

/// A batch of rows as worlds and numbers.
#[derive(Clone, Copy)]
struct Batch<'a> {
    rows: &'a Rowset<'a>,
    /// The world of each row, counted from the first of the input; `None` if rows are worlds in order.
    worlds: Option<&'a [u32]>,
    columns: &'a [Given],
    limit: usize,
    /// The number in the input of the first world to store.
    first_shown: u32,
}

impl Batch<'_> {
    /// Puts the rows of one lane in their worlds.
    fn put(&self, all: &mut Lanes, grid: &mut Grid, seen: &mut [Seen], lane: usize, of_lane: Rows<'_>) -> Result<()> {
        self.settle(all, grid, lane, of_lane)?;
        let all = &*all;
        let worlds = self.worlds_of(grid, lane, of_lane);
        let at = |place: usize| self.rows.at(of_lane.row(place), self.rows.key());
        let repeated = |place: usize| {
            let world = self.first_shown + worlds[place];
            ImportError::Repeated { at: at(place), world, lane: all.shown(lane) }
        };
        // Worlds out of memory are complete.
        if let Some(place) = worlds.iter().position(|world| (*world as usize) < grid.first()) {
            return Err(repeated(place));
        }
        if let Some((place, world)) = worlds.iter().enumerate().max_by_key(|(_, world)| **world) {
            let growth = grid.growth(lane, *world as usize + 1);
            let of_rows = worlds.len() * all.held(lane).len() * size_of::<f64>();
            if growth > of_rows && grid.bytes() + growth > self.limit {
                return Err(ImportError::Memory { limit: self.limit, at: at(place) });
            }
        }
        self.classify(all, seen, lane)?;
        let columns: Vec<&[f64]> = all.held(lane).iter().map(|outcome| &self.column(*outcome).values[..]).collect();
        grid.put(lane, &worlds, of_lane, &columns).map_err(repeated)
    }

    fn worlds_of(&self, grid: &Grid, lane: usize, of_lane: Rows<'_>) -> Vec<u32> {
        match (self.worlds, of_lane) {
            (Some(worlds), Rows::All) => worlds.to_vec(),
            (Some(worlds), Rows::Some(rows)) => rows.iter().map(|row| worlds[*row as usize]).collect(),
            (None, Rows::All) => (grid.end(lane) as u32..).take(self.rows.batch.num_rows()).collect(),
            (None, Rows::Some(rows)) => (grid.end(lane) as u32..).take(rows.len()).collect(),
        }
    }

    /// The column of an outcome of a lane.
    fn column(&self, outcome: u32) -> &Given {
        // In the wide form outcomes are numbered as the columns; else a lane has one column.
        self.columns.get(outcome as usize).unwrap_or(&self.columns[0])
    }

    /// Settles which outcomes an entity has: those whose columns are not NULL in its first rows, and so in all others.
    fn settle(&self, all: &mut Lanes, grid: &mut Grid, lane: usize, of_lane: Rows<'_>) -> Result<()> {
        let (is_new, is_whole) = (grid.end(lane) == 0, all.held(lane).len() == self.columns.len());
        if is_whole && self.columns.iter().all(|column| column.nulls.is_none()) {
            return Ok(());
        }
        let rows = match of_lane {
            Rows::All => self.rows.batch.num_rows(),
            Rows::Some(rows) => rows.len(),
        };
        let find = |column: &Given, is_null: bool| {
            (0..rows).map(|place| of_lane.row(place)).find(|row| column.is_null(*row) == is_null)
        };
        let values = &self.rows.layout.values;
        let mut held = Vec::new();
        for (outcome, column) in self.columns.iter().enumerate() {
            let has = if is_new { find(column, false).is_some() } else { all.held(lane).contains(&(outcome as u32)) };
            if let Some(row) = find(column, has) {
                let (other, lane) = (if has { "has values" } else { "has none" }, all.shown(lane));
                let this = if has { MISSING } else { "there is a value" };
                let reason = format!("{this}, and {lane} {other} in other rows");
                return Err(self.rows.refuse(values[outcome], (Some(row), reason)));
            }
            held.extend(has.then_some(outcome as u32));
        }
        if held.is_empty() {
            let reason = format!("every value of {} is missing (NULL)", all.shown(lane));
            return Err(self.rows.refuse(values[0], (Some(of_lane.row(0)), reason)));
        }
        if is_new {
            all.keep(lane, held, grid);
        }
        Ok(())
    }

    /// Checks that the values of an outcome are of one class in all inputs.
    fn classify(&self, all: &Lanes, seen: &mut [Seen], lane: usize) -> Result<()> {
        for &outcome in all.held(lane) {
            let Some(class) = self.column(outcome).class else { continue };
            let known = seen[outcome as usize].class.get_or_insert(class);
            if *known != class {
                let outcome = all.outcomes.get(outcome).to_owned();
                let reason = format!("it holds {} in {}, and {} before", class.shown(), self.rows.input, known.shown());
                return Err(ImportError::Outcome { outcome, reason });
            }
        }
        Ok(())
    }
}

/// The number of the name in each row.
fn names_in(rows: &Rowset<'_>, column: usize, what: &str, names: &mut Names) -> Result<Vec<u32>> {
    let array = rows.batch.column(column);
    if let Some(row) = first_null(array) {
        return Err(rows.refuse(column, (Some(row), format!("the {what} is missing (NULL)"))));
    }
    let unreadable = |error: arrow::error::ArrowError| rows.refuse(column, (None, error.to_string()));
    let texts: ArrayRef = match array.data_type() {
        of if of.is_integer() => cast(array, &DataType::Utf8).map_err(unreadable)?,
        _ => array.clone(),
    };
    let ids = names.of_column(&texts).map_err(unreadable)?;
    ids.ok_or_else(|| {
        let reason = format!("a column of {} names no {what}: give texts or integers", array.data_type());
        rows.refuse(column, (None, reason))
    })
}
