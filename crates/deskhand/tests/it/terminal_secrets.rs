//! `deskhand secret`.

use crate::program::Place;

#[test]
fn secrets_are_stored_listed_and_removed() {
    let place = Place::new();
    let no_key = place.run(&["secret", "rotate-key"]);
    assert_eq!(no_key.code, Some(1));
    assert!(no_key.stderr.contains("is missing"), "{}", no_key.stderr);
    let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    server.says("Open");
    let set = ["secret", "set", "bank", "--origin", "https://bank.example"];
    let stored = place.run_with(&set, "open sesame\n");
    assert_eq!(stored.code, Some(0), "{}", stored.stderr);
    insta::assert_snapshot!(stored.stderr, @"bank is stored. Agents in your sessions can type it at https://bank.example.");
    insta::assert_snapshot!(place.run(&["secret", "list"]).stdout, @"bank	https://bank.example	never used");

    let rotated = place.run(&["secret", "rotate-key"]);
    assert_eq!(rotated.code, Some(0), "{}", rotated.stderr);
    assert!(
        rotated.stderr.contains("has a new key"),
        "{}",
        rotated.stderr
    );
    let again = place.run_with(&set, "open sesame\n");
    assert_eq!(again.code, Some(0), "{}", again.stderr);

    let refused = place.run_with(&set, "abc");
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(refused.stderr, @"deskhand: a value has 4 to 1024 characters, none of them a control character such as a line end");
    let nowhere = place.run_with(&["secret", "set", "bank"], "open sesame");
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.stderr);

    insta::assert_snapshot!(place.run(&["secret", "remove", "bank"]).stderr, @"bank is removed.");
    let gone = place.run(&["secret", "remove", "bank"]);
    assert_eq!(gone.code, Some(1));
    insta::assert_snapshot!(gone.stderr, @r#"deskhand: you have no secret "bank""#);
    assert_eq!(place.run(&["secret", "list"]).stdout, "");
    server.ctrl_c();
    assert_eq!(server.end().code, Some(0));
}
