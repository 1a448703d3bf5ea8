//! Times of the phases, with their numbers in the public benchmark.

use std::time::{Duration, Instant};

use run::Usage;
use serde::Serialize;

use crate::error::BenchError;

/// Time of a phase, summed over its repeats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Its number in the public benchmark; `None` for making records and counting answers. The public benchmark's phase
    /// 0 loads a table of rules, which this program contains.
    pub number: Option<u8>,
    pub name: &'static str,
    pub pass: Option<u8>,
    pub wall_s: f64,
    /// Processor time of all threads.
    pub cpu_s: f64,
}

/// Number and name of a phase.
pub(super) type Name = (Option<u8>, &'static str);

pub(super) struct Phases<'a> {
    pub(super) done: Vec<Phase>,
    pub(super) pass: Option<u8>,
    pub(super) note: &'a dyn Fn(&str),
}

impl Phases<'_> {
    pub(super) fn begin(&self, (number, name): Name) -> (Instant, Duration) {
        let number = number.map_or_else(String::new, |number| format!("{number} "));
        let pass = self.pass.map_or_else(String::new, |pass| format!(", pass {pass}"));
        (self.note)(&format!("{number}{name}{pass}"));
        (Instant::now(), Usage::now().cpu)
    }

    /// Adds the time since [`Self::begin`] to a phase.
    pub(super) fn end(&mut self, (number, name): Name, (started, cpu): (Instant, Duration)) {
        let cpu_s = Usage::now().cpu.saturating_sub(cpu).as_secs_f64();
        let wall_s = started.elapsed().as_secs_f64();
        let pass = self.pass;
        match self.done.iter_mut().find(|p| (p.number, p.name, p.pass) == (number, name, pass)) {
            Some(phase) => {
                phase.wall_s += wall_s;
                phase.cpu_s += cpu_s;
            }
            None => self.done.push(Phase { number, name, pass, wall_s, cpu_s }),
        }
    }

    pub(super) fn time<T>(
        &mut self,
        name: Name,
        phase: impl FnOnce() -> Result<T, BenchError>,
    ) -> Result<T, BenchError> {
        let started = self.begin(name);
        let value = phase()?;
        self.end(name, started);
        Ok(value)
    }
}
