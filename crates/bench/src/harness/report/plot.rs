//! Plots as SVG. The page defines the colours as classes: `f0`.. for fills, `l0`.. for lines.

use super::html::escape;
use super::number::{count, ms, short};

const WIDTH: f64 = 760.0;
const TEXT_PX: f64 = 6.6;
/// Where the plot begins below its legend.
const TOP: f64 = 34.0;

/// Points joined by a line.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The scale of bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

/// An axis: the values at its ends, and where these are.
struct Axis {
    scale: Scale,
    values: (f64, f64),
    ends: (f64, f64),
}

impl Axis {
    /// A horizontal axis of rows with labels, and its grid down to `bottom`.
    fn with_grid(scale: Scale, left: f64, ticks: &[f64], bottom: f64, say: impl Fn(f64) -> String) -> (Self, String) {
        const MOST: usize = 9;
        let axis = Self { scale, values: (ticks[0], ticks[ticks.len() - 1]), ends: (left, WIDTH - 30.0) };
        // Few enough ticks that their labels do not touch.
        let grid = ticks.iter().step_by(ticks.len().div_ceil(MOST)).map(|tick| {
            let at = axis.at(*tick);
            line("grid", [at, TOP - 6.0, at, bottom]) + &text([at, bottom + 16.0], "middle", "", &say(*tick))
        });
        let grid = grid.collect();
        (axis, grid)
    }

    fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let share = match self.scale {
            Scale::Linear => value / high,
            Scale::Logarithmic => (value.max(low) / low).ln() / (high / low).ln(),
        };
        // An axis of one value has it in the middle.
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }
}

/// Plots lines over `across`; both axes are logarithmic. `marks` are labelled horizontal lines.
pub(crate) fn lines(series: &[Series], marks: &[(f64, &str)], across: &str) -> String {
    const LEFT: f64 = 56.0;
    const RIGHT: f64 = 570.0;
    const BOTTOM: f64 = 262.0;
    let points = || series.iter().flat_map(|s| &s.points);
    let mut places: Vec<f64> = points().map(|p| p.0).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    let heights: Vec<f64> = points().map(|p| p.1).chain(marks.iter().map(|m| m.0)).filter(|v| *v > 0.0).collect();
    let ticks = log_ticks(range(&heights));
    let scale = Scale::Logarithmic;
    let x = Axis { scale, values: range(&places), ends: (LEFT + 20.0, RIGHT - 10.0) };
    let y = Axis { scale, values: range(&ticks), ends: (BOTTOM, TOP) };
    let mut svg = legend(&series.iter().map(|s| s.name).collect::<Vec<_>>());
    for tick in &ticks {
        svg += &line("grid", [LEFT, y.at(*tick), RIGHT, y.at(*tick)]);
        svg += &text([LEFT - 8.0, y.at(*tick) + 4.0], "end", "", &round(*tick));
    }
    for tick in &places {
        svg += &text([x.at(*tick), BOTTOM + 18.0], "middle", "", &count(*tick as u64));
    }
    svg += &text([f64::midpoint(LEFT, RIGHT), BOTTOM + 36.0], "middle", "", across);
    let mut labels = Vec::new();
    for (value, name) in marks {
        svg += &line("mark", [LEFT, y.at(*value), RIGHT, y.at(*value)]);
        labels.push((y.at(*value), "", format!("{} {name}", round(*value))));
    }
    for (place, of) in series.iter().enumerate() {
        let path: Vec<String> = of.points.iter().map(|p| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1))).collect();
        svg += &polyline(place, &path);
        for p in &of.points {
            svg += &dot(place, x.at(p.0), y.at(p.1), &format!("{}: {} at {}", of.name, short(p.1), count(p.0 as u64)));
        }
        labels.extend(of.points.last().map(|last| (y.at(last.1), "ink", format!("{} {}", short(last.1), of.name))));
    }
    for (at, class, words) in spread(labels, BOTTOM) {
        svg += &text([RIGHT + 10.0, at + 4.0], "start", class, &words);
    }
    frame(300.0, &svg)
}

/// Sorts labels from top to bottom, and moves them so that they neither overlap nor fall below `bottom`.
fn spread<T>(mut labels: Vec<(f64, &'static str, T)>, bottom: f64) -> Vec<(f64, &'static str, T)> {
    const LINE: f64 = 15.0;
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for i in 1..labels.len() {
        labels[i].0 = labels[i].0.max(labels[i - 1].0 + LINE);
    }
    let mut most = bottom;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - LINE;
    }
    labels
}

