//! The three dimension tables that `cell_tower_id`, `rate_plan_id` and `termination_code` refer to. The public
//! call-record benchmark fixes their keys; all other values are invented.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};
use world::{Seed, Stream, World};

use crate::draws::Purpose;
use crate::schema::decimal;
use crate::shares::{RATE_PLANS, TOWERS, network};

/// Termination codes that have a description.
pub const TERMINATION_CODES: usize = 20;

const REGIONS: [[&str; 3]; 3] =
    [["south-west", "south", "south-east"], ["west", "centre", "east"], ["north-west", "north", "north-east"]];
const CITY_STARTS: [&str; 20] = [
    "Alder", "Bram", "Cold", "Dun", "Elm", "Fen", "Gold", "Hazel", "Iron", "Jun", "Kes", "Lark", "Mar", "Nor", "Oak",
    "Pell", "Quill", "Rook", "Stone", "Thorn",
];
const CITY_ENDS: [&str; 20] = [
    "barrow", "beck", "bridge", "combe", "dale", "fall", "field", "gate", "haven", "holm", "leigh", "mere", "mouth",
    "port", "ridge", "stead", "vale", "wick", "wood", "worth",
];
const CITIES: u32 = (CITY_STARTS.len() * CITY_ENDS.len()) as u32;

/// Latitude and longitude of the country's south-western corner, and its extent, in ten-thousandths of a degree.
const CORNER: [i32; 2] = [300_000, -1_200_000];
const EXTENT: [u32; 2] = [180_000, 450_000];
/// Maximum distance of a tower from the middle of its city, in the same unit.
const CITY_RADIUS: u32 = 2_000;

const PLAN_KINDS: [(&str, i128); 5] =
    [("Prepaid", 0), ("Basic", 300), ("Family", 900), ("Night", 150), ("Office", 1_400)];
const PLAN_GIGABYTES: [i128; 10] = [1, 2, 5, 10, 20, 35, 50, 75, 100, 200];

const CODES: [(i32, &str, bool); TERMINATION_CODES] = [
    (1, "completed", false),
    (16, "normal clearing", false),
    (17, "user busy", true),
    (18, "no user responding", true),
    (19, "no answer", true),
    (20, "subscriber absent", true),
    (21, "call rejected", true),
    (22, "number changed", true),
    (27, "destination out of order", true),
    (28, "invalid number format", true),
    (29, "facility rejected", true),
    (31, "normal, unspecified", false),
    (34, "no circuit available", true),
    (38, "network out of order", true),
    (41, "temporary failure", true),
    (42, "switching equipment congestion", true),
    (44, "requested circuit not available", true),
    (47, "resource unavailable", true),
    (102, "recovery on timer expiry", true),
    (127, "interworking, unspecified", true),
];

/// The [`TOWERS`] cell towers of `seed`: `tower_id` (1 to 10,000, in order), `region` (nine), `city` (at most 400
/// invented names), `latitude` and `longitude` (degrees, four decimal places), and `technology` (network types with the
/// same shares as in records). As in the public call-record benchmark, a record's network type is independent of its
/// tower's.
pub fn towers(seed: Seed) -> RecordBatch {
    let cities: Vec<[u32; 2]> = (0..CITIES).map(|city| city_place(seed, city)).collect();
    let sites: Vec<Site> = (1..=TOWERS as u32).map(|tower| Site::new(seed, tower, &cities)).collect();
    let degrees = |axis: usize| Float64Array::from_iter_values(sites.iter().map(|site| site.degrees(axis)));
    table([
        ("tower_id", Arc::new(Int32Array::from_iter_values(1..=TOWERS as i32))),
        ("region", Arc::new(StringArray::from_iter_values(sites.iter().map(|site| region(cities[site.city]))))),
        ("city", Arc::new(StringArray::from_iter_values(sites.iter().map(|site| city_name(site.city))))),
        ("latitude", Arc::new(degrees(0))),
        ("longitude", Arc::new(degrees(1))),
        ("technology", Arc::new(StringArray::from_iter_values(sites.iter().map(|site| site.technology)))),
    ])
}

