//! A season's identities hold under any parameters within their bounds.

use std::sync::Arc;

use disk::RealDisk;
use ensemble::{EventMode, Plan, Store, verify};
use football::{Football, PARAMETERS, PLUGIN};
use model::{Model as _, ParameterSpec, Parameters};
use run::{Control, Options, play};

use crate::support::plan;

type Given = Vec<(&'static str, f64)>;

/// Parameters with the worlds to play: all at one end, all but one, and random ends. `league` only numbers the leagues.
fn combinations() -> Vec<(Given, u32)> {
    let specs: Vec<&ParameterSpec> = PARAMETERS.iter().filter(|spec| spec.name != "league").collect();
    let all: u32 = (1 << specs.len()) - 1;
    let at = |chosen: u32, high: u32| -> Given {
        let chosen = specs.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
        chosen.map(|(place, spec)| (&*spec.name, spec.bounds().unwrap()[high as usize >> place & 1])).collect()
    };
    let mut list = Vec::new();
    for high in [0, all] {
        list.push(at(all, high));
        list.extend((0..specs.len()).map(|place| at(all ^ (1 << place), high)));
    }
    list.extend((1..=4).map(|n: u32| at(all, n.wrapping_mul(0x9E37_79B1) >> 20 & all)));
    let mut list: Vec<(Given, u32)> = list.into_iter().map(|given| (given, 1)).collect();
    // Strong sides meet weak ones, and the clock leaves time for many plays: some games end early.
    list.push((vec![("rating_spread", 10.0), ("pace", 0.7)], 9));
    list
}

#[tokio::test(flavor = "multi_thread")]
async fn identities_hold_at_extreme_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(folder.path(), Arc::new(RealDisk)).await.unwrap();
    let mut ended_early = false;
    for (place, (given, worlds)) in combinations().into_iter().enumerate() {
        let texts: Vec<(&str, String)> = given.iter().map(|(name, value)| (*name, value.to_string())).collect();
        let parameters = Parameters::parse(PARAMETERS, texts.iter().map(|(n, v)| (*n, v.as_str()))).unwrap();
        let model = Arc::new(Football::new(&parameters).unwrap());
        let plan = Plan {
            name: format!("e{place}"),
            parameters: parameters.to_json(),
            events: EventMode::Replay,
            catalogue: model.catalogue().clone(),
            ..plan(&PLUGIN, 9, worlds, worlds)
        };
        let registered = store.register(plan.clone(), false).await.unwrap();
        let options = Options { threads: 2, format: table::PageFormat::default(), until: None };
        play(model.clone(), &mut store, registered, options, Arc::new(Control::default())).await.unwrap();
        let stored = store.ensemble(&plan.name).await.unwrap();
        let found = verify(&stored, &*model).unwrap();
        assert!(found.ok, "{given:?}: {found:?}");
        ended_early |= ends_early(stored);
    }
    assert!(ended_early, "no game ends early");
}

/// Whether some game ends before its clock does.
fn ends_early(stored: ensemble::StoredEnsemble) -> bool {
    let columns = ensemble::Columns::open(stored, 16 << 20).unwrap();
    let catalogue = columns.ensemble().plan.catalogue.clone();
    (0..football::GAMES).any(|game| {
        let text = "home_possession + away_possession < 3600";
        let condition = ensemble::Expression::parse(text, &catalogue, Some(game)).unwrap();
        ensemble::price(&columns, &[condition], None).unwrap().hits > 0
    })
}
