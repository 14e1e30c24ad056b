//! Who may call, where that is asked: API keys and tokens, with their tenants and roles.
//!
//! Keys are read from a file that has digests of them only, those that tokens are signed with from
//! the list of an identity provider, a file or an address. Both are read again when they change.
//! One that cannot be used leaves in force what was read before. What was granted ends when the file has the key no
//! more, or the token's time is over: streams that were opened with it are told so.

mod key_list;
mod keyring;
mod role;
mod signatures;
mod tokens;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Instant;

use self::key_list::{Asking, KeyList};
pub use self::keyring::{KeyLine, KeysError, new_key_line};
use self::keyring::{Keyring, TenantNumbers};
pub use self::role::{METHODS, Role, RpcMethod, needed_role, row_of};
pub use self::tokens::TokenRules;
use self::tokens::{KnownTokens, TokenKeys};
use super::fresh::{Fresh, FromFiles};
use super::latch::Latch;
use super::principal::Principal;

/// What a key or a token allows whoever brings it.
#[derive(Clone, Debug)]
pub struct Grant {
    /// What the key is called, or the subject of the token; for the log.
    pub name: Arc<str>,
    /// Whose calls these are.
    pub tenant: Arc<str>,
    /// The tenant as a principal.
    pub principal: Principal,
    /// The methods that may be called are those that need this role or a lesser one.
    pub role: Role,
    /// Set when the key is good no more.
    revoked: Latch,
    /// When a token ends; none: keys do not.
    until: Option<Instant>,
}

impl Grant {
    /// Whether it holds no more.
    pub fn is_over(&self) -> bool {
        self.revoked.is_set() || self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Waits until it holds no more.
    pub async fn until_over(self) {
        let over = async {
            match self.until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.revoked.until_set() => {}
            () = over => {}
        }
    }
}

/// Why a key or a token allows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotGranted {
    /// It is none of this server's, or none is asked for.
    Wrong,
    /// The provider is being asked for the key that the token names: it may be good in a moment.
    KeyAskedFor,
}

/// Who may call; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Access {
    keys: Option<Arc<Keys>>,
    tokens: Option<Arc<Tokens>>,
    tenants: Arc<Mutex<TenantNumbers>>,
}

/// The keys of a file.
#[derive(Debug)]
struct Keys {
    path: PathBuf,
    keyring: RwLock<Keyring>,
    /// Of the text that was read last, whether it could be used or not.
    read: Mutex<Option<blake3::Hash>>,
    tenants: Arc<Mutex<TenantNumbers>>,
}

/// The keys of an identity provider, and what its tokens have to say.
#[derive(Debug)]
struct Tokens {
    list: KeyList,
    asking: Asking,
    rules: TokenRules,
    keys: RwLock<TokenKeys>,
    known: Mutex<KnownTokens>,
    read: Mutex<Option<blake3::Hash>>,
}

impl Access {
    /// Everybody, and nobody is asked for a key.
    pub fn open() -> Self {
        Self::default()
    }

    /// Also whoever brings a key of this file.
    pub fn with_keys(self, path: &Path) -> Result<Self, KeysError> {
        let text = read(path)?;
        let read = Keyring::parse(&text, &mut locked(&self.tenants))?;
        let keys = Keys {
            path: path.to_owned(),
            keyring: RwLock::new(read.after(&Keyring::default())),
            read: Mutex::new(Some(blake3::hash(text.as_bytes()))),
            tenants: self.tenants.clone(),
        };
        Ok(Self { keys: Some(Arc::new(keys)), ..self })
    }

    /// Also whoever brings a token that says this and is signed with a key of this list, a file or
    /// an address, which is asked for it.
    pub fn with_tokens(self, list: &Path, rules: TokenRules) -> Result<Self, KeysError> {
        self.with_list(KeyList::named(list)?, rules)
    }

    fn with_list(self, list: KeyList, rules: TokenRules) -> Result<Self, KeysError> {
        let text = list.read()?;
        let tokens = Tokens {
            list,
            asking: Asking::default(),
            rules,
            keys: RwLock::new(TokenKeys::parse(&text, &TokenKeys::none())?),
            known: Mutex::default(),
            read: Mutex::new(Some(blake3::hash(text.as_bytes()))),
        };
        Ok(Self { tokens: Some(Arc::new(tokens)), ..self })
    }

    /// Whether a key or a token is asked for.
    pub fn asks_for_keys(&self) -> bool {
        self.keys.is_some() || self.tokens.is_some()
    }

