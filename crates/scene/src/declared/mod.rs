//! What a client declares: bodies and robots, which pairs are checked, frames and questions.

pub(crate) mod body;
pub(crate) mod changes;
pub(crate) mod classes;
pub(crate) mod declaration;
pub(crate) mod error;
pub(crate) mod groups;
pub(crate) mod question;
pub(crate) mod rigid;
pub(crate) mod robots;
pub(crate) mod rule_book;
pub(crate) mod rules;
pub(crate) mod spin;
