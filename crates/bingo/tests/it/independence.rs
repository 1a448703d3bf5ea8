//! Worlds are independent of each other, and the same for strategies that are compared.

use bingo::definition::{Event, SMALL, StrategyKey, parse};

use crate::support::{EVENT, Worlds, first, mean, model, variance};

const WORLDS: u32 = 4000;

fn text(event: &Event) -> String {
    toml::to_string(event).unwrap()
}

/// Correlation of each world's value with the next one's, in standard errors.
fn lag_1(values: &[f64]) -> f64 {
    let mean = mean(values);
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    products / (values.len() as f64 * variance(values)) * (values.len() as f64).sqrt()
}

#[test]
fn neighbouring_worlds_have_nothing_in_common() {
    for event in [EVENT, SMALL] {
        let model = model(event, &[]);
        let worlds = first(&model, 3, WORLDS);
        let tiles = model_tiles(event);
        let mut seen = 0;
        for team in 0..2 {
            let names = ["points", "attempts", "win_share", "row_1_opened", &tiles[0], &tiles[3], &tiles[5]];
            for name in names {
                let values = worlds.outcome(&model, team, name);
                if variance(&values) > 0.0 {
                    let lag = lag_1(&values);
                    assert!(lag.abs() < 4.0, "team {team}, {name}: {lag} standard errors");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 10, "only {seen} outcomes differ from world to world");
    }
}

fn model_tiles(event: &str) -> Vec<String> {
    let event = parse(event).unwrap();
    let plain = |key: &str| key.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    event.rows.iter().flat_map(|r| &r.tiles).map(|t| format!("tile_{}_completed", plain(&t.key))).collect()
}

#[test]
fn seeds_have_nothing_in_common() {
    let model = model(EVENT, &[]);
    let [a, b] = [3, 4].map(|seed| first(&model, seed, WORLDS).outcome(&model, 0, "points"));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let covariance = a.iter().zip(&b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum::<f64>() / f64::from(WORLDS);
    let correlation = covariance / (variance(&a) * variance(&b)).sqrt();
    assert!(correlation.abs() < 4.0 / f64::from(WORLDS).sqrt(), "{correlation}");
}

/// Everything of the first team but its share of the win.
fn of_the_first_team(worlds: &Worlds) -> Vec<&Vec<i32>> {
    worlds.outcomes[0].iter().enumerate().filter(|(n, _)| *n != 3).map(|(_, values)| values).collect()
}

#[test]
fn another_strategy_or_line_up_of_one_team_changes_nothing_of_the_other() {
    let event = parse(EVENT).unwrap();
    let before_model = model(EVENT, &[]);
    let before = first(&before_model, 3, 500);
    let changes: [fn(&mut Event); 3] = [
        |e| e.teams[1].strategy = StrategyKey::ComboUnlocking,
        |e| e.teams[1].players.truncate(2),
        |e| {
            let mut new = e.players[0].clone();
            new.name = "Aaron".to_owned();
            e.players.insert(0, new);
            e.teams[1].players.push("Aaron".to_owned());
        },
    ];
    for change in changes {
        let mut event = event.clone();
        change(&mut event);
        let after_model = model(&text(&event), &[]);
        let after = first(&after_model, 3, 500);
        assert_eq!(of_the_first_team(&after), of_the_first_team(&before));
        assert_ne!(after.outcomes[1], before.outcomes[1]);
        assert_ne!(after.outcomes[0][3], before.outcomes[0][3], "but for its share of the win");
    }
}

/// By the reference's rule idle players wait for all teams, so that there it does.
#[test]
fn by_the_references_rule_another_line_up_changes_the_other_team() {
    let mut event = parse(EVENT).unwrap();
    let before = first(&model(EVENT, &["idle_until_quiet"]), 3, 200);
    event.teams[1].players = vec!["Dan".to_owned()];
    let after = first(&model(&text(&event), &["idle_until_quiet"]), 3, 200);
    assert_ne!(of_the_first_team(&after), of_the_first_team(&before));
}

#[test]
fn strategies_differ_less_by_chance_on_the_same_worlds() {
    let event = |strategy: StrategyKey| {
        let mut event = parse(EVENT).unwrap();
        event.teams[0].strategy = strategy;
        model(&text(&event), &[])
    };
    let points = |strategy, seed| {
        let model = event(strategy);
        first(&model, seed, WORLDS).outcome(&model, 0, "points")
    };
    let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<_>>();
    let greedy = points(StrategyKey::Greedy, 3);
    let paired = variance(&difference(&greedy, &points(StrategyKey::RowUnlocking, 3)));
    let apart = variance(&difference(&greedy, &points(StrategyKey::RowUnlocking, 4)));
    assert!(paired < 0.95 * apart, "{paired} on the same worlds, {apart} on others");
}
