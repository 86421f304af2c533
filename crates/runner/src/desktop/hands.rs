//! The seat's mouse and keyboard, driven through XTEST.
//!
//! Everything pressed is remembered until it is released, so that nothing stays down by mistake.

use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use deskhand_core::action::{Button, Point};
use x11rb::protocol::{
    xkb::{self, ConnectionExt as _},
    xproto::{
        BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT,
        KEY_RELEASE_EVENT, KeyButMask, MOTION_NOTIFY_EVENT, ModMask, QueryPointerReply,
    },
    xtest::ConnectionExt as _,
};

use super::{
    keyboard::{Stroke, Strokes, Wanted},
    keysyms::{Chord, Keysym},
    seat::Seat,
    x::XError,
};

/// The core keyboard, whichever device drives it.
const CORE_KEYBOARD: u16 = 0x100;

/// The delay between the clicks of a double click.
///
/// Time stamps count milliseconds, and some programs treat presses with the same time stamp as one press.
const CLICK_GAP: Duration = Duration::from_millis(4);

/// The longest time that the window manager may hold a press back.
///
/// It takes less than a millisecond, or some hundred milliseconds on a busy machine. A window manager that takes
/// longer hangs.
const HELD_BACK_MAX: Duration = Duration::from_secs(2);

/// The shortest and the longest pause between two queries of the pointer.
const ASK_AGAIN_MIN: Duration = Duration::from_micros(100);
const ASK_AGAIN_MAX: Duration = Duration::from_millis(2);
/// A pause is this part of the time waited so far, so that little is waited for nothing.
const ASK_AGAIN_PART: u32 = 8;

/// The buttons whose state the X server reports.
const BUTTONS_WITH_STATE: RangeInclusive<u8> = 1..=5;

const FIRST_GROUP: xkb::Group = xkb::Group::M1;

/// A key or button that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Key(u8),
    Button(u8),
}

/// A click of the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wheel {
    Up,
    Down,
    Left,
    Right,
}

impl Seat {
    pub(super) fn pointer(&self) -> Result<Point, XError> {
        let reply = self.connection.query_pointer(self.root)?.reply()?;
        Ok(place(&reply))
    }

    /// Waits until programs have been sent every button release, and returns the pointer's position.
    ///
    /// The window manager holds each press back until it has focused and raised the window. Meanwhile the X server
    /// queues further pointer events, and a release from that queue gets the position that the pointer has when the
    /// queue is played. So a click that is followed too soon by a move is released at the wrong place and misses
    /// its target. To the X server, a button whose release is in the queue is still down.
    pub(super) fn deliver_releases(&mut self) -> Result<Point, XError> {
        let is_released = |button: &u8| !self.held.contains(&Held::Button(*button));
        let released = BUTTONS_WITH_STATE.filter(is_released);
        let released: u16 = released.map(state_bit).sum();
        let at = self.ask_pointer_until(|reply| u16::from(reply.mask) & released == 0)?;
        self.released_at = tokio::time::Instant::now();
        Ok(at)
    }

    /// Waits until the pointer has arrived at `to`, and returns its position. It does not arrive while a press is
    /// held back.
    pub(super) fn deliver_move(&self, to: Point) -> Result<Point, XError> {
        self.ask_pointer_until(|reply| place(reply) == to)
    }

    fn ask_pointer_until(
        &self,
        is_done: impl Fn(&QueryPointerReply) -> bool,
    ) -> Result<Point, XError> {
        let started = Instant::now();
        loop {
            let reply = self.connection.query_pointer(self.root)?.reply()?;
            let waited = started.elapsed();
            if is_done(&reply) || waited >= HELD_BACK_MAX {
                return Ok(place(&reply));
            }
            let pause = (waited / ASK_AGAIN_PART).clamp(ASK_AGAIN_MIN, ASK_AGAIN_MAX);
            std::thread::sleep(pause);
        }
    }

