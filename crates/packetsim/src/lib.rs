//! The packet-level, discrete-event simulator.
