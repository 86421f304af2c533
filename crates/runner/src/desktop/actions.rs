//! Carries out each kind of action.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    action::{Action, Button, Point},
    sandbox::Acted,
};
use tokio_util::sync::CancellationToken;

use super::{
    ActError,
    events::Events,
    hands::Wheel,
    keysyms::{Chord, UnknownKey},
    seat::SeatHandle,
    typing::Typist,
};

/// The delay between two steps of a drag.
///
/// Programs recognize a drag only if the press and the moves arrive one after the other, at the pace of a hand.
const DRAG_STEP: Duration = Duration::from_millis(8);

/// The delay between pressing the button and the first move, and between the last move and the release.
const DRAG_REST: Duration = Duration::from_millis(30);

/// The number of steps after which a program knows that something is dragged.
///
/// It then gets `DRAG_BEGINS_MAX` to announce that the thing can be dragged to other programs too.
const DRAG_BEGINS_STEPS: usize = 3;
const DRAG_BEGINS_MAX: Duration = Duration::from_millis(120);

/// The delay before the release if the thing can be dragged to other programs, which have to agree on the transfer
/// first.
const DROP_REST: Duration = Duration::from_millis(250);

/// The length of a step, in pixels. `DRAG_STEPS_MAX` limits the number of steps between two points.
const DRAG_STEP_PIXELS: u32 = 24;
const DRAG_STEPS_MAX: u32 = 40;

/// The minimum number of steps of a drag between two points. A longer path has enough steps anyway.
const DRAG_STEPS_MIN: u32 = 5;

/// Carries out actions with the seat's mouse and keyboard.
#[derive(Debug)]
pub(super) struct Performer {
    seat: SeatHandle,
    events: Arc<Events>,
    typist: Typist,
}

impl Performer {
    pub(super) fn new(seat: SeatHandle, events: Arc<Events>) -> Self {
        let typist = Typist::new(seat.clone(), Arc::clone(&events));
        Self {
            seat,
            events,
            typist,
        }
    }

