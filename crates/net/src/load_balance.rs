//! Load balancing: which of several equal next hops a packet takes.
