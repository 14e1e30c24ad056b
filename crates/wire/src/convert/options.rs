//! How a question is to be answered, and what the answer cost.

use std::time::Duration;

use crate::path::{BadField, Path};
use clearance_bodies::FaceMethod;
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::until::Until;
use clearance_geometry::{contact_time, distance, penetration, separation};
use clearance_proto as api;

/// The options of a question, checked.
#[derive(Clone, Copy, Debug)]
pub struct AnswerOptions {
    /// Steps that may be spent.
    pub steps: u64,
    /// Time that may be spent.
    pub time: Option<Duration>,
    /// Leave certificates out.
    pub omit_certificate: bool,
    /// Whether the default method answers, which alone the estimates of questions are about.
    pub is_default_method: bool,
}

impl AnswerOptions {
    /// From the wire, with the index of the method among those whose names are given, the default
    /// one first; missing: the defaults. That a stateless answer is canonical needs no option: it
    /// always starts cold and runs in a fixed order.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&api::QueryOptions>,
        name: impl Fn(usize) -> Option<&'static str>,
    ) -> Result<(Self, usize), BadField> {
        let default = api::QueryOptions::default();
        let wire = wire.unwrap_or(&default);
        let (steps, time) = budget(&path.field("budget"), wire.budget.as_ref())?;
        let method = index_of(&path.field("method"), &wire.method, name)?;
        let omit_certificate = wire.omit_certificate;
        Ok((Self { steps, time, omit_certificate, is_default_method: method == 0 }, method))
    }

    /// For a question that has one method and no table.
    pub fn without_method(
        path: &Path<'_>,
        wire: Option<&api::QueryOptions>,
    ) -> Result<Self, BadField> {
        let named = wire.map_or("", |wire| wire.method.as_str());
        if !(named.is_empty() || named == AUTO) {
            return Err(path
                .field("method")
                .bad("must be AUTO: this question has no other method"));
        }
        let unnamed = wire.map(|wire| api::QueryOptions { method: String::new(), ..wire.clone() });
        Self::convert(path, unnamed.as_ref(), |_| None).map(|(options, _)| options)
    }

    /// What a search may spend, and until when.
    pub fn effort<'a>(&self, until: &'a Until) -> Effort<'a> {
        Effort::until(self.steps, until)
    }
}

/// The name that means the default.
pub const AUTO: &str = "AUTO";

/// A row of a table of search methods.
pub trait MethodRow {
    /// The name by which clients ask for it.
    fn name(&self) -> &'static str;
    /// What there is to say of it.
    fn info(&self) -> api::MethodInfo;
}

/// The tables, one for each kind of question, have rows of their own.
macro_rules! row {
    ($($method:ty),*) => {$(
        impl MethodRow for $method {
            fn name(&self) -> &'static str {
                self.name
            }

            fn info(&self) -> api::MethodInfo {
                api::MethodInfo {
                    name: self.name.to_owned(),
                    source: self.source.to_owned(),
                    proves: self.proves.to_owned(),
                    cost: self.cost.to_owned(),
                }
            }
        }
    )*};
}
row!(
    separation::CollisionMethod,
    distance::DistanceMethod,
    penetration::RangeMethod,
    contact_time::Method,
    FaceMethod
);

/// A search method of a table by name; empty or AUTO: the default, which is the first.
pub fn method<M: MethodRow>(
    path: &Path<'_>,
    name: &str,
    table: &'static [M],
) -> Result<&'static M, BadField> {
    index_of(path, name, |index| table.get(index).map(MethodRow::name)).map(|index| &table[index])
}

/// The index of a method by name, where the names of all are given by index; empty or AUTO: the
/// default, which is the first.
fn index_of(
    path: &Path<'_>,
    name: &str,
    name_of: impl Fn(usize) -> Option<&'static str>,
) -> Result<usize, BadField> {
    if name.is_empty() || name == AUTO {
        return Ok(0);
    }
    let mut known = (0..).map_while(&name_of);
    known.position(|known| known.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = (0..).map_while(&name_of).collect();
        path.bad(format!("must be AUTO or one of {}", names.join(", ")))
    })
}

/// Whether a method's name means the default of its table.
pub fn is_default<M: MethodRow>(name: &str, table: &[M]) -> bool {
    let first = table.first().map(MethodRow::name);
    name.is_empty() || name == AUTO || first.is_some_and(|first| first.eq_ignore_ascii_case(name))
}

/// A budget: steps (without limit when missing) and time.
pub fn budget(
    path: &Path<'_>,
    wire: Option<&api::Budget>,
) -> Result<(u64, Option<Duration>), BadField> {
    let Some(wire) = wire else { return Ok((u64::MAX, None)) };
    let time = wire.time.as_ref().map(|time| duration(&path.field("time"), time)).transpose()?;
    Ok((wire.steps.unwrap_or(u64::MAX), time))
}

/// A duration that is not negative.
pub fn duration(path: &Path<'_>, wire: &prost_types::Duration) -> Result<Duration, BadField> {
    Duration::try_from(*wire).map_err(|_| path.bad("must not be negative"))
}

/// A duration for the wire.
pub fn duration_to_wire(duration: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}

/// Counters for the wire.
pub fn cost_to_wire(cost: &Cost, elapsed: Duration) -> api::Cost {
    api::Cost {
        steps: cost.steps,
        supports: cost.supports,
        visited: cost.visited,
        exact_stages: cost.exact_stages,
        witness_hits: cost.witness_hits,
        queries: cost.queries,
        elapsed: Some(duration_to_wire(elapsed)),
        candidates: cost.candidates,
        layers: cost.layers,
        handed_over: cost.handed_over,
        by_bounds: cost.by_bounds,
    }
}
