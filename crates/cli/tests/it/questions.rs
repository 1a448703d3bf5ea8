//! Questions about a small stored season.

use crate::support::json;

#[test]
fn prices_and_distributions_agree() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let summary = json(data, &["run", "football", "--worlds", "40", "--range-worlds", "15", "--name", "season"]);
    assert_eq!(summary["outcomes"]["values"], (288 * 850 + 32 * 54) * 40);
    let shown = json(data, &["outcome", "season", "--entity", "game-017", "--outcome", "home_margin", "--cdf"]);
    let below = |bound: f64| {
        let cdf = shown[0]["cdf"].as_array().unwrap();
        cdf.iter()
            .filter(|c| c["value"].as_f64().unwrap() <= bound)
            .map(|c| c["probability"].as_f64().unwrap())
            .fold(0.0, f64::max)
    };
    let price = |leg: &str| json(data, &["price", "season", "--entity", "game-017", "--leg", leg]);
    for bound in [-3.5, 0.5, 3.5, 10.5] {
        let priced = price(&format!("home_margin > {bound}"));
        assert_eq!(priced["worlds"], 40);
        assert!((priced["probability"].as_f64().unwrap() - (1.0 - below(bound))).abs() < 1e-9, "{bound}");
    }
    // A leg and its opposite never hold together; a condition equal to the leg makes it certain.
    let both = json(
        data,
        &["price", "season", "--entity", "game-017", "--leg", "home_margin > 0", "--leg", "home_margin <= 0"],
    );
    assert_eq!((&both["probability"], &both["fair_odds"]), (&0.0.into(), &serde_json::Value::Null));
    let given = json(
        data,
        &[
            "price",
            "season",
            "--entity",
            "game-017",
            "--leg",
            "home_margin > 0",
            "--given",
            "home_won = 1",
            "--min-worlds",
            "1",
        ],
    );
    assert_eq!(given["probability"], 1.0);
}
