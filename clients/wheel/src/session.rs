//! Sessions. With a server the client crate's, which outlive connections and restate themselves;
//! in this process, where nothing is lost, frame by frame.

use std::sync::Arc;

use clearance_client::Session as Remote;
use prost::Message;
use prost::bytes::{Buf, BufMut, Bytes};
use prost::encoding::{decode_varint, encode_varint};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::sync::Mutex;
use tonic::Status;

use crate::engine::Running;
use crate::failed::Failed;
use crate::per_process::Owned;
use crate::watch::{NewsSource, SessionNews};
use crate::way::{Talk, Way};
use clearance_proto as api;

const OPEN: &str = "/clearance.v1.SessionService/OpenSession";
const STEP: &str = "/clearance.v1.SessionService/StepSession";
const GET: &str = "/clearance.v1.SessionService/GetSession";
const CLOSE: &str = "/clearance.v1.SessionService/CloseSession";
const WATCH: &str = "/clearance.v1.SessionService/WatchSession";

/// Heads of `StepSessionRequest.frames`, `StepSessionResponse.reports` and `Frame.frame_id`.
const FRAMES: u8 = 2 << 3 | 2;
const REPORTS: u8 = 1 << 3 | 2;
const FRAME_ID: u8 = 1 << 3;

/// The head of `FrameReport.status`; that of its id is the same as a frame's.
const REPORT_STATUS: u8 = 2 << 3 | 2;

/// Bytes of a reply that are taken.
const REPLY_BYTES_MAX: u64 = 64 << 20;

/// A session of a scene.
#[pyclass(frozen, module = "clearance._engine")]
#[derive(Debug)]
pub(crate) struct Session(Owned<Open>);

#[derive(Debug)]
struct Open {
    running: Arc<Running>,
    /// None once it is closed.
    link: Mutex<Option<Link>>,
}

#[derive(Debug)]
enum Link {
    Inside(Inside),
    Remote(Box<Remote>),
}

/// A session of this process.
#[derive(Debug)]
struct Inside {
    opened: api::OpenSessionResponse,
    session_key: String,
    /// The frame that was applied last.
    last_id: u64,
    /// A frame was given up, or failed: it may have been applied.
    is_unsure: bool,
}

impl Session {
    pub(crate) fn open(
        py: Python<'_>,
        running: Arc<Running>,
        request: Bytes,
        latest_wins: bool,
    ) -> PyResult<Self> {
        let link = running.wait(py, || open(&running.way, request, latest_wins))??;
        Ok(Self(Owned::new(Open { running, link: Mutex::new(Some(link)) })))
    }

    fn opened(&self) -> PyResult<&Open> {
        let before = || PyRuntimeError::new_err("it was opened before this process was forked");
        self.0.get().ok_or_else(before)
    }
}

#[pymethods]
impl Session {
    /// What was said when it was opened, an `OpenSessionResponse`.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let open = self.opened()?;
        let telling = || async {
            let link = open.link.lock().await;
            Ok::<_, Failed>(match link.as_ref().ok_or_else(closed)? {
                Link::Inside(inside) => inside.opened.encode_to_vec(),
                Link::Remote(remote) => remote.opened().encode_to_vec(),
            })
        };
        Ok(PyBytes::new(py, &open.running.wait(py, telling)??))
    }

    /// Sends a frame, without an id, and waits for its `FrameReport`.
    fn step<'py>(&self, py: Python<'py>, frame: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let open = self.opened()?;
        let frame = Bytes::copy_from_slice(frame);
        let stepping = || async {
            let mut link = open.link.lock().await;
            match link.as_mut().ok_or_else(closed)? {
                Link::Inside(inside) => inside.step(&open.running.way, frame).await,
                Link::Remote(remote) => {
                    let frame = api::Frame::decode(frame).map_err(undecoded)?;
                    Ok(Bytes::from(remote.step(frame).await?.encode_to_vec()))
                }
            }
        };
        Ok(PyBytes::new(py, &open.running.wait(py, stepping)??))
    }

    /// What is declared, a `SessionState`: with it, any server can go on.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let open = self.opened()?;
        let asking = || async {
            let link = open.link.lock().await;
            match link.as_ref().ok_or_else(closed)? {
                Link::Inside(inside) => {
                    Ok::<_, Failed>(inside.declared(&open.running.way).await?.encode_to_vec())
                }
                Link::Remote(remote) => Ok(remote.state().encode_to_vec()),
            }
        };
        Ok(PyBytes::new(py, &open.running.wait(py, asking)??))
    }

    /// Goes on with a session that another client has taken over.
    fn take_back(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        let taking = || async {
            let mut link = open.link.lock().await;
            match link.as_mut().ok_or_else(closed)? {
                Link::Inside(_) => Ok::<_, Failed>(()),
                Link::Remote(remote) => Ok(remote.take_back().await?),
            }
        };
        Ok(open.running.wait(py, taking)??)
    }

    /// Follows it.
    fn watch(&self, py: Python<'_>) -> PyResult<SessionNews> {
        let open = self.opened()?;
        let beginning = || async {
            let link = open.link.lock().await;
            Ok::<_, Failed>(match link.as_ref().ok_or_else(closed)? {
                Link::Inside(inside) => NewsSource::Inside(inside.watch(&open.running.way).await?),
                Link::Remote(remote) => NewsSource::Remote(Box::new(remote.watch())),
            })
        };
        let followed = open.running.wait(py, beginning)??;
        Ok(SessionNews::new(open.running.clone(), followed))
    }

    /// Closes it; once more does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        let closing = || async {
            match open.link.lock().await.take() {
                None => Ok(()),
                Some(Link::Inside(inside)) => inside.close(&open.running.way).await,
                Some(Link::Remote(remote)) => Ok(remote.close().await?),
            }
        };
        Ok(open.running.wait(py, closing)??)
    }
}

