//! Types text so that every character arrives once and in order, on any layout.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::{
    ActError,
    events::Events,
    keyboard::{Strokes, Wanted},
    keysyms::{Chord, Keysym},
    seat::{Seat, SeatHandle},
    x::XError,
};

/// The longest wait for a program to report that it has caught up with typed input.
///
/// A program that takes longer hangs. Any input that it has not read by then may come out wrong.
const CATCH_UP_MAX: Duration = Duration::from_secs(5);

/// The longest such wait before a picture is taken, where nothing can come out wrong.
const NOTICE_MAX: Duration = Duration::from_millis(500);

/// The time for a program to catch up that neither reports it nor can be observed.
const CATCH_UP_GUESS: Duration = Duration::from_millis(60);

/// The first number for pings, far above those that window managers use.
const FIRST_PING: u32 = 0x4000_0000;

/// A piece of text that is typed in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Keys(Vec<Wanted>),
    /// A character typed by its number: Control+Shift+U, then the number, then a space. Programs based on GTK, such
    /// as Chromium, read that as the character.
    Number(char),
}

/// A character that cannot be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the control character U+{:04X} cannot be typed", u32::from(*.0))]
pub struct Untypable(pub char);

/// Types at a seat and waits for programs to keep up.
#[derive(Debug)]
pub(super) struct Typist {
    seat: SeatHandle,
    events: Arc<Events>,
    n_pings: AtomicU32,
}

impl Typist {
    pub(super) fn new(seat: SeatHandle, events: Arc<Events>) -> Self {
        Self {
            seat,
            events,
            n_pings: AtomicU32::new(FIRST_PING),
        }
    }

    /// Types a text into the focused program. Types nothing if any of it cannot be typed.
    pub(super) async fn type_text(
        &self,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<(), ActError> {
        let focused = self.seat.run(|seat| seat.focused()).await?;
        let needs_numbers = focused.is_some_and(|focused| focused.is_chromium());
        for piece in pieces(text, needs_numbers)? {
            match piece {
                Piece::Keys(wanted) => self.type_keys(wanted, cancel).await?,
                Piece::Number(character) => self.type_number(character).await?,
            }
            if cancel.is_cancelled() {
                return Err(ActError::Cancelled);
            }
        }
        Ok(())
    }

    /// Types a character by its number.
    ///
    /// This must not be cancelled, since the next typed text would be taken for more of the number.
    async fn type_number(&self, character: char) -> Result<(), ActError> {
        let capital_u = Keysym(u32::from('U'));
        let begin = Chord(vec![Keysym::CONTROL, Keysym::SHIFT, capital_u]);
        let struck = begin.clone();
        let to_the_end = CancellationToken::new();
        self.with_ready(&begin, &to_the_end, move |seat| seat.strike(&struck, 1))
            .await?;
        let number = format!("{:x} ", u32::from(character));
        let keysyms = number.chars().filter_map(Keysym::of_char);
        // On some layouts digits need Shift, which would end the number.
        let wanted = keysyms.map(|keysym| Wanted {
            keysym,
            plain: true,
        });
        self.type_keys(wanted.collect(), &to_the_end).await
    }

    async fn type_keys(
        &self,
        wanted: Vec<Wanted>,
        cancel: &CancellationToken,
    ) -> Result<(), ActError> {
        let wanted: Arc<[Wanted]> = wanted.into();
        let mut n_typed = 0;
        while n_typed < wanted.len() && !cancel.is_cancelled() {
            let strokes = self.get_ready(Arc::clone(&wanted), n_typed, cancel).await?;
            let has_spares = strokes.has_spares;
            n_typed += strokes.strokes.len();
            self.seat
                .run(move |seat| seat.type_strokes(&strokes))
                .await?;
            if has_spares {
                self.let_catch_up().await?;
            }
        }
        Ok(())
    }

    /// Binds keys for the wanted keysyms from `start` on, and waits until the focused program knows them.
    async fn get_ready(
        &self,
        wanted: Arc<[Wanted]>,
        start: usize,
        cancel: &CancellationToken,
    ) -> Result<Strokes, ActError> {
        let strokes = self
            .seat
            .run(move |seat| seat.get_ready(&wanted[start..]))
            .await?;
        if strokes.has_new {
            self.let_catch_up().await?;
        }
        // That may have taken long, and after a cancellation nothing more must be typed.
        if cancel.is_cancelled() {
            return Err(ActError::Cancelled);
        }
        Ok(strokes)
    }

    /// Binds keys for a chord, then runs `work` at the seat.
    pub(super) async fn with_ready<T: Send + 'static>(
        &self,
        chord: &Chord,
        cancel: &CancellationToken,
        work: impl FnOnce(&mut Seat) -> Result<T, XError> + Send + 'static,
    ) -> Result<T, ActError> {
        let strokes = self.get_ready(chord.wanted().into(), 0, cancel).await?;
        let result = self.seat.run(work).await;
        if strokes.has_spares {
            self.let_catch_up().await?;
        }
        result
    }

