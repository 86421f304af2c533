use std::collections::BTreeMap;

use deskhand_core::secret::Secret;
use futures::channel::mpsc;

use super::*;

/// The server's end of a stream to a program.
struct ServerEnd {
    to_program: mpsc::UnboundedSender<Bytes>,
    frames: mpsc::UnboundedReceiver<Bytes>,
}

impl ServerEnd {
    async fn frame(&mut self) -> Option<ProgramFrame> {
        ProgramFrame::decode(self.frames.next().await?)
    }

    fn send(&self, bytes: &[u8]) {
        let sent = Bytes::copy_from_slice(bytes);
        self.to_program.unbounded_send(sent).unwrap();
    }

    fn order(&self, command: &str, args: &[&str]) {
        let order = ProgramOrder {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: BTreeMap::from([("GIVEN".to_owned(), Secret::new("given"))]),
        };
        self.send(&serde_json::to_vec(&order).unwrap());
    }
}

fn stream() -> (ServerEnd, ByteStream) {
    let (to_program, incoming) = mpsc::unbounded();
    let (outgoing, frames) = mpsc::unbounded();
    let stream = ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
    };
    (ServerEnd { to_program, frames }, stream)
}

fn programs() -> Programs {
    Programs::new(ShellConfig {
        home: std::env::temp_dir(),
        display: None,
        output_bytes: 1000,
        variables: BTreeMap::from([("COMMON".to_owned(), Secret::new("common"))]),
    })
}

async fn outcome(command: &str, args: &[&str]) -> Option<ProgramFrame> {
    let (mut server, stream) = stream();
    server.order(command, args);
    programs().serve(stream).await;
    let mut last = None;
    while let Some(frame) = server.frame().await {
        last = Some(frame);
    }
    last
}

#[tokio::test]
async fn a_program_reads_and_writes_until_the_stream_ends() {
    let (mut server, stream) = stream();
    let script = "echo $GIVEN $COMMON; read line; echo got $line; exec sleep 60";
    server.order("sh", &["-c", script]);
    let programs = programs();
    let talking = async {
        assert_eq!(server.frame().await, Some(ProgramFrame::Started));
        let said = ProgramFrame::Output(Bytes::from_static(b"given common\n"));
        assert_eq!(server.frame().await, Some(said));
        server.send(b"hello\n");
        let said = ProgramFrame::Output(Bytes::from_static(b"got hello\n"));
        assert_eq!(server.frame().await, Some(said));
        // The sleeping program is killed with the stream.
        server.to_program.close_channel();
        assert_eq!(server.frame().await, None);
    };
    tokio::join!(programs.serve(stream), talking);
    assert_eq!(programs.places.available_permits(), MOST_PROGRAMS);
}

#[tokio::test]
async fn the_end_of_a_program_has_its_reason() {
    let ended = |text: &str| Some(ProgramFrame::Ended(text.to_owned()));
    let script = "echo 'no module named x' >&2; exit 3";
    assert_eq!(
        outcome("sh", &["-c", script]).await,
        ended("its program ended (exit status: 3): no module named x")
    );
    let missing = outcome("/nowhere/at/all", &[]).await;
    assert_eq!(missing, ended("there is no program /nowhere/at/all"));
    let (mut server, stream) = stream();
    server.send(b"{}");
    programs().serve(stream).await;
    assert_eq!(
        server.frame().await,
        ended("there was no order to start one")
    );
}

#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_read_ends_with_its_stream() {
    let (mut server, stream) = stream();
    server.order("sh", &["-c", "exec sleep 1000"]);
    let programs = programs();
    let closing = async {
        assert_eq!(server.frame().await, Some(ProgramFrame::Started));
        // More than fits into a pipe.
        server.send(&vec![b'x'; 1024 * 1024]);
        server.to_program.close_channel();
        assert_eq!(server.frame().await, None);
    };
    tokio::join!(programs.serve(stream), closing);
    assert_eq!(programs.places.available_permits(), MOST_PROGRAMS);
}
