//! Typing text so that every character arrives, once and in order, whatever the layout.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    ActError,
    clipboard::{Clipboard, Content},
    events::Events,
    keyboard::{Strokes, Wanted},
    keysyms::{Chord, Keysym},
    seat::{Seat, SeatHandle},
    x::XError,
};

/// How long a program is waited for to say that it has caught up. One that takes longer hangs.
const CATCH_UP_MAX: Duration = Duration::from_millis(500);

/// How long a program that cannot say so is given instead.
const CATCH_UP_GUESS: Duration = Duration::from_millis(60);

/// How long a program has to take pasted text. One that does not want it never asks.
const PASTE_MAX: Duration = Duration::from_secs(1);

/// A program may ask for the same pasted text again within this time.
const PASTE_QUIET: Duration = Duration::from_millis(60);

/// A program that looks at a new clipboard has done so when it did not ask for this long.
const LOOK_QUIET: Duration = Duration::from_millis(15);

/// Pings carry numbers from here, far above those that window managers use.
const FIRST_PING: u32 = 0x4000_0000;

/// How a text is brought in, piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Keys(Vec<Keysym>),
    Paste(String),
}

/// A character that cannot be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the control character U+{:04X} cannot be typed", u32::from(*.0))]
pub struct Untypable(pub char);

/// Types at a seat, with an ear to what the programs say.
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

    /// Types a text into whatever has the focus. Nothing is typed if some of it cannot be.
    pub(super) async fn type_text(
        &self,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<(), ActError> {
        let focused = self.seat.run(|seat| seat.focused()).await?;
        let takes_wide_keys = focused.is_some_and(|focused| focused.is_terminal());
        let mut loan = None;
        for piece in pieces(text, takes_wide_keys)? {
            match piece {
                Piece::Keys(keysyms) => self.type_keys(keysyms, cancel).await?,
                Piece::Paste(text) => self.paste(text, &mut loan).await?,
            }
            if cancel.is_cancelled() {
                return Err(ActError::Cancelled);
            }
        }
        if let Some(loan) = loan {
            no_requests_for(PASTE_QUIET, &loan.clipboard).await;
        }
        Ok(())
    }

    async fn type_keys(
        &self,
        keysyms: Vec<Keysym>,
        cancel: &CancellationToken,
    ) -> Result<(), ActError> {
        let wanted = keysyms.into_iter().map(|keysym| Wanted {
            keysym,
            plain: false,
        });
        let wanted: Arc<[Wanted]> = wanted.collect();
        let mut n_typed = 0;
        while n_typed < wanted.len() && !cancel.is_cancelled() {
            let strokes = self.get_ready(Arc::clone(&wanted), n_typed).await?;
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

    /// Binds keys for what is wanted from `start` on, and lets the focused program learn of it.
    async fn get_ready(&self, wanted: Arc<[Wanted]>, start: usize) -> Result<Strokes, ActError> {
        let strokes = self
            .seat
            .run(move |seat| seat.get_ready(&wanted[start..]))
            .await?;
        if strokes.has_new {
            self.let_catch_up().await?;
        }
        Ok(strokes)
    }

    /// Does something with a chord for which keys have been bound, at the seat.
    pub(super) async fn with_ready<T: Send + 'static>(
        &self,
        chord: &Chord,
        work: impl FnOnce(&mut Seat) -> Result<T, XError> + Send + 'static,
    ) -> Result<T, ActError> {
        let strokes = self.get_ready(chord.wanted().into(), 0).await?;
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
                self.with_ready(&chord, move |seat| seat.strike(&struck, n_times))
                    .await?;
            }
        }
        Ok(())
    }

    /// Waits until the focused program has taken note of all input so far. One that cannot say so
    /// is given a little time.
    async fn let_catch_up(&self) -> Result<(), ActError> {
        if !self.hear_from_focused().await? {
            tokio::time::sleep(CATCH_UP_GUESS).await;
        }
        Ok(())
    }

    /// Waits for a sign of life from the focused program. `false` when it is one that gives none.
    pub(super) async fn hear_from_focused(&self) -> Result<bool, ActError> {
        let number = self.n_pings.fetch_add(1, Ordering::Relaxed);
        let mut pong = self.events.pong.subscribe();
        let pinged = self.seat.run(move |seat| seat.ping_focused(number)).await?;
        if pinged {
            let answer = pong.wait_for(|answered| *answered == number);
            // A program that hangs is not waited for any longer: its user would type on too.
            let _ = tokio::time::timeout(CATCH_UP_MAX, answer).await;
        }
        Ok(pinged)
    }

    /// Brings text in through the clipboard, which is borrowed on the first call.
    async fn paste(&self, text: String, loan: &mut Option<Loan>) -> Result<(), ActError> {
        let clipboard = Arc::clone(&self.events.clipboard);
        if loan.is_none() {
            // A browser tells the X server that it has copied something only with whatever it
            // says next, which is this answer.
            self.let_catch_up().await?;
            let owned = Arc::clone(&clipboard);
            let previous = blocking(move || owned.content()).await?;
            *loan = Some(Loan {
                clipboard: Arc::clone(&clipboard),
                previous: Some(previous),
            });
        }
        let owned = Arc::clone(&clipboard);
        blocking(move || owned.offer_text(&text)).await?;
        // Some programs look at a new clipboard at once, which must not pass for the pasting.
        self.let_catch_up().await?;
        no_requests_for(LOOK_QUIET, &clipboard).await;
        let mut requests = clipboard.requests();
        let n_before = requests.borrow_and_update().n_served;
        let paste = Chord(vec![Keysym::CONTROL, Keysym(u32::from('v'))]);
        let struck = paste.clone();
        self.with_ready(&paste, move |seat| seat.strike(&struck, 1))
            .await?;
        let taken = requests.wait_for(|requests| requests.n_served > n_before);
        // A program with nowhere to put the text never asks for it, as it drops keys.
        let _ = tokio::time::timeout(PASTE_MAX, taken).await;
        self.let_catch_up().await
    }
}

