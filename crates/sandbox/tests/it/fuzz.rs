//! Broken messages on the runner link. A sandbox is not trusted, so neither is what comes out of it.

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    id::{RequestId, TerminalId},
    terminal::{
        Framed, ReplayStart, Terminal, TerminalFrames, TerminalInput, TerminalNumber, TerminalSize,
        TerminalUpdate, ViewedTerminal,
    },
    video::{VideoFrame, VideoFrames},
};
use deskhand_runner_protocol::{FromRunner, Outcome, ToRunner, codec};
use deskhand_testkit::fuzz;

#[test]
fn fuzz_messages_from_the_runner() {
    let id = RequestId::new();
    let screen = ScreenSize::default();
    let heads = [
        FromRunner::Ready { screen },
        FromRunner::Progress { id },
        FromRunner::LeaseHolderSet {
            number: 7,
            problem: Some("programs resist".to_owned()),
        },
        FromRunner::Notice {
            text: "The browser ended.".to_owned(),
        },
        FromRunner::Result {
            id,
            outcome: Outcome::Failed {
                problem: "no screen".to_owned(),
            },
        },
    ];
    let messages = heads.map(|head| codec::pack(&head, b"\x89PNG pixels").unwrap());
    let seeds: Vec<&[u8]> = messages.iter().map(|message| &**message).collect();
    fuzz("runner-protocol", &seeds, |input| {
        let input = Bytes::copy_from_slice(input);
        if let Ok((message, body)) = FromRunner::unpack(&input) {
            assert!(body.len() <= input.len());
            let again = FromRunner::unpack(&message.clone().pack().unwrap()).unwrap();
            assert_eq!(again.0, message);
        }
        // The runner reads the other direction. An error is an answer; a panic is not.
        drop(ToRunner::unpack(&input));
    });
}

#[test]
fn fuzz_frames_of_a_terminal() {
    let state = ViewedTerminal {
        terminal: Terminal {
            id: TerminalId::new(),
            number: TerminalNumber(1),
            name: "build".to_owned(),
            size: TerminalSize::default(),
            is_paused: false,
            ended: None,
        },
        read_only: None,
    };
    let frames = [
        TerminalUpdate::State(state).to_frame(),
        TerminalUpdate::Replay(ReplayStart { missed: true }).to_frame(),
        TerminalUpdate::Output(Bytes::from_static(b"\x1b[1mhello\r\n")).to_frame(),
        TerminalInput::Resize(TerminalSize::default()).to_frame(),
    ];
    let seeds: Vec<&[u8]> = frames.iter().map(|frame| &**frame).collect();
    fuzz("terminal-frames", &seeds, |input| {
        let mut updates = TerminalFrames::default();
        updates.push(input);
        while let Ok(Some(update)) = updates.read::<TerminalUpdate>() {
            let mut again = TerminalFrames::default();
            again.push(&update.to_frame());
            assert_eq!(again.read().unwrap(), Some(update));
        }
        // The runner reads the other direction.
        let mut inputs = TerminalFrames::default();
        inputs.push(input);
        while let Ok(Some(_)) = inputs.read::<TerminalInput>() {}
    });
}

#[test]
fn fuzz_frames_of_video() {
    let key = VideoFrame {
        number: 0,
        captured_at_us: 1_790_000_000_000_000,
        is_key: true,
        layer: 0,
        size: ScreenSize::default(),
        picture: Bytes::from_static(b"\0\0\0\x01\x67picture"),
    };
    let other = VideoFrame {
        number: u32::MAX,
        is_key: false,
        layer: 2,
        ..key.clone()
    };
    let both = [key.to_stream(), other.to_stream()].concat();
    fuzz("video-frames", &[&key.to_stream(), &both], |input| {
        let mut frames = VideoFrames::default();
        frames.push(input);
        while let Ok(Some(frame)) = frames.read() {
            assert_eq!(VideoFrame::parse(frame.to_message()), Ok(frame));
        }
    });
}
