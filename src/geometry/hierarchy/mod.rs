//! The Dobkin-Kirkpatrick hierarchy.
