//! Programs as models of the engine.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{Catalogue, Failure, Model, ParameterError, Parameters, Plugin, Sink, Stop, Wanted};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use world::{Seed, WorldRange};

use crate::answer::{self, Refused};
use crate::command::{CommandLine, digest};
use crate::description::Description;
use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::Layout;
use crate::process::Process;
use crate::request::request;

/// The beginning of the name of every such model: `program:` and the program's own name.
pub const PREFIX: &str = "program:";

/// What a program may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time to answer one range.
    pub range: Duration,
}

/// Starts a program, which describes itself, as a model.
///
/// # Errors
/// If the program cannot start, or does not describe a model.
pub fn plugin(command_line: &str, limits: Limits) -> Result<Plugin, ProgramError> {
    let command = CommandLine::parse(command_line)?;
    let identity = command.identity()?;
    let (process, line) = Process::start(&command, limits.range)?;
    let description = Description::parse(&line).map_err(|reason| ProgramError::Description { reason })?;
    let origin = origin(&description, &identity);
    let layout = Arc::new(Layout::new(description.catalogue.clone()));
    let summary = match (&*description.summary, &*description.version) {
        ("", "") => String::new(),
        ("", version) => format!("version {version}"),
        (summary, _) => summary.to_owned(),
    };
    let (name, parameters) = (format!("{PREFIX}{}", description.name), description.parameters.clone());
    let program = Arc::new(Program { command, description, origin, layout, limits, spare: Mutex::new(Some(process)) });
    Ok(Plugin {
        name,
        summary,
        parameters: parameters.into(),
        definition: None,
        origin: Some(program.origin.to_string()),
        build: Arc::new(move |parameters| Ok(Box::new(program.clone().model(parameters)?))),
    })
}

/// Refuses names of programs that were not started: a name in stored data starts nothing.
pub fn find(name: &str) -> Option<Result<Plugin, String>> {
    name.strip_prefix(PREFIX).map(|name| Err(format!("the program {name:?} that played it is not given")))
}

/// Identifies what the program plays; equal on every machine that has the same files.
fn origin(description: &Description, identity: &[Value]) -> Value {
    let outputs = digest(&json!(description.catalogue).to_string());
    json!({
        "program": description.name, "version": description.version, "command": identity, "outputs": outputs,
    })
}

/// What differs between origins.
fn difference(stored: &Value, here: &Value) -> String {
    let shown = |value: &Value| {
        let words = value.as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(|word| word.as_str().or_else(|| word["file"].as_str())).collect();
        words.join(" ")
    };
    if stored["version"] != here["version"] {
        return format!("its version is {}, and was {}", here["version"], stored["version"]);
    }
    if shown(&stored["command"]) != shown(&here["command"]) {
        return format!("its words are `{}`, and were `{}`", shown(&here["command"]), shown(&stored["command"]));
    }
    if stored["command"] != here["command"] {
        return "a file of its command line has other content".to_owned();
    }
    "it has other outputs".to_owned()
}

/// A program that described itself once.
struct Program {
    command: CommandLine,
    description: Description,
    origin: Value,
    layout: Arc<Layout>,
    limits: Limits,
    /// The process that described itself, for the first model.
    spare: Mutex<Option<Process>>,
}

impl Program {
    fn model(self: Arc<Self>, parameters: &Parameters) -> Result<ProgramModel, ParameterError> {
        if let Ok(stored) = parameters.definition("program") {
            let stored: Value = serde_json::from_str(stored).unwrap_or_default();
            if stored != self.origin {
                let difference = difference(&stored, &self.origin);
                let name = &self.description.name;
                let reason = format!("the program {name:?} is not the one that played these worlds: {difference}");
                return Err(ParameterError::Model(reason));
            }
        }
        let values: serde_json::Map<String, Value> =
            parameters.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        let values = serde_json::value::to_raw_value(&values);
        let values = values.map_err(|error| ParameterError::Model(error.to_string()))?;
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let idle = spare.map(|process| Player { process, grid: None });
        Ok(ProgramModel { program: self, parameters: values, idle: Mutex::new(idle.into_iter().collect()) })
    }
}

