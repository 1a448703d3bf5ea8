//! Plays the dice and prints how often Ann wins: `cargo run -p dice -- FOLDER [WORLDS]`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use disk::RealDisk;
use ensemble::{Columns, EventMode, Expression, Plan, Store, price};
use model::{Model as _, Parameters};
use run::{Control, Options, play};
use table::PageFormat;
use world::{Seed, World, WorldRange};

#[tokio::main]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().context("name a folder to store the dice in")?;
    let count = words.next().map_or(Ok(10_000), |n| n.parse()).context("the number of worlds")?;
    let parameters = Parameters::parse(dice::PARAMETERS, [("rolls", "20")])?;
    let model = dice::Dice::new(&parameters)?;
    let plan = Plan {
        name: "dice".to_owned(),
        model: dice::PLUGIN.name.clone(),
        parameters: parameters.to_json(),
        seed: Seed(1),
        worlds: WorldRange::new(World(0), count)?,
        range_worlds: count.div_ceil(2),
        events: EventMode::Store,
        catalogue: model.catalogue().clone(),
    };
    let mut store = Store::open_or_create(Path::new(&folder), Arc::new(RealDisk)).await?;
    let ensemble = store.register(plan, true).await?;
    let options = Options { threads: 2, format: PageFormat::default(), until: None };
    let summary = play(Arc::new(model), &mut store, ensemble, options, Arc::new(Control::default())).await?;
    tell(&format!("{} rolls stored, hash {}", summary.events.rows, summary.hash))?;

    let columns = Columns::open(store.ensemble("dice").await?, 1 << 20)?;
    let leg = Expression::parse("ann_wins and ann > 75", &columns.ensemble().plan.catalogue, Some(0))?;
    let answer = price(&columns, &[leg], None)?;
    tell(&format!("Ann wins with more than 75 pips in {:.1}% of the worlds", 100.0 * answer.probability))
}

fn tell(text: &str) -> Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{text}").context("writing the answer")
}
