//! What the agent's programs can do while a person has control: nothing.

use std::{
    io::Cursor,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use deskhand_core::{
    action::Action,
    blob::BlobFormat,
    edit::EditCommand,
    id::{SessionId, UserId},
    sandbox::{Act, Actor, Call, ComputerExt, LeaseHolder, LeaseOutcome, Lifecycle, Look, Sandbox},
    shell::ShellEnding,
};

use crate::support::{World, example, said, shell};

const PROGRAMS: &str = include_str!("takeover/programs.py");

/// A sandbox with programs that the agent left behind, and a person.
struct Stage {
    world: World,
    sandbox: Arc<dyn Sandbox>,
    person: UserId,
}

impl Stage {
    async fn set() -> Self {
        let world = World::with(|config| config.runner = example("runner"));
        world.sandboxes.sweep().await;
        let sandbox = world.start(SessionId::new()).await;
        let create = EditCommand::Create {
            path: "/home/agent/programs.py".to_owned(),
            file_text: PROGRAMS.to_owned(),
        };
        let call = Call::by(Actor::Agent);
        sandbox.perform(call, create).await.unwrap();
        Self {
            world,
            sandbox,
            person: UserId::new(),
        }
    }

    /// Leaves a program running, and waits until it has made its mark.
    async fn leave(&self, program: &str) {
        let start = format!("/usr/bin/python3 ~/programs.py {program} > ~/{program}.log 2>&1 &");
        said(&*self.sandbox, &start).await;
        let has_begun = format!(
            "for i in $(seq 1000); do [ -s ~/{program} ] && exit; sleep 0.01; done; cat ~/{program}.log; false"
        );
        said(&*self.sandbox, &format!("({has_begun})")).await;
    }

    async fn take_over(&self) -> LeaseOutcome {
        let begin = Instant::now();
        let holder = LeaseHolder::Person(self.person);
        let outcome = self.sandbox.set_lease_holder(holder).await;
        println!("taken over in {:?}", begin.elapsed());
        outcome
    }

    async fn hand_back(&self) {
        let begin = Instant::now();
        self.sandbox.set_lease_holder(LeaseHolder::Nobody).await;
        println!("handed back in {:?}", begin.elapsed());
    }

    fn call(&self) -> Call {
        Call::by(Actor::Person(self.person))
    }

    /// Runs a command as the person who has control.
    async fn person_says(&self, command: &str) -> String {
        let output = self.sandbox.perform(self.call(), shell(command)).await;
        let output = output.unwrap();
        let ending = ShellEnding::Exited { code: 0 };
        assert_eq!(output.ending, ending, "{command}: {}", output.output);
        output.output.trim().to_owned()
    }

    async fn person_types(&self, text: &str) {
        self.sandbox
            .perform(self.call(), typing(text))
            .await
            .unwrap();
    }

    async fn agent_types(&self, text: &str) {
        let call = Call::by(Actor::Agent);
        self.sandbox.perform(call, typing(text)).await.unwrap();
    }

    /// Waits until the screen does or does not show a red window.
    async fn shows_window(&self, call: impl Fn() -> Call, is_shown: bool) {
        let give_up_at = Instant::now() + Duration::from_secs(60);
        loop {
            let look = Look {
                format: BlobFormat::Png,
                shown: None,
            };
            let frame = self.sandbox.perform(call(), look).await.unwrap();
            if (n_red(&frame.bytes) > 10_000) == is_shown {
                return;
            }
            assert!(Instant::now() < give_up_at, "shown: {}", !is_shown);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn typing(text: &str) -> Act {
    Act {
        action: Action::Type {
            text: text.to_owned(),
        },
        look: false,
        shown: None,
    }
}

/// Returns the last line of a command's output. The shell may first say which of its programs are gone.
fn last_line(output: &str) -> &str {
    output.lines().last().unwrap_or_default()
}

fn n_red(picture: &Bytes) -> usize {
    let mut reader = png::Decoder::new(Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let pixels = pixels[..info.buffer_size()].chunks(info.color_type.samples());
    pixels
        .filter(|pixel| pixel.starts_with(&[0xff, 0, 0]))
        .count()
}

#[tokio::test]
async fn while_a_person_has_control_the_agents_programs_stand_still() {
    let stage = Stage::set().await;
    stage.leave("runaway").await;
    stage.leave("waker").await;
    stage.leave("notified").await;
    said(
        &*stage.sandbox,
        "sleep 1000 & echo $! > ~/asleep; kill -STOP $!",
    )
    .await;
    said(
        &*stage.sandbox,
        "setsid -f sh -c 'while :; do echo x >> ~/daemon; done'; until [ -s ~/daemon ]; do sleep 0.01; done",
    )
    .await;
    stage.take_over().await;

    let sizes = "cd; wc -c runaway waker daemon";
    let before = stage.person_says(sizes).await;
    let after = stage.person_says(&format!("sleep 0.5; {sizes}")).await;
    assert_eq!(before, after);
    let gone = "! pgrep -f 'programs.py waker'";
    stage.person_says(gone).await;
    // Nothing that the person does continues a program.
    let unheard =
        "touch ~/watched/file; sleep 0.5; [ ! -e ~/notified_is_told ] && [ ! -e ~/notified_wakes ]";
    stage.person_says(unheard).await;
    // The person's own programs run, and so does everything that the person needs.
    let own = "touch ~/own; (while :; do echo x >> ~/own; sleep 0.01; done) & \
               until [ $(stat -c %s ~/own) -gt 10 ]; do sleep 0.01; done";
    stage.person_says(own).await;
    // A program that detaches itself from the person's shell is still theirs.
    let detached = "setsid -f sh -c 'while :; do echo x >> ~/detached; sleep 0.01; done'; \
                    until [ -s ~/detached ]; do sleep 0.01; done; sleep 0.5; n=$(stat -c %s ~/detached); \
                    until [ $(stat -c %s ~/detached) -gt $n ]; do sleep 0.01; done";
    stage.person_says(detached).await;
    let states = "until pgrep chromium; do sleep 0.01; done > /dev/null; \
                  for name in Xvnc openbox chromium; do ps -o stat= -p $(pgrep -o $name); done";
    let states = stage.person_says(states).await;
    assert!(!states.contains('T'), "{states}");
    stage.hand_back().await;

    let grown = "cd; for name in runaway daemon; do n=$(stat -c %s $name); \
                 until [ $(stat -c %s $name) -gt $n ]; do sleep 0.01; done; done";
    said(&*stage.sandbox, grown).await;
    // A program that was stopped before still is.
    let asleep = said(&*stage.sandbox, "ps -o stat= -p $(cat ~/asleep)").await;
    assert!(asleep.starts_with('T'), "{asleep}");
    stage.world.end().await;
}

#[tokio::test]
async fn a_program_that_is_woken_up_dies_with_everything_that_it_started() {
    let stage = Stage::set().await;
    stage.leave("sleeper").await;
    stage.take_over().await;
    // Two looks at what is frozen have passed. Then it is as if the kernel continued it, by a way that is not known.
    stage
        .person_says("sleep 0.3; pkill -CONT -f '[p]rograms.py sleeper'")
        .await;
    let gone = "until ! pgrep -f '[p]rograms.py sleeper'; do sleep 0.01; done";
    stage.person_says(gone).await;
    let quiet = "cd; n=$(stat -c %s sleeper_wakes || echo 0); sleep 0.5; \
                 [ $(stat -c %s sleeper_wakes || echo 0) = $n ]";
    stage.person_says(quiet).await;
    stage.hand_back().await;
    stage.world.end().await;
}

#[tokio::test]
async fn what_a_person_types_reaches_no_program_of_the_agent_and_not_afterwards() {
    let stage = Stage::set().await;
    // The browser's window would come up at some time and cover the others.
    let close_browser = "until pgrep chromium; do sleep 0.01; done > /dev/null; \
                         while pkill chromium; do sleep 0.05; done";
    said(&*stage.sandbox, close_browser).await;
    stage.leave("listener").await;
    stage.leave("window").await;
    stage.shows_window(|| Call::by(Actor::Agent), true).await;
    stage.take_over().await;
    stage.shows_window(|| stage.call(), false).await;
    stage.person_types("hunter2").await;
    stage.hand_back().await;

    // The one that listened is gone with all it was told. The other goes on.
    stage.shows_window(|| Call::by(Actor::Agent), true).await;
    let goes_on = "cd; n=$(stat -c %s alive); until [ $(stat -c %s alive) -gt $n ]; do sleep 0.01; done; \
                   [ ! -e heard ] && ! pgrep -f 'programs.py listener'";
    said(&*stage.sandbox, goes_on).await;
    stage.world.end().await;
}

#[tokio::test]
async fn no_way_of_spying_that_x11_has_tells_of_a_takeover() {
    let stage = Stage::set().await;
    let close_browser = "until pgrep chromium; do sleep 0.01; done > /dev/null; \
                         while pkill chromium; do sleep 0.05; done";
    said(&*stage.sandbox, close_browser).await;
    // Each of them works while nobody has control.
    for spy in ["pixels", "clipboard"] {
        stage.leave(spy).await;
    }
    for listener in ["recorder", "key_grabber"] {
        stage.leave(listener).await;
        stage.agent_types("x").await;
        let heard = format!("until [ -s ~/heard_by_{listener} ]; do sleep 0.01; done");
        said(&*stage.sandbox, &heard).await;
    }
    stage.leave("awaiter").await;
    let copy = |word: &str| {
        format!(
            "rm -f ~/copier; setsid -f /usr/bin/python3 ~/programs.py copier {word} > /dev/null 2>&1; \
             until [ -s ~/copier ]; do sleep 0.01; done"
        )
    };
    said(&*stage.sandbox, &copy("notes")).await;
    let clipped = "until [ -s ~/clipped_notes ]; do sleep 0.01; done";
    said(&*stage.sandbox, clipped).await;

    assert_eq!(stage.take_over().await, LeaseOutcome::Set);
    let spied = "cd; cat heard_by_* | wc -c";
    let before = stage.person_says(spied).await;
    let seen = "cd; wc -c pixels clipboard";
    let seen_before = stage.person_says(seen).await;
    stage.person_says(&copy("hunter2")).await;
    stage.person_types("hunter2").await;
    let seen_after = stage.person_says(&format!("sleep 0.5; {seen}")).await;
    assert_eq!(seen_before, seen_after);
    println!("read the pixels, and ask for the clipboard: the programs stand still");
    for listener in ["recorder", "key_grabber"] {
        let gone = format!("! pgrep -f '[p]rograms.py {listener}'");
        stage.person_says(&gone).await;
        println!("hear keys as a {listener}: the program is gone");
    }
    stage
        .person_says("! pgrep -f '[p]rograms.py awaiter'")
        .await;
    println!("leave requests that wait for a moment: the program is gone");
    stage.hand_back().await;

    let asks_again = "cd; n=$(stat -c %s clipboard); \
                      until [ $(stat -c %s clipboard) -gt $((n + 5)) ]; do sleep 0.01; done";
    said(&*stage.sandbox, asks_again).await;
    assert_eq!(last_line(&said(&*stage.sandbox, spied).await), before);
    said(&*stage.sandbox, "[ ! -e ~/clipped_hunter2 ]").await;
    println!("ask for the clipboard afterwards: it is empty");

    // Nobody can tell who has all keys for themselves, so no program that uses the screen survives this.
    stage.leave("grabber").await;
    stage.agent_types("x").await;
    let heard = "until [ -s ~/heard_by_grabber ]; do sleep 0.01; done";
    said(&*stage.sandbox, heard).await;
    assert_eq!(stage.take_over().await, LeaseOutcome::Set);
    let before = stage.person_says(spied).await;
    stage.person_types("hunter2").await;
    stage
        .person_says("! pgrep -f '[p]rograms.py grabber'")
        .await;
    stage.hand_back().await;
    assert_eq!(last_line(&said(&*stage.sandbox, spied).await), before);
    println!("take the whole keyboard: the program is gone");
    stage.world.end().await;
}

#[tokio::test]
async fn a_takeover_kills_a_program_that_grabs_the_x_server() {
    let stage = Stage::set().await;
    stage.leave("hog").await;
    assert_eq!(stage.take_over().await, LeaseOutcome::Set);
    stage.person_says("! pgrep -f '[p]rograms.py hog'").await;
    stage.person_types("hunter2").await;
    stage.hand_back().await;
    stage.world.end().await;
}

#[tokio::test]
async fn programs_cannot_disable_the_mouse_of_a_person() {
    let stage = Stage::set().await;
    stage.leave("settings").await;
    said(&*stage.sandbox, "[ ! -e ~/settings_changed ]").await;
    stage.world.end().await;
}

#[tokio::test]
async fn nobody_but_the_x_server_shows_the_screen() {
    use deskhand_core::sandbox::StreamTarget;
    use futures::StreamExt;

    let stage = Stage::set().await;
    // Programs have no way to connect to the X server's own socket.
    said(
        &*stage.sandbox,
        "[ -d /tmp/.deskhand-* ] && [ ! -e /tmp/.deskhand-*/vnc.sock ]",
    )
    .await;
    let replaced = "cd /tmp/.deskhand-*; /usr/bin/python3 -c \
                    'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"vnc.sock\"); s.listen(); \
                    s.accept()[0].send(b\"FAKE\")' & until [ -S /tmp/.deskhand-*/vnc.sock ]; do sleep 0.01; done";
    said(&*stage.sandbox, replaced).await;
    let watcher = Actor::Person(stage.person);
    let screen = stage.sandbox.open(StreamTarget::Screen, watcher).await;
    let greeting = screen.unwrap().incoming.next().await;
    assert_eq!(greeting, Some(Bytes::from("RFB 003.008\n")));
    stage.world.end().await;
}
