//! Errors: what the person who wrote the experiment did wrong, and the way out.

/// A fault of an experiment that only shows when it is built.
///
/// `key` is the dotted path of the key at fault (`topology.k`), so that the front can add the file
/// and line; `message` says the value, what was expected and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Fault {
    /// Dotted path of the key at fault.
    pub key: String,
    /// Value, expectation and way out, in one sentence.
    pub message: String,
}

impl Fault {
    /// A fault at `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}
