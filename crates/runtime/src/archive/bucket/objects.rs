//! Objects of a bucket, asked for by threads that wait: each request has a time of its own, and is
//! repeated where that does no harm.
//!
//! What talks to the bucket runs on a thread that is started for it: whoever waits may be a thread
//! of the server's runtime, or one that computes.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    ClientConfigKey, Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, RetryConfig, UpdateVersion,
};
use tokio::runtime::{Builder, Runtime};

/// What an object of no length may take to come or go, and how many bytes a second it may take
/// beyond that.
const REQUEST_TIME: Duration = Duration::from_secs(3);
const BYTES_PER_SECOND: u64 = 1 << 20;

/// A request that does no harm when it is made again is made so often, with these pauses between.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// So many objects come or go at a time.
const AT_ONCE: usize = 16;

/// What the library may take for a connection.
const CONNECT_TIME: &str = "2 seconds";

/// The library's own bound for a request, which is beyond ours of the largest object.
const LIBRARY_TIME: &str = "1 hour";

/// Why a request has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    /// There is no such object.
    #[error("it is not there")]
    Missing,
    /// Compare-and-set: it is another one than was compared with, or there is one.
    #[error("somebody else has written it")]
    Raced,
    /// Something else, and for writes it is not known whether they were done.
    #[error("{0}")]
    Failed(String),
}

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound { .. } => Self::Missing,
            // Of a key that is not there SeaweedFS says 412, others 404, which the library has made
            // the same of; Amazon may say 409 to two at once.
            Error::AlreadyExists { .. } | Error::Precondition { .. } => Self::Raced,
            other => Self::Failed(said(&other)),
        }
    }
}

/// An error with what it comes from, as short as it makes sense. No key of an account stands in it:
/// signatures go by headers.
fn said(error: &Error) -> String {
    const LETTERS_MAX: usize = 400;
    let text = error.to_string();
    text.chars().take(LETTERS_MAX).map(|letter| if letter == '\n' { ' ' } else { letter }).collect()
}

/// Which one of all that were written under a name an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag(UpdateVersion);

/// An object, and when it was written by the bucket's clock, seconds since 1970.
#[derive(Clone, Debug)]
pub(super) struct FoundObject {
    pub(super) bytes: Vec<u8>,
    pub(super) tag: Tag,
    pub(super) written: i64,
}

/// The objects below a prefix.
#[derive(Debug)]
pub(super) struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// None once it is being dropped.
    runtime: Option<Runtime>,
    request_time: Duration,
}

impl Objects {
    /// Those of a bucket. Where it is and who asks, the environment says (`AWS_ENDPOINT`,
    /// `AWS_ACCESS_KEY_ID` and others).
    pub(super) fn of_bucket(bucket: &str, prefix: &str) -> Result<Self, String> {
        // There is one provider of cryptography in this binary; it may be set already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::ConnectTimeout), CONNECT_TIME)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), LIBRARY_TIME)
            .with_retry(retry)
            .build();
        Self::over(Arc::new(store.map_err(|error| said(&error))?), prefix)
    }

    /// Those of any such store.
    pub(super) fn over(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self, String> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("clearance-store")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let prefix = Path::parse(prefix).map_err(|error| error.to_string())?;
        Ok(Self { store, prefix, runtime: Some(runtime), request_time: REQUEST_TIME })
    }

    /// Requests get no more time than this, beside that for their bytes.
    #[cfg(test)]
    pub(super) fn within(mut self, request_time: Duration) -> Self {
        self.request_time = request_time;
        self
    }

