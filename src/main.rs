//! Floor 4: the `clearance` program. Wiring only.

fn main() {}
