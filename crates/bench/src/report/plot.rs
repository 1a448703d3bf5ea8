//! Plots as SVG. Colours are classes (`f0`.. to fill, `l0`.. for lines), so that the page decides on them.

use super::html::escape;
use super::number::{count, short};

const WIDTH: f64 = 760.0;
const TEXT_PX: f64 = 6.6;

/// Points joined by a line.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines over a logarithmic x axis of worlds; y starts at 0. `marks` are horizontal lines with a name.
pub(super) fn lines(series: &[Series], marks: &[(f64, &str)], unit: &str) -> String {
    const LEFT: f64 = 56.0;
    const RIGHT: f64 = 700.0;
    const TOP: f64 = 34.0;
    const BOTTOM: f64 = 262.0;
    let xs: Vec<f64> = series.iter().flat_map(|s| &s.points).map(|p| p.0).collect();
    let ys = series.iter().flat_map(|s| &s.points).map(|p| p.1).chain(marks.iter().map(|m| m.0));
    let (low, high) = range(&xs);
    let step = nice_step(ys.fold(0.0, f64::max) * 1.08 / 5.0);
    let top = 5.0 * step;
    let x = |v: f64| {
        if high > low {
            LEFT + 20.0 + (v / low).ln() / (high / low).ln() * (RIGHT - LEFT - 20.0)
        } else {
            0.5 * (LEFT + RIGHT)
        }
    };
    let y = |v: f64| BOTTOM - v / top * (BOTTOM - TOP);
    let mut svg = legend(&series.iter().map(|s| s.name).collect::<Vec<_>>());
    for tick in 0..=5 {
        let value = f64::from(tick) * step;
        svg += &line("grid", [LEFT, y(value), WIDTH, y(value)]);
        svg += &text([LEFT - 8.0, y(value) + 4.0], "end", "", &short(value));
    }
    let mut ticks = xs;
    ticks.sort_unstable_by(f64::total_cmp);
    ticks.dedup();
    for tick in &ticks {
        svg += &text([x(*tick), BOTTOM + 18.0], "middle", "", &count(*tick as u64));
    }
    svg += &text([0.5 * (LEFT + RIGHT), BOTTOM + 36.0], "middle", "", "worlds");
    svg += &text([WIDTH, 14.0], "end", "", unit);
    for (value, name) in marks {
        svg += &line("mark", [LEFT, y(*value), WIDTH, y(*value)]);
        svg += &text([WIDTH, y(*value) - 5.0], "end", "", name);
    }
    for (place, of) in series.iter().enumerate() {
        let points: Vec<String> = of.points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
        svg += &polyline(place, &points);
        for p in &of.points {
            svg += &dot(place, x(p.0), y(p.1), &format!("{}: {} at {}", of.name, short(p.1), count(p.0 as u64)));
        }
        if let Some(last) = of.points.last() {
            svg += &text([x(last.0) + 8.0, y(last.1) + 4.0], "start", "ink", &short(last.1));
        }
    }
    frame(300.0, &svg)
}

/// A bar a row, cut into the shares of its parts.
pub(super) fn shares(rows: &[(String, Vec<f64>)], parts: &[&str]) -> String {
    const TOP: f64 = 34.0;
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

/// Spans from a p50 to a p99 over a logarithmic axis of time; each row has one of each series.
pub(super) fn spans(rows: &[(String, Vec<(f64, f64)>)], series: &[&str]) -> String {
    const TOP: f64 = 34.0;
    const ROW: f64 = 30.0;
    let left = label_width(rows.iter().map(|r| r.0.as_str()));
    let ends: Vec<f64> = rows.iter().flat_map(|r| &r.1).flat_map(|s| [s.0, s.1]).filter(|v| *v > 0.0).collect();
    let (low, high) = range(&ends);
    let (first, last) = (low.log10().floor(), high.log10().ceil().max(low.log10().floor() + 1.0));
    let x = |ms: f64| left + (ms.log10() - first) / (last - first) * (WIDTH - left - 24.0);
    let bottom = TOP + rows.len() as f64 * ROW;
    let mut svg = legend(series);
    for power in first as i32..=last as i32 {
        let at = x(10_f64.powi(power));
        svg += &line("grid", [at, TOP - 6.0, at, bottom]);
        svg += &text([at, bottom + 16.0], "middle", "", &power_of_ten_ms(power));
    }
    for (place, (name, values)) in rows.iter().enumerate() {
        let middle = TOP + (place as f64 + 0.5) * ROW;
        svg += &text([left - 10.0, middle + 4.0], "end", "ink", name);
        let gap = 9.0;
        for (of, (p50, p99)) in values.iter().enumerate() {
            if *p50 <= 0.0 {
                continue;
            }
            let y = middle + (of as f64 - (values.len() as f64 - 1.0) / 2.0) * gap;
            svg += &thick_line(of, [x(*p50), y, x(*p99), y]);
            svg += &dot(of, x(*p50), y, &format!("{}: p50 {} ms, p99 {} ms", series[of], short(*p50), short(*p99)));
        }
    }
    frame(bottom + 26.0, &svg)
}

fn power_of_ten_ms(power: i32) -> String {
    match power {
        3.. => format!("{} s", 10_i64.pow((power - 3) as u32)),
        0..3 => format!("{} ms", 10_i64.pow(power as u32)),
        -3..0 => format!("{} us", 10_i64.pow((power + 3) as u32)),
        _ => format!("{} ns", 10_f64.powi(power + 6)),
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if low.is_finite() { (low, high) } else { (1.0, 1.0) }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn nice_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0].into_iter().map(|m| m * power).find(|s| *s >= least).unwrap_or(10.0 * power)
}

fn label_width<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    labels.map(|l| l.chars().count()).max().unwrap_or(0) as f64 * TEXT_PX + 14.0
}

fn legend(names: &[&str]) -> String {
    let mut x = 0.0;
    let mut svg = String::new();
    for (place, name) in names.iter().enumerate() {
        svg += &swatch(place, x);
        svg += &text([x + 16.0, 14.0], "start", "ink", name);
        x += 34.0 + name.chars().count() as f64 * TEXT_PX;
    }
    svg
}

fn swatch(class: usize, x: f64) -> String {
    format!("<rect class=\"f{class}\" x=\"{x:.1}\" y=\"4\" width=\"11\" height=\"11\" rx=\"2\"/>\n")
}

fn bar_part(class: usize, [x, y, width, height]: [f64; 4], title: &str) -> String {
    format!(
        "<rect class=\"part f{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
         <title>{}</title></rect>\n",
        escape(title)
    )
}

fn polyline(class: usize, points: &[String]) -> String {
    format!("<polyline class=\"l{class}\" points=\"{}\"/>\n", points.join(" "))
}

fn thick_line(class: usize, ends: [f64; 4]) -> String {
    line(&format!("thick l{class}"), ends)
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
    fn axis_steps_are_round() {
        let steps = [0.0, 0.7, 1.0, 2.1, 3.0, 7.0, 120.0].map(nice_step);
        assert_eq!(steps, [1.0, 1.0, 1.0, 2.5, 5.0, 10.0, 200.0]);
        assert_eq!([-4, -3, 0, 2, 4].map(power_of_ten_ms), ["100 ns", "1 us", "1 ms", "100 ms", "10 s"]);
    }

    #[test]
    fn a_single_point_has_a_place() {
        let svg = lines(&[Series { name: "a", points: vec![(10.0, 3.0)] }], &[], "ms");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let svg = spans(&[("R".to_owned(), vec![(1.0, 1.0)])], &["cold"]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
