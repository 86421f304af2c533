//! Holds the list of codes against the OpenAPI document and against docs/api.md.

use std::collections::BTreeSet;

use super::*;

const API_GUIDE: &str = include_str!("../../../docs/api.md");

/// Every code with its status.
fn known() -> BTreeSet<(String, u16)> {
    let own = OWN_CODES
        .iter()
        .map(|(code, status)| ((*code).to_owned(), status.as_u16()));
    let refused = deskhand_app::codes()
        .into_iter()
        .map(|code| (code.code.to_owned(), status(code.kind).as_u16()));
    own.chain(refused).collect()
}

/// Every code that an operation of the document names, with its status.
fn documented() -> BTreeSet<(String, u16)> {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    let mut found = BTreeSet::new();
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            let Some(responses) = operation["responses"].as_object() else {
                continue;
            };
            for (status, response) in responses {
                let status: u16 = status.parse().unwrap();
                let has_problem = response["content"]["application/json"]["schema"]["$ref"]
                    == "#/components/schemas/Problem";
                if has_problem {
                    let description = response["description"].as_str().unwrap();
                    found.extend(quoted(description).map(|code| (code, status)));
                }
            }
        }
    }
    found
}

/// The words in backticks that look like codes.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let words = text.split('`').skip(1).step_by(2);
    let is_code = |word: &&str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    words.filter(is_code).map(str::to_owned)
}

#[test]
fn every_code_is_in_the_document() {
    // No operation of the document has these: they are about paths that do not exist, about every path, and about a
    // message on a WebSocket.
    let elsewhere = [
        "no_route",
        "wrong_method",
        "unknown_host",
        "too_many_subscriptions",
    ];
    let mut missing: Vec<_> = known().difference(&documented()).cloned().collect();
    missing.retain(|(code, _)| !elsewhere.contains(&code.as_str()));
    assert_eq!(missing, []);
}

#[test]
fn every_code_in_the_document_exists() {
    let unknown: Vec<_> = documented().difference(&known()).cloned().collect();
    assert_eq!(unknown, []);
}

#[test]
fn every_code_is_in_the_guide() {
    let mut missing: Vec<_> = known().into_iter().map(|(code, _)| code).collect();
    missing.dedup();
    missing.retain(|code| !API_GUIDE.contains(&format!("`{code}`")));
    assert_eq!(missing, Vec::<String>::new());
}