/// The clipboard with something else in it. Gives back what was in it when dropped.
#[derive(Debug)]
struct Loan {
    clipboard: Arc<Clipboard>,
    previous: Option<Content>,
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(previous) = self.previous.take()
            && let Err(error) = self.clipboard.offer(previous)
        {
            tracing::debug!(%error, "the clipboard was not given back");
        }
    }
}

/// Waits until no program has asked anything of the clipboard for so long.
async fn no_requests_for(quiet: Duration, clipboard: &Clipboard) {
    let mut requests = clipboard.requests();
    // Who asks again and again is not waited for.
    let started_at = Instant::now();
    let give_up_at = started_at + PASTE_MAX;
    loop {
        let asked_at = requests.borrow_and_update().last_at;
        let quiet_at = asked_at
            .map_or(started_at, Instant::from_std)
            .max(started_at)
            + quiet;
        tokio::select! {
            () = tokio::time::sleep_until(quiet_at.min(give_up_at)) => return,
            // The sender is part of the clipboard.
            _ = requests.changed() => {}
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, XError> + Send + 'static,
) -> Result<T, ActError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        // The work panicked or the runtime is ending; either way this desktop is of no use.
        Err(_join) => Err(ActError::Ended),
    }
}

/// Cuts a text into pieces to type and to paste.
///
/// Browsers read 16 bits of a Unicode keysym, so what is beyond is pasted: in each line, at most
/// one piece, from the first such character to the last and what belongs to it. Line ends and
/// tabs are always typed, since a program may take them for more than characters.
fn pieces(text: &str, takes_wide_keys: bool) -> Result<Vec<Piece>, Untypable> {
    let text = text.replace("\r\n", "\n");
    let mut pieces = Vec::new();
    let mut keys = String::new();
    for line in text.split_inclusive(['\n', '\r', '\t']) {
        let is_wide = |character: char| !takes_wide_keys && u32::from(character) > 0xffff;
        let (Some(start), Some(last)) = (line.find(is_wide), line.rfind(is_wide)) else {
            keys.push_str(line);
            continue;
        };
        let end = end_of_cluster(line, last);
        keys.push_str(&line[..start]);
        pieces.extend(keys_piece(&std::mem::take(&mut keys))?);
        let paste = &line[start..end];
        if let Some(control) = paste.chars().find(|character| character.is_control()) {
            return Err(Untypable(control));
        }
        pieces.push(Piece::Paste(paste.to_owned()));
        keys.push_str(&line[end..]);
    }
    pieces.extend(keys_piece(&keys)?);
    Ok(pieces)
}

fn keys_piece(text: &str) -> Result<Option<Piece>, Untypable> {
    let keysyms: Vec<Keysym> = text
        .chars()
        .map(|character| Keysym::of_char(character).ok_or(Untypable(character)))
        .collect::<Result<_, _>>()?;
    Ok((!keysyms.is_empty()).then_some(Piece::Keys(keysyms)))
}

/// Where the character at `last` ends with the joiners, variation selectors and marks after it,
/// without which an emoji falls apart.
fn end_of_cluster(line: &str, last: usize) -> usize {
    let mut characters = line[last..].char_indices().skip(1);
    characters
        .find(|(_, c)| !matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20ff}' | '\u{300}'..='\u{36f}'))
        .map_or(line.len(), |(index, _)| last + index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Piece {
        Piece::Keys(text.chars().filter_map(Keysym::of_char).collect())
    }

    fn paste(text: &str) -> Piece {
        Piece::Paste(text.to_owned())
    }

    #[test]
    fn a_text_without_emoji_is_one_piece_of_keys() {
        assert_eq!(
            pieces("naïve Ω 漢字\n\tend", false).unwrap(),
            [keys("naïve Ω 漢字\n\tend")]
        );
    }

    #[test]
    fn both_kinds_of_line_end_are_one_return() {
        assert_eq!(pieces("a\r\nb", false).unwrap(), [keys("a\nb")]);
    }

    #[test]
    fn each_line_pastes_from_its_first_emoji_to_its_last() {
        assert_eq!(
            pieces("hi 😀 and 👍 ok\nno\n🎉", false).unwrap(),
            [
                keys("hi "),
                paste("😀 and 👍"),
                keys(" ok\nno\n"),
                paste("🎉")
            ]
        );
    }

    #[test]
    fn what_belongs_to_an_emoji_is_pasted_with_it() {
        assert_eq!(
            pieces("🏳\u{fe0f}\u{200d}x", false).unwrap(),
            [paste("🏳\u{fe0f}\u{200d}"), keys("x")]
        );
    }

    #[test]
    fn a_terminal_takes_emoji_by_key() {
        assert_eq!(pieces("a😀", true).unwrap(), [keys("a😀")]);
    }

    #[test]
    fn a_control_character_is_refused_by_name() {
        assert_eq!(pieces("a\0b", false), Err(Untypable('\0')));
        assert_eq!(pieces("😀\u{7}😀", false), Err(Untypable('\u{7}')));
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
