//! Parses and changes requests as JSON that every parser reads the same way.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// Reads an object. Rejects duplicate keys, because the vendor must read exactly what was checked.
pub(super) fn read(body: &[u8]) -> Result<Value, serde_json::Error> {
    let Plain(value) = serde_json::from_slice(body)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(serde_json::Error::custom("it is not an object"))
    }
}

/// Returns the object with new values for some of its keys. All other values stay as they were written.
pub(super) fn change(body: &[u8], changes: Vec<(&str, Value)>) -> Result<Bytes, serde_json::Error> {
    let mut object: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body)?;
    for (key, value) in changes {
        object.insert(key.to_owned(), serde_json::value::to_raw_value(&value)?);
    }
    Ok(Bytes::from(serde_json::to_vec(&object)?))
}

/// A value without duplicate keys.
struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Plain(value))) = entries.next_entry::<String, Plain>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("it has {key:?} twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
