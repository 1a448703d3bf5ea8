//! Tokens: who may read and write what. A file of their hashes, changed at the shell, that a server follows.
//!
//! A token is 256 random bits, so one round of SHA-256 is as good as a slow hash: slowness makes up for secrets that
//! can be guessed, and would be paid on the path of a request.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use disk::{Disk as _, RealDisk};
use model::UnknownName;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How a token begins, so that one is known where it turns up.
const PREFIX: &str = "mw_";
const SECRET_BYTES: usize = 32;
const NAME_BYTES_MAX: usize = 64;

/// What a token is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Whose it is, or what for.
    pub name: String,
    /// The databases; those of ensembles are in `sim`. Empty: all.
    #[serde(default)]
    pub databases: Vec<String>,
    /// Whether it may ask.
    pub read: bool,
    /// Whether it may send rows.
    pub write: bool,
}

impl Grant {
    /// Whether a database is among its own.
    pub fn covers(&self, database: &str) -> bool {
        self.databases.is_empty() || self.databases.iter().any(|d| d == database)
    }
}

/// Why a token file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// The file is there and is no token file.
    #[error("{} is not a token file: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A token has the name already.
    #[error("token {name:?} exists already: revoke it first, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// The text cannot be a name.
    #[error("{name:?} cannot name a token: give 1 to {NAME_BYTES_MAX} bytes without control characters")]
    Name {
        /// The text.
        name: String,
    },
    /// No token has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The system has no random numbers.
    #[error("cannot get random numbers: {0}")]
    Random(getrandom::Error),
}

/// A token as the file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    sha256: String,
    #[serde(flatten)]
    grant: Grant,
}

/// All of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    #[serde(default, rename = "token")]
    tokens: Vec<Stored>,
}

/// A file of tokens, to be changed.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file at `path`, which need not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// What its tokens are good for, in the order in which they were made.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn list(&self) -> Result<Vec<Grant>, TokenError> {
        Ok(read(&self.path)?.1.tokens.into_iter().map(|t| t.grant).collect())
    }

    /// Makes a token and gives it: nobody can read it in the file later. Makes the file where it is not there.
    ///
    /// # Errors
    /// Where the name is taken or cannot be one, or the file cannot be changed.
    pub fn create(&self, grant: Grant) -> Result<String, TokenError> {
        let name = &grant.name;
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_control) {
            return Err(TokenError::Name { name: name.clone() });
        }
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(TokenError::Random)?;
        let token = format!("{PREFIX}{}", hex(&secret));
        self.change(|content| {
            if content.tokens.iter().any(|t| t.grant.name == grant.name) {
                return Err(TokenError::Taken { name: grant.name });
            }
            content.tokens.push(Stored { sha256: hex(&hash(&token)), grant });
            Ok(())
        })?;
        Ok(token)
    }

    /// Takes a token away: servers refuse it from their next request on.
    ///
    /// # Errors
    /// Where there is none of that name, or the file cannot be changed.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|content| {
            let place = content.tokens.iter().position(|t| t.grant.name == name);
            let names = content.tokens.iter().map(|t| t.grant.name.as_str());
            let place = place.ok_or_else(|| UnknownName::new("no token", name, names))?;
            content.tokens.remove(place);
            Ok(())
        })
    }

    /// Changes the file as a whole, durably, one process at a time.
    fn change(&self, change: impl FnOnce(&mut Content) -> Result<(), TokenError>) -> Result<(), TokenError> {
        let failed = |cause| TokenError::Io { path: self.path.clone(), cause };
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The folder is what stays while the file is replaced; held until this returns.
        let lock = File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut content = match read(&self.path) {
            Ok((_, content)) => content,
            Err(TokenError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(error),
        };
        change(&mut content)?;
        let text = toml::to_string(&content).map_err(|e| malformed(&self.path, &e))?;
        write_private(&self.path, folder, text.as_bytes()).map_err(failed)
    }
}

