//! Floor 3: wire to domain and back.
