//! The clipboard of a session's computer: only the person who has control can read and set it.

use deskhand_core::sandbox::LONGEST_CLIPBOARD_BYTES;
use deskhand_testkit::Session;
use deskhand_world::World;
use serde_json::{Value, json};

async fn read(session: &Session) -> Result<Value, (u16, String)> {
    let answer = session.client.get(&session.path("/clipboard")).await;
    if answer.status == 200 {
        Ok(answer.good()["text"].clone())
    } else {
        Err((answer.status, answer.code()))
    }
}

async fn set(session: &Session, text: &str) -> (u16, String) {
    let path = session.path("/clipboard");
    let answer = session.client.put(&path, json!({"text": text})).await;
    let code = if answer.status == 204 {
        String::new()
    } else {
        answer.code()
    };
    (answer.status, code)
}

#[tokio::test]
async fn only_the_person_with_control_can_use_the_clipboard() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let bob = world.client().new_user("bob").await.session(&session.id);
    let person = session.path("/people/bob");
    let drive = json!({"right": "drive"});
    session.client.put(&person, drive).await.good();
    let nobody = (409, "no_control".to_owned());
    assert_eq!(read(&session).await, Err(nobody.clone()));
    assert_eq!(set(&session, "text").await, nobody);

    session.take_control(60).await.good();
    assert_eq!(read(&session).await, Ok(Value::Null));
    assert_eq!(set(&session, "grün 🙂").await.0, 204);
    assert_eq!(read(&session).await, Ok(json!("grün 🙂")));
    let other = (409, "somebody_else_drives".to_owned());
    assert_eq!(read(&bob).await, Err(other.clone()));
    assert_eq!(set(&bob, "mine").await, other);
    let long = "x".repeat(LONGEST_CLIPBOARD_BYTES + 1);
    assert_eq!(
        set(&session, &long).await,
        (413, "text_too_long".to_owned())
    );

    session.hand_back().await.good();
    assert_eq!(read(&session).await, Err(nobody));
    // People who may only suggest never have control.
    let suggest = json!({"right": "suggest"});
    session.client.put(&person, suggest).await.good();
    assert_eq!(read(&bob).await, Err((403, "not_allowed".to_owned())));
}
