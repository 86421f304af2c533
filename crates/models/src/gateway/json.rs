//! Changes single fields of a request and copies the rest.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// The longest `stream_options`, in bytes.
const LONGEST_OPTIONS: usize = 1024;

/// A request whose fields are not parsed.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Fields<'a>(#[serde(borrow)] BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Fields<'a> {
    pub(super) fn of(body: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|error| format!("the body cannot be read: {error}"))
    }

    /// Returns the options of a streamed answer, or empty ones.
    pub(super) fn stream_options(&self) -> Result<Value, String> {
        let Some(options) = self.0.get("stream_options") else {
            return Ok(Value::Object(serde_json::Map::new()));
        };
        let options = options.get();
        if options.len() > LONGEST_OPTIONS {
            return Err(format!(
                "\"stream_options\" has at most {LONGEST_OPTIONS} bytes"
            ));
        }
        let options: Value = serde_json::from_str(options)
            .map_err(|error| format!("\"stream_options\" cannot be read: {error}"))?;
        Ok(if options.is_object() {
            options
        } else {
            Value::Object(serde_json::Map::new())
        })
    }

    /// Writes the request with new values for some fields. All other values stay as they were written.
    pub(super) fn with(self, changes: &[(&'static str, Value)]) -> Result<Bytes, String> {
        let failed = |error: serde_json::Error| format!("the body cannot be changed: {error}");
        let raw = |value: &Value| serde_json::value::to_raw_value(value).map_err(failed);
        let changes: Vec<(&str, Box<RawValue>)> = changes
            .iter()
            .map(|(key, value)| Ok((*key, raw(value)?)))
            .collect::<Result<_, String>>()?;
        let mut fields = self.0;
        for (key, value) in &changes {
            fields.insert(Cow::Borrowed(key), value);
        }
        // Quotes, a colon and a comma for each field, and the braces. A key with escapes is longer than it is here.
        let n_bytes: usize = fields
            .iter()
            .map(|(key, value)| key.len() + value.get().len() + 4)
            .sum();
        let mut body = Vec::with_capacity(n_bytes + 64);
        serde_json::to_writer(&mut body, &fields).map_err(failed)?;
        Ok(Bytes::from(body))
    }
}
