//! The scenario: network, routes and flows, the same for every backend.