    pub(super) fn move_to(&mut self, at: Point) -> Result<(), XError> {
        // The action was checked against the screen, whose sides fit into `i16`.
        let side = |value: i32| i16::try_from(value).unwrap_or(i16::MAX);
        let (x, y) = (side(at.x), side(at.y));
        self.connection
            .xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, self.root, x, y, 0)?;
        Ok(())
    }

    pub(super) fn press_button(&mut self, button: Button) -> Result<(), XError> {
        self.press(Held::Button(number(button)))
    }

    pub(super) fn release_button(&mut self, button: Button) -> Result<(), XError> {
        self.release(Held::Button(number(button)))
    }

    pub(super) fn click(&mut self, button: Button, count: u8) -> Result<(), XError> {
        for nth in 0..count {
            if nth > 0 {
                self.deliver_releases()?;
                std::thread::sleep(CLICK_GAP);
            }
            self.press_button(button)?;
            self.release_button(button)?;
        }
        Ok(())
    }

    pub(super) fn turn_wheel(&mut self, wheel: Wheel, n_clicks: u32) -> Result<(), XError> {
        let button = match wheel {
            Wheel::Up => 4,
            Wheel::Down => 5,
            Wheel::Left => 6,
            Wheel::Right => 7,
        };
        for _ in 0..n_clicks {
            self.press(Held::Button(button))?;
            self.release(Held::Button(button))?;
        }
        Ok(())
    }

    /// Calls `work` while the chord is held down, and releases the chord even if `work` fails.
    pub(super) fn with_chord<T>(
        &mut self,
        chord: &Chord,
        work: impl FnOnce(&mut Self) -> Result<T, XError>,
    ) -> Result<T, XError> {
        let n_held = self.held.len();
        let pressed = self.press_chord(chord);
        let keys = self.held.get(n_held..).unwrap_or_default().to_vec();
        let result = pressed.and_then(|()| work(self));
        // Release only the chord: `work` may press a button and leave it down.
        for key in keys.into_iter().rev() {
            self.release(key)?;
        }
        result
    }

    /// Presses the keys of a chord and leaves them down.
    pub(super) fn press_chord(&mut self, chord: &Chord) -> Result<(), XError> {
        let wanted = chord.wanted();
        let planned = self.keyboard.strokes(&self.connection, &wanted)?;
        if planned.strokes.len() < wanted.len() {
            return Err(XError::Unfit("its keyboard has too few spare keys"));
        }
        let shift = self.keyboard.shift_code().filter(|_| !chord.has_shift());
        for Stroke {
            code,
            shift: with_shift,
        } in planned.strokes
        {
            if let Some(shift) = shift.filter(|_| with_shift) {
                self.press(Held::Key(shift))?;
            }
            self.press(Held::Key(code))?;
        }
        Ok(())
    }

    /// Presses and releases a chord `n_times`.
    pub(super) fn strike(&mut self, chord: &Chord, n_times: u8) -> Result<(), XError> {
        let locks = if chord.0.iter().any(|key| changes_locks(*key)) {
            None
        } else {
            self.take_locks_off()?
        };
        let n_held = self.held.len();
        let mut pressed = Ok(());
        for _ in 0..n_times {
            pressed = self.press_chord(chord);
            self.release_down_to(n_held)?;
        }
        self.put_locks_back(locks)?;
        self.sync()?;
        pressed
    }

    /// Binds keys for as many of `wanted`, from the first, as can be typed in one batch.
    pub(super) fn get_ready(&mut self, wanted: &[Wanted]) -> Result<Strokes, XError> {
        let planned = self.keyboard.strokes(&self.connection, wanted)?;
        if planned.has_new {
            self.tell_of_new_keys()?;
        }
        Ok(planned)
    }

    /// Types the strokes that [`Seat::get_ready`] has prepared.
    pub(super) fn type_strokes(&mut self, planned: &Strokes) -> Result<(), XError> {
        let locks = self.take_locks_off()?;
        let shift = self.keyboard.shift_code();
        let mut is_shifted = false;
        for stroke in &planned.strokes {
            if let Some(shift) = shift.filter(|_| stroke.shift != is_shifted) {
                self.set(Held::Key(shift), stroke.shift)?;
                is_shifted = stroke.shift;
            }
            self.press(Held::Key(stroke.code))?;
            self.release(Held::Key(stroke.code))?;
        }
        if let Some(shift) = shift.filter(|_| is_shifted) {
            self.release(Held::Key(shift))?;
        }
        self.put_locks_back(locks)?;
        self.sync()
    }

    /// Releases everything, the last pressed first.
    pub(super) fn release_all(&mut self) -> Result<(), XError> {
        self.release_down_to(0)?;
        self.sync()
    }

    /// Releases everything that was pressed since `n_held` keys and buttons were down.
    pub(super) fn release_down_to(&mut self, n_held: usize) -> Result<(), XError> {
        while let Some(held) = self.held.get(n_held..).and_then(<[_]>::last).copied() {
            self.release(held)?;
        }
        Ok(())
    }

    fn set(&mut self, held: Held, down: bool) -> Result<(), XError> {
        if down {
            self.press(held)
        } else {
            self.release(held)
        }
    }

    fn press(&mut self, held: Held) -> Result<(), XError> {
        self.held.push(held);
        match held {
            Held::Key(code) => self.fake(KEY_PRESS_EVENT, code),
            Held::Button(button) => self.fake(BUTTON_PRESS_EVENT, button),
        }
    }

    fn release(&mut self, held: Held) -> Result<(), XError> {
        if let Some(index) = self.held.iter().rposition(|other| *other == held) {
            self.held.remove(index);
        }
        match held {
            Held::Key(code) => self.fake(KEY_RELEASE_EVENT, code),
            Held::Button(button) => self.fake(BUTTON_RELEASE_EVENT, button),
        }
    }

    fn fake(&self, kind: u8, detail: u8) -> Result<(), XError> {
        self.connection
            .xtest_fake_input(kind, detail, 0, self.root, 0, 0, 0)?;
        Ok(())
    }

    /// Switches off Caps Lock, Num Lock and a second layout group. Returns the locks that were on.
    fn take_locks_off(&self) -> Result<Option<Locks>, XError> {
        let state = self.connection.xkb_get_state(CORE_KEYBOARD)?.reply()?;
        let locks = Locks {
            mods: state.locked_mods,
            group: state.locked_group,
        };
        if locks.mods == ModMask::from(0_u16) && locks.group == FIRST_GROUP {
            return Ok(None);
        }
        self.set_locks(locks.mods, ModMask::from(0_u16), FIRST_GROUP)?;
        Ok(Some(locks))
    }

    fn put_locks_back(&self, locks: Option<Locks>) -> Result<(), XError> {
        if let Some(Locks { mods, group }) = locks {
            self.set_locks(mods, mods, group)?;
        }
        Ok(())
    }

    fn set_locks(&self, which: ModMask, on: ModMask, group: xkb::Group) -> Result<(), XError> {
        let none = ModMask::from(0_u16);
        self.connection.xkb_latch_lock_state(
            CORE_KEYBOARD,
            which,
            on,
            true,
            group,
            none,
            false,
            0,
        )?;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
struct Locks {
    mods: ModMask,
    group: xkb::Group,
}

/// Returns the bit of a button in the pointer's state.
fn state_bit(button: u8) -> u16 {
    u16::from(KeyButMask::BUTTON1) << (button - BUTTONS_WITH_STATE.start())
}

fn place(reply: &QueryPointerReply) -> Point {
    Point {
        x: reply.root_x.into(),
        y: reply.root_y.into(),
    }
}

fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

/// Returns true if pressing the key is meant to switch a lock, so that the locks must not be restored.
fn changes_locks(key: Keysym) -> bool {
    const SCROLL_LOCK: u32 = 0xff14;
    const NUM_LOCK: u32 = 0xff7f;
    const CAPS_LOCK: u32 = 0xffe5;
    /// Keys that switch between layout groups, and their locks.
    const ISO: RangeInclusive<u32> = 0xfe01..=0xfe0f;
    matches!(key.0, SCROLL_LOCK | NUM_LOCK | CAPS_LOCK) || ISO.contains(&key.0)
}