/// The [`RATE_PLANS`] plans: `plan_id` (1 to 50, in order), `plan_name`, `monthly_fee` and `price_per_minute`. Prices
/// use the currency of `billing_amount`, but do not determine it.
pub fn rate_plans() -> RecordBatch {
    let plans =
        || PLAN_KINDS.iter().flat_map(|&(kind, extra)| PLAN_GIGABYTES.map(|gigabytes| (kind, extra, gigabytes)));
    let names = plans().map(|(kind, _, gigabytes)| format!("{kind} {gigabytes} GB"));
    let fees = plans().map(|(_, extra, gigabytes)| 499 + extra + 30 * gigabytes);
    let prices = plans().map(|(_, extra, gigabytes)| 2_000 - extra / 2 - 5 * gigabytes);
    let money = |values: Vec<i128>, scale: i8| Decimal128Array::from(values).with_data_type(decimal((10, scale)));
    table([
        ("plan_id", Arc::new(Int32Array::from_iter_values(1..=RATE_PLANS as i32)) as ArrayRef),
        ("plan_name", Arc::new(StringArray::from_iter_values(names))),
        ("monthly_fee", Arc::new(money(fees.collect(), 2))),
        ("price_per_minute", Arc::new(money(prices.collect(), 4))),
    ])
}

/// The [`TERMINATION_CODES`] described codes: `termination_code` (ascending, from 1 to 127), `description`, and
/// `is_failure` (whether the call failed or was cut off). Descriptions follow the telephone network's cause values
/// (ITU-T Q.850), except code 1: 80% of the records have it, and it means a completed call.
///
/// Most of the rare codes 21 to 127 have no description, as in the public call-record benchmark: an inner join loses
/// about 2 records in 100,000.
pub fn termination_codes() -> RecordBatch {
    table([
        ("termination_code", Arc::new(Int32Array::from_iter_values(CODES.map(|(code, ..)| code))) as ArrayRef),
        ("description", Arc::new(StringArray::from_iter_values(CODES.map(|(_, text, _)| text)))),
        ("is_failure", Arc::new(BooleanArray::from(CODES.map(|(.., failure)| failure).to_vec()))),
    ])
}

/// A table whose columns have no NULLs.
fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    let fields = columns.each_ref().map(|(name, values)| Field::new(*name, values.data_type().clone(), false));
    let columns = columns.map(|(_, values)| values).to_vec();
    RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns)
        .expect("columns of one length, none with NULLs")
}

/// The place of a tower.
struct Site {
    city: usize,
    place: [i32; 2],
    technology: &'static str,
}

impl Site {
    /// Batches are numbered from 1, so world 0 has free streams for towers.
    fn new(seed: Seed, tower: u32, cities: &[[u32; 2]]) -> Self {
        let mut random = Stream::new(seed, World(0), tower, Purpose::Site as u32);
        let city = random.below(CITIES) as usize;
        let place = cities[city].map(|middle| (middle + random.below(2 * CITY_RADIUS + 1)) as i32 - CITY_RADIUS as i32);
        Self { city, place, technology: network([random.next_u32()]) }
    }

    fn degrees(&self, axis: usize) -> f64 {
        f64::from(CORNER[axis] + self.place[axis]) / 10_000.0
    }
}

/// The middle of a city, relative to the country's corner.
fn city_place(seed: Seed, city: u32) -> [u32; 2] {
    let mut random = Stream::new(seed, World(0), city, Purpose::City as u32);
    EXTENT.map(|extent| random.below(extent))
}

fn region(city: [u32; 2]) -> &'static str {
    let [row, column] = [0, 1].map(|axis| (city[axis] * 3 / EXTENT[axis]) as usize);
    REGIONS[row][column]
}

fn city_name(city: usize) -> String {
    [CITY_STARTS[city / CITY_ENDS.len()], CITY_ENDS[city % CITY_ENDS.len()]].concat()
}
