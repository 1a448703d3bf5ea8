//! `manyworlds models`: lists the models.

use anyhow::Result;

use super::{MODELS, plugin};
use crate::output::{Table, print};

pub(crate) fn models(name: Option<&str>) -> Result<()> {
    let table = match name {
        Some(name) => Table::of(
            plugin(name)?.parameters,
            &[
                ("parameter", &|p| p.name.to_owned()),
                ("default", &|p| p.default.to_string()),
                ("from", &|p| p.min.to_string()),
                ("to", &|p| p.max.to_string()),
                ("meaning", &|p| p.doc.to_owned()),
            ],
        ),
        None => Table::of(MODELS, &[("model", &|m| m.name.to_owned()), ("what it plays", &|m| m.summary.to_owned())]),
    };
    print(&table.to_string())
}
