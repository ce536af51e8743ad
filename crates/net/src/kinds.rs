//! Kinds: how a room of the experiment file describes itself.
//!
//! A *room* (`[queue]`) offers *kinds* (`drop_tail`, `red`); a kind has *parameters*. Each is written
//! down once, where it is implemented, by [`kind!`](crate::kind) (the struct, its doc comments, units,
//! defaults and ranges) and [`room!`](crate::room) (the list). The checks of the experiment file,
//! `weft list`, `weft schema`, the reference pages and the text for an unknown name derive from these.
//!
//! Values cross the boundary as JSON in base units: times in picoseconds, rates in bits per second,
//! sizes in bytes, capacities as `{"packets": n}` or `{"bytes": n}`.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Fault;
use crate::units::{Bytes, Capacity, Rate, Time};

/// How a value is written in the experiment file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ValueType {
    /// `"10 us"`.
    Time,
    /// `"100 Gbps"`.
    Rate,
    /// `"64 KiB"`.
    Size,
    /// `"100 packets"` or `"150 kB"`.
    Capacity,
    /// A whole number, at least zero.
    Integer,
    /// A real number.
    Number,
    /// `true` or `false`.
    Flag,
    /// Free text: a name, a pattern.
    Text,
    /// The path of a file, relative to the experiment file.
    File,
    /// One of a few words.
    Choice {
        /// The words.
        choices: Vec<&'static str>,
    },
    /// A table whose keys are the parameters of the record of that name.
    Table {
        /// Name of the record in the room `record`.
        record: &'static str,
    },
    /// A table that picks a kind of another room: `{ kind = ..., ... }`.
    Room {
        /// The room.
        room: &'static str,
    },
    /// A list of one type.
    List {
        /// The type of every element.
        of: Box<ValueType>,
    },
}

/// One key of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// The key.
    pub name: &'static str,
    /// What it means, from the doc comment.
    pub doc: String,
    /// How it is written.
    pub value: ValueType,
    /// May be left out, with no value taking its place.
    pub optional: bool,
    /// Must be given.
    pub required: bool,
    /// The value when it is left out, in base units; null if optional or required.
    pub default: Value,
    /// Smallest value allowed, in base units.
    pub min: Option<f64>,
    /// Largest value allowed, in base units.
    pub max: Option<f64>,
}

/// A kind of a room: a queue discipline, a topology, a transport.
#[derive(Clone, Debug, Serialize)]
pub struct Kind {
    /// The section of the experiment file; `record` for tables inside other kinds.
    pub room: &'static str,
    /// The value of `kind = "..."`.
    pub name: &'static str,
    /// What it is, from the doc comment; the first line is the summary.
    pub doc: String,
    /// The paper, RFC or standard.
    pub source: &'static str,
    /// Its keys.
    pub parameters: Vec<Parameter>,
    /// Named sets of defaults (`profile = "linux"`), in base units.
    pub profiles: Vec<(&'static str, Map<String, Value>)>,
}

/// A Rust type that can be a parameter.
pub trait ParameterType: serde::de::DeserializeOwned {
    /// Whether `None` is allowed.
    const OPTIONAL: bool = false;
    /// How it is written in the file.
    fn value_type() -> ValueType;
    /// From its JSON form in base units; tables inside get their defaults.
    ///
    /// # Errors
    /// A [`Fault`] whose key is relative to the value: empty for the value itself, else `.key` or `[i]`.
    fn read(value: &Value) -> Result<Self, Fault> {
        Self::deserialize(value).map_err(|e| Fault::new("", e.to_string()))
    }
}

macro_rules! parameter_types {
    ($($rust:ty => $variant:ident),* $(,)?) => {
        $(impl ParameterType for $rust {
            fn value_type() -> ValueType { ValueType::$variant }
        })*
    };
}
parameter_types! {
    Time => Time, Rate => Rate, Bytes => Size, Capacity => Capacity,
    u64 => Integer, u32 => Integer, f64 => Number, bool => Flag, String => Text,
}

/// The path of a file; the front makes it absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct FilePath(pub String);

impl ParameterType for FilePath {
    fn value_type() -> ValueType {
        ValueType::File
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    const OPTIONAL: bool = true;
    fn value_type() -> ValueType {
        T::value_type()
    }
    fn read(value: &Value) -> Result<Self, Fault> {
        if value.is_null() {
            Ok(None)
        } else {
            T::read(value).map(Some)
        }
    }
}

impl<T: ParameterType> ParameterType for Vec<T> {
    fn value_type() -> ValueType {
        ValueType::List {
            of: Box::new(T::value_type()),
        }
    }
    fn read(value: &Value) -> Result<Self, Fault> {
        let Some(items) = value.as_array() else {
            return Err(Fault::new("", format!("{value} is not a list")));
        };
        items
            .iter()
            .enumerate()
            .map(|(i, item)| T::read(item).map_err(|f| f.under(&format!("[{i}]"))))
            .collect()
    }
}

/// What [`kind!`](crate::kind) gives every kind.
pub trait Describe: Sized {
    /// The kind's description of itself.
    fn describe() -> Kind;
    /// From a table in base units; missing keys take the defaults of the profile or of the kind.
    ///
    /// # Errors
    /// A [`Fault`] at `room.key` for an unknown key, a value of the wrong type or one out of range.
    fn from_table(table: &Map<String, Value>) -> Result<Self, Fault>;
    /// The kind with all its defaults. Panics if a parameter must be given.
    fn defaults() -> Self {
        Self::from_table(&Map::new()).expect("every parameter has a default")
    }
}

/// Reads the value of one parameter, or its default: what [`kind!`](crate::kind) does for every field.
///
/// # Errors
/// A [`Fault`] at `room.key` for a missing required key, a wrong type, or a number out of range.
pub fn read_parameter<T: ParameterType>(
    kind: &Kind,
    name: &str,
    table: &Map<String, Value>,
) -> Result<T, Fault> {
    let parameter = kind
        .parameters
        .iter()
        .find(|p| p.name == name)
        .expect("a parameter of this kind");
    let key = format!("{}.{name}", kind.room);
    let value = match table.get(name) {
        Some(value) => value,
        None if parameter.required => return Err(Fault::new(key, "is required")),
        None => profile_default(kind, name, table).unwrap_or(&parameter.default),
    };
    // A capacity is a number inside a table of one key.
    let number = value
        .as_f64()
        .or_else(|| value.as_object()?.values().next()?.as_f64());
    if let Some(number) = number {
        if let Some(min) = parameter.min.filter(|&min| number < min) {
            return Err(Fault::new(
                key,
                format!("{number} is too small; the least is {min}"),
            ));
        }
        if let Some(max) = parameter.max.filter(|&max| number > max) {
            return Err(Fault::new(
                key,
                format!("{number} is too large; the most is {max}"),
            ));
        }
    }
    T::read(value).map_err(|f| f.under(&key))
}

/// What the table's profile says, or else the kind's default profile, if it says anything.
fn profile_default<'a>(
    kind: &'a Kind,
    name: &str,
    table: &Map<String, Value>,
) -> Option<&'a Value> {
    let default = || {
        Some(
            kind.parameters
                .iter()
                .find(|p| p.name == "profile")?
                .default
                .clone(),
        )
    };
    let profile = table.get("profile").cloned().or_else(default)?;
    kind.profiles.iter().find(|p| profile == p.0)?.1.get(name)
}

