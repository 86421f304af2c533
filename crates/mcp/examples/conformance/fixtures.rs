//! The tools, resources and prompts that the suite calls by name.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
        CompleteRequestParams, CompleteResult, ContentBlock, ElicitRequestParams,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
        ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{sync::broadcast, time::sleep};

use crate::input;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV file without a sound.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const PAUSE: Duration = Duration::from_millis(20);

/// The tools without arguments, besides those of [`input`].
const PLAIN_TOOLS: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
];

/// A list that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changed {
    Tools,
    Prompts,
}

#[derive(Debug, Clone)]
pub(crate) struct Fixtures {
    changes: Arc<broadcast::Sender<Changed>>,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self {
            changes: Arc::new(broadcast::Sender::new(16)),
        }
    }
}

/// Reads a value of the protocol that is written as in the specification.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_logging()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = PLAIN_TOOLS.iter().chain(input::TOOLS).copied();
        let mut tools: Vec<_> = names.map(|name| tool(name, &[])).collect();
        tools.push(tool("test_sampling", &["prompt"]));
        tools.push(tool("test_elicitation", &["message"]));
        let mut list = ListToolsResult::with_all_items(tools);
        (list.ttl_ms, list.cache_scope) = (Some(1_000), Some(CacheScope::Public));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(tool(PLAIN_TOOLS.iter().find(|plain| **plain == name)?, &[]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if input::TOOLS.contains(&&*request.name) {
            return input::call(&request, &context);
        }
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let embedded = |uri: &str, media_type: &str, text: &str| {
            read(
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "text": text}}),
            )
        };
        let result = match &*request.name {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => {
                CallToolResult::success(vec![ContentBlock::image(PNG, "image/png")])
            }
            "test_audio_content" => {
                CallToolResult::success(vec![ContentBlock::audio(WAV, "audio/wav")])
            }
            "test_embedded_resource" => CallToolResult::success(vec![embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]),
            "test_multiple_content_types" => CallToolResult::success(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ]),
            "test_error_handling" => CallToolResult::error(vec![ContentBlock::text(
                "This tool intentionally returns an error for testing",
            )]),
            "test_tool_with_logging" => with_logging(&context).await,
            "test_logging_tool" => with_logging(&context).await,
            "test_tool_with_progress" => with_progress(&context).await,
            "test_sampling" => sample(&context, argument("prompt")).await?,
            "test_elicitation" => {
                let schema = json!({
                    "type": "object",
                    "properties": {
                        "username": {"type": "string", "description": "User's response"},
                        "email": {"type": "string", "description": "User's email address"},
                    },
                    "required": ["username", "email"],
                });
                elicit(&context, argument("message"), schema, "User response:").await?
            }
            "test_elicitation_sep1034_defaults" => {
                elicit(&context, "Defaults", defaults(), "Elicitation completed:").await?
            }
            "test_elicitation_sep1330_enums" => {
                elicit(&context, "Enums", enums(), "Elicitation completed:").await?
            }
            "test_missing_capability" => {
                let has = context.client_capabilities();
                if has.is_none_or(|has| has.sampling.is_none()) {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                text("The client can sample.")
            }
            "test_streaming_elicitation" => return Ok(input::ask_for_a_name().into()),
            "test_trigger_tool_change" => self.change(Changed::Tools),
            "test_trigger_prompt_change" => self.change(Changed::Prompts),
            other => {
                let message = format!("unknown tool {other}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |name: &str, media_type: &str| {
            read(json!({
                "uri": format!("test://{name}"), "name": name, "description": name, "mimeType": media_type,
            }))
        };
        let mut list = ListResourcesResult::with_all_items(vec![
            resource("static-text", "text/plain"),
            resource("static-binary", "image/png"),
            resource("watched-resource", "text/plain"),
        ]);
        (list.ttl_ms, list.cache_scope) = (Some(1_000), Some(CacheScope::Public));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({
            "uriTemplate": "test://template/{id}/data", "name": "data", "description": "data",
            "mimeType": "application/json",
        });
        let mut list = ListResourceTemplatesResult::with_all_items(vec![read(template)]);
        (list.ttl_ms, list.cache_scope) = (Some(1_000), Some(CacheScope::Public));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let id = uri.strip_prefix("test://template/");
        let id = id.and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (&*uri, id) {
            ("test://static-text", _) => json!({
                "mimeType": "text/plain", "text": "This is the content of the static text resource.",
            }),
            ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": PNG}),
            ("test://watched-resource", _) => json!({"mimeType": "text/plain", "text": "Watched."}),
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"mimeType": "application/json", "text": data.to_string()})
            }
            (_, None) => {
                let data = json!({"uri": uri});
                return Err(ErrorData::resource_not_found(
                    "Resource not found",
                    Some(data),
                ));
            }
        };
        let mut contents = contents;
        contents["uri"] = uri.into();
        let mut result = ReadResourceResult::new(vec![read(contents)]);
        (result.ttl_ms, result.cache_scope) = (Some(1_000), Some(CacheScope::Public));
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let argument =
                |name: &&str| json!({"name": name, "description": name, "required": true});
            let arguments: Vec<_> = arguments.iter().map(argument).collect();
            read(json!({"name": name, "description": name, "arguments": arguments}))
        };
        let mut list = ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt(input::PROMPT, &[]),
        ]);
        (list.ttl_ms, list.cache_scope) = (Some(1_000), Some(CacheScope::Public));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == input::PROMPT {
            return Ok(input::prompt(&request));
        }
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let say = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let messages = match &*request.name {
            "test_simple_prompt" => json!([say("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => {
                let (first, second) = (argument("arg1"), argument("arg2"));
                json!([say(&format!(
                    "Prompt with arguments: arg1='{first}', arg2='{second}'"
                ))])
            }
            "test_prompt_with_embedded_resource" => {
                let resource = json!({
                    "uri": argument("resourceUri"), "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                });
                json!([
                    {"role": "user", "content": {"type": "resource", "resource": resource}},
                    say("Please process the embedded resource above."),
                ])
            }
            "test_prompt_with_image" => json!([
                {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}},
                say("Please analyze the image above."),
            ]),
            other => {
                let message = format!("unknown prompt {other}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(GetPromptResult::new(read(messages)).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let changed = tokio::select! {
                changed = changes.recv() => changed.unwrap(),
                () = context.cancelled() => return Ok(()),
            };
            let accepted = context.accepted();
            // A client that is gone needs no notification.
            let _ = match changed {
                Changed::Tools if accepted.tools_list_changed == Some(true) => {
                    context.sink().notify_tool_list_changed().await
                }
                Changed::Prompts if accepted.prompts_list_changed == Some(true) => {
                    context.sink().notify_prompt_list_changed().await
                }
                Changed::Tools | Changed::Prompts => Ok(()),
            };
        }
    }
}

impl Fixtures {
    /// Tells all subscribers about a change.
    fn change(&self, what: Changed) -> CallToolResult {
        // It is no error if nobody has subscribed.
        let _ = self.changes.send(what);
        text("Changed.")
    }
}

fn tool(name: &'static str, arguments: &[&str]) -> Tool {
    let properties: JsonObject = arguments
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect();
    let schema: JsonObject =
        read(json!({"type": "object", "properties": properties, "required": arguments}));
    Tool::new(name, name, schema)
}

/// Says three things, if the client wants to hear them.
async fn with_logging(context: &RequestContext<RoleServer>) -> CallToolResult {
    let is_stateless = context.meta.protocol_version().is_some();
    for said in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        if !is_stateless || context.meta.log_level().is_some() {
            let said = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
            context.peer.notify_logging_message(said).await.unwrap();
        }
        sleep(PAUSE).await;
    }
    text("Done.")
}

async fn with_progress(context: &RequestContext<RoleServer>) -> CallToolResult {
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let mut progress = ProgressNotificationParam::new(token, progress);
            progress.total = Some(100.0);
            context.peer.notify_progress(progress).await.unwrap();
        }
        sleep(PAUSE).await;
    }
    text("Done.")
}

async fn sample(
    context: &RequestContext<RoleServer>,
    prompt: &str,
) -> Result<CallToolResult, ErrorData> {
    let request = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100,
    });
    let answer = context.peer.create_message(read(request)).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let said = serde_json::to_value(&answer).unwrap()["content"]["text"].clone();
    Ok(text(format!(
        "LLM response: {}",
        said.as_str().unwrap_or_default()
    )))
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    schema: Value,
    prefix: &str,
) -> Result<CallToolResult, ErrorData> {
    let request: ElicitRequestParams =
        read(json!({"mode": "form", "message": message, "requestedSchema": schema}));
    let answer = context.peer.create_elicitation(request).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let action = serde_json::to_value(&answer.action).unwrap();
    let action = action.as_str().unwrap_or_default();
    let content = answer.content.unwrap_or_default();
    Ok(text(format!("{prefix} action={action}, content={content}")))
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    })
}

fn enums() -> Value {
    let options = ["option1", "option2", "option3"];
    let titled = |title: &str| {
        json!([
            {"const": "value1", "title": format!("First {title}")},
            {"const": "value2", "title": format!("Second {title}")},
            {"const": "value3", "title": format!("Third {title}")},
        ])
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        },
        "required": [],
    })
}
