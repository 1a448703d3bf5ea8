//! Measures how fast events are played without recording drops and completions: worlds and attempts per second.
//!
//! ```text
//! cargo bench -p bingo
//! ```

use bingo::definition::{BIG, SMALL};
use bingo::{Bingo, PARAMETERS, PLUGIN};
use divan::counter::ItemsCount;
use model::{EventBlock, Model as _, OutcomeBlock, Parameters, Sink, Stop, Values, Wanted};
use world::{Seed, World, WorldRange};

fn main() {
    divan::main();
}

/// An event shipped with the crate.
#[derive(Clone, Copy)]
enum Example {
    Small,
    Big,
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Small => "small",
            Self::Big => "big",
        })
    }
}

impl Example {
    const ALL: [Self; 2] = [Self::Small, Self::Big];

    fn worlds(self) -> u32 {
        match self {
            Self::Small => 1000,
            Self::Big => 20,
        }
    }

    fn model(self) -> Bingo {
        let text = match self {
            Self::Small => SMALL,
            Self::Big => BIG,
        };
        let read = &PLUGIN.definition.as_ref().expect("bingo plays an event").read;
        let event = read(text).expect("the example is good");
        let parameters = Parameters::parse(PARAMETERS, []).expect("nothing is given").defining(event);
        Bingo::new(&parameters).expect("the example is good")
    }
}

/// Counts attempts.
#[derive(Default)]
struct Attempts(u64);

impl Sink for Attempts {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        if let Values::I32(attempts) = block.columns[4] {
            self.0 += attempts.iter().map(|n| *n as u64).sum::<u64>();
        }
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

fn play(model: &Bingo, worlds: u32) -> u64 {
    let range = WorldRange::new(World(0), worlds).expect("there are worlds");
    let mut attempts = Attempts::default();
    model.simulate(Seed(1), range, Wanted::default(), &mut attempts).expect("the sink takes all");
    attempts.0
}

/// An item is a world.
#[divan::bench(args = Example::ALL, sample_count = 20, sample_size = 1)]
fn worlds(bencher: divan::Bencher<'_, '_>, example: Example) {
    let model = example.model();
    bencher.counter(ItemsCount::new(example.worlds())).bench_local(|| play(&model, divan::black_box(example.worlds())));
}

/// An item is an attempt.
#[divan::bench(args = Example::ALL, sample_count = 20, sample_size = 1)]
fn attempts(bencher: divan::Bencher<'_, '_>, example: Example) {
    let model = example.model();
    let attempts = play(&model, example.worlds());
    bencher.counter(ItemsCount::new(attempts)).bench_local(|| play(&model, divan::black_box(example.worlds())));
}

/// Reads, checks and prepares an event before the first world.
#[divan::bench(args = Example::ALL)]
fn prepare(bencher: divan::Bencher<'_, '_>, example: Example) {
    bencher.bench_local(|| divan::black_box(example.model()));
}
