//! `manyworlds token`: creates, lists and revokes tokens.

use std::process::ExitCode;

use anyhow::Result;
use server::{Grant, TokenFile};

use crate::args::{Format, TokenTask};
use crate::output::{Table, note, print, print_json};

pub(crate) fn token(task: &TokenTask) -> Result<ExitCode> {
    match task {
        TokenTask::Create { name, databases, read, write, file } => {
            let grant = Grant { name: name.clone(), databases: databases.clone(), read: *read, write: *write };
            let token = TokenFile::new(file.token_file.clone()).create(grant)?;
            note("keep the token: it cannot be shown again");
            print(&format!("{token}\n"))?;
        }
        TokenTask::List { file, format } => list(&TokenFile::new(file.token_file.clone()).list()?, format.format)?,
        TokenTask::Revoke { name, file } => {
            TokenFile::new(file.token_file.clone()).revoke(name)?;
            print(&format!("revoked {name}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(grants: &[Grant], format: Format) -> Result<()> {
    if format == Format::Json {
        return print_json(grants);
    }
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let mut table = Table::new(["token", "databases", "read", "write"]);
    for grant in grants {
        let databases = if grant.databases.is_empty() { "all".to_owned() } else { grant.databases.join(" ") };
        table.push([grant.name.clone(), databases, word(grant.read), word(grant.write)]);
    }
    print(&if format == Format::Csv { table.to_csv() } else { table.to_string() })
}
