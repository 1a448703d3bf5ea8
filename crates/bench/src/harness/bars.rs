//! Required figures.

use std::fmt;

use serde::Serialize;

use crate::harness::report::number::{count, or_dash, short};
use crate::harness::report::{OTHER_SCALE, Section, Table};

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
    fn of(measured: Option<f64>, [bar, aim]: [f64; 2]) -> Self {
        let reaches = |figure: f64, goal: f64| if aim > bar { figure >= goal } else { figure <= goal };
        match measured {
            None => Self::NotMeasured,
            Some(figure) if reaches(figure, aim) => Self::AimMet,
            Some(figure) if reaches(figure, bar) => Self::Met,
            Some(_) => Self::Missed,
        }
    }

    /// Its text in reports.
    fn words(self) -> &'static str {
        match self {
            Self::AimMet => "met, and the aim",
            Self::Met => "met",
            Self::Missed => "missed",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A grade of a figure without an aim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    Pass,
    /// It nearly fails.
    Warn,
    Fail,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A required figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// The measured quantity.
    pub what: String,
    pub unit: &'static str,
    /// The required figure.
    pub bar: f64,
    /// The desired figure.
    pub aim: f64,
    pub more_is_better: bool,
    pub measured: Option<f64>,
    pub verdict: Verdict,
    #[serde(flatten)]
    pub reference: Option<Reference>,
    #[serde(flatten)]
    pub scale: Option<Scale>,
}

/// The figure of a reference system.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reference {
    pub reference: f64,
    /// Whether the bar is met; `None` without a measured figure.
    pub met: Option<bool>,
}

/// The numbers of worlds that a bar applies to and that were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Scale {
    pub at_worlds: u32,
    pub measured_worlds: Option<u32>,
}

impl Bar {
    pub(crate) fn new(what: impl Into<String>, unit: &'static str, goals: [f64; 2], measured: Option<f64>) -> Self {
        let [bar, aim] = goals;
        let verdict = Verdict::of(measured, goals);
        let (what, more_is_better) = (what.into(), aim > bar);
        Self { what, unit, bar, aim, more_is_better, measured, verdict, reference: None, scale: None }
    }

    /// Adds the figure of a reference system.
    pub(crate) fn with_reference(self, reference: f64) -> Self {
        let met = self.measured.map(|_| self.verdict != Verdict::Missed);
        Self { reference: Some(Reference { reference, met }), ..self }
    }

    /// Adds the numbers of worlds.
    pub(crate) fn at_worlds(self, at_worlds: u32, measured_worlds: Option<u32>) -> Self {
        Self { scale: Some(Scale { at_worlds, measured_worlds }), ..self }
    }

    fn verdict_in_words(&self) -> String {
        let elsewhere = self.scale.and_then(|s| Some(s.measured_worlds? != s.at_worlds)) == Some(true);
        format!("{}{}", self.verdict.words(), if elsewhere { OTHER_SCALE } else { "" })
    }

    /// A report section about some figures.
    pub(crate) fn section(bars: &[Self]) -> Section {
        let worlds = |worlds: Option<u32>| or_dash(worlds.map(|n| count(n.into())));
        let mut table = Table::of(bars).column("what", |b| b.what.clone()).column("unit", |b| b.unit);
        if bars.iter().any(|b| b.reference.is_some()) {
            table = table.column("reference", |b| or_dash(b.reference.map(|r| short(r.reference))));
        }
        let has_scale = bars.iter().any(|b| b.scale.is_some());
        if has_scale {
            table = table.column("at worlds", |b| worlds(b.scale.map(|s| s.at_worlds)));
        }
        table = table.column("bar", |b| short(b.bar)).column("aim", |b| short(b.aim));
        table = table.column("measured", |b| or_dash(b.measured.map(short)));
        if has_scale {
            table = table.column("measured at", |b| worlds(b.scale.and_then(|s| s.measured_worlds)));
        }
        Section::new("Bars").table(table.column("verdict", |b| b.verdict_in_words()))
    }
}
