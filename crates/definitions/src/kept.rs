//! Kept definitions: a folder for each name, a file for each version.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use disk::{Disk, create_dirs, temporary_name};
use model::UnknownName;
use serde::{Deserialize, Serialize};

/// The folder of definitions in a data folder.
const FOLDER: &str = ".manyworlds.definitions";
/// Maximum length of a text.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a name.
const NAME_BYTES_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    #[error(
        "{0:?} cannot name a definition: use 1 to 64 lower-case letters, digits, '-', '_' and '.', beginning with a letter \
         or digit"
    )]
    Name(String),
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("definition {name:?} has no version {version}: its newest is {latest}")]
    Version { name: String, version: u32, latest: u32 },
    #[error("definition {name:?} is for model {kept:?}, not for {given:?}: choose another name")]
    Model { name: String, kept: String, given: String },
    #[error("the definition has {bytes} bytes, and the maximum is {TEXT_BYTES_MAX}")]
    Large { bytes: usize },
    #[error("cannot {doing} {}: {cause}", path.display())]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("{} is damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
}

type Result<T> = std::result::Result<T, DefinitionsError>;

/// A version of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub name: String,
    pub model: String,
    pub version: u32,
    pub text: String,
    /// When it was saved, in the format of RFC 3339.
    pub created: String,
}

impl Kept {
    /// Its name and version, as a definition that uses it writes them.
    pub fn title(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// A definition without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    pub name: String,
    pub model: String,
    /// The number of versions.
    pub versions: u32,
    /// The newest version.
    pub latest: u32,
    /// When that was saved.
    pub changed: String,
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Content {
    model: String,
    created: String,
    text: String,
}

/// The definitions of a data folder.
#[derive(Debug, Clone)]
pub struct Library {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Library {
    pub fn new(data: &Path, disk: Arc<dyn Disk>) -> Self {
        Self { folder: data.join(FOLDER), disk }
    }

    /// The definitions, by name.
    ///
    /// # Errors
    /// If the folder or a newest version cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let mut all = Vec::new();
        for name in self.names()? {
            let versions = self.versions(&name)?;
            let Some(latest) = versions.last().copied() else { continue };
            let Content { model, created, .. } = self.read(&name, latest)?;
            all.push(Listed { name, model, versions: versions.len() as u32, latest, changed: created });
        }
        Ok(all)
    }

    /// A version of a definition, by default the newest.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn get(&self, name: &str, version: Option<u32>) -> Result<Kept> {
        check_name(name)?;
        let versions = self.versions(name)?;
        let Some(latest) = versions.last().copied() else {
            let names = self.names()?;
            return Err(UnknownName::new("no definition", name, names.iter().map(String::as_str)).into());
        };
        let version = version.unwrap_or(latest);
        if !versions.contains(&version) {
            return Err(DefinitionsError::Version { name: name.to_owned(), version, latest });
        }
        let Content { model, created, text } = self.read(name, version)?;
        Ok(Kept { name: name.to_owned(), model, version, text, created })
    }

    /// Durably saves a text as a new version, unless the newest version has the same text. Returns the version.
    ///
    /// # Errors
    /// If the name or the length is not allowed, the name belongs to another model, or the disk fails.
    pub fn save(&self, name: &str, model: &str, text: &str) -> Result<u32> {
        check_name(name)?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(DefinitionsError::Large { bytes: text.len() });
        }
        let folder = self.folder.join(name);
        create_dirs(&*self.disk, &folder).map_err(failed("create", &folder))?;
        loop {
            let latest = self.versions(name)?.last().copied().unwrap_or(0);
            if latest > 0 {
                let newest = self.read(name, latest)?;
                if newest.model != model {
                    let (name, given) = (name.to_owned(), model.to_owned());
                    return Err(DefinitionsError::Model { name, kept: newest.model, given });
                }
                if newest.text == text {
                    return Ok(latest);
                }
            }
            let created = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
            let content = Content { model: model.to_owned(), created, text: text.to_owned() };
            let path = self.path(name, latest + 1);
            if self.write_new(&path, &content).map_err(failed("write", &path))? {
                return Ok(latest + 1);
            }
            // Another writer took this version.
        }
    }

