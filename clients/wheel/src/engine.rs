//! Where a program of Python asks: the engine of its process, or a server.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clearance::rpc::door::Door;
use clearance_client::credentials::IdentityPem;
use clearance_client::{ApiKey, Client, ConnectOptions, TlsOptions};
use clearance_runtime::settings::Settings;
use prost::bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use tokio::runtime::Runtime;

use crate::failed::Failed;
use crate::per_process::PerProcess;
use crate::robots;
use crate::session::Session;
use crate::streams::Stream;
use crate::way::Way;

/// A thread that waits looks so often whether a signal has come.
const LOOK: Duration = Duration::from_millis(100);

/// Threads that carry what comes and goes, beside those that compute.
const CARRIERS: usize = 2;

/// The engine of this process, or a server.
#[pyclass(frozen, module = "clearance._engine")]
#[derive(Debug)]
pub(crate) struct Engine {
    target: Target,
    running: PerProcess<Arc<Running>>,
}

/// What is asked.
#[derive(Debug)]
enum Target {
    /// This process.
    Inside(Settings),
    /// One of these servers.
    Servers(Vec<String>, ConnectOptions),
}

/// What runs for it in one process.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) way: Arc<Way>,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Whoever drops it may be a thread that must not wait.
            runtime.shutdown_background();
        }
    }
}

impl Running {
    fn begin(target: &Target) -> Result<Self, Failed> {
        let cannot = |error: &dyn std::fmt::Display| tonic::Status::unavailable(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(CARRIERS)
            .thread_name("clearance")
            .enable_all()
            .build()
            .map_err(|error| cannot(&error))?;
        let way = match target {
            Target::Inside(settings) => {
                let _inside = runtime.enter();
                Way::Inside(Door::open(settings.clone()).map_err(|error| cannot(&error))?)
            }
            Target::Servers(addresses, options) => {
                let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
                let connecting = Client::connect_with(&addresses, options.clone());
                Way::Remote(runtime.block_on(connecting)?)
            }
        };
        Ok(Self { way: Arc::new(way), runtime: Some(runtime) })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until it is dropped")
    }

    /// Waits for what a future makes, without Python's lock. A signal gives it up. The future is
    /// made where it is waited for, so it need not go from thread to thread.
    pub(crate) fn wait<T: Send, F: Future<Output = T>>(
        &self,
        py: Python<'_>,
        make: impl FnOnce() -> F + Send,
    ) -> PyResult<T> {
        self.wait_looking(py, make, |_| Ok(()))
    }

    /// The same, and whenever it looks for signals, `look` is called with Python's lock; what that
    /// raises gives it up, too.
    pub(crate) fn wait_looking<T: Send, F: Future<Output = T>>(
        &self,
        py: Python<'_>,
        make: impl FnOnce() -> F + Send,
        look: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
    ) -> PyResult<T> {
        let waiting = || {
            self.runtime().block_on(async {
                let mut future = pin!(make());
                loop {
                    match tokio::time::timeout(LOOK, future.as_mut()).await {
                        Ok(made) => return Ok(made),
                        Err(_) => Python::attach(|py| py.check_signals().and_then(|()| look(py)))?,
                    }
                }
            })
        };
        py.detach(waiting)
    }
}

impl Engine {
    /// What runs in this process; it is started by whoever asks first.
    pub(crate) fn running(&self, py: Python<'_>) -> PyResult<Arc<Running>> {
        let begin = || py.detach(|| Running::begin(&self.target).map(Arc::new));
        Ok(self.running.get_or_make(begin)?.clone())
    }
}

/// A time in seconds as one.
pub(crate) fn time_of(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Duration::try_from_secs_f64(seconds);
    time.map(Some).map_err(|error| PyValueError::new_err(format!("timeout: {error}")))
}

#[pymethods]
impl Engine {
    /// The engine of this process, with other limits than the defaults where they are named.
    #[staticmethod]
    fn inside(threads: usize, limits: BTreeMap<String, u64>) -> PyResult<Self> {
        let mut settings = Settings { compute_threads: threads, ..Settings::default() };
        for (name, value) in limits {
            if !settings.limits.set(&name, value) {
                return Err(PyValueError::new_err(format!("{name} is no limit")));
            }
        }
        Ok(Self { target: Target::Inside(settings), running: PerProcess::new() })
    }

