//! Generated clients against a second reader: whatever a client sends, however it is cut, and whenever control comes
//! and goes, only whole, allowed messages come out.

use std::{collections::BTreeSet, time::Duration};

use deskhand_testkit::FuzzRun;
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};

use super::{
    HELLO,
    strict::{SeenInput, read_input},
};
use crate::screen_input::{Hands, NotAScreen, ScreenInput};

/// The time to search for a client that gets something through, unless `FUZZ_SECONDS` sets another.
const SEARCH_TIME: Duration = Duration::from_secs(1);
/// The number of clients that are generated between two looks at the clock.
const CLIENTS_AT_ONCE: u32 = 32;

/// A client that sends bytes in pieces, with and without control.
#[derive(Debug, Clone)]
struct Attacker {
    bytes: Vec<u8>,
    /// The length of each piece, and the client's control when it arrives.
    pieces: Vec<(usize, bool)>,
}

/// What the desktop sees as held down.
#[derive(Debug, Default)]
struct Desktop {
    keys: BTreeSet<(u32, u32)>,
    buttons: u8,
}

impl Desktop {
    fn see(&mut self, input: SeenInput) {
        match input {
            SeenInput::Key {
                is_down: true,
                keysym,
                keycode,
            } => {
                self.keys.insert((keysym, keycode));
            }
            SeenInput::Key {
                keysym, keycode, ..
            } => {
                self.keys.remove(&(keysym, keycode));
            }
            SeenInput::Buttons(buttons) => self.buttons = buttons,
            SeenInput::Clipboard => {}
        }
    }
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    let fixed = |kind: u8, n_bytes: usize| {
        let fields = prop::collection::vec(any::<u8>(), n_bytes - 1);
        fields.prop_map(move |fields| [&[kind][..], &fields].concat())
    };
    let encoding = prop_oneof![
        Just(-316_i32),
        Just(0),
        Just(-258),
        Just(-312),
        any::<i32>()
    ];
    let encodings = prop::collection::vec(encoding, 0..6).prop_map(|encodings| {
        let n_encodings = u16::try_from(encodings.len()).unwrap().to_be_bytes();
        let encodings = encodings.into_iter().flat_map(i32::to_be_bytes);
        [2, 0]
            .into_iter()
            .chain(n_encodings)
            .chain(encodings)
            .collect()
    });
    let fence = (any::<[u8; 7]>(), prop::collection::vec(any::<u8>(), 0..80)).prop_map(
        |(head, payload)| {
            let length = u8::try_from(payload.len()).unwrap();
            [&[248][..], &head, &[length], &payload].concat()
        },
    );
    let text = prop::collection::vec(any::<u8>(), 0..40).prop_map(|text| {
        let length = i32::try_from(text.len()).unwrap().to_be_bytes();
        [&[6, 1, 2, 3][..], &length, &text].concat()
    });
    let clipboard = (
        0_u8..32,
        any::<[u8; 3]>(),
        prop::collection::vec(any::<u8>(), 0..90),
    )
        .prop_map(|(actions, formats, body)| {
            let length = -i32::try_from(4 + body.len()).unwrap();
            [
                &[6, 0, 0, 0][..],
                &length.to_be_bytes(),
                &[actions],
                &formats,
                &body,
            ]
            .concat()
        });
    let size = prop::collection::vec(any::<[u8; 16]>(), 0..3).prop_map(|screens| {
        let n_screens = u8::try_from(screens.len()).unwrap();
        [&[251, 0, 4, 0, 3, 0, n_screens, 0][..], &screens.concat()].concat()
    });
    prop_oneof![
        fixed(0, 20),
        encodings,
        fixed(3, 10),
        fixed(4, 8),
        fixed(5, 6),
        fixed(5, 7),
        text,
        clipboard,
        fixed(150, 10),
        fence,
        fixed(250, 4),
        size,
        fixed(255, 12),
        fixed(255, 12).prop_map(|mut message| {
            message[1] = 0;
            message
        }),
        prop::collection::vec(any::<u8>(), 1..20),
    ]
}

fn attacker() -> impl Strategy<Value = Attacker> {
    let messages = prop::collection::vec(message(), 1..30);
    // A byte that is changed, left out or added shifts what follows.
    let flaw = prop::option::of((any::<prop::sample::Index>(), any::<u8>(), 0..3));
    let pieces = prop::collection::vec((1_usize..60, any::<bool>()), 1..20);
    (messages, flaw, pieces).prop_map(|(messages, flaw, pieces)| {
        let mut bytes = messages.concat();
        if let Some((place, byte, how)) = flaw {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => drop(bytes.remove(place)),
                _ => bytes.insert(place, byte),
            }
        }
        Attacker { bytes, pieces }
    })
}

/// Plays a client against the relay, and reads the relay's output a second time.
fn play(attacker: &Attacker) -> Result<(), TestCaseError> {
    let mut relay = ScreenInput::default();
    let mut desktop = Desktop::default();
    prop_assert_eq!(relay.pass(HELLO, Hands::Off), Ok(HELLO.into()));
    let mut rest = &attacker.bytes[..];
    let mut had_control = false;
    for (length, has_control) in attacker.pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        if had_control && !has_control {
            read_input(&relay.release())
                .into_iter()
                .for_each(|input| desktop.see(input));
            prop_assert!(
                desktop.keys.is_empty() && desktop.buttons == 0,
                "{:?}",
                desktop
            );
        }
        had_control = *has_control;
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        rest = after;
        let hands = if *has_control { Hands::On } else { Hands::Off };
        match relay.pass(piece, hands) {
            Ok(passed) => {
                let input = read_input(&passed);
                prop_assert!(
                    *has_control || input.is_empty(),
                    "{:?} without control",
                    input
                );
                input.into_iter().for_each(|input| desktop.see(input));
            }
            // The connection ends here.
            Err(NotAScreen) => break,
        }
    }
    read_input(&relay.release())
        .into_iter()
        .for_each(|input| desktop.see(input));
    prop_assert!(
        desktop.keys.is_empty() && desktop.buttons == 0,
        "{:?}",
        desktop
    );
    Ok(())
}

#[test]
fn whatever_a_client_sends_only_allowed_messages_come_out() {
    let mut run = FuzzRun::start("clients of the screen", SEARCH_TIME);
    let mut n_clients = 0;
    while run.goes_on() {
        let config = Config {
            cases: CLIENTS_AT_ONCE,
            failure_persistence: None,
            ..Config::default()
        };
        // Each round has a seed of its own, which follows from that of the run.
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&run.seed().to_le_bytes());
        seed[8..16].copy_from_slice(&u64::to_le_bytes(n_clients));
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config, random);
        if let Err(failure) = runner.run(&attacker(), |attacker| play(&attacker)) {
            panic!("FUZZ_SEED={}: {failure}", run.seed());
        }
        n_clients += u64::from(CLIENTS_AT_ONCE);
    }
    run.end(n_clients);
}
