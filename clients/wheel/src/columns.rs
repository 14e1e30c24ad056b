//! Lists of numbers on their way to Python: a name and bytes, which numpy takes as they are.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

use clearance_proto as api;

/// One list.
#[derive(Debug)]
pub(crate) enum Column {
    /// One byte each.
    Bytes(Vec<u8>),
    /// Indices and numbers of bodies.
    Counts(Vec<u32>),
    /// Metres, fractions, radians.
    Numbers(Vec<f64>),
}

/// Lists by name.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    lists: Vec<(&'static str, Column)>,
    refused: Vec<Refused>,
}

/// Items in a row that were not answered.
#[derive(Debug)]
pub(crate) struct Refused {
    index: u32,
    status: api::ItemStatus,
    count: u32,
}

impl Refused {
    /// As the answer about a message says whose first item has this index in the whole.
    pub(crate) fn of(told: Vec<api::RefusedConfiguration>, first: u32) -> Vec<Self> {
        let refused = told.into_iter().map(|one| Self {
            index: one.index + first,
            count: one.count,
            status: one.status.unwrap_or_default(),
        });
        refused.collect()
    }
}

/// Verdicts and outcomes, each of which is a small number.
pub(crate) fn small(numbers: &[i32]) -> Column {
    Column::Bytes(numbers.iter().map(|number| u8::try_from(*number).unwrap_or_default()).collect())
}

/// Indices in the whole, of those in a message.
pub(crate) fn from_first(mut indices: Vec<u32>, first: u32) -> Column {
    indices.iter_mut().for_each(|index| *index += first);
    Column::Counts(indices)
}

impl Columns {
    /// These.
    pub(crate) fn new(lists: Vec<(&'static str, Column)>, refused: Vec<Refused>) -> Self {
        Self { lists, refused }
    }

    /// These, and then those of the same names that follow.
    pub(crate) fn append(&mut self, next: Self) {
        if self.lists.is_empty() {
            return *self = next;
        }
        self.refused.extend(next.refused);
        for ((_, list), (_, more)) in self.lists.iter_mut().zip(next.lists) {
            match (list, more) {
                (Column::Bytes(list), Column::Bytes(more)) => list.extend(more),
                (Column::Counts(list), Column::Counts(more)) => list.extend(more),
                (Column::Numbers(list), Column::Numbers(more)) => list.extend(more),
                // Lists of one name are of one kind.
                (Column::Bytes(_) | Column::Counts(_) | Column::Numbers(_), _) => {}
            }
        }
    }

    /// As a dictionary: a byte array for each list that has entries, and the refused items.
    pub(crate) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        for (name, list) in self.lists {
            let list = match list {
                Column::Bytes(list) => list,
                Column::Counts(list) => bytes_of(&list, u32::to_ne_bytes),
                Column::Numbers(list) => bytes_of(&list, f64::to_ne_bytes),
            };
            if !list.is_empty() {
                dict.set_item(name, PyByteArray::new(py, &list))?;
            }
        }
        if !self.refused.is_empty() {
            let refused = self.refused.into_iter().map(|Refused { index, count, status }| {
                let reason = status.reason().as_str_name().trim_start_matches("ERROR_REASON_");
                (index, count, status.code, reason.to_owned(), status.message, status.field)
            });
            dict.set_item("refused", refused.collect::<Vec<_>>())?;
        }
        Ok(dict)
    }
}

fn bytes_of<T: Copy, const N: usize>(numbers: &[T], to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    let mut bytes = vec![0; N * numbers.len()];
    for (place, number) in bytes.chunks_exact_mut(N).zip(numbers) {
        place.copy_from_slice(&to_bytes(*number));
    }
    bytes
}
