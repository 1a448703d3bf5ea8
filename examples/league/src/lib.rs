//! The league of `python/bench/league.py` in Rust. Both give the same worlds to the bit: they draw from the same streams.

use std::sync::{Arc, LazyLock};

use model::{
    Catalogue, Entity, EntityKind, Model, Outcome, OutcomeBlock, OutcomeKind, Plugin, Sink, Stop, Values, Wanted,
};
use world::{Seed, Streams, WorldRange};

/// Games of a season.
const GAMES: usize = 272;
/// The home edge and the standard deviation of a margin, in points.
const HOME: f64 = 2.5;
const SPREAD: f64 = 13.0;

/// Registers the model with a program.
pub static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| Plugin {
    name: "league".into(),
    summary: "a season of games with normal margins".into(),
    parameters: (&[]).into(),
    definition: None,
    origin: None,
    build: Arc::new(|_| Ok(Box::new(League::default()))),
});

/// 272 games, each with a margin and three outcomes that follow from it.
pub struct League {
    catalogue: Catalogue,
}

impl Default for League {
    fn default() -> Self {
        let outcomes = vec![
            Outcome::new("margin", "points", OutcomeKind::Number),
            Outcome::new("home_won", "0 or 1", OutcomeKind::Flag),
            Outcome::new("close", "0 or 1", OutcomeKind::Flag),
            Outcome::new("beyond", "points", OutcomeKind::Number),
        ];
        let catalogue = Catalogue {
            kinds: vec![EntityKind { name: "game".into(), outcomes }],
            entities: (0..GAMES).map(|game| Entity::new(format!("game-{game:03}"), 0)).collect(),
            events: Vec::new(),
        };
        Self { catalogue }
    }
}

impl Model for League {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        for game in (0..GAMES).filter(|game| wanted.entity.is_none_or(|only| only == *game)) {
            let draws = Streams::new(seed, range, game as u32, 0).normal();
            let margin: Vec<i16> = draws.iter().map(|z| (HOME + z * SPREAD).round_ties_even() as i16).collect();
            let beyond: Vec<i16> = margin.iter().map(|margin| margin.abs()).collect();
            let home_won: Vec<i16> = margin.iter().map(|margin| i16::from(*margin > 0)).collect();
            let close: Vec<i16> = beyond.iter().map(|points| i16::from(*points <= 3)).collect();
            let columns = [&margin, &home_won, &close, &beyond].map(|column| Values::I16(column)).to_vec();
            sink.outcomes(OutcomeBlock { entity: game, range, columns })?;
        }
        Ok(())
    }
}
