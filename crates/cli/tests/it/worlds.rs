//! Incomplete ensembles: worlds keep their numbers, and errors name missing worlds.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{Follow, Store};
use model::Parameters;
use run::Player;
use serde_json::Value;
use tokio::runtime::Builder;

use crate::support::{failure, json, run};

const GAME: &str = "game-005";

/// Plays 8 worlds of football in ranges of 2. Plays only the second and the fourth range in another ensemble of the
/// same plan.
fn play_with_gaps(data: &Path, events: &str) {
    let words = ["run", "football", "--worlds", "8", "--range-worlds", "2", "--events", events, "--name", "whole"];
    json(data, &words);
    let part = async {
        let mut store = Store::open_or_create(data, Arc::new(RealDisk)).await.unwrap();
        let mut plan = store.ensemble("whole").await.unwrap().plan;
        "gaps".clone_into(&mut plan.name);
        let parameters = Parameters::from_json(football::PARAMETERS, &plan.parameters).unwrap();
        let model = Arc::new(football::Football::new(&parameters).unwrap());
        let ranges = plan.ranges();
        let follow = Follow::new(&plan.catalogue, Vec::new());
        let registered = store.register(plan, false).await.unwrap();
        let player = Player {
            model,
            ensemble: registered.clone(),
            disk: store.disk().clone(),
            format: table::PageFormat::default(),
            follow,
        };
        let mut encoders = player.encoders().unwrap();
        for range in [ranges[1], ranges[3]] {
            let written = player.play(range, &mut encoders, &|| false).unwrap().unwrap();
            store.commit_range(&registered, &written).await.unwrap();
        }
    };
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(part);
}

const STORED: [u32; 4] = [2, 3, 6, 7];

fn of_world(data: &Path, ensemble: &str, world: u32, more: &[&str]) -> Value {
    let world = world.to_string();
    json(data, &[&["events", ensemble, "--entity", GAME, "--world", &world], more].concat())
}

#[test]
fn worlds_are_found_by_number_beside_gaps() {
    for events in ["store", "replay"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        play_with_gaps(data, events);
        for world in STORED {
            for more in [&[] as &[&str], &["--box"]] {
                assert_eq!(
                    of_world(data, "gaps", world, more),
                    of_world(data, "whole", world, more),
                    "{world} {more:?}"
                );
            }
        }
        for world in ["0", "1", "4", "5", "8"] {
            for more in [&[] as &[&str], &["--box"]] {
                let words = ["events", "gaps", "--entity", GAME, "--world", world];
                let said = failure(data, &[&words[..], more].concat(), 2);
                let expected = format!(
                    "error: ensemble \"gaps\" does not store world {world}: of 8 worlds it stores 2 to 3, 6 to 7\n"
                );
                assert_eq!(said, expected);
            }
        }
        let ask = |sql: &str| json(data, &["sql", sql]);
        let of = |ensemble: &str| {
            ask(&format!(
                "SELECT world, home_points, away_points FROM worlds('{ensemble}', '{GAME}') \
                 WHERE world IN (2, 3, 6, 7) ORDER BY world"
            ))
        };
        assert_eq!(of("gaps"), of("whole"));
        let plays = |ensemble: &str| {
            ask(&format!("SELECT world, number, home_score FROM events('{ensemble}', '{GAME}', '6-7') ORDER BY 1, 2"))
        };
        assert_eq!(plays("gaps"), plays("whole"));
        let said = failure(data, &["sql", &format!("SELECT * FROM events('gaps', '{GAME}', '3-6')")], 2);
        assert!(said.contains("does not store world 4: of 8 worlds it stores 2 to 3, 6 to 7"), "{said}");
        // Only worlds that both ensembles store are compared; these are equal.
        let outcome = format!("{GAME}:home_margin");
        let compared = &json(data, &["compare", "gaps", "whole", "--outcome", &outcome])[0];
        assert_eq!((&compared["worlds"], &compared["shares"][1]), (&4.into(), &1.0.into()), "{compared}");
        prices_are_those_of_the_stored_worlds(data);
    }
}

fn prices_are_those_of_the_stored_worlds(data: &Path) {
    let given = "at q3 15:00, possession home";
    let words = ["price", "gaps", "--entity", GAME, "--leg", "home_points > 20", "--given", given, "--min-worlds", "0"];
    let price = json(data, &words);
    let receives = |world: &&u32| {
        let plays = of_world(data, "whole", **world, &["--where", "quarter=3"]);
        plays[0]["offence"] == "away"
    };
    let home: Vec<u32> = STORED.iter().filter(receives).copied().collect();
    let scores =
        |world: &&u32| of_world(data, "whole", **world, &["--box"])["outcomes"]["home_points"].as_f64() > Some(20.0);
    assert_eq!(price["worlds"], home.len(), "{price}");
    assert_eq!(price["hits"], home.iter().filter(scores).count(), "{price}");
}

