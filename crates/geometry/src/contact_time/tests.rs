//! Promises of first contacts, over many motions of every kind.

mod grazes;
