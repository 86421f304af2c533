//! Rules of terminals.

use deskhand_core::{
    id::UserId,
    sandbox::{
        Actor, ByteStream, Call, ComputerExt, KillTerminal, LeaseHolder, ListTerminals,
        OpenTerminal, RenameTerminal, Sandbox, StreamTarget, TerminalOpened,
    },
    terminal::{
        Framed, ReadOnly, Terminal, TerminalEnd, TerminalFrames, TerminalInput, TerminalNumber,
        TerminalSize, TerminalUpdate, ViewedTerminal,
    },
};
use futures::{SinkExt, StreamExt};

/// A viewer with everything that it was shown.
struct ConformanceViewer {
    stream: ByteStream,
    frames: TerminalFrames,
    output: String,
    state: Option<ViewedTerminal>,
}

impl ConformanceViewer {
    async fn open(sandbox: &dyn Sandbox, number: TerminalNumber, user: UserId) -> Self {
        let target = StreamTarget::Terminal {
            number,
            may_type: true,
        };
        let stream = sandbox.open(target, Actor::Person(user)).await;
        Self {
            stream: stream.unwrap(),
            frames: TerminalFrames::default(),
            output: String::new(),
            state: None,
        }
    }

    async fn send(&mut self, input: TerminalInput) {
        self.stream.outgoing.send(input.to_frame()).await.unwrap();
    }

    async fn type_in(&mut self, text: &'static str) {
        self.send(TerminalInput::Typed(text.into())).await;
    }

    async fn until(&mut self, wanted: impl Fn(&Self) -> bool) {
        while !wanted(self) {
            assert!(self.next().await, "{:?}, {:?}", self.output, self.state);
        }
    }

    async fn until_output(&mut self, text: &str) {
        self.until(|it| it.output.contains(text)).await;
        self.output.clear();
    }

    async fn until_read_only(&mut self, reason: Option<ReadOnly>) {
        let state = |it: &Self| it.state.as_ref().is_some_and(|it| it.read_only == reason);
        self.until(state).await;
    }

    /// Reads one more update. Returns false at the end.
    async fn next(&mut self) -> bool {
        loop {
            match self.frames.read().unwrap() {
                Some(TerminalUpdate::Output(bytes)) => {
                    self.output.push_str(&String::from_utf8_lossy(&bytes));
                }
                Some(TerminalUpdate::State(state)) => self.state = Some(state),
                Some(TerminalUpdate::Replay(_)) => {}
                None => {
                    let Some(piece) = self.stream.incoming.next().await else {
                        return false;
                    };
                    self.frames.push(&piece);
                    continue;
                }
            }
            return true;
        }
    }
}

async fn open(sandbox: &dyn Sandbox, user: UserId) -> Terminal {
    let open = OpenTerminal {
        name: None,
        size: TerminalSize::default(),
        command: Some("cat".to_owned()),
    };
    let call = Call::by(Actor::Person(user));
    match sandbox.perform(call, open).await.unwrap() {
        TerminalOpened::Opened(terminal) => terminal,
        TerminalOpened::TooMany(most) => panic!("there are not {most} terminals"),
        TerminalOpened::ControlChanged => panic!("nobody took control"),
    }
}

async fn list(sandbox: &dyn Sandbox, user: UserId) -> Vec<Terminal> {
    let call = Call::by(Actor::Person(user));
    let list = sandbox.perform(call, ListTerminals).await.unwrap();
    list.terminals
}

pub(super) async fn terminals_are_shared_and_replayed(sandbox: &dyn Sandbox) {
    let (one, other) = (UserId::new(), UserId::new());
    let terminal = open(sandbox, one).await;
    let mut first = ConformanceViewer::open(sandbox, terminal.number, one).await;
    first.type_in("first\n").await;
    first.until_output("first\r\nfirst").await;
    let mut second = ConformanceViewer::open(sandbox, terminal.number, other).await;
    second.until_output("first\r\nfirst").await;
    second.type_in("second\n").await;
    first.until_output("second\r\nsecond").await;

    let size = TerminalSize {
        cols: 100,
        rows: 30,
    };
    first.send(TerminalInput::Resize(size)).await;
    let has_size = |it: &ConformanceViewer| {
        let state = it.state.as_ref();
        state.is_some_and(|state| state.terminal.size == size)
    };
    second.until(has_size).await;

    let rename = RenameTerminal {
        number: terminal.number,
        name: "build".to_owned(),
    };
    let renamed = sandbox.perform(Call::by(Actor::Person(one)), rename).await;
    assert_eq!(renamed.unwrap().terminal.unwrap().name, "build");
    let all = list(sandbox, other).await;
    assert_eq!(all[0].number, TerminalNumber::AGENT);
    let named = all.iter().find(|it| it.number == terminal.number);
    assert_eq!(named.unwrap().name, "build");

    // Its end is kept, and told to those who come later.
    first.type_in("\u{4}").await;
    second.until_read_only(Some(ReadOnly::Ended)).await;
    let mut late = ConformanceViewer::open(sandbox, terminal.number, other).await;
    late.until_read_only(Some(ReadOnly::Ended)).await;
    let ended = late.state.as_ref().unwrap().terminal.ended;
    assert_eq!(ended, Some(TerminalEnd::Exited { code: 0 }));

    let kill = KillTerminal {
        number: terminal.number,
    };
    let call = || Call::by(Actor::Person(one));
    let killed = sandbox.perform(call(), kill).await.unwrap();
    assert!(killed.terminal.is_some());
    while late.next().await {}
    let again = sandbox.perform(call(), kill).await.unwrap();
    assert_eq!(again.terminal, None);
}

pub(super) async fn the_lease_decides_who_types(sandbox: &dyn Sandbox) {
    let (holder, other) = (UserId::new(), UserId::new());
    let early = open(sandbox, other).await;
    let mut others = ConformanceViewer::open(sandbox, early.number, other).await;
    let mut holders = ConformanceViewer::open(sandbox, early.number, holder).await;
    others.until_read_only(None).await;
    sandbox.set_lease_holder(LeaseHolder::Person(holder)).await;
    others.until_read_only(Some(ReadOnly::Control)).await;
    others.type_in("other\n").await;
    // Programs from before are frozen, so the holder does not type to them either.
    holders.until_read_only(Some(ReadOnly::Paused)).await;
    holders.type_in("holder\n").await;
    assert!(list(sandbox, other).await.iter().any(|it| it.is_paused));

    let own = open(sandbox, holder).await;
    let mut own_view = ConformanceViewer::open(sandbox, own.number, holder).await;
    own_view.type_in("own\n").await;
    own_view.until_output("own\r\nown").await;
    let mut watching = ConformanceViewer::open(sandbox, own.number, other).await;
    watching.until_read_only(Some(ReadOnly::Control)).await;
    watching.type_in("watching\n").await;
    // What was typed first has arrived by the time that this is answered.
    own_view.type_in("after\n").await;
    own_view.until_output("after\r\nafter").await;

    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    others.until_read_only(None).await;
    others.output.clear();
    others.type_in("again\n").await;
    others
        .until(|it| it.output.contains("again\r\nagain"))
        .await;
    assert!(!others.output.contains("holder") && !others.output.contains("other"));
    watching.until_read_only(None).await;
    watching.type_in("free\n").await;
    watching
        .until(|it| it.output.contains("free\r\nfree"))
        .await;
    assert!(!watching.output.contains("watching"), "{}", watching.output);
}