    /// Presses chords one after the other.
    pub(super) async fn strike(
        &self,
        chords: Vec<Chord>,
        repeat: u8,
        cancel: &CancellationToken,
    ) -> Result<(), ActError> {
        let (n_rounds, n_times) = match chords.len() {
            1 => (1, repeat),
            _ => (repeat, 1),
        };
        for _ in 0..n_rounds {
            for chord in chords.clone() {
                if cancel.is_cancelled() {
                    return Err(ActError::Cancelled);
                }
                let struck = chord.clone();
                self.with_ready(&chord, cancel, move |seat| seat.strike(&struck, n_times))
                    .await?;
            }
        }
        Ok(())
    }

    /// Waits until the focused program has read its input, if it reports that, before a picture is taken.
    pub(super) async fn let_notice(&self) -> Result<(), ActError> {
        self.hear_from_focused(NOTICE_MAX).await?;
        Ok(())
    }

    /// Waits until the focused program has read all input so far. Terminals and other old programs do not report
    /// that, so they are observed from outside.
    async fn let_catch_up(&self) -> Result<(), ActError> {
        let has_said = self.hear_from_focused(CATCH_UP_MAX).await?;
        if !has_said && !self.seat.let_focused_rest().await? {
            tokio::time::sleep(CATCH_UP_GUESS).await;
        }
        Ok(())
    }

    /// Pings the focused program and waits for the answer. Returns false if it does not answer pings.
    async fn hear_from_focused(&self, timeout: Duration) -> Result<bool, ActError> {
        let number = self.n_pings.fetch_add(1, Ordering::Relaxed);
        let mut pong = self.events.pong.subscribe();
        let pinged = self.seat.run(move |seat| seat.ping_focused(number)).await?;
        if pinged {
            let answer = pong.wait_for(|answered| *answered == number);
            // If the program hangs, we continue, as a user would.
            let _ = tokio::time::timeout(timeout, answer).await;
        }
        Ok(pinged)
    }
}

/// Splits a text into pieces.
///
/// With `needs_numbers`, characters beyond the 16 bits that Chromium reads of a keysym are typed by number.
fn pieces(text: &str, needs_numbers: bool) -> Result<Vec<Piece>, Untypable> {
    let mut pieces = Vec::new();
    for character in text.replace("\r\n", "\n").chars() {
        if needs_numbers && u32::from(character) > 0xffff {
            pieces.push(Piece::Number(character));
            continue;
        }
        let key = Wanted {
            keysym: Keysym::of_char(character).ok_or(Untypable(character))?,
            plain: false,
        };
        match pieces.last_mut() {
            Some(Piece::Keys(keys)) => keys.push(key),
            Some(Piece::Number(_)) | None => pieces.push(Piece::Keys(vec![key])),
        }
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Piece {
        let keysyms = text.chars().filter_map(Keysym::of_char);
        let keys = keysyms.map(|keysym| Wanted {
            keysym,
            plain: false,
        });
        Piece::Keys(keys.collect())
    }

    #[test]
    fn a_text_without_emoji_is_one_piece_of_keys() {
        assert_eq!(
            pieces("naïve Ω 漢字\n\tend", true).unwrap(),
            [keys("naïve Ω 漢字\n\tend")]
        );
    }

    #[test]
    fn both_kinds_of_line_end_are_one_return() {
        assert_eq!(pieces("a\r\nb", false).unwrap(), [keys("a\nb")]);
    }

    #[test]
    fn what_chromium_does_not_read_from_a_keysym_is_typed_by_number() {
        assert_eq!(
            pieces("hi 😀👍\u{fe0f} ok", true).unwrap(),
            [
                keys("hi "),
                Piece::Number('😀'),
                Piece::Number('👍'),
                keys("\u{fe0f} ok")
            ]
        );
    }

    #[test]
    fn other_programs_take_emoji_by_key() {
        assert_eq!(pieces("a😀", false).unwrap(), [keys("a😀")]);
    }

    #[test]
    fn a_control_character_is_refused_by_name() {
        assert_eq!(pieces("a\0b", false), Err(Untypable('\0')));
        assert_eq!(pieces("😀\u{7}😀", true), Err(Untypable('\u{7}')));
        assert_eq!(
            Untypable('\u{7}').to_string(),
            "the control character U+0007 cannot be typed"
        );
    }

    #[test]
    fn nothing_to_type_is_no_piece() {
        assert_eq!(pieces("", false).unwrap(), []);
    }
}