#[test]
fn possession_is_the_receivers_at_a_kickoff() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "40", "--name", "season"]);
    let kick = "SELECT count(*) AS n FROM events('season', 'game-003', '0-39') \
                WHERE quarter = 3 AND clock = 900 AND play_type = 'kickoff' AND offence = ";
    let matched = |given: &str| {
        let words =
            ["price", "season", "--entity", "game-003", "--leg", "home_won", "--min-worlds", "0", "--given", given];
        json(data, &words)["worlds"].clone()
    };
    let mut all = 0;
    for (side, kicker) in [("home", "'away'"), ("away", "'home'")] {
        let expected = json(data, &["sql", &format!("{kick}{kicker}")])[0]["n"].clone();
        assert_eq!(matched(&format!("at q3 15:00, possession {side}")), expected, "{side}");
        all += expected.as_u64().unwrap();
    }
    assert_eq!(all, 40);
}

#[test]
fn ranges_without_events_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let written = crate::support::program(&["bingo", "example"]).output().unwrap();
    // In most worlds no team wins in the first minutes, and most ranges have no win at all.
    let event = String::from_utf8(written.stdout).unwrap().replace("duration = \"24h\"", "duration = \"2m\"");
    let file = folder.path().join("short.toml");
    std::fs::write(&file, event).unwrap();
    let words = ["run", "bingo", "--worlds", "6", "--range-worlds", "1", "--name", "short", "--event"];
    json(&data, &[&words[..], &[file.to_str().unwrap()]].concat());
    let output = run(&data, &["verify", "short"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    for world in ["0", "2", "5"] {
        let plays = json(&data, &["events", "short", "--entity", "alpha", "--world", world]);
        assert!(plays.as_array().unwrap().is_empty(), "{plays}");
    }
    assert_eq!(json(&data, &["sql", "SELECT count(*) AS n FROM events('short', 'alpha', '0-5')"])[0]["n"], 0);
}

#[test]
fn a_price_without_a_hit_has_an_interval() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "40", "--events", "replay", "--name", "season"]);
    let words = ["price", "season", "--entity", "game-003", "--leg", "home_points > 100"];
    let price = json(data, &words);
    let high = price["ci"][1].as_f64().unwrap();
    assert_eq!((&price["hits"], &price["ci"][0]), (&0.into(), &0.0.into()));
    assert!((high - (1.0 - 0.025_f64.powf(1.0 / 40.0))).abs() < 1e-12, "{price}");
    assert!(price["standard_error"].as_f64().unwrap() > 0.0, "{price}");
    let said = String::from_utf8(run(data, &words).stdout).unwrap();
    assert!(said.contains("0.0% (0.0% to 8.8%)") || said.contains("0.00% (0.00% to 8.81%)"), "{said}");
    let outcome = &json(data, &["outcome", "season", "--entity", "game-003", "--outcome", "any_safety"])[0];
    let [low, high] = [0, 1].map(|end| outcome["ci"][end].as_f64().unwrap());
    assert!(low <= outcome["mean"].as_f64().unwrap() && low >= 0.0 && high > 0.05, "{outcome}");
    // No world differs, but the interval still allows for some.
    let same = &json(data, &["compare", "season", "season", "--outcome", "game-003:home_won"])[0];
    assert!(same["difference"] == 0.0 && same["ci_half_width"].as_f64().unwrap() > 0.05, "{same}");
}

