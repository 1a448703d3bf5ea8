//! The entities and outcomes of an input, and the lane of each.

use crate::grid::Grid;
use crate::names::Names;
use crate::options::Form;

/// Who a lane belongs to: an entity, and in the long form one of its outcomes, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) entity: u32,
    pub(crate) outcome: u32,
}

/// All lanes, by owner.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// Wide if a lane has all outcomes of an entity, long if it has one.
    form: Form,
    pub(crate) entities: Names,
    pub(crate) outcomes: Names,
    pub(crate) owners: Vec<Owner>,
    /// By lane: the outcomes of its columns, ascending.
    held: Vec<Vec<u32>>,
    /// By entity and outcome; in the wide form the outcome is 0.
    places: Vec<Vec<Option<u32>>>,
    /// The lane and the places of rows, sorted by lane.
    order: Vec<u32>,
}

impl Lanes {
    pub(crate) fn new(form: Form) -> Self {
        let (entities, outcomes) = (Names::default(), Names::default());
        let (owners, held, places, order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { form, entities, outcomes, owners, held, places, order }
    }

    /// The lane of an owner, new or not; `None` if it is new and comes too late.
    pub(crate) fn of(&mut self, owner: Owner, grid: &mut Grid) -> Option<u32> {
        let (entity, outcome) = (owner.entity as usize, owner.outcome as usize);
        if let Some(Some(lane)) = self.places.get(entity).and_then(|of| of.get(outcome)) {
            return Some(*lane);
        }
        let held: Vec<u32> = match self.form {
            Form::Wide => (0..self.outcomes.len() as u32).collect(),
            Form::Long => vec![owner.outcome],
        };
        let lane = grid.add_lane(held.len())? as u32;
        self.owners.push(owner);
        self.held.push(held);
        self.places.resize_with(self.places.len().max(entity + 1), Vec::new);
        let of_entity = &mut self.places[entity];
        of_entity.resize(of_entity.len().max(outcome + 1), None);
        of_entity[outcome] = Some(lane);
        Some(lane)
    }

    /// The outcomes of the columns of a lane, ascending.
    pub(crate) fn held(&self, lane: usize) -> &[u32] {
        &self.held[lane]
    }

    /// Keeps some columns of a lane that has no values yet.
    pub(crate) fn keep(&mut self, lane: usize, outcomes: Vec<u32>, grid: &mut Grid) {
        grid.narrow(lane, outcomes.len());
        self.held[lane] = outcomes;
    }

    /// Columns of all lanes.
    pub(crate) fn width(&self) -> usize {
        self.held.iter().map(Vec::len).sum()
    }

    /// The lane of an owner, and the column of an outcome in it; `None` if no row had it.
    pub(crate) fn place(&self, entity: u32, outcome: u32) -> Option<(usize, usize)> {
        let of_lane = if self.form == Form::Wide { 0 } else { outcome as usize };
        let lane = self.places.get(entity as usize)?.get(of_lane).copied().flatten()? as usize;
        Some((lane, self.held[lane].binary_search(&outcome).ok()?))
    }

    /// The lane in words.
    pub(crate) fn shown(&self, lane: usize) -> String {
        let Owner { entity, outcome } = self.owners[lane];
        match self.form {
            Form::Wide => format!("entity {:?}", self.entities.get(entity)),
            Form::Long => format!("{:?} of entity {:?}", self.outcomes.get(outcome), self.entities.get(entity)),
        }
    }

    /// The first entity that lacks an outcome which another has, and that outcome. In the wide form, NULL says which
    /// outcomes an entity has.
    pub(crate) fn gap(&self) -> Option<(u32, u32)> {
        if self.form == Form::Wide {
            return None;
        }
        let entities = 0..self.entities.len() as u32;
        let outcomes = || 0..self.outcomes.len() as u32;
        entities
            .flat_map(|entity| outcomes().map(move |outcome| (entity, outcome)))
            .find(|(e, o)| self.place(*e, *o).is_none())
    }

    /// Calls `each` with every lane among `lanes`, one for each row, and its rows in order.
    pub(crate) fn group<E>(
        &mut self,
        lanes: &[u32],
        mut each: impl FnMut(&mut Self, usize, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ends = vec![0u32; self.owners.len() + 1];
        lanes.iter().for_each(|lane| ends[*lane as usize + 1] += 1);
        for lane in 1..ends.len() {
            ends[lane] += ends[lane - 1];
        }
        let mut order = std::mem::take(&mut self.order);
        order.resize(lanes.len(), 0);
        // Each lane's start moves to its end, which is the next lane's start.
        for (row, lane) in lanes.iter().enumerate() {
            order[ends[*lane as usize] as usize] = row as u32;
            ends[*lane as usize] += 1;
        }
        let mut start = 0;
        let mut done = Ok(());
        for (lane, end) in ends.iter().take(self.owners.len()).map(|end| *end as usize).enumerate() {
            if end > start && done.is_ok() {
                done = each(self, lane, &order[start..end]);
            }
            start = end;
        }
        self.order = order;
        done
    }
}
