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
        Self {
            key: key.into(),
            message: message.into(),
        }
    }

    /// The same fault with `prefix` before its key.
    #[must_use]
    pub fn under(self, prefix: &str) -> Self {
        Self {
            key: format!("{prefix}{}", self.key),
            message: self.message,
        }
    }

    /// The same fault with the section of its key (all before the first `.` or `[`) replaced: a fault of
    /// `workload.size` becomes one of `workload[2].size`.
    #[must_use]
    pub fn in_section(self, section: &str) -> Self {
        let end = self.key.find(['.', '[']).unwrap_or(self.key.len());
        Self {
            key: format!("{section}{}", &self.key[end..]),
            message: self.message,
        }
    }
}

/// One fault among many, so that `?` works where all of them are collected.
impl From<Fault> for Vec<Fault> {
    fn from(fault: Fault) -> Self {
        vec![fault]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_moves_into_its_section() {
        assert_eq!(
            Fault::new("workload.size", "")
                .in_section("workload[2]")
                .key,
            "workload[2].size"
        );
        assert_eq!(
            Fault::new("workload", "").in_section("workload[2]").key,
            "workload[2]"
        );
        assert_eq!(
            Fault::new("[3].rate", "").under("topology.links").key,
            "topology.links[3].rate"
        );
    }
}