/// As `disk::write_file`, for the owner's eyes only, from the first byte on.
fn write_private(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}{}", disk::TEMPORARY_SUFFIX));
    // Left by a process that was killed: no other is here, the folder is locked.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    RealDisk.rename(&temporary, path)?;
    RealDisk.sync_dir(folder)
}

/// What tells one state of a file from another: device, inode, size and time of change in ns.
pub(crate) type Stamp = (u64, u64, u64, i64, i64);

pub(crate) fn stamp(of: &fs::Metadata) -> Stamp {
    (of.dev(), of.ino(), of.size(), of.mtime(), of.mtime_nsec())
}

fn read(path: &Path) -> Result<(Stamp, Content), TokenError> {
    let failed = |cause| TokenError::Io { path: path.to_owned(), cause };
    let mut file = File::open(path).map_err(failed)?;
    let stamp = stamp(&file.metadata().map_err(failed)?);
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok((stamp, toml::from_str(&text).map_err(|e| malformed(path, &e))?))
}

fn malformed(path: &Path, error: &dyn std::error::Error) -> TokenError {
    TokenError::Malformed { path: path.to_owned(), reason: error.to_string().trim_end().to_owned() }
}

/// Whether two hashes are equal, in a time that does not depend on where they differ.
fn is_equal(a: &Hash, b: &Hash) -> bool {
    std::hint::black_box(a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b))) == 0
}

fn beginning(hash: &Hash) -> [u8; 8] {
    std::array::from_fn(|i| hash[i])
}

fn unhex(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    let digits = text.as_bytes().as_chunks::<2>();
    if digits.0.len() != hash.len() || !digits.1.is_empty() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(digits.0) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = (digit(digits[0])? << 4 | digit(digits[1])?) as u8;
    }
    Some(hash)
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The tokens of a file as it is now, for a server.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    known: RwLock<(Stamp, Known)>,
}

/// By the first bytes of the SHA-256 of the token, with all of it. Finding the entry takes a time that says nothing of
/// the token, since whoever sends guesses does not choose their hashes; the hashes are compared in constant time anyway.
type Known = Arc<HashMap<[u8; 8], (Hash, Arc<Grant>)>>;

type Hash = [u8; 32];

impl Tokens {
    pub(crate) fn open(path: PathBuf) -> Result<Self, TokenError> {
        let known = RwLock::new(load(&path)?);
        Ok(Self { path, known })
    }

    /// What a token is good for; `None` where it is none of the file's.
    ///
    /// # Errors
    /// Where the file cannot be read any more: then no token is good.
    pub(crate) fn find(&self, token: &str) -> Result<Option<Arc<Grant>>, TokenError> {
        let known = self.current()?;
        let sent = hash(token);
        let found = known.get(&beginning(&sent)).filter(|(hash, _)| is_equal(hash, &sent));
        Ok(found.map(|(_, grant)| grant.clone()))
    }

    /// The tokens, read again where the file has changed.
    fn current(&self) -> Result<Known, TokenError> {
        let failed = |cause| TokenError::Io { path: self.path.clone(), cause };
        let now = stamp(&fs::metadata(&self.path).map_err(failed)?);
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if known.0 == now {
                return Ok(known.1.clone());
            }
        }
        let fresh = load(&self.path)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *known = fresh;
        Ok(known.1.clone())
    }
}

fn load(path: &Path) -> Result<(Stamp, Known), TokenError> {
    let (stamp, content) = read(path)?;
    let mut names = BTreeSet::new();
    if let Some(twice) = content.tokens.iter().find(|t| !names.insert(&t.grant.name)) {
        return Err(TokenError::Taken { name: twice.grant.name.clone() });
    }
    let mut known = HashMap::with_capacity(content.tokens.len());
    for Stored { sha256, grant } in content.tokens {
        let hash = unhex(&sha256).ok_or_else(|| TokenError::Malformed {
            path: path.to_owned(),
            reason: format!("sha256 of the token {:?} has not 64 hexadecimal digits", grant.name),
        })?;
        known.insert(beginning(&hash), (hash, Arc::new(grant)));
    }
    Ok((stamp, Arc::new(known)))
}
