use serde_json::json;

use super::*;

fn spec(value: serde_json::Value) -> McpServerSpec {
    serde_json::from_value(value).unwrap()
}

fn checked(value: serde_json::Value) -> Result<(), String> {
    let checked = spec(value).check(ServerGiver::Session);
    checked.map_err(|error| error.to_string())
}

fn http(headers: &serde_json::Value) -> serde_json::Value {
    json!({"name": "a", "transport": {"type": "http", "url": "https://a.example/mcp", "headers": headers}})
}

#[test]
fn both_ways_are_read_and_written() {
    for value in [
        json!({"name": "github", "transport": {"type": "http", "url": "https://a.example/mcp",
            "headers": {"authorization": "Bearer ${secret:github}"}}, "timeout_seconds": 60}),
        json!({"name": "files", "transport": {"type": "stdio", "command": "npx", "args": ["-y", "server"],
            "env": {"ROOT": "/tmp"}}, "timeout_seconds": 5}),
    ] {
        let read = spec(value.clone());
        assert_eq!(read.check(ServerGiver::Session), Ok(()));
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
    }
    let unknown =
        json!({"name": "a", "transport": {"type": "http", "url": "https://a.example", "x": 1}});
    assert!(serde_json::from_value::<McpServerSpec>(unknown).is_err());
}

#[test]
fn names_keep_server_and_tool_apart() {
    let named = |name: &str| {
        let server = json!({"name": name, "transport": {"type": "stdio", "command": "x"}});
        spec(server).check(ServerGiver::Session).is_ok()
    };
    for good in ["a", "git-hub_2", "0x", &"a".repeat(32)] {
        assert!(named(good), "{good}");
    }
    for bad in [
        "",
        "a__b",
        "_a",
        "a_",
        "-a",
        "A",
        "a b",
        "a.b",
        "ä",
        &"a".repeat(33),
    ] {
        assert!(!named(bad), "{bad}");
    }
}

#[test]
fn credentials_must_be_stored_secrets() {
    for name in ["Authorization", "X-Api-Key", "x-auth-token"] {
        let problem = checked(http(&json!({ name: "abc" }))).unwrap_err();
        assert!(problem.contains("looks like a secret"), "{problem}");
        assert_eq!(
            checked(http(&json!({ name: "Bearer ${secret:a}" }))),
            Ok(())
        );
        // The settings of a deployment are private.
        let deployment = spec(http(&json!({ name: "abc" })));
        assert_eq!(deployment.check(ServerGiver::Deployment), Ok(()));
    }
    assert_eq!(checked(http(&json!({"x-tenant": "acme"}))), Ok(()));
    let token = json!({"name": "a", "transport": {"type": "stdio", "command": "x", "env": {"MY_TOKEN": "abc"}}});
    assert!(checked(token).is_err());
    assert!(checked(http(&json!({"x-tenant": "${secret:A B}"}))).is_err());
}

#[test]
fn headers_of_the_protocol_and_of_connections_are_refused() {
    for name in [
        "host",
        "Content-Length",
        "connection",
        "cookie",
        "accept",
        "content-type",
        "Mcp-Session-Id",
        "a b",
        "",
        "sec-fetch-mode",
        "proxy-authorization",
    ] {
        assert!(checked(http(&json!({ name: "x" }))).is_err(), "{name}");
    }
}

#[test]
fn everything_is_bounded() {
    let program = |command: &str, args: Vec<String>| {
        let transport = json!({"type": "stdio", "command": command, "args": args});
        checked(json!({"name": "a", "transport": transport}))
    };
    assert!(program("x", vec!["y".to_owned(); 64]).is_ok());
    assert!(program("", Vec::new()).is_err());
    assert!(program("a\nb", Vec::new()).is_err());
    assert!(program("x", vec!["y".to_owned(); 65]).is_err());
    assert!(program("x", vec!["y".repeat(4097)]).is_err());
    assert!(program("x", vec!["a\0b".to_owned()]).is_err());
    let many: serde_json::Map<_, _> = (0..33).map(|n| (format!("x-{n}"), json!("y"))).collect();
    assert!(checked(http(&many.into())).is_err());
    assert!(checked(http(&json!({"x-a": "y".repeat(4097)}))).is_err());
    assert!(checked(http(&json!({"x-a": "y\r\nhost: b"}))).is_err());
    for seconds in [0, 601] {
        let server = json!({"name": "a", "timeout_seconds": seconds, "transport": {"type": "stdio", "command": "x"}});
        assert!(checked(server).is_err());
    }
    let one = |n: usize| {
        spec(json!({"name": format!("s{n}"), "transport": {"type": "stdio", "command": "x"}}))
    };
    let all: Vec<_> = (0..=MOST_SERVERS).map(one).collect();
    assert_eq!(
        check_servers(&all, ServerGiver::Session),
        Err(BadMcpServer::TooMany)
    );
    assert_eq!(check_servers(&all[1..], ServerGiver::Session), Ok(()));
    let long = json!({"name": "a", "transport": {"type": "stdio", "command": "x", "args": vec!["y".repeat(4096); 4]}});
    assert_eq!(
        check_servers(&[spec(long)], ServerGiver::Session),
        Err(BadMcpServer::Long)
    );
    let twice = [one(1), one(1)];
    let refused = check_servers(&twice, ServerGiver::Session);
    assert_eq!(refused, Err(BadMcpServer::Twice("s1".to_owned())));
}

#[test]
fn values_are_not_printed() {
    let server = spec(http(&json!({"authorization": "hunter2"})));
    assert!(!format!("{server:?}").contains("hunter2"));
}