    /// A server, or one of several.
    #[staticmethod]
    #[pyo3(signature = (addresses, key, tls, attempts))]
    fn servers(
        addresses: Vec<String>,
        key: Option<String>,
        tls: Option<&Bound<'_, PyDict>>,
        attempts: u32,
    ) -> PyResult<Self> {
        let mut options = ConnectOptions {
            api_key: key.map(ApiKey::new),
            stream_window_bytes: Some(4 << 20),
            connection_window_bytes: Some(16 << 20),
            tls: tls.map(tls_options).transpose()?,
            ..ConnectOptions::default()
        };
        options.retry.attempts_max = attempts.max(1);
        Ok(Self { target: Target::Servers(addresses, options), running: PerProcess::new() })
    }

    /// Whether it is this process that answers.
    #[getter]
    fn is_inside(&self) -> bool {
        matches!(self.target, Target::Inside(_))
    }

    /// Starts what answers, or connects, if that has not been done in this process.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.running(py).map(|_| ())
    }

    /// Calls a method with the bytes of a message; the bytes of the reply.
    #[pyo3(signature = (method, request, timeout=None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        request: &[u8],
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let running = self.running(py)?;
        let (request, time) = (Bytes::copy_from_slice(request), time_of(timeout)?);
        let reply = running.wait(py, || running.way.call(method, request, time))??;
        Ok(PyBytes::new(py, &reply))
    }

    /// Begins a call with messages in either direction.
    #[pyo3(signature = (method, timeout=None))]
    fn stream(&self, py: Python<'_>, method: String, timeout: Option<f64>) -> PyResult<Stream> {
        let running = self.running(py)?;
        let time = time_of(timeout)?;
        Ok(Stream::begin(running, method, time))
    }

    /// Opens a session, by the bytes of an `OpenSessionRequest`.
    #[pyo3(signature = (request, latest_wins=false))]
    fn session(&self, py: Python<'_>, request: &[u8], latest_wins: bool) -> PyResult<Session> {
        Session::open(py, self.running(py)?, Bytes::copy_from_slice(request), latest_wins)
    }

    /// CheckConfigurations: `heads` are the bytes of its request without values, for the first
    /// message and for those after it. `tell` is called now and then with how many rows are
    /// answered.
    #[pyo3(signature = (heads, values, shape, timeout=None, tell=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        heads: (PyBackedBytes, PyBackedBytes),
        values: PyBuffer<f64>,
        shape: (usize, usize),
        timeout: Option<f64>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let running = self.running(py)?;
        let (width, per_message) = shape;
        let rows = robots::Rows::of(py, &values, width, per_message)?;
        let told = robots::Told::new(time_of(timeout)?, tell);
        let (first, others) = (Bytes::copy_from_slice(&heads.0), Bytes::copy_from_slice(&heads.1));
        robots::check(py, &running, robots::Heads { first, others }, rows, &told)
    }

    /// CheckEdges: `head` is the bytes of its request without starts and ends; `tell` as of
    /// `check`.
    #[pyo3(signature = (head, ends, shape, timeout=None, tell=None))]
    fn edges<'py>(
        &self,
        py: Python<'py>,
        head: &[u8],
        ends: (PyBuffer<f64>, PyBuffer<f64>),
        shape: (usize, usize),
        timeout: Option<f64>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let running = self.running(py)?;
        let (width, per_message) = shape;
        let starts = robots::Rows::of(py, &ends.0, width, per_message)?;
        let ends = robots::Rows::of(py, &ends.1, width, per_message)?;
        let told = robots::Told::new(time_of(timeout)?, tell);
        robots::edges(py, &running, Bytes::copy_from_slice(head), [starts, ends], &told)
    }
}

fn tls_options(told: &Bound<'_, PyDict>) -> PyResult<TlsOptions> {
    let text = |name: &str| -> PyResult<Option<String>> {
        told.get_item(name)?.map(|value| value.extract()).transpose()
    };
    let authorities_pem = text("authorities")?.unwrap_or_default();
    let identity_pem = match (text("certificates")?, text("key")?) {
        (Some(certificates), Some(key)) => Some(IdentityPem { certificates, key }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            return Err(PyRuntimeError::new_err("a certificate and its key go together"));
        }
    };
    Ok(TlsOptions { authorities_pem, identity_pem, server_name: text("server_name")? })
}
