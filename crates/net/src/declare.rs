//! How kinds, choices and rooms are declared: the macros of `kinds.rs`.

/// Declares a kind: the struct of its parameters, with units, defaults and ranges. A parameter without
/// a default must be given.
///
/// ```
/// weft_net::kind! {
///     /// Drops what does not fit.
///     pub struct Bucket: "queue" / "bucket", source "a bucket" {
///         /// How much it holds.
///         pub capacity: weft_net::units::Capacity = weft_net::units::Capacity::Packets(100);
///         /// Share of the bucket that is full at the start.
///         pub fill: f64 = 0.5, range 0.0..=1.0;
///         /// Its name; must be given.
///         pub label: String;
///     }
/// }
/// ```
#[macro_export]
macro_rules! kind {
    (
        $(#[doc = $doc:expr])*
        pub struct $name:ident: $room:literal / $kind:literal, source $source:literal $(, profiles $profiles:path)? {
            $(
                $(#[doc = $field_doc:expr])*
                pub $field:ident: $type:ty $(= $default:expr)? $(, range $min:literal ..= $max:literal)? $(, at least $least:literal)?;
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        impl $crate::kinds::Describe for $name {
            fn describe() -> $crate::kinds::Kind {
                $crate::kinds::Kind {
                    room: $room,
                    name: $kind,
                    doc: $crate::kinds::join_doc(&[$($doc),*]),
                    source: $source,
                    parameters: vec![$({
                        // Each of these may be absent: the first that is given counts.
                        let default: Option<$type> = [None, $(Some($default))?].into_iter().flatten().next();
                        let min: Option<f64> = [None, $(Some($min as f64),)? $(Some($least as f64))?].into_iter().flatten().next();
                        let max: Option<f64> = [None, $(Some($max as f64))?].into_iter().flatten().next();
                        $crate::kinds::Parameter {
                            name: stringify!($field),
                            doc: $crate::kinds::join_doc(&[$($field_doc),*]),
                            value: <$type as $crate::kinds::ParameterType>::value_type(),
                            optional: <$type as $crate::kinds::ParameterType>::OPTIONAL,
                            required: default.is_none(),
                            default: serde_json::to_value(&default).expect("a default is plain data"),
                            min,
                            max,
                        }
                    }),*],
                    profiles: [$($profiles())?].into_iter().next().unwrap_or_default(),
                }
            }

            fn from_table(table: &serde_json::Map<String, serde_json::Value>) -> Result<Self, $crate::error::Fault> {
                let kind = <Self as $crate::kinds::Describe>::describe();
                $crate::kinds::refuse_unknown_keys(&kind, table)?;
                Ok(Self { $($field: $crate::kinds::read_parameter(&kind, stringify!($field), table)?,)* })
            }
        }
    };
}

/// Declares a choice of a few words, usable as a parameter type.
///
/// ```
/// weft_net::choice! {
///     /// What decides.
///     pub enum By {
///         /// The queue now.
///         Instantaneous = "instantaneous",
///         /// Its moving average.
///         Average = "average",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:expr])*
        pub enum $name:ident { $($(#[doc = $word_doc:expr])* $variant:ident = $word:literal),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)*
        }
        impl $crate::kinds::ParameterType for $name {
            fn value_type() -> $crate::kinds::ValueType {
                $crate::kinds::ValueType::Choice { choices: vec![$($word),*] }
            }
        }
    };
}

/// Declares a room: the enum of its kinds. A new kind is one line here and one file beside the others.
///
/// The enum gets `kinds()` (their descriptions) and `from_table` (from `{"kind": ..., ...}`).
#[macro_export]
macro_rules! room {
    (
        $(#[doc = $doc:expr])*
        pub enum $room:ident { $($variant:ident($type:ty)),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum $room {
            $(#[allow(missing_docs)] $variant($type),)*
        }

        impl $room {
            /// The descriptions of all kinds, in the order of the list.
            pub fn kinds() -> Vec<$crate::kinds::Kind> {
                vec![$(<$type as $crate::kinds::Describe>::describe()),*]
            }

            /// The kind that `table["kind"]` names, with its parameters in base units.
            ///
            /// # Errors
            /// A fault for an unknown kind, an unknown key or a value of the wrong type.
            pub fn from_table(table: &serde_json::Map<String, serde_json::Value>) -> Result<Self, $crate::error::Fault> {
                let name = table.get("kind").and_then(|v| v.as_str()).unwrap_or_default();
                $(if <$type as $crate::kinds::Describe>::describe().name == name {
                    return Ok(Self::$variant(<$type as $crate::kinds::Describe>::from_table(table)?));
                })*
                Err($crate::error::Fault::new(
                    format!("{}.kind", Self::kinds()[0].room),
                    format!("unknown {name:?}; known: {}", Self::kinds().iter().map(|k| k.name).collect::<Vec<_>>().join(", ")),
                ))
            }
        }
    };
}

/// Makes a record usable as a parameter: a table inside another kind.
#[macro_export]
macro_rules! record_parameter {
    ($($rust:ty),* $(,)?) => {$(
        impl $crate::kinds::ParameterType for $rust {
            fn value_type() -> $crate::kinds::ValueType {
                $crate::kinds::ValueType::Table { record: <$rust as $crate::kinds::Describe>::describe().name }
            }
            fn read(value: &serde_json::Value) -> Result<Self, $crate::error::Fault> {
                $crate::kinds::read_table(value, <$rust as $crate::kinds::Describe>::from_table)
            }
        }
    )*};
}

/// Makes a room usable as a parameter: `{ kind = ..., ... }` inside another kind.
#[macro_export]
macro_rules! room_parameter {
    ($($rust:ty => $room:literal),* $(,)?) => {$(
        impl $crate::kinds::ParameterType for $rust {
            fn value_type() -> $crate::kinds::ValueType {
                $crate::kinds::ValueType::Room { room: $room }
            }
            fn read(value: &serde_json::Value) -> Result<Self, $crate::error::Fault> {
                $crate::kinds::read_table(value, <$rust>::from_table)
            }
        }
    )*};
}
