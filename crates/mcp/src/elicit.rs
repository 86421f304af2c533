//! Asks the person at the client what an agent waits for, if the client can show a form.

use deskhand_app::GivenReply;
use deskhand_core::{
    decision::{Ask, Choice, Decision, Form, Reply},
    id::SessionId,
    user::Scope,
};
use rmcp::{
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        InputRequest, InputRequests, InputRequiredResult, ProtocolVersion, ServerRequest,
    },
    service::PeerRequestOptions,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::{call::Call, clip::clip, refusal::CallError, status};

/// The field of the form that has the answer.
const ANSWER: &str = "answer";
/// The longest question, and the longest description of the action that it is about.
const LONGEST_QUESTION_BYTES: usize = 2_000;
const LONGEST_SUBJECT_BYTES: usize = 1_000;

/// The outcome of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The person has answered, or somebody else has.
    Answered,
    /// The client asks after this call, and then makes it again.
    Later(InputRequiredResult),
    /// The client cannot ask, or the person has not answered.
    NotAnswered,
}

/// Takes the answer that came with a repeated call. Returns false if the person did not want to answer.
pub(crate) async fn take_given(call: &Call<'_>, id: SessionId) -> Result<bool, CallError> {
    if call.given.is_empty() {
        return Ok(true);
    }
    // Somebody else may have answered in the meantime.
    let Some(asked) = status::open_question(call, id).await? else {
        return Ok(true);
    };
    let Some(given) = call.given.get(&asked.id.to_string()) else {
        return Ok(true);
    };
    let given: ElicitResult = serde_json::from_value(given.clone()).map_err(|error| {
        CallError::malformed(format!(
            "the answer is not a result of elicitation: {error}"
        ))
    })?;
    answer(call, &asked, given).await
}

/// Asks the person at the client the question that the agent waits for, until this time.
pub(crate) async fn ask(
    call: &Call<'_>,
    id: SessionId,
    until: Instant,
) -> Result<Asked, CallError> {
    let Some(asked) = status::open_question(call, id).await? else {
        return Ok(Asked::Answered);
    };
    let Some(form) = form_of(&asked.ask).filter(|_| can_ask(call)) else {
        return Ok(Asked::NotAnswered);
    };
    if call.context.protocol_version() >= Some(ProtocolVersion::V_2026_07_28) {
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests = InputRequests::from([(asked.id.to_string(), request)]);
        let later = InputRequiredResult::from_input_requests(requests);
        return Ok(Asked::Later(later));
    }
    ask_now(call, &asked, form, until).await
}

/// Sends the client a request, and withdraws it when it is no longer needed.
async fn ask_now(
    call: &Call<'_>,
    asked: &Decision,
    form: ElicitRequestParams,
    until: Instant,
) -> Result<Asked, CallError> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::no_options();
    let sent = call.context.peer.send_cancellable_request(request, options);
    // A client that cannot be reached is not asked.
    let Ok(mut sent) = sent.await else {
        return Ok(Asked::NotAnswered);
    };
    let outcome = tokio::select! {
        given = &mut sent.rx => {
            let Ok(Ok(ClientResult::ElicitResult(given))) = given else {
                return Ok(Asked::NotAnswered);
            };
            let is_answered = answer(call, asked, given).await?;
            return Ok(if is_answered { Asked::Answered } else { Asked::NotAnswered });
        }
        settled = settled(call, asked) => settled.map(|()| Asked::Answered),
        () = sleep_until(until) => Ok(Asked::NotAnswered),
        () = call.app.ending().cancelled() => Ok(Asked::NotAnswered),
        () = call.context.ct.cancelled() => Ok(Asked::NotAnswered),
    };
    // A client that is gone shows no form.
    let _ = sent.cancel(Some("no longer asked".to_owned())).await;
    outcome
}

/// Waits until a question is settled.
async fn settled(call: &Call<'_>, asked: &Decision) -> Result<(), CallError> {
    let sessions = call.app.sessions();
    let session = sessions.find(call.viewer(), asked.session).await?;
    let follow = sessions.follow(call.viewer(), asked.session, session.last_seq);
    let mut feed = follow.await?;
    loop {
        let open = status::open_question(call, asked.session).await?;
        if open.is_none_or(|open| open.id != asked.id) {
            return Ok(());
        }
        feed.next().await?;
    }
}

