//! Forms and files.

use deskhand_core::browser::{BrowserFinding, BrowserVerb, DownloadState, FieldValue, PagePlace};

use super::Desk;

pub(super) async fn fields_of_all_kinds_are_filled_in(desk: &Desk) {
    desk.open("/form").await;
    let tree = desk.tree().await;
    assert!(
        !tree.contains("swordfish") && tree.contains("•••"),
        "{tree}"
    );
    let text = |text: &str| FieldValue::Text(text.to_owned());
    for (name, value) in [
        ("Name", text("Zoë")),
        ("Day", text("2026-11-17")),
        ("Agree", FieldValue::Checked(true)),
        ("Note", text("new note")),
    ] {
        let at = desk.find(name).await;
        desk.verb(BrowserVerb::Fill { at, value }).await;
    }
    let at = desk.find("Colour").await;
    let options = vec!["Green".to_owned()];
    desk.verb(BrowserVerb::Select { at, options }).await;
    let wrong = desk.try_verb(BrowserVerb::Select {
        at,
        options: vec!["Blue".to_owned()],
    });
    assert!(
        wrong
            .await
            .unwrap_err()
            .to_string()
            .contains("has no such option")
    );
    desk.click("City").await;
    desk.click("Rome").await;
    desk.click("Send").await;
    desk.says("Zoë|2026-11-17|true|g|new note|Rome").await;
    let at = Some(PagePlace::Element(desk.find("Keys").await));
    let typed = BrowserVerb::Type {
        at,
        text: "abcx".to_owned(),
        submit: false,
    };
    desk.verb(typed).await;
    for keys in ["BackSpace", "shift+d", "Return"] {
        let keys = keys.to_owned();
        desk.verb(BrowserVerb::Press { keys, repeat: 1 }).await;
    }
    desk.says("enter abcD").await;
}

pub(super) async fn text_is_typed_at_the_end_of_fields_without_a_click(desk: &Desk) {
    desk.open("/typing").await;
    let typed = |at, text: &str| BrowserVerb::Type {
        at: Some(PagePlace::Element(at)),
        text: text.to_owned(),
        submit: false,
    };
    for (name, text) in [
        ("First", " new"),
        ("Mail", "b.example"),
        ("Story", " two"),
        ("Draft", "!"),
    ] {
        let at = desk.find(name).await;
        desk.verb(typed(at, text)).await;
    }
    // A change that comes with the next frame is there when the verb ends.
    let tree = desk.tree().await;
    assert!(tree.contains("echo: old new"), "{tree}");
    desk.click("Tell").await;
    desk.says("old new|a@b.example|one two|bold text!|no click")
        .await;

    let fixed = desk.find("Fixed").await;
    let refused = desk.try_verb(typed(fixed, "more")).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("{fixed} is read-only or disabled")
    );
    // Only a click makes this one a field.
    let late = desk.find("Late").await;
    desk.verb(typed(late, "written")).await;
    desk.says("late:written").await;
}

pub(super) async fn files_are_given_and_downloaded(desk: &Desk) {
    let path = desk.world.folder().join("given.txt");
    std::fs::write(&path, "given").unwrap();
    desk.open("/files").await;
    for (name, said) in [("File", "f given"), ("Choose", "g given")] {
        let at = desk.find(name).await;
        let paths = vec!["given.txt".to_owned()];
        desk.verb(BrowserVerb::Upload { at, paths }).await;
        desk.says(said).await;
    }
    let at = desk.find("File").await;
    let paths = vec!["missing.txt".to_owned()];
    let missing = desk.try_verb(BrowserVerb::Upload { at, paths }).await;
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("cannot use the file")
    );

    desk.click("Get data").await;
    let entry = loop {
        let BrowserFinding::Downloads(all) = desk.verb(BrowserVerb::Downloads).await.finding else {
            panic!("not a list of downloads");
        };
        let done = all
            .into_iter()
            .find(|one| one.state == DownloadState::Complete);
        if let Some(done) = done {
            break done;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert_eq!(std::fs::read_to_string(&entry.path).unwrap(), "forty-two");
}
