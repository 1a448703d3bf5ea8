//! Formats figures.

/// Three significant digits: `1,234`, `12.3`, `0.0123`.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 99.95 => count(value.round() as u64),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        v => format!("{value:.*}", (2 - v.log10().floor() as i32).clamp(3, 6) as usize),
    }
}

/// A figure, or a dash for none.
pub(crate) fn or_dash(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "-".to_owned())
}

/// A count with separated thousands.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|g| String::from_utf8_lossy(g)).collect::<Vec<_>>().join(",")
}

/// A rate: `1.23 M/s`.
pub(crate) fn rate(per_s: f64) -> String {
    scaled(per_s, ["", " k", " M", " G"]) + "/s"
}

/// A size: `1.23 GB`.
pub(crate) fn bytes(n: u64) -> String {
    scaled(n as f64, [" B", " kB", " MB", " GB"])
}

fn scaled(mut value: f64, units: [&str; 4]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    short(value) + units[unit]
}

/// A time given in milliseconds: `12.3 ms`, `4.56 us`.
pub(crate) fn ms(value: f64) -> String {
    match value {
        v if v >= 1000.0 => short(v / 1e3) + " s",
        v if v >= 0.1 => short(v) + " ms",
        v => short(v * 1e3) + " us",
    }
}
