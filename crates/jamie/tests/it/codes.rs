//! Every error code of the contract is reached by a test that goes through a door. This table names it.

use std::path::Path;

use deskhand_jamie::ErrorCode;

const TALK: &str = "crates/jamie/tests/it/talk.rs";
const TROUBLE: &str = "crates/jamie/tests/it/trouble.rs";
const HTTP: &str = "crates/jamie/tests/it/http_controller.rs";
const FAULTS: &str = "crates/world/tests/it/streams/faults.rs";
const LIFE: &str = "crates/world/tests/it/streams/life.rs";
const MODELS: &str = "crates/world/tests/it/streams/models.rs";
const SHARE: &str = "crates/world/tests/it/streams/share.rs";

/// Returns the file and the test in which a code is reached.
fn test_of(code: ErrorCode) -> (&'static str, &'static str) {
    use ErrorCode as Code;
    match code {
        Code::NotInVoice => (TALK, "people_without_a_link_or_a_voice_channel_are_helped"),
        Code::InvalidUrl => (FAULTS, "links_that_must_not_be_streamed_are_refused"),
        Code::Busy => (LIFE, "a_second_stream_is_refused_while_one_is_there"),
        Code::NotRequester => (
            TALK,
            "there_is_one_stream_at_a_time_and_only_some_may_know_where_or_stop_it",
        ),
        Code::NotFound => (LIFE, "a_link_becomes_a_stream_that_ends_when_it_is_stopped"),
        Code::SandboxTimeout => (
            FAULTS,
            "a_computer_that_does_not_answer_is_given_up_for_a_new_one",
        ),
        Code::DiscordRateLimit | Code::DiscordDown => (
            TROUBLE,
            "a_discord_that_stays_in_trouble_is_given_up_with_a_code",
        ),
        Code::StreamDropped => (FAULTS, "a_stream_that_drops_again_and_again_fails"),
        Code::AgentStuck => (MODELS, "the_word_of_a_model_is_not_enough"),
        Code::SandboxFailed => (FAULTS, "a_sandbox_that_does_not_start_is_tried_four_times"),
        Code::ShareFailed => (FAULTS, "a_stream_without_a_link_cannot_be_shared"),
        Code::Timeout => (FAULTS, "a_start_that_takes_too_long_times_out"),
        Code::NoBotToken => (FAULTS, "a_server_that_runs_no_streams_says_so"),
        Code::InvalidCreds => (TROUBLE, "a_refused_token_ends_the_bot_with_a_reason"),
        Code::NoApiKey => (MODELS, "without_a_key_only_pages_that_need_a_model_fail"),
        Code::AnthropicDown => (MODELS, "a_model_that_fails_is_reported_as_down"),
        Code::UrlUnreachable => (
            FAULTS,
            "a_page_that_cannot_be_loaded_is_unreachable_at_once",
        ),
        Code::Captcha => (MODELS, "outcomes_become_codes"),
        Code::BudgetExceeded => (MODELS, "a_stream_has_a_budget"),
        Code::MaxIterations => (MODELS, "a_stream_has_a_number_of_steps"),
        Code::Unknown => (
            HTTP,
            "answers_that_make_no_sense_are_errors_that_quote_nothing",
        ),
        Code::ChannelNotFound => (
            SHARE,
            "a_channel_that_the_account_does_not_see_is_not_found",
        ),
        Code::TwoFactorRequired | Code::LoginFailed => {
            (SHARE, "what_the_form_answers_has_its_code")
        }
    }
}

#[test]
fn every_code_is_reached_by_a_test() {
    for code in ErrorCode::ALL {
        let (file, test) = test_of(*code);
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(file);
        let source = std::fs::read_to_string(path).unwrap();
        let (_, rest) = source
            .split_once(&format!("fn {test}("))
            .unwrap_or_else(|| panic!("{} is to be reached by {test} in {file}", code.name()));
        let body = rest.split("\n}\n").next().unwrap();
        let message = code.row().user_message.and_then(|text| text.lines().next());
        // A sentence may be cut short in a test, but not its beginning.
        let beginning = message.map(|text| text.chars().take(30).collect::<String>());
        let is_there = body.contains(code.name())
            || body.contains(&format!("ErrorCode::{code:?}"))
            || beginning.is_some_and(|beginning| body.contains(&beginning));
        assert!(is_there, "{test} in {file} does not reach {}", code.name());
    }
}
