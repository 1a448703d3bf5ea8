//! Tables and functions agree with the events that the model emitted, and with each other.

use std::collections::HashMap;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int32Type};
use arrow::record_batch::RecordBatch;
use model::{EventBlock, OutcomeBlock, Plugin, Sink, Stop, Values, Wanted};
use world::{Seed, World, WorldRange};

use crate::support::{ask, model, stored};

/// The outcomes of one entity as the model emits them, one column per outcome.
struct Emitted(Vec<Vec<f64>>);

impl Sink for Emitted {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let numbers = |values: &Values<'_>| match values {
            Values::I16(v) => v.iter().map(|&x| f64::from(x)).collect(),
            Values::I32(v) => v.iter().map(|&x| f64::from(x)).collect(),
            Values::F64(v) => v.to_vec(),
        };
        self.0 = block.columns.iter().map(numbers).collect();
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

fn numbers(batch: &RecordBatch, column: usize) -> Vec<f64> {
    cast(batch.column(column), &DataType::Float64).unwrap().as_primitive::<Float64Type>().values().to_vec()
}

async fn worlds_are_what_the_model_emits(plugin: &Plugin, ensemble: &str, entity: &str, worlds: u32) {
    let model = model(plugin);
    let place = model.catalogue().entity(entity).unwrap();
    let mut emitted = Emitted(Vec::new());
    let range = WorldRange::new(World(0), worlds).unwrap();
    let wanted = Wanted { events: false, entity: Some(place) };
    model.simulate(Seed(7), range, wanted, &mut emitted).unwrap();
    let stored = stored().await;
    let sql = format!("SELECT * FROM worlds('{ensemble}', '{entity}') ORDER BY world");
    let wide = ask(&stored.engine, &sql).await.unwrap();
    let outcomes = &model.catalogue().kind_of(place).outcomes;
    assert_eq!(wide.num_columns(), outcomes.len() + 1);
    assert_eq!(numbers(&wide, 0), (0..worlds).map(f64::from).collect::<Vec<_>>());
    for (place, outcome) in outcomes.iter().enumerate() {
        let expected: Vec<f64> = emitted.0[place].iter().map(|v| v / f64::from(outcome.scale)).collect();
        assert_eq!(wide.schema().field(place + 1).name(), &outcome.name);
        assert_eq!(numbers(&wide, place + 1), expected, "{}", outcome.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_match_dice() {
    worlds_are_what_the_model_emits(&dice::PLUGIN, "dice", "table-2", 40).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_match_football() {
    worlds_are_what_the_model_emits(&football::PLUGIN, "season", "game-003", 6).await;
    worlds_are_what_the_model_emits(&football::PLUGIN, "season-replay", "team-05", 6).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_outcomes_match_wide_ones() {
    let stored = stored().await;
    let long = "SELECT outcome, world, value FROM outcomes WHERE ensemble = 'season' AND entity = 'game-003'";
    let long = ask(&stored.engine, long).await.unwrap();
    let wide = ask(&stored.engine, "SELECT * FROM worlds('season', 'game-003')").await.unwrap();
    let schema = wide.schema();
    let columns: HashMap<&str, Vec<f64>> =
        (1..wide.num_columns()).map(|c| (schema.field(c).name().as_str(), numbers(&wide, c))).collect();
    assert_eq!(long.num_rows(), wide.num_rows() * columns.len());
    let place: HashMap<i32, usize> =
        wide.column(0).as_primitive::<Int32Type>().values().iter().enumerate().map(|(i, &w)| (w, i)).collect();
    let (names, worlds) = (long.column(0).as_string_view(), long.column(1).as_primitive::<Int32Type>());
    for (row, value) in numbers(&long, 2).into_iter().enumerate() {
        assert_eq!(value, columns[names.value(row)][place[&worlds.value(row)]], "{}", names.value(row));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replayed_events_match_stored_ones() {
    let stored = stored().await;
    for (ensemble, entity, worlds) in [("dice", "table-3", "'10-30'"), ("season", "game-020", "'1-4'")] {
        let plays = |ensemble: String| format!("SELECT * FROM events('{ensemble}', '{entity}', {worlds})");
        let ordered = async |sql: String| ask(&stored.engine, &format!("{sql} ORDER BY world, number")).await.unwrap();
        let kept = ordered(plays(ensemble.to_owned())).await;
        assert!(kept.num_rows() > 100);
        assert_eq!(ordered(plays(format!("{ensemble}-replay"))).await, kept);
        let schema = kept.schema();
        // The table has no names of members.
        let columns = schema.fields().iter().map(|f| f.name().as_str()).filter(|name| !name.ends_with("_name"));
        let columns: Vec<&str> = columns.collect();
        assert_eq!(columns.len() < schema.fields().len(), ensemble == "season");
        let (first, last) = worlds.trim_matches('\'').split_once('-').unwrap();
        let events = format!(
            "SELECT {} FROM events WHERE ensemble = '{ensemble}' AND entity = '{entity}' AND world BETWEEN {first} AND {last}",
            columns.join(", ")
        );
        let kept = columns.iter().map(|name| kept.column_by_name(name).unwrap().clone());
        assert_eq!(ordered(events).await.columns(), kept.collect::<Vec<_>>());
    }
}
