//! Tokens and their permissions: a file of hashes that the command line changes and a server follows.
//!
//! A token is 256 random bits, so one round of SHA-256 is as good as a slow hash. Slow hashes protect guessable
//! secrets, and would cost time in every request.

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
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Start of every token, to recognize leaked ones.
const PREFIX: &str = "mw_";
const SECRET_BYTES: usize = 32;
const NAME_BYTES_MAX: usize = 64;

/// The permissions of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The token's name: its owner or purpose.
    pub name: String,
    /// The databases; ensembles are in `sim`. Empty: all.
    #[serde(default)]
    pub databases: Vec<String>,
    #[serde(default)]
    pub read: bool,
    #[serde(default)]
    pub write: bool,
    /// Whether it may manage tokens. Left out of files where false, so that older programs read them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub admin: bool,
}

impl Grant {
    /// Whether it may manage tokens: those of all databases.
    pub(crate) fn administers(&self) -> bool {
        self.admin && self.databases.is_empty()
    }

    /// All permissions, in the JSON form of commands and the server.
    pub fn to_json(&self) -> Value {
        let Self { name, databases, read, write, admin } = self;
        json!({"name": name, "databases": databases, "read": read, "write": write, "admin": admin})
    }

    fn check(&self) -> Result<(), TokenError> {
        let name = &self.name;
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_control) {
            return Err(TokenError::Name { name: name.clone() });
        }
        if !(self.read || self.write || self.admin) {
            return Err(TokenError::Useless { name: name.clone() });
        }
        if self.admin && !self.databases.is_empty() {
            return Err(TokenError::Limited { name: name.clone() });
        }
        Ok(())
    }

    pub fn covers(&self, database: &str) -> bool {
        self.databases.is_empty() || self.databases.iter().any(|d| d == database)
    }
}

/// The reason that a token file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{} is not a token file: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    #[error("token {name:?} exists already: revoke it first, or choose another name")]
    Taken { name: String },
    #[error("{name:?} cannot name a token: give 1 to {NAME_BYTES_MAX} bytes without control characters")]
    Name { name: String },
    #[error("token {name:?} permits nothing: let it read, write or manage tokens")]
    Useless { name: String },
    #[error("token {name:?} cannot manage tokens of some databases only: name no database")]
    Limited { name: String },
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("cannot get random numbers: {0}")]
    Random(getrandom::Error),
}

/// A token in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    sha256: String,
    #[serde(flatten)]
    grant: Grant,
}

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    #[serde(default, rename = "token")]
    tokens: Vec<Stored>,
}

/// An editable token file.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file at `path`; it may be missing.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The permissions of all tokens, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn list(&self) -> Result<Vec<Grant>, TokenError> {
        Ok(read(&self.path)?.1.tokens.into_iter().map(|t| t.grant).collect())
    }

    /// Creates a token and returns it; the file keeps only its hash. Creates a missing file.
    ///
    /// # Errors
    /// If the name is taken or invalid, or the file cannot be changed.
    pub fn create(&self, grant: Grant) -> Result<String, TokenError> {
        grant.check()?;
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

    /// Revokes a token: servers refuse it from their next request on.
    ///
    /// # Errors
    /// If no token has the name, or the file cannot be changed.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|content| {
            let place = content.tokens.iter().position(|t| t.grant.name == name);
            let names = content.tokens.iter().map(|t| t.grant.name.as_str());
            let place = place.ok_or_else(|| UnknownName::new("no token", name, names))?;
            content.tokens.remove(place);
            Ok(())
        })
    }

    /// Replaces the whole file durably, one process at a time.
    fn change(&self, change: impl FnOnce(&mut Content) -> Result<(), TokenError>) -> Result<(), TokenError> {
        let failed = |cause| TokenError::Io { path: self.path.clone(), cause };
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Lock the folder, because it stays while the file is replaced. Held until this returns.
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

/// Like `disk::write_file`; only the owner can read the file, from the first byte on.
fn write_private(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}{}", disk::TEMPORARY_SUFFIX));
    // A killed process left it: the lock excludes all others.
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

/// Identifies one state of a file: device, inode, size, modification time in s and ns.
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

/// Compares two hashes in constant time.
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

/// The current tokens of a file, for a server.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    known: RwLock<(Stamp, Known)>,
}

/// Maps the first bytes of a token's SHA-256 to the full hash. The lookup time shows nothing about a token, because an
/// attacker cannot choose the hashes of guesses. The full comparison is still constant-time.
type Known = Arc<HashMap<[u8; 8], (Hash, Arc<Grant>)>>;

type Hash = [u8; 32];

impl Tokens {
    pub(crate) fn open(path: PathBuf) -> Result<Self, TokenError> {
        let known = RwLock::new(load(&path)?);
        Ok(Self { path, known })
    }

    /// The permissions of a token; `None` if the file lacks it.
    ///
    /// # Errors
    /// If the file cannot be read any more. The server then refuses every token.
    pub(crate) fn find(&self, token: &str) -> Result<Option<Arc<Grant>>, TokenError> {
        let known = self.current()?;
        let sent = hash(token);
        let found = known.get(&beginning(&sent)).filter(|(hash, _)| is_equal(hash, &sent));
        Ok(found.map(|(_, grant)| grant.clone()))
    }

    /// The tokens, reloaded if the file has changed.
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
