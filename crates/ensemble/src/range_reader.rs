//! Reads one range of worlds from its segments.

use std::path::Path;

use disk::Disk;
use model::{Catalogue, OutcomeKind};
use table::{FlatValues, ListValues, SegmentReader, TableError};
use world::{ContentHash, WorldRange};

use crate::schema::outcome;

const RANGE: &str = "manyworlds.range";
const ENTITIES: &str = "manyworlds.entities";
const ITEMS: &str = "manyworlds.items";
const HASH: &str = "manyworlds.hash";

/// Facts from the footer of a range's segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeMetadata {
    pub range: WorldRange,
    /// The entity of each row group, as catalogue index.
    pub entities: Vec<usize>,
    /// Outcome values, or event rows.
    pub items: u64,
    /// Hash of the content at the time of writing.
    pub hash: ContentHash,
}

impl RangeMetadata {
    pub(crate) fn to_pairs(&self) -> Vec<(String, String)> {
        let entities: Vec<String> = self.entities.iter().map(usize::to_string).collect();
        [
            (RANGE, self.range.to_string()),
            (ENTITIES, entities.join(",")),
            (ITEMS, self.items.to_string()),
            (HASH, self.hash.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .to_vec()
    }

    fn read(segment: &SegmentReader) -> Option<Self> {
        let metadata = segment.metadata();
        let entities = metadata.get(ENTITIES)?;
        let entities = entities.split(',').filter(|e| !e.is_empty()).map(|e| e.parse().ok());
        Some(Self {
            range: metadata.get(RANGE)?.parse().ok()?,
            entities: entities.collect::<Option<_>>()?,
            items: metadata.get(ITEMS)?.parse().ok()?,
            hash: metadata.get(HASH)?.parse().ok()?,
        })
    }
}

/// An open segment of a range.
#[derive(Debug, Clone)]
pub struct RangeReader {
    segment: SegmentReader,
    metadata: RangeMetadata,
}

impl RangeReader {
    /// Opens a range's segment of outcomes or events, with its length if known.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, bytes: Option<u64>) -> Result<Self, TableError> {
        disk.fetch(&[(path, bytes)]).map_err(|cause| TableError::Io { doing: "open", path: path.to_owned(), cause })?;
        let segment = SegmentReader::open(path)?;
        let metadata = RangeMetadata::read(&segment).filter(|f| f.entities.len() == segment.row_groups());
        match metadata {
            Some(metadata) => Ok(Self { segment, metadata }),
            None => Err(damaged(path, "its footer does not say which worlds and entities it holds")),
        }
    }

    /// Facts from the footer.
    pub fn metadata(&self) -> &RangeMetadata {
        &self.metadata
    }

    pub fn segment(&self) -> &SegmentReader {
        &self.segment
    }

    pub(crate) fn group(&self, entity: usize) -> Result<usize, TableError> {
        let place = self.metadata.entities.iter().position(|&e| e == entity);
        place.ok_or_else(|| damaged(self.segment.path(), &format!("it lacks entity {entity}")))
    }

    /// Passes some outcomes (ascending) of an entity to `take`, each over all worlds of the range: integers first, then
    /// real numbers.
    pub fn outcomes(
        &self,
        catalogue: &Catalogue,
        entity: usize,
        outcomes: impl IntoIterator<Item = usize>,
        mut take: impl FnMut(usize, ListValues),
    ) -> Result<(), TableError> {
        let all = &catalogue.kind_of(entity).outcomes;
        let (reals, integers): (Vec<usize>, Vec<usize>) =
            outcomes.into_iter().partition(|&o| all[o].kind == OutcomeKind::Real);
        for (column, outcomes) in [(outcome::VALUES, integers), (outcome::REALS, reals)] {
            if !outcomes.is_empty() {
                self.lists(entity, column, outcomes, &mut take)?;
            }
        }
        Ok(())
    }

    /// Passes on lists; each must have a value for every world, because a shorter one would shift the worlds of later
    /// ranges.
    fn lists(
        &self,
        entity: usize,
        column: usize,
        outcomes: Vec<usize>,
        mut take: impl FnMut(usize, ListValues),
    ) -> Result<(), TableError> {
        let worlds = self.metadata.range.count();
        let mut short = None;
        self.segment.lists(self.group(entity)?, column, outcomes, |row, values| {
            let length = match &values {
                ListValues::I16(v) => v.len(),
                ListValues::I32(v) => v.len(),
                ListValues::F64(v) => v.len(),
                ListValues::Null => 0,
            };
            if length != worlds {
                short = Some((row, length));
            }
            take(row, values);
        })?;
        match short {
            None => Ok(()),
            Some((row, length)) => {
                Err(damaged(self.segment.path(), &format!("outcome {row} has {length} values for {worlds} worlds")))
            }
        }
    }

    /// Checks that the segment's outcome names are the catalogue's.
    pub fn check_names(&self, catalogue: &Catalogue, entity: usize) -> Result<(), TableError> {
        let group = self.group(entity)?;
        let rows = self.segment.rows(group);
        let names = self.segment.flat(group, outcome::OUTCOME, 0..rows)?;
        let expected = catalogue.kind_of(entity).outcomes.iter().map(|o| o.name.as_str());
        let equal = match &names {
            FlatValues::Texts { codes: places, dictionary: words } => {
                places.iter().map(|&p| words.get(p as usize).map_or("", String::as_str)).eq(expected)
            }
            FlatValues::Integers(_) | FlatValues::Reals { .. } => false,
        };
        if equal { Ok(()) } else { Err(damaged(self.segment.path(), "its outcomes are not those of the catalogue")) }
    }

    pub(crate) fn damaged(&self, reason: &str) -> TableError {
        damaged(self.segment.path(), reason)
    }
}

fn damaged(path: &Path, reason: &str) -> TableError {
    TableError::Damaged { path: path.to_owned(), reason: reason.to_owned() }
}
