use super::{html, markdown};
use crate::season::tests::example;

#[test]
fn the_report_says_what_was_measured() {
    let text = markdown(&example());
    let expect = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    expect("# manyworlds bench season\n");
    expect("Measured on 2 cores of A CPU, 8.00 GB of memory, Linux 6.1; load before the first run 0.10.");
    expect("| processor time a world, outcomes ");
    expect("| met, and the aim (other scale) |");
    expect("| missed (other scale)");
    expect("| not measured");
    expect("| 100 to 1,000 | outcomes           |           8.00 |  0.500 | PASS   |");
    expect("| 100 to 1,000 | outcomes and plays |           8.00 |   2.00 | FAIL   |");
    expect("| codec  | on disk | bits a value | bytes a play | CPU ms a world | encode s |");
    expect("| lz4    | 6.50 MB |         4.00 |         8.00 |           6.00 |     4.00 |");
    expect("| zstd:3 | 6.50 MB |         4.00 |         8.00 |           6.00 |     4.00 |");
    expect("warm p99 under 10.0 ms");
    expect("| DIFFERENT: other |");
    assert!(!text.contains("SQL"), "{text}");
}

#[test]
fn tables_are_aligned() {
    let text = markdown(&example());
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|p| p.iter().all(|l| l.starts_with('|'))) {
        assert_eq!(pair[0].chars().count(), pair[1].chars().count(), "{}\n{}", pair[0], pair[1]);
        assert_eq!(pair[0].matches('|').count(), pair[1].matches('|').count());
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let mut season = example();
    season.machine.cpu_model = "<b>&".to_owned();
    let page = html(&season);
    assert_eq!(page.matches("<svg").count(), 5);
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("&lt;b&gt;&amp;"));
    for outside in ["http:", "https:", "<script", "@import", "url(", "NaN", "inf"] {
        assert!(!page.contains(outside), "{outside:?}");
    }
    for tag in ["section", "table", "tr", "td", "svg", "text", "figure"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}
