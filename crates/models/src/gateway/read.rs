//! Reads and checks a request in one pass over its bytes.
//!
//! Nothing of the request is kept but what the gateway uses: a body of many small values would take many times its
//! size as a tree. What is rejected is rejected at the first byte that shows it.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use super::{
    fields,
    meter::BYTES_PER_TOKEN,
    paths::Dialect,
    place::{Place, Scalar},
};

/// A text without a space in so many bytes is not words.
const LONGEST_WORD: usize = 2_048;
/// The approximate tokens of a picture.
const PICTURE_TOKENS: u64 = 1_500;
/// The most values and keys of a request. Requests consist of few, long texts.
const MOST_NODES: usize = 200_000;

/// The parts of a request that the gateway uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CheckedRequest {
    pub(super) model: Option<String>,
    /// The answer is to be streamed.
    pub(super) is_streamed: bool,
    /// The first tool that is not a function, if there is one.
    pub(super) other_tool: Option<String>,
    /// The estimated tokens of the prompt.
    pub(super) n_prompt_tokens: u64,
}

/// Reads a request. Rejects everything that programs may not ask for, and duplicate keys, because the vendor must read
/// exactly what was checked. The error is for the author of the program.
pub(super) fn read(dialect: Dialect, body: &[u8]) -> Result<CheckedRequest, String> {
    let mut reader = Reader {
        dialect,
        n_nodes: 0,
        asked: CheckedRequest::default(),
        refusal: None,
    };
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = ValueSeed {
        reader: &mut reader,
        place: Place::Body,
    }
    .deserialize(&mut json)
    .and_then(|_seen| json.end());
    match (reader.refusal, read) {
        (Some(refusal), _) => Err(refusal),
        (None, Err(error)) => Err(format!("the body cannot be read: {error}")),
        (None, Ok(())) => Ok(reader.asked),
    }
}

/// The state of reading a request.
struct Reader {
    dialect: Dialect,
    n_nodes: usize,
    asked: CheckedRequest,
    /// The reason why the request is not passed on.
    refusal: Option<String>,
}

impl Reader {
    /// Counts a value or a key.
    fn count<E: Error>(&mut self) -> Result<(), E> {
        self.n_nodes += 1;
        if self.n_nodes > MOST_NODES {
            let problem = format!("the body has more than {MOST_NODES} values");
            return self.refuse(problem);
        }
        Ok(())
    }

    fn refuse<T, E: Error>(&mut self, refusal: String) -> Result<T, E> {
        self.refusal = Some(refusal);
        Err(E::custom("refused"))
    }

    /// Takes in a value that is neither an array nor an object.
    fn scalar<E: Error>(&mut self, place: Place, scalar: Scalar<'_>) -> Result<(), E> {
        self.count()?;
        if let Err(refusal) = place.check(self.dialect, scalar) {
            return self.refuse(refusal);
        }
        if let Scalar::Text(text) = scalar {
            self.asked.n_prompt_tokens += tokens(text);
        }
        match (place, scalar) {
            (Place::Model, Scalar::Text(name)) => self.asked.model = Some(name.to_owned()),
            (Place::Stream, Scalar::Bool(is_streamed)) => self.asked.is_streamed = is_streamed,
            (Place::ToolKind, Scalar::Text(kind)) if kind != "function" => {
                self.asked.other_tool.get_or_insert_with(|| kind.to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads one value at a place of the request.
struct ValueSeed<'r> {
    reader: &'r mut Reader,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Bool(value))
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Number)
    }

    fn visit_u64<E: Error>(self, _value: u64) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Number)
    }

    fn visit_f64<E: Error>(self, _value: f64) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Number)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.reader.scalar(self.place, Scalar::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { reader, place } = self;
        reader.count()?;
        let place = match place.item() {
            Ok(place) => place,
            Err(refusal) => return reader.refuse(refusal),
        };
        loop {
            let seed = ValueSeed {
                reader: &mut *reader,
                place,
            };
            if items.next_element_seed(seed)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { reader, place } = self;
        reader.count()?;
        if let Err(refusal) = place.object() {
            return reader.refuse(refusal);
        }
        let mut keys = HashSet::new();
        while let Some(Key(key)) = entries.next_key()? {
            reader.count()?;
            let value = match place.value(reader.dialect, &key) {
                Ok(value) => value,
                Err(refusal) => return reader.refuse(refusal),
            };
            if keys.contains(&key) {
                return reader.refuse(format!("the body cannot be read: it has {key:?} twice"));
            }
            keys.insert(key);
            let seed = ValueSeed {
                reader: &mut *reader,
                place: value,
            };
            entries.next_value_seed(seed)?;
        }
        if place == Place::Item && !keys.contains("type") && !keys.contains("role") {
            let problem = "the gateway does not pass on items that are kept in the account: put them into the request";
            return reader.refuse(problem.to_owned());
        }
        if place == Place::Tool && reader.dialect != Dialect::Gemini {
            return reader.tool(&keys);
        }
        Ok(())
    }
}

impl Reader {
    /// Checks a tool whose keys are known. Only Anthropic's tools need no type.
    fn tool<E: Error>(&mut self, keys: &HashSet<Cow<'_, str>>) -> Result<(), E> {
        if keys.contains("type") || self.dialect == Dialect::Messages {
            return Ok(());
        }
        self.refuse("each of the \"tools\" needs a \"type\"".to_owned())
    }
}

/// Estimates the tokens of a text. A long text without spaces is a picture or a file.
fn tokens(text: &str) -> u64 {
    let beginning = text.bytes().take(LONGEST_WORD);
    if text.len() > LONGEST_WORD && !beginning.into_iter().any(|byte| byte.is_ascii_whitespace()) {
        return PICTURE_TOKENS;
    }
    u64::try_from(text.len())
        .unwrap_or(u64::MAX)
        .div_ceil(BYTES_PER_TOKEN)
}

/// A key of an object.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns the reason why a name of a model is not passed on.
pub(super) fn check_model(name: &str) -> Result<(), String> {
    if fields::is_searching(name) {
        return Err(format!(
            "the gateway does not pass on the model {name:?}: it searches the web, and programs here have no network"
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
