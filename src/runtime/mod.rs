//! Floor 2: the only owner of threads, clock, disk and metrics.