/// Plots one bar per row, divided into shares.
pub(crate) fn shares(rows: &[(String, Vec<f64>)], parts: &[&str]) -> String {
    const ROW: f64 = 28.0;
    let left = label_width(rows.iter().map(|r| r.0.as_str()));
    let mut svg = legend(parts);
    for (place, (name, values)) in rows.iter().enumerate() {
        let top = TOP + place as f64 * ROW;
        svg += &text([left - 10.0, top + 15.0], "end", "ink", name);
        let whole: f64 = values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut x = left;
        for (part, value) in values.iter().enumerate() {
            let width = value / whole * (WIDTH - left);
            let percent = format!("{:.0}%", 100.0 * value / whole);
            let title = format!("{}: {} s, {percent}", parts[part], short(*value));
            svg += &bar_part(part, [x, top, width, ROW - 8.0], &title);
            if width > 40.0 {
                svg += &text([x + width / 2.0, top + 14.0], "middle", "on", &percent);
            }
            x += width;
        }
    }
    frame(TOP + rows.len() as f64 * ROW + 4.0, &svg)
}

/// Plots rows of bars, one for each series with a figure; `say` formats a figure.
pub(crate) fn bars(
    rows: &[(String, Vec<Option<f64>>)],
    series: &[&str],
    scale: Scale,
    say: impl Fn(f64) -> String,
) -> String {
    const BAR: f64 = 7.0;
    const GAP: f64 = 9.0;
    let left = label_width(rows.iter().map(|r| r.0.as_str()));
    let figures = || rows.iter().flat_map(|r| &r.1).flatten().copied();
    let ticks = match scale {
        Scale::Linear => linear_ticks(figures().fold(0.0, f64::max)),
        Scale::Logarithmic => log_ticks(range(&figures().filter(|v| *v > 0.0).collect::<Vec<_>>())),
    };
    let bottom = TOP + rows.iter().map(|r| r.1.len() as f64 * BAR + GAP).sum::<f64>();
    let (x, grid) = Axis::with_grid(scale, left, &ticks, bottom, &say);
    let mut svg = legend(series) + &grid;
    let mut top = TOP;
    for (name, values) in rows {
        let middle = top + values.len() as f64 * BAR / 2.0;
        svg += &text([left - 10.0, middle + 4.0], "end", "ink", name);
        for (of, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let title = format!("{name}, {}: {}", series[of], say(*value));
                // Keep a zero visible.
                let width = (x.at(*value) - left).max(1.5);
                svg += &bar_part(of, [left, top + of as f64 * BAR, width, BAR], &title);
            }
        }
        top += values.len() as f64 * BAR + GAP;
    }
    frame(bottom + 22.0, &svg)
}

/// Four to eight round steps from 0 to the first at or above `high`.
fn linear_ticks(high: f64) -> Vec<f64> {
    let power = 10_f64.powf(high.max(f64::MIN_POSITIVE).log10().floor());
    let step = [0.2, 0.5, 1.0, 2.0].map(|m| m * power).into_iter().find(|step| high / step <= 8.0).unwrap_or(power);
    (0..=(high / step).ceil().max(1.0) as u32).map(|i| f64::from(i) * step).collect()
}

/// Plots spans from p50 to p99 over a logarithmic time axis; each row has one per series.
pub(crate) fn spans(rows: &[(String, Vec<(f64, f64)>)], series: &[&str]) -> String {
    const ROW: f64 = 30.0;
    const GAP: f64 = 9.0;
    let left = label_width(rows.iter().map(|r| r.0.as_str()));
    let times: Vec<f64> = rows.iter().flat_map(|r| &r.1).flat_map(|s| [s.0, s.1]).filter(|v| *v > 0.0).collect();
    let bottom = TOP + rows.len() as f64 * ROW;
    let (x, grid) = Axis::with_grid(Scale::Logarithmic, left, &log_ticks(range(&times)), bottom, ms);
    let mut svg = legend(series) + &grid;
    for (place, (name, values)) in rows.iter().enumerate() {
        let middle = TOP + (place as f64 + 0.5) * ROW;
        svg += &text([left - 10.0, middle + 4.0], "end", "ink", name);
        for (of, (p50, p99)) in values.iter().enumerate().filter(|(_, (p50, _))| *p50 > 0.0) {
            let y = middle + (of as f64 - (values.len() as f64 - 1.0) / 2.0) * GAP;
            svg += &line(&format!("thick l{of}"), [x.at(*p50), y, x.at(*p99), y]);
            svg += &dot(of, x.at(*p50), y, &format!("{}: p50 {}, p99 {}", series[of], ms(*p50), ms(*p99)));
        }
    }
    frame(bottom + 26.0, &svg)
}

fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if low.is_finite() { (low, high) } else { (1.0, 1.0) }
}

/// 1, 2 and 5 times powers of ten, from the last at or below `low` to the first at or above `high`.
fn log_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all: Vec<f64> = powers.flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(p))).collect();
    let first = all.iter().rposition(|t| *t <= low).unwrap_or(0);
    let last = all.iter().position(|t| *t >= high).unwrap_or(all.len() - 1);
    all[first..=last.max(first + 1).min(all.len() - 1)].to_vec()
}

/// Formats a round figure in full: `0.5`, `20`, `1,500`.
fn round(value: f64) -> String {
    if value >= 1000.0 { count(value as u64) } else { format!("{value}") }
}

fn label_width<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    labels.map(|l| l.chars().count()).max().unwrap_or(0) as f64 * TEXT_PX + 14.0
}

fn legend(names: &[&str]) -> String {
    let mut x = 0.0;
    let mut svg = String::new();
    for (place, name) in names.iter().enumerate() {
        svg += &swatch(place, x);
        x += 34.0 + name.chars().count() as f64 * TEXT_PX;
    }
    svg
}

fn swatch(class: usize, x: f64) -> String {
    format!("<rect class=\"f{class}\" x=\"{x:.1}\" y=\"4\" width=\"11\" height=\"11\" rx=\"2\"/>\n")
}

fn polyline(class: usize, points: &[String]) -> String {
    format!("<polyline class=\"l{class}\" points=\"{}\"/>\n", points.join(" "))
}

fn bar_part(class: usize, [x, y, width, height]: [f64; 4], title: &str) -> String {
    format!(
        "<rect class=\"part f{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
         <title>{}</title></rect>\n",
        escape(title)
    )
}

fn dot(class: usize, x: f64, y: f64, title: &str) -> String {
    format!(
        "<circle class=\"f{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"><title>{}</title></circle>\n",
        escape(title)
    )
}

fn line(class: &str, [x1, y1, x2, y2]: [f64; 4]) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n")
}

fn text([x, y]: [f64; 2], anchor: &str, class: &str, words: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(words))
}

fn frame(height: f64, inside: &str) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n{inside}</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_figures() {
        assert_eq!(log_ticks((3.9, 99.8)), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(log_ticks((1.0, 1.0)), [1.0, 2.0]);
        assert_eq!([0.5, 20.0, 1500.0].map(round), ["0.5", "20", "1,500"]);
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let places = |at: &[f64]| {
            spread(at.iter().map(|y| (*y, "", ())).collect(), 100.0).iter().map(|l| l.0).collect::<Vec<_>>()
        };
        assert_eq!(places(&[50.0, 10.0, 52.0]), [10.0, 50.0, 65.0]);
        assert_eq!(places(&[99.0, 98.0, 97.0]), [70.0, 85.0, 100.0]);
    }

    #[test]
    fn bars_fit_between_their_ticks() {
        assert_eq!(linear_ticks(3.1), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]);
        assert_eq!(linear_ticks(100.0).last(), Some(&100.0));
        let (_, grid) = Axis::with_grid(Scale::Logarithmic, 0.0, &log_ticks((0.001, 90_000.0)), 0.0, short);
        assert!(grid.matches("<line").count() <= 9, "{grid}");
        for scale in [Scale::Linear, Scale::Logarithmic] {
            for values in [vec![], vec![None, Some(0.0)], vec![Some(3.0), Some(0.5)]] {
                let svg = bars(&[("a".to_owned(), values)], &["x", "y"], scale, short);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn a_single_point_has_a_place() {
        let svg = lines(&[Series { name: "a", points: vec![(10.0, 3.0)] }], &[], "worlds");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let svg = spans(&[("R".to_owned(), vec![(1.0, 1.0)])], &["cold"]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
