//! The fixtures that need input of the client: they ask in their result and are called again with the answers.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
        InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::fixtures::read;

pub(crate) const TOOLS: &[&str] = &[
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];
pub(crate) const PROMPT: &str = "test_input_required_result_prompt";

/// The states that the fixtures give out. A state that was changed is none of them.
const FIRST_STATE: &str = "round-1:8f14e45fceea167a5a36dedd4bea2543";
const SECOND_STATE: &str = "round-2:c9f0f895fb98ab9159f51fd0297e236d";

pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given = request.input_responses.clone().unwrap_or_default();
    let state = request.request_state.as_deref();
    if state.is_some_and(|state| ![FIRST_STATE, SECOND_STATE].contains(&state)) {
        return Err(ErrorData::invalid_params("the state was changed", None));
    }
    let name = elicitation("What is your name?", "name", "string");
    Ok(match &*request.name {
        "test_input_required_result_elicitation" => match answer(&given, "user_name", "name") {
            Some(name) => done(&format!("Hello, {}!", shown(name))),
            None => ask_for_a_name().into(),
        },
        "test_input_required_result_sampling" => match given.get("capital_question") {
            Some(said) => done(&shown(&said["content"]["text"])),
            None => ask(
                json!({"capital_question": sampling("What is the capital of France?", 100)}),
                None,
            ),
        },
        "test_input_required_result_list_roots" => match given.get("client_roots") {
            Some(roots) => done(&roots["roots"].to_string()),
            None => ask(json!({"client_roots": roots()}), None),
        },
        "test_input_required_result_multiple_inputs" => {
            let keys = ["user_name", "greeting", "client_roots"];
            if keys.iter().all(|key| given.contains_key(*key)) && state.is_some() {
                done("All inputs have come.")
            } else {
                let asked = json!({
                    "user_name": name,
                    "greeting": sampling("Generate a greeting", 50),
                    "client_roots": roots(),
                });
                ask(asked, Some(FIRST_STATE))
            }
        }
        "test_input_required_result_multi_round" => match state {
            Some(FIRST_STATE) if given.contains_key("step1") => {
                let colour = elicitation("Step 2: What is your favorite color?", "color", "string");
                ask(json!({"step2": colour}), Some(SECOND_STATE))
            }
            Some(SECOND_STATE) if given.contains_key("step2") => done("All rounds are done."),
            _ => {
                let name = elicitation("Step 1: What is your name?", "name", "string");
                ask(json!({"step1": name}), Some(FIRST_STATE))
            }
        },
        "test_input_required_result_capabilities" => {
            let has = context.meta.client_capabilities().unwrap_or_default();
            let mut asked = json!({});
            if has.elicitation.is_some() {
                asked["user_name"] = name;
            }
            if has.sampling.is_some() {
                asked["greeting"] = sampling("Generate a greeting", 50);
            }
            ask(asked, Some(FIRST_STATE))
        }
        // Those about the state itself.
        _ if state.is_some() && given.contains_key("confirm") => done("state-ok"),
        _ => {
            let confirm = elicitation("Please confirm", "ok", "boolean");
            ask(json!({"confirm": confirm}), Some(FIRST_STATE))
        }
    })
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> GetPromptResponse {
    let given = request.input_responses.clone().unwrap_or_default();
    match answer(&given, "user_context", "context") {
        Some(context) => {
            let text = format!("Use this context: {}", shown(context));
            let message = json!({"role": "user", "content": {"type": "text", "text": text}});
            GetPromptResult::new(read(json!([message]))).into()
        }
        None => {
            let message = "What context should the prompt use?";
            let asked = json!({"user_context": elicitation(message, "context", "string")});
            InputRequiredResult::from_input_requests(read(asked)).into()
        }
    }
}

/// Asks for the name of the user.
pub(crate) fn ask_for_a_name() -> InputRequiredResult {
    let asked = json!({"user_name": elicitation("What is your name?", "name", "string")});
    InputRequiredResult::from_input_requests(read(asked))
}

/// Returns the field of an accepted form.
fn answer<'a>(given: &'a InputResponses, key: &str, field: &str) -> Option<&'a Value> {
    given.get(key)?.get("content")?.get(field)
}

fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn done(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn ask(requests: Value, state: Option<&str>) -> CallToolResponse {
    InputRequiredResult::new(Some(read(requests)), state.map(str::to_owned)).into()
}

fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    let schema =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    })
}

fn sampling(text: &str, most_tokens: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": most_tokens},
    })
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
