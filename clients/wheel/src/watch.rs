//! The frames of a session, followed from Python.

use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::sync::Mutex;

use crate::engine::Running;
use crate::failed::Failed;
use crate::per_process::Owned;
use crate::way::Talk;

/// What the frames of a session do.
#[pyclass(frozen, name = "Watch", module = "clearance._engine")]
#[derive(Debug)]
pub(crate) struct SessionNews(Owned<Following>);

#[derive(Debug)]
struct Following {
    running: Arc<Running>,
    /// Whoever waits for news has it.
    followed: Mutex<NewsSource>,
}

/// Where news come from.
#[derive(Debug)]
pub(crate) enum NewsSource {
    /// From this process.
    Inside(Talk),
    /// From a server, or from several, one after the other.
    Remote(Box<clearance_client::session::Watching>),
}

impl NewsSource {
    async fn next(&mut self) -> Result<Option<Bytes>, Failed> {
        match self {
            Self::Inside(talk) => talk.replies.recv().await.transpose(),
            Self::Remote(watch) => {
                let news = watch.next().await?;
                Ok(news.map(|news| news.encode_to_vec().into()))
            }
        }
    }
}

impl SessionNews {
    pub(crate) fn new(running: Arc<Running>, followed: NewsSource) -> Self {
        Self(Owned::new(Following { running, followed: Mutex::new(followed) }))
    }
}

#[pymethods]
impl SessionNews {
    /// The next `WatchSessionResponse`; none: the session was closed.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let before = || PyRuntimeError::new_err("it was begun before this process was forked");
        let following = self.0.get().ok_or_else(before)?;
        let waiting = || async { following.followed.lock().await.next().await };
        let news = following.running.wait(py, waiting)??;
        Ok(news.map(|news| PyBytes::new(py, &news)))
    }
}
