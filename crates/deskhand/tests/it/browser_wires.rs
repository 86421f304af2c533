//! One task on web pages, done through every vendor's way to drive a browser, with the same outcome.

mod site;

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::{BrowserWire, Client, PagePlayer, Session};
use serde_json::json;

use self::site::{SITE, START, steps};
use crate::world::serve_set;

/// A session whose models drive only its browser.
async fn browser_session(client: &Client, computer: &str) -> Session {
    let model = BrowserWire::Anthropic.model();
    let wanted = json!({
        "model": model, "computer": computer, "tools": ["browser"], "approvals": {"mode": "never"},
    });
    let made = client.post("/api/sessions", wanted).await;
    client.session(made.good()["id"].as_str().unwrap())
}

/// Does the task through one wire, and returns what the site was told and the file that was downloaded.
async fn outcome(
    player: &PagePlayer,
    session: &Session,
    wire: BrowserWire,
    after: &mut u64,
) -> String {
    player.prepare(wire, &steps());
    let change = json!({"model": wire.model()});
    session.client.patch(&session.path(""), change).await.good();
    session
        .prompt("Delete the old order, and fetch the list.")
        .await;
    let end = session.turn_end(*after).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{wire:?}: {end:?}");
    };
    assert_eq!(complete.outcome, Outcome::Done, "{wire:?}");
    *after = end.seq;
    let got = "until [ -s ~/Downloads/list.csv ]; do sleep 0.1; done; cat ~/told ~/Downloads/list.csv; \
               rm ~/told ~/Downloads/list.csv";
    session.shell(got).await
}

async fn every_wire_does_the_task_on(computer: &str) {
    let player = PagePlayer::start().await;
    let variables = player.variables();
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let server = serve_set(&[], &variables);
    let client = server.client();
    let session = browser_session(&client, computer).await;
    let file = json!({"command": "create", "path": "/tmp/site.py", "file_text": SITE});
    session.act("editor", file).await;
    let start = format!(
        "python3 /tmp/site.py > /dev/null 2>&1 & until curl -s {START} > /dev/null; do sleep 0.1; done"
    );
    session.shell(&start).await;
    let mut after = 0;
    for wire in BrowserWire::ALL {
        let outcome = outcome(&player, &session, wire, &mut after).await;
        assert_eq!(
            outcome.trim(),
            "login ada\ndeleted 2\nshadow\nframe\nfern,3",
            "{wire:?}"
        );
        player.check_form();
    }
}

#[tokio::test]
async fn every_wire_does_the_same_on_the_desktop() {
    every_wire_does_the_task_on("desktop").await;
}

#[tokio::test]
async fn every_wire_does_the_same_without_a_screen() {
    every_wire_does_the_task_on("browser").await;
}
