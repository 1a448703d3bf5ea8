//! `manyworlds check`: checks what a model promises.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use model::Model;
use world::{Seed, World, WorldRange};

use super::simulation::{parameters, plugin_of};
use crate::ExitCode;
use crate::args::CheckArgs;
use crate::output::{Table, show};

pub(crate) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let plugin = plugin_of(&args.model)?;
    let parameters = parameters(&plugin, &args.model, None)?;
    let make = || -> Result<Arc<dyn Model>> { Ok((plugin.build)(&parameters)?.into()) };
    let worlds = WorldRange::new(World(0), args.worlds).context("--worlds")?;
    let promise = run::check(&plugin.name, make, Seed(args.seed), worlds)?;
    let table = Table::of(
        &promise.checks,
        &[
            ("played", &|check| check.name.to_owned()),
            ("same worlds", &|check| check.ok.map_or("-", |ok| if ok { "yes" } else { "NO" }).to_owned()),
            ("detail", &|check| check.detail.clone()),
        ],
    );
    show(args.format.format, &promise, &table)?;
    Ok(if promise.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
