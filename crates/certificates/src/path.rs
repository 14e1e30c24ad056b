//! Where in a message we are, and the failures that name a field of it.

use std::borrow::Cow;
use std::fmt;

/// A field that the client filled in wrongly, named by its path in the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadField {
    /// For example `frames[3].poses[1].rotation`.
    pub field: String,
    /// What is wrong, in words a client can act on.
    pub problem: Cow<'static, str>,
}

/// A field that is well-formed and asks for more than this build can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: not implemented in this build: {what}")]
pub struct NotImplemented {
    /// The field that asks for it.
    pub field: String,
    /// What is missing, in words, and what there is in its place.
    pub what: Cow<'static, str>,
}

/// A place in a request. It becomes text only when something is wrong there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    last: PathStep,
}

#[derive(Clone, Copy, Debug, Default)]
enum PathStep {
    #[default]
    Root,
    Field(&'static str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The request itself.
    pub const ROOT: Path<'static> = Path { parent: None, last: PathStep::Root };

    /// A field of this message.
    pub fn field(&'a self, name: &'static str) -> Self {
        Self { parent: Some(self), last: PathStep::Field(name) }
    }

    /// An element of this list.
    pub fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), last: PathStep::Index(index) }
    }

    /// Something is wrong here.
    pub fn bad(&self, problem: impl Into<Cow<'static, str>>) -> BadField {
        BadField { field: self.to_string(), problem: problem.into() }
    }

    /// What is asked for here is more than this build can do.
    pub fn not_implemented(&self, what: impl Into<Cow<'static, str>>) -> NotImplemented {
        NotImplemented { field: self.to_string(), what: what.into() }
    }

    /// A value of an enum that this server knows. Others come from newer clients, and what they ask
    /// for is not to be taken for the default.
    pub fn known<T: TryFrom<i32>>(&self, wire: i32) -> Result<T, BadField> {
        T::try_from(wire).map_err(|_| self.bad(format!("this server knows no value {wire} of it")))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.parent.filter(|parent| !matches!(parent.last, PathStep::Root));
        if let Some(parent) = inner {
            parent.fmt(f)?;
        }
        match self.last {
            PathStep::Root => Ok(()),
            PathStep::Field(name) if inner.is_some() => write!(f, ".{name}"),
            PathStep::Field(name) => f.write_str(name),
            PathStep::Index(index) => write!(f, "[{index}]"),
        }
    }
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
}
