//! What each tenant may have, and how much of it a second: a file says so, and without one nobody
//! is held to anything.
//!
//! A line of the file names a tenant, or with `*` everybody who has no line of one's own for it,
//! and then what it may have: `acme sessions=20 frames_per_second=2000`. Empty lines and those that
//! begin with `#` say nothing.
//!
//! Rates are kept by the generic cell rate algorithm (ITU-T I.371), with a second's worth at once:
//! whoever has some left may take more than that, and then waits for as long as that lasts. So a
//! message of more configurations than a second allows is answered, and the next one later.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::access::Access;
use super::client::Client;
use super::fresh::{Fresh, FromFiles};

/// What quotas are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotaKind {
    /// Memory of registered bodies and robots.
    Bytes,
    /// Registered bodies.
    Bodies,
    /// Open sessions.
    Sessions,
    /// Jobs in the compute pool, waiting ones with them.
    Jobs,
    /// Frames a second.
    Frames,
    /// Configurations a second.
    Configurations,
}

impl QuotaKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Bytes, Self::Bodies, Self::Sessions, Self::Jobs, Self::Frames, Self::Configurations];

    /// What it is called in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Bodies => "bodies",
            Self::Sessions => "sessions",
            Self::Jobs => "jobs",
            Self::Frames => "frames_per_second",
            Self::Configurations => "configurations_per_second",
        }
    }
}

/// A tenant would have more than it may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than the quota {} = {value} of the tenant {tenant}", kind.name())]
pub struct QuotaExceeded {
    /// What the quota counts.
    pub kind: QuotaKind,
    /// How much it may have.
    pub value: u64,
    /// Whose quota it is.
    pub tenant: Arc<str>,
    /// When it is worth another try.
    pub retry_after: Duration,
}

/// So many tenants are not told apart in what is counted any more.
const TENANTS_SHOWN_MAX: usize = 1_000;

/// Of what there is no rate, it may help that somebody deletes or closes something.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why quotas cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotasError {
    /// The file cannot be read.
    #[error("{path}: {problem}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// A line that says no quota.
    #[error("line {line} of the quotas: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// What a tenant may have; what is not there is not limited.
type Allowed = BTreeMap<QuotaKind, u64>;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rules {
    everybody: Allowed,
    tenants: HashMap<String, Allowed>,
}

/// The quotas of all tenants; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Quotas(Option<Arc<QuotaBooks>>);

#[derive(Debug)]
struct QuotaBooks {
    path: PathBuf,
    access: Access,
    rules: RwLock<Rules>,
    read: Mutex<Option<blake3::Hash>>,
    meters: Mutex<HashMap<u32, Arc<Meter>>>,
    refusals: [AtomicU64; QuotaKind::ALL.len()],
}

/// What a tenant has taken.
#[derive(Debug)]
struct Meter {
    tenant: Arc<str>,
    frames: Bucket,
    configurations: Bucket,
    refusals: AtomicU64,
}

/// When all that was taken is worked off, nanoseconds since the epoch; before that, whoever is more
/// than a second ahead waits.
#[derive(Debug)]
struct Bucket {
    epoch: Instant,
    ahead: AtomicU64,
}

const SECOND: u64 = 1_000_000_000;

impl Bucket {
    fn new(epoch: Instant) -> Self {
        Self { epoch, ahead: AtomicU64::new(0) }
    }

    /// Takes so many of so many a second, or says how long to wait.
    fn take(&self, count: u64, rate: u64, now: Instant) -> Result<(), Duration> {
        let since = now.saturating_duration_since(self.epoch);
        let now = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        // None at all: whoever waits an hour asks whoever has written that.
        let each = SECOND.checked_div(rate).unwrap_or(3600 * SECOND).max(1);
        let taken = count.saturating_mul(SECOND).checked_div(rate).unwrap_or(each);
        let mut ahead = self.ahead.load(Ordering::Relaxed);
        loop {
            let from = ahead.max(now);
            let late = from.saturating_sub(now.saturating_add(SECOND - 1));
            if late > 0 || rate == 0 {
                return Err(Duration::from_nanos(late.max(each)));
            }
            let to = from.saturating_add(taken);
            let order = Ordering::Relaxed;
            match self.ahead.compare_exchange_weak(ahead, to, order, order) {
                Ok(_) => return Ok(()),
                Err(changed) => ahead = changed,
            }
        }
    }
}

impl Quotas {
    /// As a file says; `access` knows the names of tenants.
    pub fn of_file(path: &Path, access: Access) -> Result<Self, QuotasError> {
        let text = read(path)?;
        Ok(Self(Some(Arc::new(QuotaBooks {
            path: path.to_owned(),
            access,
            rules: RwLock::new(Rules::parse(&text)?),
            read: Mutex::new(Some(blake3::hash(text.as_bytes()))),
            meters: Mutex::default(),
            refusals: Default::default(),
        }))))
    }