    fn path(&self, name: &str) -> Path {
        let full = if self.prefix.as_ref().is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.prefix)
        };
        Path::from(full)
    }

    fn time_for(&self, bytes: u64) -> Duration {
        self.request_time + Duration::from_secs(bytes / BYTES_PER_SECOND)
    }

    /// Waits for what the other thread does.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, RequestError>> + Send + 'static,
    ) -> Result<T, RequestError> {
        let failed = |why: &str| RequestError::Failed(why.to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(|| failed("it is closed"))?;
        let (tell, told) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // Whoever waited may have gone.
            let _ = tell.send(work.await);
        });
        told.recv().unwrap_or_else(|_| Err(failed("a request was cut off")))
    }

    /// Does it all, each of it within its time, so many at once, and again where it fails.
    fn each<I, T, F>(&self, items: Vec<(I, u64)>, request: F) -> Result<Vec<T>, RequestError>
    where
        I: Clone + Send + Sync + 'static,
        T: Send + 'static,
        F: Fn(Arc<dyn ObjectStore>, I) -> BoxedRequest<T> + Send + Sync + 'static,
    {
        let request = Arc::new(request);
        let timed = items.into_iter().map(|(item, bytes)| {
            let (store, request) = (self.store.clone(), request.clone());
            let time = self.time_for(bytes);
            async move { again(time, || request(store.clone(), item.clone())).await }
        });
        let timed: Vec<_> = timed.collect();
        self.wait(async move { stream::iter(timed).buffered(AT_ONCE).try_collect().await })
    }

    /// Parts of objects, in the order that they are asked for.
    pub(super) fn get(&self, parts: Vec<ObjectPart>) -> Result<Vec<Vec<u8>>, RequestError> {
        let items = parts.into_iter().map(|ObjectPart { name, range }| {
            let length = range.end.saturating_sub(range.start);
            ((self.path(&name), range), length)
        });
        self.each(items.collect(), |store, (path, range)| {
            Box::pin(async move { Ok(store.get_range(&path, range).await?.to_vec()) })
        })
    }

    /// Whole objects of these lengths.
    pub(super) fn get_whole(
        &self,
        names: Vec<(String, u64)>,
    ) -> Result<Vec<Vec<u8>>, RequestError> {
        let items = names.into_iter().map(|(name, bytes)| (self.path(&name), bytes)).collect();
        self.each(items, |store, path| {
            Box::pin(async move { Ok(store.get(&path).await?.bytes().await?.to_vec()) })
        })
    }

    /// Writes objects under names that nobody else writes.
    pub(super) fn put(&self, objects: Vec<(String, Vec<u8>)>) -> Result<(), RequestError> {
        let items = objects.into_iter().map(|(name, bytes)| {
            let length = bytes.len() as u64;
            ((self.path(&name), PutPayload::from(bytes)), length)
        });
        let done = self.each(items.collect(), |store, (path, bytes)| {
            Box::pin(async move { Ok(store.put(&path, bytes).await.map(|_| ())?) })
        });
        done.map(|_| ())
    }

    /// An object if it is another one than this.
    pub(super) fn get_if_other(
        &self,
        name: &str,
        known: Option<&Tag>,
    ) -> Result<Option<FoundObject>, RequestError> {
        let if_none_match = known.and_then(|tag| tag.0.e_tag.clone());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let items = vec![((self.path(name), options), 0)];
        let found = self.each(items, |store, (path, options)| {
            Box::pin(async move {
                let result = match store.get_opts(&path, options).await {
                    Err(Error::NotModified { .. }) => return Ok(None),
                    result => result?,
                };
                let meta = result.meta.clone();
                let tag = UpdateVersion { e_tag: meta.e_tag, version: meta.version };
                let bytes = result.bytes().await?.to_vec();
                let written = meta.last_modified.timestamp();
                Ok(Some(FoundObject { bytes, tag: Tag(tag), written }))
            })
        });
        Ok(found?.pop().flatten())
    }

    /// Compare-and-set: writes an object if it is still this one, or there is none. It is tried
    /// once, since another try would not know whether it was this one that was done.
    pub(super) fn put_if(
        &self,
        name: &str,
        bytes: Vec<u8>,
        known: Option<&Tag>,
    ) -> Result<Tag, RequestError> {
        let (store, path) = (self.store.clone(), self.path(name));
        let time = self.time_for(bytes.len() as u64);
        let mode = known.map_or(PutMode::Create, |tag| PutMode::Update(tag.0.clone()));
        self.wait(async move {
            let options = PutOptions { mode, ..PutOptions::default() };
            let writing = store.put_opts(&path, PutPayload::from(bytes), options);
            let written = tokio::time::timeout(time, writing).await.map_err(|_| late())??;
            Ok(Tag(UpdateVersion { e_tag: written.e_tag, version: written.version }))
        })
    }

    /// Names below one, each with when it was written by the bucket's clock, seconds since 1970.
    pub(super) fn list(&self, under: &str) -> Result<Vec<(String, i64)>, RequestError> {
        /// A page of names may take so long.
        const PAGES_TIME: Duration = Duration::from_secs(600);
        let (store, path) = (self.store.clone(), self.path(under));
        let begin = self.path("").as_ref().len();
        self.wait(async move {
            let listing = store.list(Some(&path)).map_ok(move |meta| {
                let name = meta.location.as_ref().get(begin..).unwrap_or_default();
                (name.trim_start_matches('/').to_owned(), meta.last_modified.timestamp())
            });
            let all = tokio::time::timeout(PAGES_TIME, listing.try_collect()).await;
            Ok(all.map_err(|_| late())??)
        })
    }

    /// Deletes objects; those that are not there are no errors.
    pub(super) fn delete(&self, names: Vec<String>) -> Result<(), RequestError> {
        let items = names.into_iter().map(|name| (self.path(&name), 0)).collect();
        let done = self.each(items, |store, path| {
            Box::pin(async move {
                match store.delete(&path).await {
                    Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            })
        });
        done.map(|_: Vec<()>| ())
    }
}

/// A part of an object.
#[derive(Clone, Debug)]
pub(super) struct ObjectPart {
    pub(super) name: String,
    pub(super) range: Range<u64>,
}

type BoxedRequest<T> =
    std::pin::Pin<Box<dyn Future<Output = Result<T, RequestError>> + Send + 'static>>;

fn late() -> RequestError {
    RequestError::Failed("it took too long".to_owned())
}

/// Makes a request until it is answered, or often enough.
async fn again<T>(
    time: Duration,
    request: impl Fn() -> BoxedRequest<T>,
) -> Result<T, RequestError> {
    let mut pauses = PAUSES.into_iter();
    loop {
        let answer = tokio::time::timeout(time, request()).await.unwrap_or_else(|_| Err(late()));
        let is_final = !matches!(answer, Err(RequestError::Failed(_)));
        let Some(pause) = pauses.next().filter(|_| !is_final) else { return answer };
        drop(answer);
        tokio::time::sleep(pause).await;
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Whoever drops it may be a thread of another runtime, which must not wait.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}
