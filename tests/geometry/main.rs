//! Tests of `clearance-geometry` through its public surface.

mod families;
mod hull_memory;
mod hull_oracle;
mod hull_torture;
mod hulls;
mod laws;
mod point_sets;
