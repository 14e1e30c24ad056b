//! Configurations and edges by the thousand: numbers of an array go into messages once, and lists
//! come back as bytes. More than one message is a stream, in which one is on its way while another
//! is answered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prost::Message;
use prost::bytes::{BufMut, Bytes};
use prost::encoding::{encode_varint, encoded_len_varint};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{Column, Columns, Refused, from_first, small};
use crate::engine::Running;
use crate::failed::Failed;
use crate::way::Way;
use clearance_proto as api;

const CHECK: &str = "/clearance.v1.RobotService/CheckConfigurations";
const STREAM: &str = "/clearance.v1.RobotService/StreamConfigurations";
const EDGES: &str = "/clearance.v1.RobotService/CheckEdges";

/// Heads of the lists of `CheckConfigurationsRequest.values`, and of `starts` and `ends` of
/// `CheckEdgesRequest`; and of `StreamConfigurationsRequest.check`: number of the field, and that
/// its length follows.
const VALUES: u8 = 3 << 3 | 2;
const STARTS: u8 = 2 << 3 | 2;
const ENDS: u8 = 3 << 3 | 2;
const CHECK_FIELD: u8 = 1 << 3 | 2;

const F64_BYTES: usize = size_of::<f64>();

/// Rows of an array, so many of them in each message.
pub(crate) struct Rows {
    values: Vec<f64>,
    width: usize,
    per_message: usize,
}

/// The bytes of a request without its values.
pub(crate) struct Heads {
    /// With the place that is asked about.
    pub(crate) first: Bytes,
    /// Without, for messages that follow on a stream.
    pub(crate) others: Bytes,
}

/// How long it may take, and who is told how far it is.
pub(crate) struct Told {
    time: Option<Duration>,
    /// Called with the number of rows that are answered.
    tell: Option<Py<PyAny>>,
    answered: AtomicUsize,
}

impl Told {
    pub(crate) fn new(time: Option<Duration>, tell: Option<Py<PyAny>>) -> Self {
        Self { time, tell, answered: AtomicUsize::new(0) }
    }

    fn look(&self, py: Python<'_>) -> PyResult<()> {
        let Some(tell) = &self.tell else { return Ok(()) };
        tell.call1(py, (self.answered.load(Ordering::Relaxed),)).map(|_| ())
    }
}

impl Rows {
    /// Those of a buffer, of this width. They are copied once, so that nobody changes them
    /// meanwhile.
    pub(crate) fn of(
        py: Python<'_>,
        values: &PyBuffer<f64>,
        width: usize,
        per_message: usize,
    ) -> PyResult<Self> {
        let values = values.to_vec(py)?;
        if width == 0 || per_message == 0 || !values.len().is_multiple_of(width) {
            let count = values.len();
            let why = format!("{count} values are no rows of {width}");
            return Err(PyValueError::new_err(why));
        }
        Ok(Self { values, width, per_message })
    }

    /// Rows of one message after the other; of no rows one that is empty.
    fn messages(&self) -> impl Iterator<Item = &[f64]> {
        let empty = self.values.is_empty().then_some(&self.values[..]);
        empty.into_iter().chain(self.values.chunks(self.width * self.per_message))
    }

    fn count(&self) -> usize {
        self.values.len() / self.width
    }
}

/// How long a list of so many numbers is with its head.
fn list_bytes(numbers: usize) -> usize {
    let bytes = numbers * F64_BYTES;
    1 + encoded_len_varint(bytes as u64) + bytes
}

fn write_list(field: u8, numbers: &[f64], message: &mut Vec<u8>) {
    let bytes = numbers.len() * F64_BYTES;
    message.put_u8(field);
    encode_varint(bytes as u64, message);
    let begin = message.len();
    message.resize(begin + bytes, 0);
    for (place, number) in message[begin..].chunks_exact_mut(F64_BYTES).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

/// Asks about all rows.
pub(crate) fn check<'py>(
    py: Python<'py>,
    running: &Running,
    heads: Heads,
    rows: Rows,
    told: &Told,
) -> PyResult<Bound<'py, PyDict>> {
    if rows.count() <= rows.per_message {
        let mut message = Vec::with_capacity(heads.first.len() + list_bytes(rows.values.len()));
        message.put_slice(&heads.first);
        write_list(VALUES, &rows.values, &mut message);
        let asking = || async {
            let reply = running.way.call(CHECK, message.into(), told.time).await?;
            Ok::<_, Failed>(columns_of(read(reply)?, 0))
        };
        return running.wait_looking(py, asking, |py| told.look(py))??.into_dict(py);
    }
    let mut messages = Vec::new();
    for (number, values) in rows.messages().enumerate() {
        let head = if number == 0 { &heads.first } else { &heads.others };
        let inner = head.len() + list_bytes(values.len());
        let mut message = Vec::with_capacity(inner + 11);
        message.put_u8(CHECK_FIELD);
        encode_varint(inner as u64, &mut message);
        message.put_slice(head);
        write_list(VALUES, values, &mut message);
        messages.push(Bytes::from(message));
    }
    let asking = || stream(running, messages, rows.per_message, told);
    running.wait_looking(py, asking, |py| told.look(py))??.into_dict(py)
}

