//! Broken events: a log that something else wrote must not bring a reader down.

use deskhand_core::event::{Event, EventBody};
use deskhand_testkit::fuzz;

const EVENTS: &[&str] = &[
    r#"{"seq":1,"type":"status","at":"2026-07-03T12:00:00Z","data":{"state":"running","sandbox":"ready","reason":null}}"#,
    r#"{"seq":2,"type":"tool_use","at":"2026-07-03T12:00:00.123Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","id":"call_1","tool":"computer","input":{"action":"left_click","coordinate":[783,283]},"description":"Clicked at (783, 283)"}}"#,
    r#"{"seq":3,"type":"tool_result","at":"2026-07-03T12:00:01Z","data":{"id":"call_1","output":"done","is_error":false,"partial":true,"parts":[{"type":"text","text":"done"}]}}"#,
    r#"{"seq":4,"type":"plan","at":"2026-07-03T12:00:02Z","data":{"steps":[{"text":"Look","state":"done"},{"text":"Buy","state":"doing"}]}}"#,
    r#"{"seq":5,"type":"decision","at":"2026-07-03T12:00:03Z","data":{"decision":"0198c0de-0000-7000-8000-000000000000","kind":"question","question":"Which one?","form":{"kind":"choice","options":["a","b"]},"expires_at":"2026-07-04T12:00:03Z"}}"#,
    r#"{"seq":6,"type":"cost","at":"2026-07-03T12:00:04Z","data":{"model":"x/y","usd":0.0123,"tokens":{"input":1200,"output":30}}}"#,
    r#"{"seq":7,"type":"something_new","at":"2026-07-03T12:00:05Z","data":{}}"#,
];

#[test]
fn fuzz_events() {
    let seeds: Vec<&[u8]> = EVENTS.iter().map(|event| event.as_bytes()).collect();
    fuzz("events", &seeds, |input| {
        let Ok(event) = serde_json::from_slice::<Event>(input) else {
            return;
        };
        // An event that can be read can be written, and reads the same again.
        let written = serde_json::to_string(&event).unwrap();
        let again: Event = serde_json::from_str(&written).unwrap();
        assert_eq!(again, event);
        assert!(EventBody::KINDS.contains(&event.body.kind()));
    });
}
