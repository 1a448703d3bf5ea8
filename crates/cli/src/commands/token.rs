//! `manyworlds token`: creates, lists and revokes tokens.

use anyhow::Result;
use server::{Grant, TokenFile};

use crate::args::TokenTask;
use crate::output::{Table, note, print, show, yes_no};

pub(crate) fn token(task: &TokenTask) -> Result<()> {
    match task {
        TokenTask::Create { name, databases, read, write, admin, file } => {
            let (name, databases) = (name.clone(), databases.clone());
            let grant = Grant { name, databases, read: *read, write: *write, admin: *admin };
            let token = TokenFile::new(file.token_file.clone()).create(grant)?;
            note("keep the token: it cannot be shown again");
            print(&format!("{token}\n"))?;
        }
        TokenTask::List { file, format } => {
            let grants = TokenFile::new(file.token_file.clone()).list()?;
            show(format.format, &grants.iter().map(Grant::to_json).collect::<Vec<_>>(), &table(&grants))?;
        }
        TokenTask::Revoke { name, file } => {
            TokenFile::new(file.token_file.clone()).revoke(name)?;
            print(&format!("revoked {name}\n"))?;
        }
    }
    Ok(())
}

fn table(grants: &[Grant]) -> Table {
    Table::of(
        grants,
        &[
            ("token", &|g| g.name.clone()),
            ("databases", &|g| if g.databases.is_empty() { "all".to_owned() } else { g.databases.join(" ") }),
            ("read", &|g| yes_no(g.read)),
            ("write", &|g| yes_no(g.write)),
            ("admin", &|g| yes_no(g.admin)),
        ],
    )
}
