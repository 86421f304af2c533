//! Files that come with messages: uploading them, who may, what the model is shown, and where they are put.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use deskhand_api::messages::AttachmentView;
use deskhand_core::{
    blob::BlobFormat,
    event::{EventBody, FilesPlaced},
    secret::Secret,
};
use deskhand_models::{AccountSettings, ModelSettings};
use deskhand_testkit::{Answer, Asked, Elsewhere, Line, Session};
use deskhand_world::{Database, World, WorldOptions};
use reqwest::Method;
use serde_json::{Value, json};

const MODEL: &str = "anthropic/claude-opus-5";
const DAY: Duration = Duration::from_hours(24);

/// Anthropic, which says yes to everything but the files that it was told to refuse.
struct SeeingVendor {
    asked: Arc<Mutex<Vec<Value>>>,
    at: Elsewhere,
}

impl SeeingVendor {
    async fn start(refuses: Option<&'static str>) -> Self {
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&asked);
        let at = Elsewhere::start(move |request: Asked, line| {
            let is_refused = refuses.is_some_and(|kind| {
                let blocks = blocks(&request.body);
                blocks.iter().any(|block| block["type"] == kind)
            });
            kept.lock().unwrap().push(request.body);
            answer(line, is_refused)
        })
        .await;
        Self { asked, at }
    }

    async fn world(&self) -> World {
        World::with(WorldOptions {
            models: ModelSettings {
                anthropic: AccountSettings {
                    key: Some(Secret::new("sk-test")),
                    base_url: Some(self.at.url.clone()),
                    ..AccountSettings::default()
                },
                ..ModelSettings::default()
            },
            ..WorldOptions::default()
        })
        .await
    }

    /// Returns all blocks of the newest request, as types with texts.
    fn last_blocks(&self) -> Vec<Value> {
        blocks(self.asked.lock().unwrap().last().unwrap())
    }
}

fn blocks(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
    blocks.cloned().collect()
}