    /// Carries out a checked action. If it fails or is cancelled, nothing stays pressed.
    pub(super) async fn perform(
        &self,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Acted, ActError> {
        let mut release = ReleaseOnDrop(Some(&self.seat));
        let done = self.carry_out(action, cancel).await?;
        release.0 = None;
        Ok(done)
    }

    /// Waits until the focused program has noticed the input, if the program reports that.
    pub(super) async fn noticed(&self) -> Result<(), ActError> {
        self.typist.let_notice().await
    }

    async fn carry_out(
        &self,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Acted, ActError> {
        match action {
            Action::Screenshot | Action::Zoom { .. } => Ok(Acted::default()),
            Action::Move { at } => {
                let at = *at;
                self.point_and(Some(at), &[], |_| Ok(())).await
            }
            Action::Click {
                button,
                count,
                at,
                modifiers,
            } => {
                let (button, count) = (*button, *count);
                self.point_and(*at, modifiers, move |seat| seat.click(button, count))
                    .await
            }
            Action::MouseDown { button } => {
                let button = *button;
                let press = move |seat: &mut super::seat::Seat| seat.press_button(button);
                self.point_and(None, &[], press).await
            }
            Action::MouseUp { button } => {
                let button = *button;
                let release = move |seat: &mut super::seat::Seat| seat.release_button(button);
                self.point_and(None, &[], release).await
            }
            Action::Scroll {
                at,
                dx,
                dy,
                modifiers,
            } => self.scroll(*at, *dx, *dy, modifiers).await,
            Action::Drag { path, modifiers } => self.drag(path, modifiers, cancel).await,
            Action::Type { text } => {
                self.typist.type_text(text, cancel).await?;
                Ok(Acted::default())
            }
            Action::Key { keys, repeat } => {
                let chords = Chord::parse_sequence(keys)?;
                self.typist.strike(chords, *repeat, cancel).await?;
                Ok(Acted::default())
            }
            Action::HoldKey { keys, ms } => self.hold(keys, *ms, cancel).await,
            Action::Wait { ms } => {
                pause(Duration::from_millis(*ms), cancel).await?;
                Ok(Acted::default())
            }
            Action::CursorPosition => {
                let at = self.seat.run(|seat| seat.pointer()).await?;
                Ok(pointed(at))
            }
        }
    }

    /// Moves the pointer, calls `work` with the modifiers held, and returns the pointer's position.
    async fn point_and(
        &self,
        at: Option<Point>,
        modifiers: &[String],
        work: impl FnOnce(&mut super::seat::Seat) -> Result<(), super::XError> + Send + 'static,
    ) -> Result<Acted, ActError> {
        let modifiers = chord_of(modifiers)?;
        let act = move |seat: &mut super::seat::Seat| {
            if let Some(at) = at {
                seat.move_to(at)?;
            }
            seat.with_chord(&modifiers, |seat| {
                work(seat)?;
                if !modifiers.0.is_empty() {
                    // The modifiers must not be released before the button.
                    seat.deliver_releases()?;
                }
                Ok(())
            })?;
            seat.pointer()
        };
        // Whatever follows waits for the release, but the caller need not.
        let deliver = |seat: &mut super::seat::Seat| seat.deliver_releases().map(|_at| ());
        let at = self.seat.run_and_then(act, deliver).await?;
        Ok(pointed(at))
    }

    async fn scroll(
        &self,
        at: Option<Point>,
        dx: i32,
        dy: i32,
        modifiers: &[String],
    ) -> Result<Acted, ActError> {
        let down = if dy < 0 { Wheel::Up } else { Wheel::Down };
        let right = if dx < 0 { Wheel::Left } else { Wheel::Right };
        let turn = move |seat: &mut super::seat::Seat| {
            seat.turn_wheel(down, dy.unsigned_abs())?;
            seat.turn_wheel(right, dx.unsigned_abs())
        };
        self.point_and(at, modifiers, turn).await
    }

    async fn drag(
        &self,
        path: &[Point],
        modifiers: &[String],
        cancel: &CancellationToken,
    ) -> Result<Acted, ActError> {
        // Press the modifiers and the button at the first point.
        let modifiers = chord_of(modifiers)?;
        let first = path.first().copied().filter(|_| path.len() > 1);
        let (start, n_held) = self
            .seat
            .run(move |seat| {
                if let Some(first) = first {
                    seat.move_to(first)?;
                }
                let n_held = seat.held.len();
                seat.press_chord(&modifiers)?;
                seat.press_button(Button::Left)?;
                Ok((seat.pointer()?, n_held))
            })
            .await?;
        pause(DRAG_REST, cancel).await?;
        // Move along the path, step by step.
        let mut drags = self.events.n_drags.subscribe();
        let mut is_delivered = false;
        for (index, step) in way(start, path).into_iter().enumerate() {
            pause(DRAG_STEP, cancel).await?;
            // While the window manager holds the press back, further steps would merge into one. So the first real
            // step waits until it is delivered.
            let is_first = !is_delivered && step != start;
            self.seat
                .run(move |seat| {
                    seat.move_to(step)?;
                    if is_first {
                        seat.deliver_move(step)?;
                    }
                    seat.sync()
                })
                .await?;
            is_delivered |= is_first;
            if index + 1 == DRAG_BEGINS_STEPS {
                tokio::select! {
                    // The sender lives as long as `self`.
                    _ = drags.changed() => drags.mark_changed(),
                    paused = pause(DRAG_BEGINS_MAX, cancel) => paused?,
                }
            }
        }
        // Let the pointer rest, then release the button before the modifiers.
        let is_taken_along = drags.has_changed().unwrap_or(false);
        let rest = if is_taken_along { DROP_REST } else { DRAG_REST };
        pause(rest, cancel).await?;
        let end = self
            .seat
            .run(move |seat| {
                seat.release_button(Button::Left)?;
                let end = seat.deliver_releases()?;
                seat.release_down_to(n_held)?;
                seat.sync()?;
                Ok(end)
            })
            .await?;
        Ok(Acted {
            dragged_from: Some(start),
            ..pointed(end)
        })
    }

    async fn hold(
        &self,
        keys: &str,
        ms: u64,
        cancel: &CancellationToken,
    ) -> Result<Acted, ActError> {
        let chord = Chord::parse(keys.trim())?;
        let held = chord.clone();
        let n_held = self
            .typist
            .with_ready(&chord, cancel, move |seat| {
                let n_held = seat.held.len();
                seat.press_chord(&held)?;
                seat.sync()?;
                Ok(n_held)
            })
            .await?;
        pause(Duration::from_millis(ms), cancel).await?;
        self.seat
            .run(move |seat| {
                seat.release_down_to(n_held)?;
                seat.sync()
            })
            .await?;
        Ok(Acted::default())
    }
}

fn pointed(at: Point) -> Acted {
    Acted {
        pointer: Some(at),
        ..Acted::default()
    }
}

/// Releases everything if an action ends before it has done so itself.
struct ReleaseOnDrop<'a>(Option<&'a SeatHandle>);

impl Drop for ReleaseOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(seat) = self.0 {
            seat.release_soon();
        }
    }
}