    /// What this key or token allows.
    pub fn grant(&self, key: &str) -> Result<Grant, NotGranted> {
        let of_key = self.keys.as_ref().and_then(|keys| {
            keys.keyring.read().expect("nothing panics while holding it").grant(key)
        });
        match (of_key, &self.tokens) {
            (Some(grant), _) => Ok(grant),
            (None, Some(tokens)) => tokens.grant(key, &self.tenants),
            (None, None) => Err(NotGranted::Wrong),
        }
    }

    /// How often a provider was asked for its keys since the start and has told them, and how often
    /// it has not; none: nobody is asked.
    pub fn list_requests(&self) -> Option<[u64; 2]> {
        let asked = self.tokens.as_ref().filter(|tokens| tokens.list.is_asked_for());
        asked.map(|tokens| tokens.asking.counts())
    }

    /// What the tenant of this number is called.
    pub fn tenant_name(&self, number: u32) -> Option<Arc<str>> {
        locked(&self.tenants).name(number)
    }

    /// What is read again when its files change.
    pub fn files(&self) -> Vec<Arc<dyn FromFiles>> {
        let keys = self.keys.clone().map(|keys| keys as Arc<dyn FromFiles>);
        let tokens = self.tokens.clone().map(|tokens| tokens as Arc<dyn FromFiles>);
        keys.into_iter().chain(tokens).collect()
    }
}

impl Tokens {
    fn grant(&self, token: &str, tenants: &Mutex<TenantNumbers>) -> Result<Grant, NotGranted> {
        let digest = blake3::hash(token.as_bytes());
        if let Some(known) = locked(&self.known).get(&digest) {
            return Ok(known);
        }
        let keys = self.keys.read().expect("nothing panics while holding it");
        let Some(grant) = keys.grant(token, &self.rules, tenants) else {
            // While the keys are held no other list comes in force.
            let asks = self.list.is_asked_for() && keys.lacks_key_of(token) && self.asking.want();
            return Err(if asks { NotGranted::KeyAskedFor } else { NotGranted::Wrong });
        };
        locked(&self.known).keep(&digest, &grant);
        Ok(grant)
    }

    /// Takes over what a list says, if that is not what was read last; an error is told once.
    fn take(&self, text: Result<String, KeysError>) -> Result<Fresh, String> {
        let Some(text) = news(text, &self.read)? else { return Ok(Fresh::AsBefore) };
        let mut keys = self.keys.write().expect("nothing panics while holding it");
        *keys = TokenKeys::parse(&text, &keys).map_err(|error| error.to_string())?;
        Ok(Fresh::Changed)
    }
}

impl FromFiles for Keys {
    fn what(&self) -> &'static str {
        "api_keys"
    }

    fn read_again(&self) -> Result<Fresh, String> {
        let text = news(read(&self.path), &self.read)?;
        let Some(text) = text else { return Ok(Fresh::AsBefore) };
        let read = Keyring::parse(&text, &mut locked(&self.tenants));
        let read = read.map_err(|error| error.to_string())?;
        let mut keyring = self.keyring.write().expect("nothing panics while holding it");
        *keyring = read.after(&keyring);
        Ok(Fresh::Changed)
    }
}

impl FromFiles for Tokens {
    fn what(&self) -> &'static str {
        "jwt_jwks"
    }

    fn read_again(&self) -> Result<Fresh, String> {
        let request = self.asking.begin();
        let taken = self.take(self.list.read());
        self.asking.end(request, &taken);
        taken
    }

    fn until_due(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.asking.until_due(&self.list))
    }
}

/// What was read, if that is not what was read last; an error is told once.
fn news(
    text: Result<String, KeysError>,
    last: &Mutex<Option<blake3::Hash>>,
) -> Result<Option<String>, String> {
    let digest = text.as_ref().ok().map(|text| blake3::hash(text.as_bytes()));
    if std::mem::replace(&mut *locked(last), digest) == digest {
        return Ok(None);
    }
    text.map(Some).map_err(|error| error.to_string())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while holding it")
}

fn read(path: &Path) -> Result<String, KeysError> {
    let unreadable = |error: std::io::Error| KeysError::Unreadable {
        path: path.display().to_string(),
        problem: error.to_string(),
    };
    std::fs::read_to_string(path).map_err(unreadable)
}

#[cfg(test)]
mod tests;