/// Refuses keys that the kind does not have.
///
/// # Errors
/// A [`Fault`] at `room.key` for the first such key.
pub fn refuse_unknown_keys(kind: &Kind, table: &Map<String, Value>) -> Result<(), Fault> {
    match table
        .keys()
        .find(|key| *key != "kind" && kind.parameters.iter().all(|p| p.name != *key))
    {
        None => Ok(()),
        Some(key) => {
            let known: Vec<_> = kind.parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() {
                "it has none".into()
            } else {
                format!("its keys: {}", known.join(", "))
            };
            Err(Fault::new(
                format!("{}.{key}", kind.room),
                format!("{} has no such key; {known}", kind.name),
            ))
        }
    }
}

/// Joins the lines of a doc comment.
pub fn join_doc(lines: &[&str]) -> String {
    lines
        .iter()
        .map(|l| l.strip_prefix(' ').unwrap_or(l))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

/// Reads a table inside another one: the fault's room (`link.rate`) gives way to its relative key (`.rate`).
///
/// # Errors
/// Those of `from_table`, or that the value is no table.
pub fn read_table<T>(
    value: &Value,
    from_table: impl Fn(&Map<String, Value>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let Some(table) = value.as_object() else {
        return Err(Fault::new("", format!("{value} is not a table")));
    };
    from_table(table).map_err(|f| f.in_section(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use serde_json::json;

    fn fault(table: Value) -> String {
        Topology::from_table(table.as_object().unwrap())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_table_inside_a_kind_gets_its_defaults() {
        let table = json!({ "kind": "fat_tree", "link": { "rate": 5 } });
        let Ok(Topology::FatTree(tree)) = Topology::from_table(table.as_object().unwrap()) else {
            panic!()
        };
        assert_eq!((tree.k, tree.link.rate, tree.link.mtu), (4, Rate(5), 1500));
    }

    #[test]
    fn a_profile_changes_defaults_but_no_given_value() {
        use crate::transport::Transport;
        let read = |table: Value| match Transport::from_table(table.as_object().unwrap()) {
            Ok(Transport::Tcp(tcp)) => (tcp.rto_min, tcp.rack),
            other => panic!("{other:?}"),
        };
        assert_eq!(read(json!({ "kind": "tcp" })), (Time::from_ms(200), true));
        assert_eq!(
            read(json!({ "kind": "tcp", "profile": "rfc" })),
            (Time::from_s(1), false)
        );
        assert_eq!(
            read(json!({ "kind": "tcp", "profile": "rfc", "rack": true })),
            (Time::from_s(1), true)
        );
    }

    #[test]
    fn a_fault_names_the_whole_path() {
        assert_eq!(
            fault(
                json!({ "kind": "fat_tree", "overrides": [{ "links": "*" }, { "links": "*", "loss": { "kind": "random", "p": 2 } }] })
            ),
            "topology.overrides[1].loss.p: 2 is too large; the most is 1"
        );
        assert_eq!(
            fault(json!({ "kind": "fat_tree", "link": { "mtu": 9 } })),
            "topology.link.mtu: 9 is too small; the least is 256"
        );
        assert_eq!(
            fault(json!({ "kind": "fat_tree", "overrides": [{}] })),
            "topology.overrides[0].links: is required"
        );
        assert!(
            fault(json!({ "kind": "fat_tree", "pods": 3 }))
                .starts_with("topology.pods: fat_tree has no such key; its keys: k, ")
        );
        assert!(
            fault(json!({ "kind": "fat_trees" }))
                .starts_with("topology.kind: unknown \"fat_trees\"; known: fat_tree")
        );
    }
}
