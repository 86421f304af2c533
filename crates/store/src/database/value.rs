//! Values of statements and rows, the same for both databases.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use uuid::Uuid;

use super::StoreError;

/// A value of a statement or a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// NULL of a known type: PostgreSQL must know the type of a parameter even if it is null.
    Null(Kind),
    Int(i64),
    Bool(bool),
    Text(String),
    Uuid(Uuid),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Bool,
    Text,
    Uuid,
    Bytes,
}

impl Value {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Null(kind) => *kind,
            Self::Int(_) => Kind::Int,
            Self::Bool(_) => Kind::Bool,
            Self::Text(_) => Kind::Text,
            Self::Uuid(_) => Kind::Uuid,
            Self::Bytes(_) => Kind::Bytes,
        }
    }
}

macro_rules! from {
    ($($source:ty => $kind:ident, |$value:ident| $made:expr;)*) => {$(
        impl From<$source> for Value {
            fn from($value: $source) -> Self {
                Self::$kind($made)
            }
        }

        impl From<Option<$source>> for Value {
            fn from(value: Option<$source>) -> Self {
                value.map_or(Self::Null(Kind::$kind), Self::from)
            }
        }
    )*};
}

from! {
    i64 => Int, |value| value;
    i32 => Int, |value| value.into();
    bool => Bool, |value| value;
    &str => Text, |value| value.to_owned();
    String => Text, |value| value;
    Uuid => Uuid, |value| value;
    Vec<u8> => Bytes, |value| value;
}

/// A row of a result.
#[derive(Debug)]
pub(crate) struct Row {
    columns: Arc<[String]>,
    values: Vec<Value>,
    /// The column after the one that was read last. Most rows are read in the order of their columns, so a search
    /// that begins here is over at once.
    next: AtomicUsize,
}

impl Row {
    pub(super) fn new(columns: Arc<[String]>, values: Vec<Value>) -> Self {
        Self {
            columns,
            values,
            next: AtomicUsize::new(0),
        }
    }

    /// Returns the value in a column. Text can be borrowed as `&str`.
    pub(crate) fn get<'row, T: FromValue<'row>>(&'row self, column: &str) -> Result<T, StoreError> {
        let index = self.index(column);
        let value = index.and_then(|index| self.values.get(index));
        value.and_then(T::from_value).ok_or_else(|| {
            let kind = value.map(Value::kind);
            StoreError::Unreadable(format!("column {column} holds {kind:?}"))
        })
    }

    fn index(&self, column: &str) -> Option<usize> {
        let next = self.next.load(Ordering::Relaxed);
        let is_next = self.columns.get(next).is_some_and(|name| name == column);
        let index = if is_next {
            next
        } else {
            self.columns.iter().position(|name| name == column)?
        };
        self.next.store(index + 1, Ordering::Relaxed);
        Some(index)
    }
}

/// A type that can be read from a row. Returns `None` if the value has another type.
pub(crate) trait FromValue<'row>: Sized {
    fn from_value(value: &'row Value) -> Option<Self>;
}

impl FromValue<'_> for i64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number),
            Value::Null(_) | Value::Bool(_) | Value::Text(_) | Value::Uuid(_) | Value::Bytes(_) => {
                None
            }
        }
    }
}

impl FromValue<'_> for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(yes) => Some(*yes),
            // SQLite has no boolean type of its own.
            Value::Int(number) => Some(*number != 0),
            Value::Null(_) | Value::Text(_) | Value::Uuid(_) | Value::Bytes(_) => None,
        }
    }
}

impl<'row> FromValue<'row> for &'row str {
    fn from_value(value: &'row Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            Value::Null(_) | Value::Int(_) | Value::Bool(_) | Value::Uuid(_) | Value::Bytes(_) => {
                None
            }
        }
    }
}

impl FromValue<'_> for String {
    fn from_value(value: &Value) -> Option<Self> {
        <&str>::from_value(value).map(str::to_owned)
    }
}

impl FromValue<'_> for Uuid {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Uuid(uuid) => Some(*uuid),
            Value::Null(_) | Value::Int(_) | Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => {
                None
            }
        }
    }
}

impl FromValue<'_> for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.clone()),
            // Any sixteen bytes look like an id to SQLite.
            Value::Uuid(uuid) => Some(uuid.as_bytes().to_vec()),
            Value::Null(_) | Value::Int(_) | Value::Bool(_) | Value::Text(_) => None,
        }
    }
}

impl<'row, T: FromValue<'row>> FromValue<'row> for Option<T> {
    fn from_value(value: &'row Value) -> Option<Self> {
        if matches!(value, Value::Null(_)) {
            return Some(None);
        }
        T::from_value(value).map(Some)
    }
}
