//! `deskhand user` and `deskhand token`.

use crate::program::{Ended, Place, Started};

struct World {
    place: Place,
    server: Started,
}

impl World {
    fn start() -> Self {
        let place = Place::new();
        let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
        server.says("Open");
        Self { place, server }
    }

    fn good(&self, args: &[&str]) -> Ended {
        let ended = self.place.run(args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        ended
    }

    fn refused(&self, args: &[&str]) -> String {
        let ended = self.place.run(args);
        assert_eq!(ended.code, Some(1), "{args:?}: {}", ended.stdout);
        ended.stderr
    }

    fn end(self) {
        self.server.ctrl_c();
        assert_eq!(self.server.end().code, Some(0));
    }
}

#[test]
fn users_are_added_listed_and_disabled() {
    let world = World::start();
    let added = world.good(&["user", "add", "bob"]);
    assert!(added.stdout.contains("/#code="), "{}", added.stdout);
    insta::assert_snapshot!(added.stderr, @"Send it to bob. It signs them in once, within a day.");
    world.good(&["user", "add", "eve", "--admin"]);
    insta::assert_snapshot!(world.refused(&["user", "add", "Bob"]), @r#"deskhand: a user named "Bob" already exists"#);

    insta::assert_snapshot!(world.good(&["user", "disable", "BOB"]).stderr, @"bob is disabled and signed out everywhere.");
    insta::assert_snapshot!(world.good(&["user", "list"]).stdout, @"
    admin	admin
    bob	member, disabled
    eve	admin
    ");
    insta::assert_snapshot!(world.refused(&["user", "link", "bob"]), @r#"deskhand: user "bob" is disabled; enable them first"#);
    insta::assert_snapshot!(world.good(&["user", "enable", "bob"]).stderr, @"bob may sign in again: `deskhand user link bob --reset` prints a link.");
    let link = world.good(&["user", "link", "bob"]);
    assert!(link.stdout.contains("/#code=") && link.stdout != added.stdout);
    let audit = world.good(&["audit", "--action", "user"]).stdout;
    let told: Vec<_> = audit
        .lines()
        .filter_map(|line| line.split('\t').nth(2))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    the server added the user admin as admin
    admin added the user bob as member
    admin added the user eve as admin
    admin changed the user bob: disabled
    admin changed the user bob: enabled
    ");
    insta::assert_snapshot!(world.refused(&["user", "disable", "joe"]), @r#"deskhand: there is no user "joe"; `deskhand user list` shows them"#);
    world.end();
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let world = World::start();
    let made = world.good(&["token", "new", "ci", "--scope", "read", "--days", "30"]);
    let token = made.stdout.trim();
    assert!(token.starts_with("dh_"));
    insta::assert_snapshot!(made.stderr, @"It is shown only this once; keep it in a safe place.");
    world.good(&["token", "new", "ci"]);

    let listed = world.good(&["token", "list"]).stdout;
    assert!(!listed.contains(token));
    let line = listed.lines().find(|line| line.contains("read")).unwrap();
    assert!(
        line.starts_with(&token[..8]) && line.contains("until") && line.ends_with("never used"),
        "{line}"
    );

    let refused = world.refused(&["token", "revoke", "ci"]);
    assert!(refused.contains("use the beginning of one"), "{refused}");
    insta::assert_snapshot!(world.good(&["token", "revoke", &token[..8]]).stderr, @"ci is revoked.");
    world.good(&["token", "revoke", "ci"]);
    insta::assert_snapshot!(world.refused(&["token", "revoke", "ci"]), @r#"deskhand: you have no token "ci"; `deskhand token list` shows them"#);
    world.end();
}