/// Passes an answer on to the agent. Returns false if the person did not give one.
async fn answer(call: &Call<'_>, asked: &Decision, given: ElicitResult) -> Result<bool, CallError> {
    if given.action != ElicitationAction::Accept {
        return Ok(false);
    }
    let content = given.content.unwrap_or_default();
    let reply = read(&asked.ask.form, &content[ANSWER]).ok_or_else(|| {
        CallError::malformed("the form that the client sent has no fitting answer")
    })?;
    let (decisions, reply) = (call.app.decisions(), GivenReply::Plain(reply));
    let answered = decisions.answer(call.user(), asked.session, asked.id, reply);
    answered.await?;
    Ok(true)
}

/// Returns true if the client can show a form, and its token may answer.
fn can_ask(call: &Call<'_>) -> bool {
    let capabilities = call.context.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    // Without either mode, a client shows forms.
    let shows_forms = elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none());
    shows_forms && call.identity.scope >= Scope::Write
}

/// Returns the form of a question, if a form can ask it.
fn form_of(ask: &Ask) -> Option<ElicitRequestParams> {
    let mut message = clip(&ask.prompt, LONGEST_QUESTION_BYTES);
    if let Some(subject) = &ask.subject {
        let input = clip(&subject.input.to_string(), LONGEST_SUBJECT_BYTES);
        message = format!("{message}\n\n{}: {input}", subject.tool);
    }
    let field = field_of(&ask.form)?;
    let schema = json!({
        "type": "object",
        "properties": { ANSWER: field },
        "required": [ANSWER],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let form = serde_json::from_value(params);
    form.inspect_err(|error| tracing::warn!(%error, "a question has no form"))
        .ok()
}

fn field_of(form: &Form) -> Option<Value> {
    let titled = |choices: &[Choice]| -> Value {
        let choices = choices.iter();
        choices
            .map(|choice| json!({ "const": choice.value, "title": choice.label }))
            .collect()
    };
    match form {
        Form::Text => Some(json!({ "type": "string", "title": "Answer" })),
        Form::YesNo => Some(json!({ "type": "boolean", "title": "Yes" })),
        Form::Choices {
            choices,
            several: false,
        } => Some(json!({ "type": "string", "title": "Answer", "oneOf": titled(choices) })),
        Form::Choices {
            choices,
            several: true,
        } => {
            let items = json!({ "anyOf": titled(choices) });
            Some(json!({ "type": "array", "title": "Answers", "items": items }))
        }
        Form::File => None,
    }
}

fn read(form: &Form, value: &Value) -> Option<Reply> {
    match form {
        Form::Text => {
            let text = value.as_str().filter(|text| !text.contains('\0'));
            text.map(|text| Reply::Text(text.to_owned()))
        }
        Form::YesNo => value.as_bool().map(Reply::Yes),
        Form::Choices { several: false, .. } => {
            let chosen = value.as_str()?.to_owned();
            Some(Reply::Choices(vec![chosen]))
        }
        Form::Choices { several: true, .. } => {
            let chosen = value.as_array()?.iter();
            let chosen: Option<Vec<_>> =
                chosen.map(|one| one.as_str().map(str::to_owned)).collect();
            chosen.map(Reply::Choices)
        }
        Form::File => None,
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::decision::DecisionKind;

    use super::*;

    fn ask(form: Form) -> Ask {
        Ask {
            call: None,
            kind: DecisionKind::Question,
            prompt: "Which?".to_owned(),
            form,
            subject: None,
            over: None,
            rule: None,
            default: None,
            expires_at: None,
        }
    }

    #[test]
    fn every_form_but_a_file_can_be_shown_and_read() {
        let choices = vec![Choice {
            value: "r".to_owned(),
            label: "Red".to_owned(),
        }];
        let one = Form::Choices {
            choices: choices.clone(),
            several: false,
        };
        let many = Form::Choices {
            choices,
            several: true,
        };
        let red = Reply::Choices(vec!["r".to_owned()]);
        for (form, value, reply) in [
            (Form::Text, json!("7"), Reply::Text("7".to_owned())),
            (Form::YesNo, json!(true), Reply::Yes(true)),
            (one, json!("r"), red.clone()),
            (many, json!(["r"]), red),
        ] {
            assert!(form_of(&ask(form.clone())).is_some(), "{form:?}");
            assert_eq!(read(&form, &value), Some(reply));
            assert_eq!(read(&form, &json!({})), None, "{form:?}");
        }
        assert!(form_of(&ask(Form::File)).is_none());
    }
}