/// All messages on one stream, of which one waits while another is answered.
async fn stream(
    running: &Running,
    messages: Vec<Bytes>,
    per_message: usize,
    told: &Told,
) -> Result<Columns, Failed> {
    let mut talk = Way::talk(&running.way, STREAM.to_owned(), told.time);
    let (requests, replies) = (talk.requests.clone(), &mut talk.replies);
    let count = messages.len();
    let sending = async move {
        for message in messages {
            if requests.send(message).await.is_err() {
                break;
            }
        }
        // It is told what became of it by the replies.
        std::future::pending::<()>().await;
    };
    let receiving = async {
        let (mut columns, mut left) = (Columns::default(), count);
        while left > 0 {
            let Some(reply) = replies.recv().await else {
                return Err(tonic::Status::internal("the stream has ended early").into());
            };
            let reply: api::StreamConfigurationsResponse = read(reply?)?;
            // A long answer comes in several replies.
            left -= usize::from(!reply.more);
            told.answered.store((count - left) * per_message, Ordering::Relaxed);
            let first = u32::try_from(reply.first_index).unwrap_or(u32::MAX);
            columns.append(columns_of(reply.answer.unwrap_or_default(), first));
        }
        Ok::<_, Failed>(columns)
    };
    tokio::select! {
        received = receiving => received,
        () = sending => Err(tonic::Status::internal("unreachable").into()),
    }
}

/// Asks about all edges, some in a call.
pub(crate) fn edges<'py>(
    py: Python<'py>,
    running: &Running,
    head: Bytes,
    [starts, ends]: [Rows; 2],
    told: &Told,
) -> PyResult<Bound<'py, PyDict>> {
    if starts.values.len() != ends.values.len() {
        return Err(PyValueError::new_err("there are not as many ends as starts"));
    }
    let mut messages = Vec::new();
    let mut first = 0;
    for (starts, ends) in starts.messages().zip(ends.messages()) {
        let room = head.len() + 2 * list_bytes(starts.len());
        let mut message = Vec::with_capacity(room);
        message.put_slice(&head);
        write_list(STARTS, starts, &mut message);
        write_list(ENDS, ends, &mut message);
        messages.push((first, Bytes::from(message)));
        first += starts.len();
    }
    let width = starts.width;
    let asking = || async {
        let mut columns = Columns::default();
        for (first, message) in messages {
            told.answered.store(first / width, Ordering::Relaxed);
            let reply = running.way.call(EDGES, message, told.time).await?;
            let first = u32::try_from(first / width).unwrap_or(u32::MAX);
            columns.append(columns_of_edges(read(reply)?, first));
        }
        Ok::<_, Failed>(columns)
    };
    running.wait_looking(py, asking, |py| told.look(py))??.into_dict(py)
}

fn read<M: Message + Default>(bytes: Bytes) -> Result<M, Failed> {
    M::decode(bytes).map_err(|error| tonic::Status::internal(error.to_string()).into())
}

fn columns_of(answer: api::CheckConfigurationsResponse, first: u32) -> Columns {
    use Column::{Counts, Numbers};
    let lists = vec![
        ("verdicts", small(&answer.verdicts)),
        ("contact_indices", from_first(answer.contact_indices, first)),
        ("contact_firsts", Counts(answer.contact_firsts)),
        ("contact_seconds", Counts(answer.contact_seconds)),
        ("contact_verdicts", small(&answer.contact_verdicts)),
        ("clearance_lowers", Numbers(answer.clearance_lowers)),
        ("clearance_uppers", Numbers(answer.clearance_uppers)),
        ("clearance_firsts", Counts(answer.clearance_firsts)),
        ("clearance_seconds", Counts(answer.clearance_seconds)),
        ("clearance_points", Counts(answer.clearance_points)),
        ("points_first", Numbers(answer.points_first)),
        ("points_second", Numbers(answer.points_second)),
        ("normals", Numbers(answer.normals)),
        ("gradients", Numbers(answer.gradients)),
        ("limit_indices", from_first(answer.limit_indices, first)),
        ("limit_variables", Counts(answer.limit_variables)),
        ("within_margin_indices", from_first(answer.within_margin_indices, first)),
    ];
    Columns::new(lists, Refused::of(answer.refused, first))
}

fn columns_of_edges(answer: api::CheckEdgesResponse, first: u32) -> Columns {
    use Column::{Counts, Numbers};
    let lists = vec![
        ("outcomes", small(&answer.outcomes)),
        ("free_until", Numbers(answer.free_until)),
        ("near_indices", from_first(answer.near_indices, first)),
        ("near_firsts", Counts(answer.near_firsts)),
        ("near_seconds", Counts(answer.near_seconds)),
        ("contact_at", Numbers(answer.contact_at)),
        ("limit_indices", from_first(answer.limit_indices, first)),
        ("limit_variables", Counts(answer.limit_variables)),
    ];
    Columns::new(lists, Refused::of(answer.refused, first))
}