async fn answer(mut line: Line, is_refused: bool) -> std::io::Result<()> {
    if is_refused {
        let error = json!({"type": "invalid_request_error", "message": "The PDF is not valid."});
        let refusal = json!({"type": "error", "error": error}).to_string();
        let headers = [("content-type", "application/json")];
        return line.whole("400 Bad Request", &headers, &refusal).await;
    }
    line.begin().await?;
    for event in [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": "Yes."}}),
        json!({"type": "content_block_stop"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ] {
        line.event(&event).await?;
    }
    Ok(())
}

/// A picture that is larger than the vendor's models see.
fn picture() -> Vec<u8> {
    let (width, height) = (3000, 1000);
    let picture = deskhand_pictures::Picture {
        size: deskhand_core::action::ScreenSize { width, height },
        bgrx: [10, 20, 200, 0].repeat(usize::from(width) * usize::from(height)),
    };
    picture.encode(BlobFormat::Png).unwrap()
}

fn pdf() -> Vec<u8> {
    b"%PDF-1.7 << /Type /Page >>".to_vec()
}

async fn try_attach(session: &Session, name: &str, bytes: impl Into<Vec<u8>>) -> Answer {
    let path = session.path(&format!("/attachments?name={name}"));
    session
        .client
        .send(Method::POST, &path, Some(bytes.into()))
        .await
}

async fn attach(session: &Session, name: &str, bytes: impl Into<Vec<u8>>) -> AttachmentView {
    let attached = try_attach(session, name, bytes).await;
    assert_eq!(attached.status, 201, "{}", attached.json());
    attached.view()
}

async fn send(session: &Session, content: &str, ids: &[String]) -> Answer {
    let body = json!({"content": content, "attachments": ids});
    session.client.post(&session.path("/messages"), body).await
}

fn ids(files: &[&AttachmentView]) -> Vec<String> {
    files.iter().map(|file| file.id.to_string()).collect()
}

/// Returns the events about placed files.
async fn placed(session: &Session) -> Vec<FilesPlaced> {
    let events = session.events(0).await.into_iter();
    let bodies = events.map(|event| serde_json::from_value::<EventBody>(event).unwrap());
    let placed = bodies.filter_map(|body| {
        if let EventBody::Placed(placed) = body {
            Some(placed)
        } else {
            None
        }
    });
    placed.collect()
}

async fn content(session: &Session, path: &str) -> Vec<u8> {
    let path = session.path(&format!("/files{path}"));
    let file = session.client.request(Method::GET, &path, &[], "").await;
    assert!(file.status().is_success(), "{path}");
    file.bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn pictures_and_pdfs_go_to_the_model_and_every_file_to_the_desktop() {
    let vendor = SeeingVendor::start(None).await;
    let world = vendor.world().await;
    let session = world.client().new_session(MODEL).await;
    let photo = attach(&session, "plant.png", picture()).await;
    assert_eq!(
        (&*photo.name, &*photo.media_type),
        ("plant.png", "image/png")
    );
    let report = attach(&session, "report.txt", pdf()).await;
    assert_eq!(report.media_type, "application/pdf", "the content decides");
    let table = attach(&session, "table.csv", "a,b\n").await;
    let files = ids(&[&photo, &report, &table]);
    let sent = send(&session, "What is this?", &files).await.good();
    assert_eq!(sent["attachments"][1]["name"], "report.txt");
    let end = session.turn_end(0).await;

    let blocks = vendor.last_blocks();
    let kinds: Vec<&str> = blocks
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    // The rest is a picture of the screen.
    assert_eq!(kinds[..5], ["text", "text", "image", "text", "document"]);
    let text = blocks[0]["text"].as_str().unwrap();
    let text = text.replace(&photo.n_bytes.to_string(), "N");
    insta::assert_snapshot!(text, @"
    What is this?

    [Files that came with the message, on the computer:
    - /home/agent/uploads/plant.png (image/png, N bytes), shown to you too
    - /home/agent/uploads/report.txt (application/pdf, 26 bytes), shown to you too
    - /home/agent/uploads/table.csv (text/csv, 4 bytes)]
    ");
    assert_eq!(blocks[1]["text"], "[The attached file plant.png:]");
    assert_eq!(blocks[2]["source"]["media_type"], "image/png");
    assert_eq!(blocks[4]["source"]["media_type"], "application/pdf");

    assert_eq!(placed(&session).await.len(), 1);
    assert_eq!(
        content(&session, "/home/agent/uploads/plant.png").await,
        picture()
    );
    assert_eq!(
        content(&session, "/home/agent/uploads/table.csv").await,
        b"a,b\n"
    );

    // The next turn shows them again, and places nothing twice.
    session.prompt("And now?").await;
    session.turn_end(end.seq).await;
    let again = vendor.last_blocks();
    assert_eq!(again[..5], blocks[..5], "the beginning is the same");
    assert_eq!(placed(&session).await.len(), 1);
}

#[tokio::test]
async fn a_taken_name_gets_a_number_and_a_file_that_is_there_already_is_left() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let path = session.path("/files/~/uploads/a.txt");
    let mine = session
        .client
        .send(Method::PUT, &path, Some(b"mine".to_vec()))
        .await;
    assert_eq!(mine.status, 201);
    let (one, two) = (
        attach(&session, "a.txt", "one").await,
        attach(&session, "a.txt", "two").await,
    );
    let same = attach(&session, "a.txt", "one").await;
    let sent = send(&session, "Show me the demo", &ids(&[&one, &two, &same])).await;
    assert_eq!(sent.status, 202);
    session
        .wait_for(0, |body| matches!(body, EventBody::Placed(_)))
        .await;
    let placed = placed(&session).await;
    let paths: Vec<_> = placed[0]
        .files
        .iter()
        .map(|file| file.path.as_deref().unwrap())
        .collect();
    let folder = "/home/agent/uploads";
    assert_eq!(
        paths,
        [
            format!("{folder}/a-2.txt"),
            format!("{folder}/a-3.txt"),
            format!("{folder}/a-2.txt"),
        ]
    );
    assert_eq!(content(&session, "/~/uploads/a.txt").await, b"mine");
    assert_eq!(content(&session, "/~/uploads/a-3.txt").await, b"two");
}

#[tokio::test]
async fn an_attachment_belongs_to_one_message_of_its_uploader() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let session = admin.new_session("scripted/demo").await;
    let bob = admin.new_user("bob").await.session(&session.id);
    let file = attach(&session, "a.txt", "secret").await;
    let one = ids(&[&file]);
    let path = session.path(&format!("/attachments/{}", file.id));

    // Those who may only view cannot attach, and see only what was sent.
    assert_eq!(try_attach(&bob, "a", "b").await.code(), "no_session");
    for (right, status) in [("view", 403), ("suggest", 201)] {
        let person = session.path("/people/bob");
        admin.put(&person, json!({"right": right})).await.good();
        assert_eq!(
            try_attach(&bob, "b.txt", "b").await.status,
            status,
            "{right}"
        );
        assert_eq!(bob.client.get(&path).await.code(), "no_attachment");
    }
    let stolen = send(&bob, "Mine", &one).await;
    assert_eq!((stolen.status, &*stolen.code()), (422, "no_attachment"));
    assert_eq!(bob.client.delete(&path).await.code(), "no_attachment");

    let twice = [one.clone(), one.clone()].concat();
    assert_eq!(send(&session, "Twice", &twice).await.code(), "malformed");
    let many = vec![file.id.to_string(); 21];
    assert_eq!(send(&session, "Many", &many).await.code(), "malformed");
    let unknown = [deskhand_core::id::AttachmentId::new().to_string()];
    assert_eq!(
        send(&session, "None", &unknown).await.code(),
        "no_attachment"
    );
    assert_eq!(session.messages().await.len(), 0);

    // With files, the text may be empty.
    assert_eq!(send(&session, "", &[]).await.code(), "empty_message");
    assert_eq!(send(&session, "", &one).await.status, 202);
    assert_eq!(send(&session, "Again", &one).await.code(), "no_attachment");
    assert_eq!(session.client.delete(&path).await.code(), "no_attachment");
    assert_eq!(bob.client.get(&path).await.body, b"secret");
    assert_eq!(session.show().await["title"], "a.txt");
    let message = &session.messages().await[0];
    assert_eq!(message["attachments"][0]["n_bytes"], 6);
}

#[tokio::test]
async fn uploads_have_bounds() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let large = try_attach(&session, "a", vec![0; 32 * 1024 * 1024 + 1]).await;
    assert_eq!((large.status, &*large.code()), (413, "file_too_large"));
    for _ in 0..60 {
        attach(&session, "a", "a").await;
    }
    let more = try_attach(&session, "a", "a").await;
    assert_eq!((more.status, &*more.code()), (429, "too_many_attachments"));
    let deceptive = "a%E2%80%AEgpj.exe%0A";
    assert_eq!(try_attach(&session, deceptive, "a").await.status, 429);
    session.client.delete(&session.path("")).await.good();
    let ended = try_attach(&session, "a", "a").await;
    assert_eq!((ended.status, &*ended.code()), (409, "session_ended"));
}

/// Makes all blobs older than the time for which unused ones are kept, and returns their number.
fn aged_blobs(world: &World) -> usize {
    let folders = std::fs::read_dir(world.pictures()).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    // One that is being written has another name in a moment.
    let aged = files.filter_map(|file| {
        let file = std::fs::File::options().write(true).open(file.ok()?.path());
        file.ok()?.set_modified(SystemTime::UNIX_EPOCH).ok()
    });
    aged.count()
}

async fn unsent_files_go_after_a_day(database: Database) {
    let options = WorldOptions {
        database,
        ..WorldOptions::default()
    };
    let brief = "steps: [{text: Done.}]";
    let world = World::with(options.knowing(&[("brief", brief)])).await;
    let session = world.client().new_session("scripted/brief").await;
    let (sent, unsent) = (
        attach(&session, "a", "sent").await,
        attach(&session, "b", "unsent").await,
    );
    let twin = attach(&session, "c", "sent").await;
    let removed = attach(&session, "d", "removed").await;
    send(&session, "Go", &ids(&[&sent])).await.good();
    session.turn_end(0).await;
    let path = |file: &AttachmentView| session.path(&format!("/attachments/{}", file.id));
    assert_eq!(session.client.delete(&path(&removed)).await.status, 204);
    assert_eq!(
        session.client.get(&path(&removed)).await.code(),
        "no_attachment"
    );
    assert!(aged_blobs(&world) >= 3);

    world.pass(DAY - Duration::from_hours(2)).await;
    assert_eq!(session.client.get(&path(&unsent)).await.body, b"unsent");
    world.pass(Duration::from_hours(4)).await;
    for gone in [&unsent, &twin] {
        assert_eq!(
            session.client.get(&path(gone)).await.code(),
            "no_attachment"
        );
    }
    assert_eq!(session.client.get(&path(&sent)).await.body, b"sent");

    // The rest goes with the session.
    let forever = format!("{}?forever=true", session.path(""));
    assert_eq!(session.client.delete(&forever).await.status, 204);
    aged_blobs(&world);
    world.pass(Duration::from_hours(2)).await;
    assert_eq!(aged_blobs(&world), 0);
}

#[tokio::test]
async fn unsent_files_go_after_a_day_on_sqlite() {
    unsent_files_go_after_a_day(Database::Sqlite).await;
}

#[tokio::test]
async fn unsent_files_go_after_a_day_on_postgres() {
    unsent_files_go_after_a_day(Database::Postgres).await;
}

#[tokio::test]
async fn files_of_a_turn_that_was_killed_are_placed_once() {
    let scenario = "steps:\n  - calls:\n      - bash: {command: \"sleep 60\"}\n  - text: Done.\n";
    let mut world = World::start(&[("slow", scenario)]).await;
    let session = world.client().new_session("scripted/slow").await;
    let file = attach(&session, "a.txt", "one").await;
    send(&session, "Go", &ids(&[&file])).await.good();
    let placed_at = session
        .wait_for(0, |body| matches!(body, EventBody::Placed(_)))
        .await;
    // A command that has not begun would be run after the crash, and would sleep.
    session
        .wait_for(placed_at.seq, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    world.crash().await;
    session.turn_end(0).await;
    assert_eq!(placed(&session).await.len(), 1);
    let listed = session
        .client
        .get(&session.path("/files/~/uploads"))
        .await
        .good();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_file_that_the_vendor_rejects_is_left_out_from_then_on() {
    let vendor = SeeingVendor::start(Some("document")).await;
    let world = vendor.world().await;
    let session = world.client().new_session(MODEL).await;
    let report = attach(&session, "report.pdf", pdf()).await;
    send(&session, "Read it", &ids(&[&report])).await.good();
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let blocks = vendor.last_blocks();
    assert!(blocks.iter().all(|block| block["type"] != "document"));
    let text = blocks[0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("/uploads/report.pdf (application/pdf, 26 bytes), not shown to you]"),
        "{text}"
    );
    assert_eq!(vendor.asked.lock().unwrap().len(), 2);

    // Later turns do not show it again.
    send(&session, "And now?", &[]).await.good();
    let end = session.turn_end(end.seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    assert_eq!(vendor.asked.lock().unwrap().len(), 3);
}