    /// Writes a file that must not exist; returns whether it did not.
    fn write_new(&self, path: &Path, content: &Content) -> io::Result<bool> {
        let temporary = temporary_name(path);
        let mut file = self.disk.create(&temporary)?;
        file.write_all(&serde_json::to_vec(content)?)?;
        file.sync()?;
        let linked = match self.disk.link(&temporary, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            linked => linked.map(|()| true),
        };
        self.disk.remove(&temporary)?;
        self.disk.sync_dir(disk::parent(path))?;
        linked
    }

    fn path(&self, name: &str, version: u32) -> PathBuf {
        self.folder.join(name).join(format!("{version:08}.json"))
    }

    fn read(&self, name: &str, version: u32) -> Result<Content> {
        let path = self.path(name, version);
        let bytes = fs::read(&path).map_err(failed("read", &path))?;
        serde_json::from_slice(&bytes).map_err(|e| DefinitionsError::Damaged { path, reason: e.to_string() })
    }

    fn names(&self) -> Result<Vec<String>> {
        let mut names = entries(&self.folder)?;
        names.retain(|name| check_name(name).is_ok());
        Ok(names)
    }

    /// The versions of a name, oldest first.
    fn versions(&self, name: &str) -> Result<Vec<u32>> {
        let files = entries(&self.folder.join(name))?;
        Ok(files.iter().filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect())
    }
}

/// The sorted names in a folder, which may not exist.
fn entries(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed("list", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(failed("list", folder))?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> DefinitionsError {
    let path = path.to_owned();
    move |cause| DefinitionsError::Io { doing, path: path.clone(), cause }
}

/// A name is part of a path.
fn check_name(name: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let first = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if first && name.len() <= NAME_BYTES_MAX && name.chars().all(good) {
        Ok(())
    } else {
        Err(DefinitionsError::Name(name.to_owned()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::thread;

    use disk::RealDisk;

    use super::*;

    pub(crate) fn library() -> (tempfile::TempDir, Library) {
        let data = tempfile::tempdir().unwrap();
        let library = Library::new(data.path(), Arc::new(RealDisk));
        (data, library)
    }

    #[test]
    fn texts_get_versions() {
        let (_data, library) = library();
        assert_eq!(library.list().unwrap(), []);
        for (text, version) in [("a", 1), ("a", 1), ("b", 2), ("a", 3)] {
            assert_eq!(library.save("clan", "walk", text).unwrap(), version, "{text}");
        }
        let get = |version| library.get("clan", version).map(|kept| (kept.version, kept.text)).unwrap();
        assert_eq!([get(None), get(Some(2)), get(Some(1))], [(3, "a".into()), (2, "b".into()), (1, "a".into())]);
        let listed = library.list().unwrap();
        assert_eq!((listed.len(), listed[0].latest, &*listed[0].model), (1, 3, "walk"));
        assert!(matches!(library.get("clan", Some(4)), Err(DefinitionsError::Version { latest: 3, .. })));
        assert!(library.get("clam", None).unwrap_err().to_string().contains("did you mean clan"));
        assert!(matches!(library.save("clan", "other", "c"), Err(DefinitionsError::Model { .. })));
    }

    #[test]
    fn names_and_lengths_are_checked() {
        let (data, library) = library();
        for bad in ["", "..", "../x", "a/b", "A", "a b", ".a", "é", "a\0", &"x".repeat(65)] {
            assert!(matches!(library.save(bad, "walk", ""), Err(DefinitionsError::Name(_))), "{bad}");
            assert!(matches!(library.get(bad, None), Err(DefinitionsError::Name(_))), "{bad}");
        }
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert!(matches!(library.save("a", "walk", &long), Err(DefinitionsError::Large { .. })));
        library.save("a", "walk", &long[1..]).unwrap();
        assert_eq!(fs::read_dir(data.path().join(FOLDER)).unwrap().count(), 1);
    }

    #[test]
    fn concurrent_saves_lose_nothing() {
        const WRITERS: usize = 8;
        let (_data, library) = library();
        let save = |number: usize| {
            let library = library.clone();
            thread::spawn(move || library.save("clan", "walk", &format!("text {number}")).unwrap())
        };
        let writers: Vec<_> = (0..WRITERS).map(save).collect();
        let mut versions: Vec<u32> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        versions.sort_unstable();
        assert_eq!(versions, (1..=WRITERS as u32).collect::<Vec<_>>());
        let mut texts: Vec<String> =
            versions.iter().map(|version| library.get("clan", Some(*version)).unwrap().text).collect();
        texts.sort_unstable();
        assert_eq!(texts, (0..WRITERS).map(|number| format!("text {number}")).collect::<Vec<_>>());
    }
}
