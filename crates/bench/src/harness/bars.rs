//! Required figures.

use serde::Serialize;

use crate::harness::report::number::short;
use crate::harness::report::{Section, Table};

/// How a figure compares with its bar and aim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    AimMet,
    /// It reaches the bar.
    Met,
    /// It misses the bar.
    Missed,
    NotMeasured,
}

impl Verdict {
    /// Compares a figure with a bar and an aim. If the aim is below the bar, smaller figures are better.
    pub(crate) fn of(measured: Option<f64>, [bar, aim]: [f64; 2]) -> Self {
        let reaches = |figure: f64, goal: f64| if aim > bar { figure >= goal } else { figure <= goal };
        match measured {
            None => Self::NotMeasured,
            Some(figure) if reaches(figure, aim) => Self::AimMet,
            Some(figure) if reaches(figure, bar) => Self::Met,
            Some(_) => Self::Missed,
        }
    }

    /// Its text in reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::AimMet => "met, and the aim",
            Self::Met => "met",
            Self::Missed => "missed",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A required figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The measured quantity.
    pub what: String,
    pub unit: &'static str,
    /// The required figure.
    pub bar: f64,
    /// The desired figure.
    pub aim: f64,
    pub measured: Option<f64>,
    pub verdict: Verdict,
}

impl Mark {
    pub(crate) fn new(what: impl Into<String>, unit: &'static str, goals: [f64; 2], measured: Option<f64>) -> Self {
        let [bar, aim] = goals;
        Self { what: what.into(), unit, bar, aim, measured, verdict: Verdict::of(measured, goals) }
    }

    /// A report section about some figures.
    pub(crate) fn section(marks: &[Self]) -> Section {
        let row = |mark: &Self| {
            [
                mark.what.clone(),
                mark.unit.to_owned(),
                short(mark.bar),
                short(mark.aim),
                mark.measured.map_or_else(|| "-".to_owned(), short),
                mark.verdict.words().to_owned(),
            ]
        };
        let header = ["what", "unit", "bar", "aim", "measured", "verdict"];
        Section { title: "Bars", blocks: vec![Table::block(header, marks.iter().map(row))] }
    }
}
