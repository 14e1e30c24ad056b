//! The file of API keys, a line for each: its name, its tenant, its role, and its digest.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Grant, Role};
use crate::latch::{Latch, LatchSetter};
use crate::principal::Principal;

/// What keys begin with, so that one that got lost is known for what it is.
const KEY_PREFIX: &str = "ck-";

/// What digests begin with.
const DIGEST_PREFIX: &str = "blake3:";

/// Names of keys and tenants have so many characters at most.
const NAME_CHARS_MAX: usize = 64;

/// A process knows so many tenants; each has stores of its own.
const TENANTS_MAX: u32 = 100_000;

/// A key has as many bytes at most: more are not digested.
const KEY_BYTES_MAX: usize = 256;

/// Why keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// The file cannot be read.
    #[error("{path}: {problem}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// What an address has is no list, or is not asked for there.
    #[error("{url} {problem}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it or its answer.
        problem: String,
    },
    /// A line that says no key.
    #[error("line {line} of the API keys: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A provider's list of keys cannot be used.
    #[error("the provider's list of keys: {0}")]
    Provider(String),
    /// There are more tenants than a process knows.
    #[error("there are more than {TENANTS_MAX} tenants")]
    TooManyTenants,
    /// No line says a key. Nobody could call, which is never meant.
    #[error("the file has no keys")]
    Empty,
}

/// A line of the file, before it is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLine {
    name: String,
    tenant: String,
    role: Role,
    digest: blake3::Hash,
}

/// Keys that were read.
pub(super) struct ReadKeys(Vec<(KeyLine, Principal)>);

/// Keys by their digests.
#[derive(Debug, Default)]
pub(super) struct Keyring(HashMap<[u8; 32], KeyInForce>);

#[derive(Clone, Debug)]
struct KeyInForce {
    line: KeyLine,
    grant: Grant,
    /// Set by who takes the key out of the ring.
    revokes: Arc<LatchSetter>,
}

/// Tenants by name, each with the number that it keeps while the process lives.
#[derive(Debug, Default)]
pub(super) struct TenantNumbers {
    numbers: HashMap<Arc<str>, u32>,
    /// By their numbers.
    names: Vec<Arc<str>>,
}

impl TenantNumbers {
    /// The tenant of this name; none: there are too many others.
    pub(super) fn principal(&mut self, tenant: &str) -> Option<Principal> {
        if let Some(number) = self.numbers.get(tenant) {
            return Some(Principal::tenant(*number));
        }
        let next = u32::try_from(self.names.len()).ok().filter(|next| *next < TENANTS_MAX)?;
        let name: Arc<str> = Arc::from(tenant);
        self.numbers.insert(name.clone(), next);
        self.names.push(name);
        Some(Principal::tenant(next))
    }

    /// The name of the tenant of this number.
    pub(super) fn name(&self, number: u32) -> Option<Arc<str>> {
        self.names.get(usize::try_from(number).ok()?).cloned()
    }
}

impl Keyring {
    /// The keys that a file lists. Empty lines and those that begin with `#` say nothing.
    pub(super) fn parse(text: &str, tenants: &mut TenantNumbers) -> Result<ReadKeys, KeysError> {
        let (mut lines, mut names, mut digests) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for (index, text) in text.lines().enumerate() {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let bad = |problem: String| KeysError::Line { line: index + 1, problem };
            let line = KeyLine::parse(text).map_err(bad)?;
            if !names.insert(line.name.clone()) {
                return Err(bad(format!("the name {:?} is another line's, too", line.name)));
            }
            if !digests.insert(*line.digest.as_bytes()) {
                return Err(bad("the key is another line's, too".to_owned()));
            }
            lines.push(line);
        }
        if lines.is_empty() {
            return Err(KeysError::Empty);
        }
        let numbered = |line: KeyLine| {
            let principal = tenants.principal(&line.tenant).ok_or(KeysError::TooManyTenants)?;
            Ok((line, principal))
        };
        Ok(ReadKeys(lines.into_iter().map(numbered).collect::<Result<_, _>>()?))
    }

    /// What this key allows.
    pub(super) fn grant(&self, key: &str) -> Option<Grant> {
        if key.len() > KEY_BYTES_MAX {
            return None;
        }
        // Found by its digest: how long that takes tells nothing about any key.
        self.0.get(blake3::hash(key.as_bytes()).as_bytes()).map(|key| key.grant.clone())
    }
}

impl ReadKeys {
    /// These keys in force after those of `before`: one whose line is the same goes on, all others
    /// of before are revoked.
    pub(super) fn after(self, before: &Keyring) -> Keyring {
        let in_force = |(line, principal): (KeyLine, Principal)| {
            let digest = *line.digest.as_bytes();
            let known = before.0.get(&digest).filter(|known| known.line == line).cloned();
            (digest, known.unwrap_or_else(|| KeyInForce::new(line, principal)))
        };
        let after = Keyring(self.0.into_iter().map(in_force).collect());
        for (digest, key) in &before.0 {
            if after.0.get(digest).is_none_or(|kept| kept.line != key.line) {
                key.revokes.set();
            }
        }
        after
    }
}

impl KeyInForce {
    fn new(line: KeyLine, principal: Principal) -> Self {
        let (revokes, revoked) = Latch::new();
        let (name, tenant) = (Arc::from(&*line.name), Arc::from(&*line.tenant));
        let grant = Grant { name, tenant, principal, role: line.role, revoked, until: None };
        Self { line, grant, revokes: Arc::new(revokes) }
    }
}

impl KeyLine {
    /// One line of the file.
    fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [name, tenant, role, digest] = words[..] else {
            return Err(format!("has {} words, not name, tenant, role and digest", words.len()));
        };
        check_name("name", name)?;
        check_name("tenant", tenant)?;
        let role = Role::named(role)
            .ok_or_else(|| format!("{role:?} is no role; there are query, write and admin"))?;
        let digest = digest
            .strip_prefix(DIGEST_PREFIX)
            .and_then(|hex| blake3::Hash::from_hex(hex).ok())
            .ok_or_else(|| {
                format!("the digest is not {DIGEST_PREFIX} and 64 hexadecimal digits")
            })?;
        Ok(Self { name: name.to_owned(), tenant: tenant.to_owned(), role, digest })
    }
}

impl std::fmt::Display for KeyLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, tenant, role, digest } = self;
        write!(f, "{name} {tenant} {} {DIGEST_PREFIX}{}", role.name(), digest.to_hex())
    }
}

/// A new key that nobody can guess (256 random bits), and its line in the file.
pub fn new_key_line(name: &str, tenant: &str, role: Role) -> Result<(String, KeyLine), String> {
    check_name("name", name)?;
    check_name("tenant", tenant)?;
    let mut bits = [0_u8; 32];
    getrandom::fill(&mut bits).map_err(|error| format!("no random numbers: {error}"))?;
    let key = format!("{KEY_PREFIX}{}", blake3::Hash::from(bits).to_hex());
    let digest = blake3::hash(key.as_bytes());
    Ok((key, KeyLine { name: name.to_owned(), tenant: tenant.to_owned(), role, digest }))
}

/// Names are written to the log, and stand in lines by words.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_allowed) {
        return Err(format!(
            "the {what} {name:?} is not 1 to {NAME_CHARS_MAX} letters, digits, dots, dashes and \
             underscores"
        ));
    }
    Ok(())
}
