//! Calls with messages in either direction, as Python holds them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::bytes::Bytes;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::engine::Running;
use crate::per_process::Owned;
use crate::way::{Talk, Way};

/// One call. It is given up when nothing refers to it any more.
#[pyclass(frozen, module = "clearance._engine")]
#[derive(Debug)]
pub(crate) struct Stream(Owned<Open>);

#[derive(Debug)]
struct Open {
    running: Arc<Running>,
    /// None once the caller has said that there are no more.
    requests: Mutex<Option<mpsc::Sender<Bytes>>>,
    /// Whoever waits for what comes has it.
    talk: tokio::sync::Mutex<Talk>,
    task: AbortHandle,
}

impl Stream {
    pub(crate) fn begin(running: Arc<Running>, method: String, time: Option<Duration>) -> Self {
        let entered = running.runtime().enter();
        let mut talk = Way::talk(&running.way, method, time);
        drop(entered);
        // The call's own sender would keep the requests from ending.
        let (none, _) = mpsc::channel(1);
        let requests = std::mem::replace(&mut talk.requests, none);
        let (requests, task) = (Mutex::new(Some(requests)), talk.task.clone());
        Self(Owned::new(Open { running, requests, talk: tokio::sync::Mutex::new(talk), task }))
    }

    fn open(&self) -> PyResult<&Open> {
        let before = || PyRuntimeError::new_err("it was begun before this process was forked");
        self.0.get().ok_or_else(before)
    }
}

#[pymethods]
impl Stream {
    /// Sends a message, as soon as the one before was taken. Of a call that is over nothing is
    /// sent: how it ended is what `receive` says.
    fn send(&self, py: Python<'_>, message: &[u8]) -> PyResult<()> {
        let open = self.open()?;
        let requests = open.requests.lock().expect("nothing panics while holding it").clone();
        let Some(requests) = requests else {
            return Err(PyRuntimeError::new_err("nothing can be sent after the end"));
        };
        let message = Bytes::copy_from_slice(message);
        let sending = || async move {
            // Whether it went, the replies tell.
            let _ = requests.send(message).await;
        };
        open.running.wait(py, sending)
    }

    /// The next message of the other side; none: it has ended well.
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let open = self.open()?;
        let receiving = || async { open.talk.lock().await.replies.recv().await };
        let message = open.running.wait(py, receiving)?.transpose()?;
        Ok(message.map(|message| PyBytes::new(py, &message)))
    }

    /// Says that nothing more will be sent.
    fn end(&self) -> PyResult<()> {
        self.open()?.requests.lock().expect("nothing panics while holding it").take();
        Ok(())
    }

    /// Gives the call up: whoever waits for a message gets none.
    fn cancel(&self) -> PyResult<()> {
        self.end()?;
        self.open()?.task.abort();
        Ok(())
    }
}
