//! The OpenAPI document, from the descriptions of the routes and the responses common to all of them.

use deskhand_api::{
    bus::{BusMessage, BusRequest},
    events::PresenceMessage,
    problem::ProblemView,
    terminals::{TerminalMessage, TerminalRequest},
};
use deskhand_core::event::Event;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Content, Ref, RefOr, Response,
        path::{HttpMethod, Operation, ParameterIn},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{routes, site::COOKIE};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Deskhand",
        description = "Gives an AI agent a computer of its own and lets people watch it. \
            Ids are UUIDs and times RFC 3339 in UTC. Bodies are JSON of at most 1 MiB; \
            unknown fields and query parameters are refused. Lists come in pages: the \
            answer's `next` asks for the next one.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "people", description = "Users, sign-in, tokens and settings"),
        (name = "sessions", description = "Conversations with an agent, each with its computer and its log"),
        (name = "decisions", description = "Questions and approvals that the agent waits for"),
        (name = "computer", description = "The computer of a session"),
        (name = "watching", description = "Watching a session by a link, without signing in"),
        (name = "evals", description = "Measuring models on suites of tasks"),
        (name = "server", description = "The server itself"),
    ),
    // A response cannot describe the messages of a WebSocket.
    components(schemas(
        BusMessage, BusRequest, Event, PresenceMessage, ProblemView, TerminalMessage, TerminalRequest
    )),
    security(("bearer" = []), ("cookie" = [])),
    modifiers(&SecuritySchemes),
)]
struct Document;

/// Returns the document as JSON.
pub fn openapi() -> String {
    let (_, mut described) = routes().split_for_parts();
    // OpenAPI has no notation for the router's `{*path}`, a parameter that contains slashes.
    let paths = std::mem::take(&mut described.paths.paths);
    let plain = |(path, item): (String, _)| (path.replace("{*", "{"), item);
    described.paths.paths = paths.into_iter().map(plain).collect();
    for (path, item) in &mut described.paths.paths {
        let operations = [
            (HttpMethod::Get, &mut item.get),
            (HttpMethod::Post, &mut item.post),
            (HttpMethod::Put, &mut item.put),
            (HttpMethod::Patch, &mut item.patch),
            (HttpMethod::Delete, &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                add_common_answers(path, &method, operation);
            }
        }
    }
    let mut document = Document::openapi();
    document.merge(described);
    // Serializing fails only because of a mistake in the types, which tests show.
    document.to_json().unwrap_or_default()
}

struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("dh_…")
            .description(Some("A token. An administrator's is in `DIR/admin-token`."))
            .build();
        let cookie = ApiKeyValue::with_description(
            COOKIE,
            "Set by signing in. A request that changes something must then come from the page's own origin. If the \
             public address is encrypted, the name is `__Host-deskhand`.",
        );
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// Adds the responses that follow from the parameters of a route, and the common shape of all errors.
fn add_common_answers(path: &str, method: &HttpMethod, operation: &mut Operation) {
    let takes = |place: &ParameterIn| {
        let parameters = operation.parameters.iter().flatten();
        parameters
            .filter_map(|parameter| match parameter {
                RefOr::T(parameter) => Some(parameter),
                RefOr::Ref(_) => None,
            })
            .any(|parameter| parameter.parameter_in == *place)
    };
    // Properties of the route that decide its responses.
    let has_body = operation.request_body.is_some();
    let has_query = takes(&ParameterIn::Query);
    let has_id = takes(&ParameterIn::Path) && operation.security.is_none();
    let is_signed_in = operation.security.is_none();
    let is_socket = operation.responses.responses.contains_key("101");
    let changes = *method != HttpMethod::Get;
    let in_session = path.contains("/sessions/{id}");

    let mut add = |applies: bool, status: &str, code: &str| {
        if applies {
            add_answer(operation, status, code);
        }
    };
    add(has_body || has_query, "400", "malformed");
    add(is_signed_in, "401", "not_signed_in");
    add(
        is_signed_in && (changes || is_socket),
        "403",
        "wrong_origin",
    );
    add(is_signed_in, "403", "narrow_scope");
    add(in_session && changes, "403", "not_allowed");
    add(in_session, "404", "no_session");
    add(has_id, "404", "bad_id");
    add(has_body, "408", "too_slow");
    add(has_body, "413", "too_large");
    add(is_signed_in, "429", "too_fast");
    add(is_signed_in || has_body, "500", "internal");
    add(is_signed_in || has_body, "503", "no_database");

    for (status, answer) in &mut operation.responses.responses {
        // An error with a body of its own already describes it.
        if let RefOr::T(answer) = answer
            && status.as_str() >= "400"
            && answer.content.is_empty()
        {
            let shape = Content::new(Some(Ref::from_schema_name("Problem")));
            answer
                .content
                .insert("application/json".to_owned(), RefOr::T(shape));
        }
    }
}

/// Adds an error code to the response with this status.
fn add_answer(operation: &mut Operation, status: &str, code: &str) {
    let answers = &mut operation.responses.responses;
    let answer = answers
        .entry(status.to_owned())
        .or_insert_with(|| RefOr::T(Response::default()));
    if let RefOr::T(answer) = answer {
        let separator = if answer.description.is_empty() {
            ""
        } else {
            ", "
        };
        answer.description += &format!("{separator}`{code}`");
    }
}