#[test]
fn players_are_found_wherever_plays_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "1", "--name", "season"]);
    let of = |more: &[&str]| of_world(data, "season", 0, more).as_array().unwrap().clone();
    let all = of(&[]);
    let check = |player: &str, is_of: &dyn Fn(&Value) -> bool| {
        let expected: Vec<Value> = all.iter().filter(|play| is_of(play)).cloned().collect();
        assert!(!expected.is_empty(), "{player}");
        assert_eq!(of(&["--player", player]), expected, "{player}");
    };
    let kicks = ["field_goal", "extra_point", "kickoff", "onside_kick"];
    check("home_k", &|play| play["offence"] == "home" && kicks.iter().any(|kick| play["play_type"] == *kick));
    check("p", &|play| play["play_type"] == "punt");
    check("home_qb1", &|play| play["offence"] == "home" && (play["passer"] == "qb1" || play["player"] == "qb1"));
    let defends = |play: &Value| ["tackler", "assist", "defender"].iter().any(|column| play[column] == "d2");
    check("away_d2", &|play| play["offence"] == "home" && defends(play));
    let words = ["events", "season", "--entity", GAME, "--world", "0", "--player"];
    let none = run(data, &[&words[..], &["home_rb4", "--where", "quarter=5"]].concat());
    let said = String::from_utf8(none.stderr).unwrap();
    assert_eq!(said, format!("home_rb4 has a part in no event of {GAME} in world 0 that meets the other conditions\n"));
    let said = failure(data, &[&words[..], &["home_qb9"]].concat(), 2);
    assert!(said.starts_with("error: no player \"home_qb9\"; did you mean home_qb"), "{said}");
}

#[test]
fn vacuum_frees_versions_that_were_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let play = |more: &[&str]| {
        let words = ["run", "football", "--worlds", "2", "--range-worlds", "1", "--name", "season"];
        json(data, &[&words[..], more].concat())
    };
    play(&[]);
    play(&["--seed", "2", "--replace"]);
    let version =
        |version: u32| data.join(format!("sim/events/ensemble=season/version={version}/00000001-00000001.parquet"));
    assert!(version(1).exists() && version(2).exists());
    // An incomplete version has files that no log entry names yet, possibly for a long time.
    let staged = data.join("sim/outcomes/ensemble=season/version=3");
    std::fs::create_dir_all(&staged).unwrap();
    let pending = staged.join("00000000-00000000.parquet");
    std::fs::copy(data.join("sim/outcomes/ensemble=season/version=2/00000000-00000000.parquet"), &pending).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(48);
    std::fs::File::options().write(true).open(&pending).unwrap().set_modified(old).unwrap();
    let vacuum = |more: &[&str]| json(data, &[&["table", "vacuum", "sim"], more].concat());
    assert_eq!((&vacuum(&[])["old_files"], &vacuum(&[])["retained_files"]), (&0.into(), &5.into()));
    let shown = vacuum(&["--retain", "0"]);
    assert_eq!((&shown["old_files"], &shown["orphans"], &shown["applied"]), (&5.into(), &1.into(), &false.into()));
    assert!(shown["bytes"].as_u64().unwrap() > 0 && version(1).exists());
    // Once registered, the file belongs to a version.
    std::fs::remove_file(&pending).unwrap();
    let before = json(data, &["verify", "season"]);
    let done = vacuum(&["--retain", "0", "--apply"]);
    assert_eq!((&done["old_files"], &done["bytes"].as_u64().is_some()), (&5.into(), &true));
    assert!(!version(1).exists() && version(2).exists());
    assert_eq!(json(data, &["verify", "season"]), before);
    assert_eq!(vacuum(&["--retain", "0"])["old_files"], 0);
}

#[test]
fn vacuum_keeps_files_of_versions_that_are_still_played() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "2", "--range-worlds", "1", "--name", "season"]);
    let pending = async {
        let mut store = Store::open_or_create(data, Arc::new(RealDisk)).await.unwrap();
        let plan = store.ensemble("season").await.unwrap().plan;
        let parameters = Parameters::from_json(football::PARAMETERS, &plan.parameters).unwrap();
        let model = Arc::new(football::Football::new(&parameters).unwrap());
        let follow = Follow::new(&plan.catalogue, Vec::new());
        let (range, disk) = (plan.ranges()[1], store.disk().clone());
        let registered = store.register(plan, true).await.unwrap();
        let player = Player { model, ensemble: registered.clone(), disk, format: table::PageFormat::default(), follow };
        player.play(range, &mut player.encoders().unwrap(), &|| false).unwrap().unwrap();
        [registered.paths.outcomes(range), registered.paths.events(range)]
    };
    let pending = Builder::new_multi_thread().enable_all().build().unwrap().block_on(pending);
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(480);
    for path in &pending {
        std::fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }
    json(data, &["table", "vacuum", "sim", "--retain", "0", "--apply"]);
    assert!(pending.iter().all(|path| path.exists()));
    let words = ["run", "football", "--worlds", "2", "--range-worlds", "1", "--name", "season", "--resume"];
    assert_eq!(json(data, &words)["played"], 1);
    assert_eq!(json(data, &["verify", "season"])["ok"], true);
}
