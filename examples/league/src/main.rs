//! Plays the league, and prints its hash and the CPU seconds: `cargo run --release -p league -- FOLDER WORLDS SEED`.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use disk::RealDisk;
use ensemble::{EventMode, Plan, Store};
use league::League;
use model::Model as _;
use run::{Control, Options, play};
use table::PageFormat;
use world::{Seed, World, WorldRange};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, worlds, seed] = &arguments[..] else {
        anyhow::bail!("give a folder, the number of worlds and the seed");
    };
    let worlds = WorldRange::new(World(0), worlds.parse().context("the number of worlds")?)?;
    let model = League::default();
    let plan = Plan {
        name: "league".to_owned(),
        model: "league".to_owned(),
        parameters: "{}".to_owned(),
        seed: Seed(seed.parse().context("the seed")?),
        worlds,
        range_worlds: worlds.count().min(20_000) as u32,
        events: EventMode::Replay,
        catalogue: model.catalogue().clone(),
    };
    let threads = std::thread::available_parallelism()?.get();
    let mut store = Store::open_or_create(Path::new(folder), Arc::new(RealDisk)).await?;
    let ensemble = store.register(plan, true).await?;
    let options = Options { threads, format: PageFormat::default(), until: None };
    let summary = play(Arc::new(model), &mut store, ensemble, options, Arc::new(Control::default())).await?;
    writeln!(std::io::stdout(), "{} {:.3}", summary.hash, summary.cpu_s).context("cannot print the hash")
}
