use std::collections::HashSet;

use super::*;

/// The table of section 2.3.3, and `ERR_NOT_FOUND` of section 4.1.1.
const STATUSES: [(&str, u16); 13] = [
    ("ERR_BUSY", 409),
    ("ERR_INVALID_URL", 400),
    ("ERR_SANDBOX_FAILED", 503),
    ("ERR_LOGIN_FAILED", 401),
    ("ERR_2FA_REQUIRED", 401),
    ("ERR_CAPTCHA", 401),
    ("ERR_CHANNEL_NOT_FOUND", 404),
    ("ERR_SHARE_FAILED", 500),
    ("ERR_TIMEOUT", 504),
    ("ERR_BUDGET_EXCEEDED", 402),
    ("ERR_MAX_ITERATIONS", 500),
    ("ERR_UNKNOWN", 500),
    ("ERR_NOT_FOUND", 404),
];

/// The taxonomy of section 7.1: numbers, categories and reasons. The reasons that name Anthropic are about any vendor.
const NUMBERS: [(&str, &str, &str, &str); 19] = [
    (
        "ERR_NOT_IN_VOICE",
        "E4001",
        "user",
        "User not in a voice channel",
    ),
    (
        "ERR_INVALID_URL",
        "E4002",
        "user",
        "URL format not recognized",
    ),
    ("ERR_BUSY", "E4003", "user", "Stream already in progress"),
    (
        "ERR_NOT_REQUESTER",
        "E4004",
        "user",
        "Only requester can stop",
    ),
    (
        "ERR_SANDBOX_TIMEOUT",
        "E5001",
        "transient",
        "Sandbox operation timed out",
    ),
    (
        "ERR_DISCORD_RATE_LIMIT",
        "E5002",
        "transient",
        "Discord rate limited",
    ),
    (
        "ERR_STREAM_DROPPED",
        "E5003",
        "transient",
        "Stream unexpectedly ended",
    ),
    (
        "ERR_AGENT_STUCK",
        "E5004",
        "transient",
        "Agent loop not progressing",
    ),
    (
        "ERR_NO_BOT_TOKEN",
        "E6001",
        "config",
        "Bot token not configured",
    ),
    (
        "ERR_INVALID_CREDS",
        "E6002",
        "config",
        "Discord credentials invalid",
    ),
    (
        "ERR_2FA_REQUIRED",
        "E6003",
        "config",
        "Account requires 2FA",
    ),
    (
        "ERR_NO_API_KEY",
        "E6004",
        "config",
        "API key of the model missing",
    ),
    (
        "ERR_DISCORD_DOWN",
        "E7001",
        "external",
        "Discord services unavailable",
    ),
    (
        "ERR_ANTHROPIC_DOWN",
        "E7002",
        "external",
        "API of the model unavailable",
    ),
    (
        "ERR_URL_UNREACHABLE",
        "E7003",
        "external",
        "Streaming URL not accessible",
    ),
    (
        "ERR_CAPTCHA",
        "E7004",
        "external",
        "CAPTCHA challenge required",
    ),
    (
        "ERR_BUDGET_EXCEEDED",
        "E8001",
        "internal",
        "Cost budget exceeded",
    ),
    (
        "ERR_MAX_ITERATIONS",
        "E8002",
        "internal",
        "Max iterations exceeded",
    ),
    ("ERR_UNKNOWN", "E9999", "internal", "Unexpected error"),
];