async fn open(way: &Way, request: Bytes, latest_wins: bool) -> Result<Link, Failed> {
    let asked = api::OpenSessionRequest::decode(request.clone()).map_err(undecoded)?;
    let client = match way {
        Way::Remote(client) if latest_wins => {
            let opened = Remote::open_merging(client, asked).await?;
            return Ok(Link::Remote(Box::new(opened)));
        }
        Way::Remote(client) => client,
        Way::Inside(_) => {
            let opened = way.call(OPEN, request, None).await?;
            let opened = api::OpenSessionResponse::decode(opened).map_err(undecoded)?;
            let session_key = match opened.session_key.is_empty() {
                true => asked.session_key,
                false => opened.session_key.clone(),
            };
            let last_id = asked.state.map_or(0, |state| state.frame_id);
            return Ok(Link::Inside(Inside { opened, session_key, last_id, is_unsure: false }));
        }
    };
    Ok(Link::Remote(Box::new(Remote::open(client, asked).await?)))
}

impl Inside {
    async fn step(&mut self, way: &Way, frame: Bytes) -> Result<Bytes, Failed> {
        let request = api::StepSessionRequest {
            session_id: self.opened.session_id.clone(),
            session_key: self.session_key.clone(),
            incarnation: self.opened.incarnation,
            reply_bytes_max: REPLY_BYTES_MAX,
            ..Default::default()
        };
        if self.is_unsure {
            self.last_id = self.declared(way).await?.frame_id;
        }
        let frame_id = self.last_id + 1;
        // Of a field that comes twice the last one counts.
        let mut id = vec![FRAME_ID];
        encode_varint(frame_id, &mut id);
        let mut message = request.encode_to_vec();
        message.put_u8(FRAMES);
        encode_varint((frame.len() + id.len()) as u64, &mut message);
        message.put_slice(&frame);
        message.put_slice(&id);
        self.is_unsure = true;
        let report = first_report(way.call(STEP, message.into(), None).await?)?;
        self.is_unsure = false;
        if !was_refused(report.clone())? {
            self.last_id = frame_id;
        }
        Ok(report)
    }

    fn asked_for(&self) -> api::GetSessionRequest {
        api::GetSessionRequest {
            session_id: self.opened.session_id.clone(),
            session_key: self.session_key.clone(),
            incarnation: self.opened.incarnation,
            reply_bytes_max: REPLY_BYTES_MAX,
        }
    }

    async fn declared(&self, way: &Way) -> Result<api::SessionState, Failed> {
        let reply = way.call(GET, self.asked_for().encode_to_vec().into(), None).await?;
        let reply = api::GetSessionResponse::decode(reply).map_err(undecoded)?;
        Ok(reply.state.unwrap_or_default())
    }

    async fn watch(&self, way: &Arc<Way>) -> Result<Talk, Failed> {
        let api::GetSessionRequest { session_id, session_key, incarnation, reply_bytes_max } =
            self.asked_for();
        let request = api::WatchSessionRequest {
            session_id,
            session_key,
            incarnation,
            reply_bytes_max,
            moment: None,
        };
        let talk = way.talk(WATCH.to_owned(), None);
        // How a call ended that takes nothing is what its replies say.
        let _ = talk.requests.send(request.encode_to_vec().into()).await;
        Ok(talk)
    }

    async fn close(self, way: &Way) -> Result<(), Failed> {
        let api::GetSessionRequest { session_id, session_key, incarnation, .. } = self.asked_for();
        let allow_missing = true;
        let request =
            api::CloseSessionRequest { session_id, session_key, incarnation, allow_missing };
        way.call(CLOSE, request.encode_to_vec().into(), None).await?;
        Ok(())
    }
}

/// The bytes of the one report of a reply.
fn first_report(mut reply: Bytes) -> Result<Bytes, Failed> {
    let other = || Failed::from(Status::internal("the reply has no report"));
    if !reply.has_remaining() || reply.get_u8() != REPORTS {
        return Err(other());
    }
    let length = decode_varint(&mut reply).map_err(undecoded)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= reply.len());
    Ok(reply.split_to(length.ok_or_else(other)?))
}

/// Whether a report says that its frame was refused: its id is followed by a status, which is
/// missing else. So the rest, which may be long, need not be read.
fn was_refused(mut report: Bytes) -> Result<bool, Failed> {
    if report.first() == Some(&FRAME_ID) {
        report.advance(1);
        decode_varint(&mut report).map_err(undecoded)?;
    }
    Ok(report.first() == Some(&REPORT_STATUS))
}

fn undecoded(error: prost::DecodeError) -> Failed {
    Status::internal(error.to_string()).into()
}

fn closed() -> Failed {
    Status::failed_precondition("the session is closed").into()
}
