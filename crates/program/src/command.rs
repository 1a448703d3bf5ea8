//! The command line of a program, and what identifies the program elsewhere.

use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::ProgramError;

/// The words of a command line: the program first. No shell reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<String>);

impl CommandLine {
    /// Splits a line into words as a shell does, quotes included.
    pub(crate) fn parse(line: &str) -> Result<Self, ProgramError> {
        let words = shlex::split(line).filter(|words| !words.is_empty());
        Ok(Self(words.ok_or_else(|| ProgramError::Words(line.to_owned()))?))
    }

    pub(crate) fn program(&self) -> &str {
        &self.0[0]
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.0[1..]
    }

    /// The words, as far as they determine what the program plays: files by name and content, wherever they are, and
    /// all other words unchanged.
    pub(crate) fn identity(&self) -> Result<Vec<Value>, ProgramError> {
        let identity = |(place, word): (usize, &String)| {
            // The system looks for a program without a slash in the folders of PATH.
            let is_file = (place > 0 || word.contains('/')) && Path::new(word).is_file();
            let name = Path::new(word).file_name().filter(|_| is_file);
            let Some(name) = name else { return Ok(json!(word)) };
            let digest =
                digest_of(Path::new(word)).map_err(|cause| ProgramError::Read { file: word.clone(), cause })?;
            Ok(json!({"file": name.to_string_lossy(), "sha256": digest}))
        };
        self.0.iter().enumerate().map(identity).collect()
    }
}

fn digest_of(file: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut File::open(file)?, &mut digest)?;
    Ok(hex(digest))
}

/// The digest of a text.
pub(crate) fn digest(text: &str) -> String {
    hex(Sha256::new_with_prefix(text))
}

fn hex(digest: Sha256) -> String {
    format!("{:x}", digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        let words = CommandLine::parse("awk -f 'my dice.awk' a\\ b \"c 'd'\"").unwrap();
        assert_eq!(words.program(), "awk");
        assert_eq!(words.arguments(), ["-f", "my dice.awk", "a b", "c 'd'"]);
        for bad in ["", "  ", "awk 'x"] {
            assert!(matches!(CommandLine::parse(bad), Err(ProgramError::Words(_))), "{bad:?}");
        }
    }

    #[test]
    fn identity_has_content_of_files_and_not_their_folders() {
        let identity = |source: &str, flag: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("sim.py");
            std::fs::write(&file, source).unwrap();
            CommandLine::parse(&format!("python3 {} {flag}", file.display())).unwrap().identity().unwrap()
        };
        let first = identity("print(1)", "--fast");
        assert_eq!(first[0], "python3");
        assert_eq!(first[1]["file"], "sim.py");
        assert_eq!(first, identity("print(1)", "--fast"));
        assert_ne!(first, identity("print(2)", "--fast"));
        assert_ne!(first, identity("print(1)", "--slow"));
        // A file of the working folder, and a program that the system finds elsewhere although one of its name is here.
        let here = CommandLine::parse("Cargo.toml Cargo.toml").unwrap().identity().unwrap();
        assert_eq!((&here[0], &here[1]["file"]), (&json!("Cargo.toml"), &json!("Cargo.toml")));
    }
}