/// The messages of section 7.1 for the person who asked. All other codes have the general one.
const MESSAGES: [(&str, &str); 6] = [
    (
        "ERR_NOT_IN_VOICE",
        "❌ You're not in any voice channel I can see.\nJoin a voice channel in a server we share, then try again.",
    ),
    (
        "ERR_INVALID_URL",
        "❌ I couldn't find a valid URL in your message.\nSend me a YouTube, Twitch, or Vimeo link to stream!",
    ),
    (
        "ERR_BUSY",
        "⏳ I'm already streaming somewhere else.\nDM `stop` to end that stream first.",
    ),
    (
        "ERR_SANDBOX_TIMEOUT",
        "❌ Stream setup timed out.\nPlease try again.",
    ),
    (
        "ERR_URL_UNREACHABLE",
        "❌ I couldn't load that URL.\nIt might be geoblocked or require a login.",
    ),
    (
        "ERR_BUDGET_EXCEEDED",
        "❌ This session got too expensive.\nTry again with a simpler request.",
    ),
];

#[test]
fn every_message_of_the_contract_is_as_it_says() {
    for (name, message) in MESSAGES {
        let row = ErrorCode::by_name(name).unwrap().row();
        assert_eq!(row.user_message, Some(message), "{name}");
    }
}

#[test]
fn every_code_of_the_contract_has_its_status() {
    for (name, status) in STATUSES {
        let row = ErrorCode::by_name(name).unwrap().row();
        assert_eq!((row.name, row.http_status), (name, status));
    }
}

#[test]
fn every_code_of_the_taxonomy_has_its_number_category_and_reason() {
    for (name, number, category, reason) in NUMBERS {
        let row = ErrorCode::by_name(name).unwrap().row();
        assert_eq!(
            (row.name, row.number, row.category.name(), row.summary),
            (name, Some(number), category, reason)
        );
    }
}

#[test]
fn there_is_no_other_code() {
    let named: HashSet<_> = STATUSES
        .iter()
        .map(|(name, _)| *name)
        .chain(NUMBERS.iter().map(|(name, ..)| *name))
        .collect();
    let all: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(named, all);
    assert_eq!(all.len(), ErrorCode::ALL.len());
}

#[test]
fn retries_have_their_number_and_waits() {
    let told = Duration::from_millis(1500);
    let waits = |code: ErrorCode| {
        let retry = code.row().retry;
        let waits: Vec<_> = (0..)
            .map_while(|n| retry.wait(n, Some(told)))
            .map(|wait| wait.as_millis())
            .collect();
        assert_eq!(waits.len(), retry.at_most());
        waits
    };
    assert_eq!(waits(ErrorCode::SandboxTimeout), [5000, 15000]);
    assert_eq!(waits(ErrorCode::DiscordRateLimit), [1500, 1500, 1500]);
    assert_eq!(waits(ErrorCode::StreamDropped), [5000, 5000, 5000]);
    assert_eq!(waits(ErrorCode::AgentStuck), [0]);
    // All tries of a start share one time, so none is left when it is over.
    let has_no_time = |code| code == ErrorCode::Timeout;
    for code in ErrorCode::ALL {
        assert_eq!(
            code.row().retry != Retry::Never,
            code.is_retryable() && !has_no_time(*code),
            "{code:?}"
        );
    }
}

#[test]
fn codes_are_names_on_the_wire() {
    for code in ErrorCode::ALL {
        let json = serde_json::to_string(code).unwrap();
        assert_eq!(json, format!("{:?}", code.name()));
        assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), *code);
    }
    let newer: ErrorCode = serde_json::from_str("\"ERR_OF_NEXT_YEAR\"").unwrap();
    assert_eq!(newer, ErrorCode::Unknown);
}

#[test]
fn the_guide_lists_the_same_codes() {
    let guide = include_str!("../../../docs/guide/jamie.md");
    let rows: Vec<_> = guide
        .lines()
        .filter(|line| line.starts_with("| `ERR_"))
        .map(|line| line.rsplit_once(" | ").unwrap().0.to_owned())
        .collect();
    let expected: Vec<_> = ErrorCode::ALL
        .iter()
        .map(|code| {
            let row = code.row();
            let number = row.number.unwrap_or_default();
            let category = row.category.name();
            format!(
                "| `{}` | {number} | {} | {category}",
                row.name, row.http_status
            )
        })
        .collect();
    assert_eq!(rows, expected);
}
