//! Broken messages on the runner link. A sandbox is not trusted, so neither is what comes out of it.

use bytes::Bytes;
use deskhand_core::{action::ScreenSize, id::RequestId};
use deskhand_runner_protocol::{FromRunner, Outcome, ToRunner, codec};
use deskhand_testkit::fuzz;

#[test]
fn fuzz_messages_from_the_runner() {
    let id = RequestId::new();
    let screen = ScreenSize::default();
    let heads = [
        FromRunner::Ready { screen },
        FromRunner::Progress { id },
        FromRunner::LeaseHolderSet { number: 7 },
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