/// A process that waits for its next range, with the memory for answers.
struct Player {
    process: Process,
    grid: Option<Grid>,
}

/// A program with fixed parameters, and its processes: as many as threads play at once.
struct ProgramModel {
    program: Arc<Program>,
    /// A JSON object.
    parameters: Box<RawValue>,
    idle: Mutex<Vec<Player>>,
}

impl Model for ProgramModel {
    fn catalogue(&self) -> &Catalogue {
        &self.program.layout.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let waiting = self.idle().pop();
        let mut player = waiting.map_or_else(|| self.start(), Ok).map_err(|error| Failure::new(error.to_string()))?;
        let layout = &self.program.layout;
        let grid = player.grid.get_or_insert_with(|| Grid::new(layout.clone(), range));
        grid.begin(range, wanted.events);
        self.play(&mut player.process, grid, seed, range, sink)?;
        grid.send(wanted.entity, sink)?;
        // After an error, the player and its process end here.
        self.idle().push(player);
        Ok(())
    }
}

impl ProgramModel {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Player>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Player, ProgramError> {
        let Program { command, description, limits, .. } = &*self.program;
        let (process, line) = Process::start(command, limits.range)?;
        if Description::parse(&line).as_ref() != Ok(description) {
            return Err(ProgramError::Changed);
        }
        Ok(Player { process, grid: None })
    }

    /// Plays a range into `grid`, which has begun it.
    fn play(
        &self,
        process: &mut Process,
        grid: &mut Grid,
        seed: Seed,
        range: WorldRange,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let layout = &self.program.layout;
        let records = layout.entities() * range.count();
        if u32::try_from(records).is_err() {
            return Err(
                Failure::new(format!("{records} records are too many for one range: play smaller ranges")).into()
            );
        }
        let with_events = grid.events.are_wanted;
        let line = request(layout, &self.parameters, seed, range, with_events);
        let line = line.map_err(|error| Failure::new(error.to_string()))?;
        let bytes_max = answer::bytes_max(records, layout, with_events);
        let asked = process.ask(line, self.program.limits.range, bytes_max).map_err(Refused::Program);
        let read = asked.and_then(|()| answer::read(&mut process.reading(&mut || sink.waiting()), grid));
        read.map_err(|refused| match refused {
            Refused::Fault(Fault { reason, entity, world }) => {
                let entity = entity.map(|entity| layout.name(entity as usize).to_owned());
                Failure { message: format!("{reason}{}", process.last_words()), entity, world }.into()
            }
            Refused::Program(ProgramError::Stopped(stop)) => stop,
            Refused::Program(error) => Failure::new(explained(&error, process, grid)).into(),
        })
    }
}

/// The error, with how far the answer had come and the program's last words.
fn explained(error: &ProgramError, process: &Process, grid: &Grid) -> String {
    let (records, all) = (grid.records(), grid.records_max());
    let last_words = match error {
        ProgramError::Ended { .. } | ProgramError::TimedOut { .. } => String::new(),
        _ => process.last_words(),
    };
    let missing = match error {
        ProgramError::TimedOut { .. } if records == all && grid.events.are_wanted => {
            "\nthe answer has no end: print an empty line after lines, or a second Arrow stream, of events"
        }
        ProgramError::TimedOut { .. } if records == all => {
            "\nthe answer has no end: print an empty line after lines, or close the writer of the Arrow stream"
        }
        _ => "",
    };
    match records {
        0 => format!("{error}{last_words}"),
        _ if records == all => format!("after all {all} records, {error}{last_words}{missing}"),
        _ => format!("after {records} of {all} records, {error}{last_words}"),
    }
}

impl Drop for ProgramModel {
    fn drop(&mut self) {
        let mut players = std::mem::take(&mut *self.idle());
        // All may end at the same time.
        players.iter_mut().for_each(|player| player.process.close());
    }
}