    /// Whether the caller's tenant may have so many of this at a time.
    pub fn hold(&self, kind: QuotaKind, count: u64) -> Result<(), QuotaExceeded> {
        self.hold_of(Client::current_tenant(), kind, || count)
    }

    /// Whether the tenant of this number may have so many of this at a time. They are counted only
    /// where there is a quota.
    pub fn hold_of(
        &self,
        tenant: Option<u32>,
        kind: QuotaKind,
        count: impl FnOnce() -> u64,
    ) -> Result<(), QuotaExceeded> {
        let Some((state, meter)) = self.meter(tenant) else { return Ok(()) };
        let Some(value) = state.allowed(&meter.tenant, kind) else { return Ok(()) };
        if count() <= value { Ok(()) } else { Err(state.refuse(kind, value, &meter, RETRY_AFTER)) }
    }

    /// Takes so many of this from what the caller's tenant may have of it a second.
    pub fn charge(&self, kind: QuotaKind, count: u64) -> Result<(), QuotaExceeded> {
        let Some((state, meter)) = self.meter(Client::current_tenant()) else { return Ok(()) };
        let Some(value) = state.allowed(&meter.tenant, kind) else { return Ok(()) };
        let bucket = match kind {
            QuotaKind::Frames => &meter.frames,
            QuotaKind::Bytes
            | QuotaKind::Bodies
            | QuotaKind::Sessions
            | QuotaKind::Jobs
            | QuotaKind::Configurations => &meter.configurations,
        };
        let taken = bucket.take(count, value, Instant::now());
        taken.map_err(|wait| state.refuse(kind, value, &meter, wait))
    }

    /// How often each was exceeded, in the order of [`QuotaKind::ALL`]; none: there are none.
    pub fn refusals(&self) -> Option<[u64; QuotaKind::ALL.len()]> {
        let state = self.0.as_ref()?;
        Some(state.refusals.each_ref().map(|count| count.load(Ordering::Relaxed)))
    }

    /// How often each tenant that has called was refused, by name; none: there are no quotas, or so
    /// many tenants that nobody could look at them.
    pub fn refusals_of_tenants(&self) -> Option<Vec<(Arc<str>, u64)>> {
        let meters = locked(&self.0.as_ref()?.meters);
        if meters.len() >= TENANTS_SHOWN_MAX {
            return None;
        }
        let of =
            |meter: &Arc<Meter>| (meter.tenant.clone(), meter.refusals.load(Ordering::Relaxed));
        let mut all: Vec<_> = meters.values().map(of).collect();
        drop(meters);
        // Two keys may name one tenant by numbers of its own at different times.
        all.sort_unstable();
        all.dedup_by(|more, kept| {
            let is_same = more.0 == kept.0;
            kept.1 += if is_same { more.1 } else { 0 };
            is_same
        });
        Some(all)
    }

    /// What is read again when its file changes.
    pub fn file(&self) -> Option<Arc<dyn FromFiles>> {
        self.0.clone().map(|state| state as Arc<dyn FromFiles>)
    }

    fn meter(&self, tenant: Option<u32>) -> Option<(&QuotaBooks, Arc<Meter>)> {
        let (state, number) = (self.0.as_ref()?, tenant?);
        let mut meters = locked(&state.meters);
        if let Some(meter) = meters.get(&number) {
            return Some((state, meter.clone()));
        }
        let (tenant, epoch) = (state.access.tenant_name(number)?, Instant::now());
        let (frames, configurations) = (Bucket::new(epoch), Bucket::new(epoch));
        let meter = Arc::new(Meter { tenant, frames, configurations, refusals: AtomicU64::new(0) });
        meters.insert(number, meter.clone());
        Some((state, meter))
    }
}

impl QuotaBooks {
    fn allowed(&self, tenant: &str, kind: QuotaKind) -> Option<u64> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let own = rules.tenants.get(tenant).and_then(|own| own.get(&kind));
        own.or_else(|| rules.everybody.get(&kind)).copied()
    }

    fn refuse(
        &self,
        kind: QuotaKind,
        value: u64,
        meter: &Meter,
        retry_after: Duration,
    ) -> QuotaExceeded {
        self.refusals[kind as usize].fetch_add(1, Ordering::Relaxed);
        meter.refusals.fetch_add(1, Ordering::Relaxed);
        QuotaExceeded { kind, value, tenant: meter.tenant.clone(), retry_after }
    }
}

impl FromFiles for QuotaBooks {
    fn what(&self) -> &'static str {
        "quotas"
    }

    fn read_again(&self) -> Result<Fresh, String> {
        let text = read(&self.path).map_err(|error| error.to_string());
        let digest = text.as_ref().ok().map(|text| blake3::hash(text.as_bytes()));
        if std::mem::replace(&mut *locked(&self.read), digest) == digest {
            return Ok(Fresh::AsBefore);
        }
        let rules = Rules::parse(&text?).map_err(|error| error.to_string())?;
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
        Ok(Fresh::Changed)
    }
}

