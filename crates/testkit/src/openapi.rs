//! The server's OpenAPI document, for checking the server's responses against it.

use std::collections::BTreeSet;

use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Document(pub Value);

/// One method of one path.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The method in capitals.
    pub method: String,
    pub path: String,
    pub description: Value,
}

impl Operation {
    /// Returns the statuses that it may respond with.
    pub fn statuses(&self) -> Vec<String> {
        let answers = self.description["responses"].as_object().unwrap();
        answers.keys().cloned().collect()
    }
}

/// The names of an object's fields. `None` if any name is allowed.
type Fields = Option<BTreeSet<String>>;

impl Document {
    pub fn operations(&self) -> Vec<Operation> {
        let paths = self.0["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| -> Vec<Operation> {
            let methods = item.as_object().unwrap().iter();
            methods
                .map(|(method, description)| Operation {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    description: description.clone(),
                })
                .collect()
        };
        paths.iter().flat_map(of_path).collect()
    }

    /// Checks that `value` matches the schema with this name and has no other fields.
    pub fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        let schema = self.0.pointer(&format!("/components/schemas/{name}"));
        self.check_all(schema.ok_or(format!("no schema {name}"))?, value, name)
    }

    /// Checks that `value` matches `schema` and has no other fields.
    pub fn check_all(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let (Some(fields), Some(object)) = (self.fields(schema, value, at)?, value.as_object())
        else {
            return Ok(());
        };
        match object.keys().find(|key| !fields.contains(*key)) {
            Some(key) => Err(format!("{at}.{key} is not described")),
            None => Ok(()),
        }
    }

    /// Checks that `value` matches `schema`, and returns the fields that the schema names.
    fn fields(&self, schema: &Value, value: &Value, at: &str) -> Result<Fields, String> {
        if let Some(place) = schema["$ref"].as_str() {
            let target = self.0.pointer(place.trim_start_matches('#'));
            return self.fields(target.ok_or(format!("{place} is nowhere"))?, value, at);
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut all = BTreeSet::new();
            for part in parts {
                all.extend(self.fields(part, value, at)?.into_iter().flatten());
            }
            return Ok(Some(all));
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let tried = choices
                .iter()
                .map(|choice| self.fields(choice, value, at))
                .collect::<Vec<_>>();
            let mut fitting = tried.iter().filter_map(|tried| tried.clone().ok());
            return match (fitting.next(), fitting.next()) {
                (Some(fields), None) => Ok(fields),
                (Some(_), Some(_)) => Err(format!("{at}: {value} fits several choices")),
                (None, _) => Err(format!("{at}: {value} fits no choice: {tried:?}")),
            };
        }
        check_simple(schema, value, at)?;
        for item in value.as_array().into_iter().flatten() {
            self.check_all(&schema["items"], item, &format!("{at}[]"))?;
        }
        let Some(object) = value.as_object() else {
            return Ok(None);
        };
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !object.contains_key(name) {
                return Err(format!("{at}.{name} is missing"));
            }
        }
        let Some(properties) = schema["properties"].as_object() else {
            return Ok(None);
        };
        for (name, schema) in properties {
            if let Some(value) = object.get(name) {
                self.check_all(schema, value, &format!("{at}.{name}"))?;
            }
        }
        Ok(Some(properties.keys().cloned().collect()))
    }
}

/// Checks the type, the choices and the bounds.
fn check_simple(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type {other}"),
    };
    let wanted = &schema["type"];
    let fits = wanted.is_null()
        || wanted.as_str().is_some_and(is)
        || wanted
            .as_array()
            .is_some_and(|names| names.iter().filter_map(Value::as_str).any(is));
    let chosen = schema["enum"].as_array();
    let bound = |name: &str| schema[name].as_f64();
    let number = value.as_f64();
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let too_small = bound("minimum").zip(number).is_some_and(|(b, n)| n < b);
    let too_large = bound("maximum").zip(number).is_some_and(|(b, n)| n > b);
    let longest = schema["maxLength"].as_u64();
    let too_long = longest.zip(length).is_some_and(|(most, n)| n > most);
    if !fits || chosen.is_some_and(|chosen| !chosen.contains(value)) {
        return Err(format!("{at}: {value} is not {schema}"));
    }
    if too_small || too_large || too_long {
        return Err(format!("{at}: {value} is out of the bounds of {schema}"));
    }
    Ok(())
}
