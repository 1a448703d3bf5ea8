//! `manyworlds models`: lists the models.

use std::process::ExitCode;

use anyhow::Result;

use super::{MODELS, plugin};
use crate::output::{Table, print};

pub(crate) fn models(name: Option<&str>) -> Result<ExitCode> {
    let mut table;
    if let Some(name) = name {
        let plugin = plugin(name)?;
        table = Table::new(["parameter", "default", "from", "to", "meaning"]);
        for p in plugin.parameters {
            let numbers = [p.default, p.min, p.max].map(|n| n.to_string());
            let [default, min, max] = numbers;
            table.push([p.name.to_owned(), default, min, max, p.doc.to_owned()]);
        }
    } else {
        table = Table::new(["model", "what it plays"]);
        for plugin in MODELS {
            table.push([plugin.name.to_owned(), plugin.summary.to_owned()]);
        }
    }
    print(&table.to_string())?;
    Ok(ExitCode::SUCCESS)
}