impl Rules {
    fn parse(text: &str) -> Result<Self, QuotasError> {
        let mut rules = Self::default();
        for (index, text) in text.lines().enumerate() {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let bad = |problem: String| QuotasError::Line { line: index + 1, problem };
            let mut words = text.split_whitespace();
            let tenant = words.next().unwrap_or_default();
            if tenant.contains('=') {
                return Err(bad("begins with no tenant and no *".to_owned()));
            }
            let allowed = words.map(allowed).collect::<Result<Allowed, _>>().map_err(bad)?;
            let known = if tenant == "*" {
                let is_known = !rules.everybody.is_empty();
                rules.everybody = allowed;
                is_known
            } else {
                rules.tenants.insert(tenant.to_owned(), allowed).is_some()
            };
            if known {
                return Err(bad(format!("{tenant} has another line, too")));
            }
        }
        Ok(rules)
    }
}

/// One quota of a line.
fn allowed(word: &str) -> Result<(QuotaKind, u64), String> {
    let (name, value) = word.split_once('=').ok_or_else(|| format!("{word:?} has no ="))?;
    let kind = QuotaKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<_> = QuotaKind::ALL.into_iter().map(QuotaKind::name).collect();
        format!("{name:?} is no quota; there are {}", names.join(", "))
    })?;
    let value = value.parse().map_err(|_| format!("{name}: {value:?} is no whole number"))?;
    Ok((kind, value))
}

fn read(path: &Path) -> Result<String, QuotasError> {
    let unreadable = |problem: &dyn fmt::Display| QuotasError::Unreadable {
        path: path.display().to_string(),
        problem: problem.to_string(),
    };
    std::fs::read_to_string(path).map_err(|error| unreadable(&error))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_may_be_taken_at_once_and_no_more_in_the_long_run() {
        let epoch = Instant::now();
        let bucket = Bucket::new(epoch);
        let at = |millis| epoch + Duration::from_millis(millis);
        // 100 a second: 100 at once, and then one every 10 ms.
        let at_once = (0..200).take_while(|_| bucket.take(1, 100, at(0)).is_ok()).count();
        assert_eq!(at_once, 100);
        let wait = bucket.take(1, 100, at(0)).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_millis(10), "{wait:?}");
        assert!(bucket.take(1, 100, at(0) + wait).is_ok());
        // In ten seconds of a try each millisecond.
        let taken = (11..10_011).filter(|now| bucket.take(1, 100, at(*now)).is_ok()).count();
        assert!((999..=1001).contains(&taken), "{taken}");
    }

    #[test]
    fn more_than_a_second_allows_is_answered_and_waited_for_afterwards() {
        let epoch = Instant::now();
        let bucket = Bucket::new(epoch);
        assert!(bucket.take(1_000, 100, epoch).is_ok());
        let wait = bucket.take(1, 100, epoch).unwrap_err();
        assert!((Duration::from_secs(9)..Duration::from_secs(10)).contains(&wait), "{wait:?}");
        assert!(bucket.take(1, 100, epoch + Duration::from_millis(8_999)).is_err());
        assert!(bucket.take(1, 100, epoch + wait).is_ok());
        // What is forbidden stays so, and hostile numbers do no harm.
        let none = Bucket::new(epoch);
        assert!(none.take(0, 0, epoch).is_err() && none.take(u64::MAX, 0, epoch).is_err());
        assert!(none.take(u64::MAX, 1, epoch).is_ok() && none.take(1, u64::MAX, epoch).is_err());
    }

    #[test]
    fn a_line_of_ones_own_is_stronger_and_what_it_does_not_say_is_as_for_everybody() {
        let text = "# quotas\n\n* sessions=5 bodies=10\nacme sessions=50\n";
        let rules = Rules::parse(text).unwrap();
        let of = |tenant: &str, kind| {
            let own = rules.tenants.get(tenant).and_then(|own| own.get(&kind));
            own.or_else(|| rules.everybody.get(&kind)).copied()
        };
        assert_eq!(of("acme", QuotaKind::Sessions), Some(50));
        assert_eq!(of("acme", QuotaKind::Bodies), Some(10));
        assert_eq!(of("other", QuotaKind::Sessions), Some(5));
        assert_eq!(of("other", QuotaKind::Frames), None);
        for (text, problem) in [
            ("acme sesions=5", "\"sesions\" is no quota"),
            ("acme sessions=-5", "\"-5\" is no whole number"),
            ("acme sessions", "has no ="),
            ("sessions=5", "begins with no tenant"),
            ("a\na", "a has another line"),
            ("* jobs=1\n* jobs=2", "* has another line"),
        ] {
            let error = Rules::parse(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
