//! Wire to domain and back, one file for each family of messages. Whatever is wrong with a field is
//! said with its path.

pub mod body;
pub mod certificate;
pub mod geometry;
pub mod options;
pub mod polytope;
pub mod solids;

use std::borrow::Cow;
use std::fmt;

use super::status::Failure;
use crate::runtime::settings::{Breach, Limit, Limits};

/// A field that the client filled in wrongly, named by its path in the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadField {
    /// For example `frames[3].poses[1].rotation`.
    pub field: String,
    /// What is wrong, in words a client can act on.
    pub problem: Cow<'static, str>,
}

/// Where in a request we are; becomes text only when something is wrong there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step,
}

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    #[default]
    Root,
    Field(&'static str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The request itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A field of this message.
    pub fn field(&'a self, name: &'static str) -> Self {
        Self { parent: Some(self), step: Step::Field(name) }
    }

    /// An element of this list.
    pub fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// Something is wrong here.
    pub fn bad(&self, problem: impl Into<Cow<'static, str>>) -> BadField {
        BadField { field: self.to_string(), problem: problem.into() }
    }

    /// What is asked for here is more than this build can do.
    pub fn not_implemented(&self, what: &'static str) -> Failure {
        Failure::NotImplemented { field: self.to_string(), what }
    }

    /// A value of an enum that this server knows. Others come from newer clients, and what they ask
    /// for is not to be taken for the default.
    pub fn known<T: TryFrom<i32>>(&self, wire: i32) -> Result<T, BadField> {
        T::try_from(wire).map_err(|_| self.bad(format!("this server knows no value {wire} of it")))
    }

    /// Refuses `count` when it is more than the limit of this name.
    pub fn limit(
        &self,
        limits: &Limits,
        count: usize,
        of: fn(&Limits) -> u64,
        name: &'static str,
    ) -> Result<(), Failure> {
        let max = of(limits);
        if count as u64 <= max {
            return Ok(());
        }
        let row = Limits::TABLE.iter().find(|row| row.name == name);
        let breach = row.map_or(Breach::InvalidArgument, |row: &Limit| row.breach);
        Err(Failure::Limit { field: self.to_string(), name, max, breach })
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.parent.filter(|parent| !matches!(parent.step, Step::Root));
        if let Some(parent) = inner {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if inner.is_some() => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Refuses `count` when it is more than the limit `name` at `path`.
#[macro_export]
macro_rules! within_limit {
    ($path:expr, $limits:expr, $count:expr, $name:ident) => {
        $path.limit($limits, $count, |limits| limits.$name, stringify!($name))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_the_request() {
        let frames = Path::ROOT.field("frames");
        let third = frames.index(3);
        let poses = third.field("poses");
        let first = poses.index(1);
        assert_eq!(first.field("rotation").to_string(), "frames[3].poses[1].rotation");
        assert_eq!(Path::ROOT.to_string(), "");
    }

    #[test]
    fn a_limit_is_refused_with_its_name_and_value() {
        let limits = Limits { batch_items_max: 2, ..Limits::default() };
        let items = Path::ROOT.field("items");
        assert!(within_limit!(items, &limits, 2, batch_items_max).is_ok());
        let refused = within_limit!(items, &limits, 3, batch_items_max).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "items: more than the limit batch_items_max = 2 of this server"
        );
    }
}