async fn pause(time: Duration, cancel: &CancellationToken) -> Result<(), ActError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ActError::Cancelled),
        () = tokio::time::sleep(time) => Ok(()),
    }
}

/// Returns the keys of all names as one chord.
fn chord_of(modifiers: &[String]) -> Result<Chord, UnknownKey> {
    let mut keys = Vec::new();
    for name in modifiers {
        keys.extend(Chord::parse(name.trim())?.0);
    }
    Ok(Chord(keys))
}

/// Returns the points that a hand passes from `start` through all points of a path.
fn way(start: Point, path: &[Point]) -> Vec<Point> {
    let min = if path.len() > 2 { 1 } else { DRAG_STEPS_MIN };
    let starts = std::iter::once(&start).chain(path);
    let stretches = starts.zip(path);
    stretches
        .flat_map(|(from, to)| steps(*from, *to, min))
        .collect()
}

/// Returns the points that a hand passes from one point to another, including the last.
fn steps(from: Point, to: Point, min: u32) -> impl Iterator<Item = Point> {
    let distance = from.x.abs_diff(to.x).max(from.y.abs_diff(to.y));
    let n_steps = (distance / DRAG_STEP_PIXELS).clamp(min, DRAG_STEPS_MAX);
    let n_steps = i32::try_from(n_steps).unwrap_or(1);
    (1..=n_steps).map(move |step| Point {
        x: from.x + (to.x - from.x) * step / n_steps,
        y: from.y + (to.y - from.y) * step / n_steps,
    })
}

/// Returns true if the action may change the screen.
pub(super) fn changes_something(action: &Action) -> bool {
    match action {
        Action::Screenshot | Action::Zoom { .. } | Action::Wait { .. } | Action::CursorPosition => {
            false
        }
        Action::Move { .. }
        | Action::Click { .. }
        | Action::MouseDown { .. }
        | Action::MouseUp { .. }
        | Action::Drag { .. }
        | Action::Scroll { .. }
        | Action::Type { .. }
        | Action::Key { .. }
        | Action::HoldKey { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drag_passes_places_in_between_and_ends_where_it_should() {
        let from = Point { x: 10, y: 700 };
        let to = Point { x: 500, y: 3 };
        let passed: Vec<Point> = steps(from, to, DRAG_STEPS_MIN).collect();
        assert!(passed.len() >= 5);
        assert_eq!(passed.last(), Some(&to));
        assert!(passed.is_sorted_by(|a, b| a.x < b.x && a.y > b.y));
    }
}
