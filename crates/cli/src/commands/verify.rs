//! `manyworlds verify`: checks an ensemble's stored content.

use std::sync::Arc;

use anyhow::Result;
use disk::Place;
use ensemble::Progress;
use model::NO_MODEL;

use super::simulation::{at_hand, replayable};
use super::{make_model, open_store};
use crate::ExitCode;
use crate::args::{Format, PlayedByArgs};
use crate::output::{Table, note, show};
use crate::progress::Ticker;

pub(crate) async fn verify(
    place: &Place,
    name: &str,
    replay: bool,
    played_by: &PlayedByArgs,
    format: Format,
) -> Result<ExitCode> {
    let stored = open_store(place).await?.ensemble(name).await?;
    at_hand(played_by, &stored.plan)?;
    let progress = Arc::new(Progress::default());
    let ticker = Ticker::of_verify(stored.worlds() as u64, progress.clone());
    let found = if replay || played_by.is_named() {
        ensemble::verify_by_replay(&stored, &make_model(), &progress).map_err(|error| replayable(&stored.plan, error))
    } else {
        ensemble::verify_with(&stored, &make_model(), &progress).map_err(Into::into)
    };
    ticker.finish();
    let found = found?;
    let mut table = Table::new(["check", "holds", "detail"]);
    for check in &found.checks {
        let holds = check.ok.map_or("-", |ok| if ok { "yes" } else { "NO" });
        table.push([check.name.clone(), holds.to_owned(), check.detail.clone()]);
    }
    table.push(["outcome hash".to_owned(), String::new(), found.hash.clone()]);
    if let Some(hash) = &found.event_hash {
        table.push(["event hash".to_owned(), String::new(), hash.clone()]);
    }
    show(format, &found, &table)?;
    let (have, planned) = (stored.worlds(), stored.plan.worlds.count());
    if have < planned && stored.enough.is_none() {
        let (model, name) = (&stored.plan.model, &stored.plan.name);
        let how = match model {
            _ if model == NO_MODEL => {
                format!("an append was interrupted: repeat `manyworlds import {name} FILE --append`")
            }
            _ if model.starts_with(program::PREFIX) => {
                format!("continue with `manyworlds run --program COMMAND --name {name} --resume`")
            }
            _ => format!("continue with `manyworlds run {model} --name {name} --resume`"),
        };
        note(&format!("{have} of {planned} worlds are stored; {how}"));
    }
    Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
