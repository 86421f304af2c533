//! Finds the key to press for a keysym, on whatever layout is active.
//!
//! A keysym that the layout has on a key, plain or with Shift, is typed with that key. Any other keysym is typed
//! with a *spare* key, which is one without a meaning in the layout: the spare key is bound to the keysym. Bindings
//! stay, so each character pays for its binding once.
//!
//! A program looks up a key's meaning when it handles the key press, which may be late, and it also learns of new
//! meanings late. So programs must catch up twice: after keys are bound and before they are pressed, and after they
//! are pressed and before they are bound again. [`Keyboard::strokes`] never gives a key two meanings in one call.
//! The rest is up to its callers, to whom [`Strokes`] says when to wait.

use std::collections::HashMap;

use x11rb::{
    connection::Connection, protocol::xproto::ConnectionExt, rust_connection::RustConnection,
};

use super::{keysyms::Keysym, x::XError};

/// The most strokes sent in one batch, so that a long text can be cancelled.
const MAX_STROKES: usize = 250;

/// One key press, with or without Shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stroke {
    pub(super) code: u8,
    pub(super) shift: bool,
}

/// A keysym wanted from the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) keysym: Keysym,
    /// True if it must come without Shift, even if the layout has it with Shift only.
    pub(super) plain: bool,
}

/// The strokes for the first of the wanted keysyms.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Strokes {
    pub(super) strokes: Vec<Stroke>,
    /// True if there are spare keys among them, so that programs must catch up before the next call.
    pub(super) has_spares: bool,
    /// True if spare keys were just bound, so that programs must catch up before the keys are pressed.
    pub(super) has_new: bool,
}

#[derive(Debug, Default)]
pub(super) struct Keyboard {
    layout: HashMap<Keysym, Stroke>,
    spares: Vec<Spare>,
    /// The number of calls of [`Keyboard::plan`], which serves as a clock for the last use of spare keys.
    n_plans: u64,
}

/// A key without a meaning in the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spare {
    code: u8,
    /// The keysym it is bound to, or `Keysym::NONE`.
    bound: Keysym,
    /// The number of the plan that last used it.
    used: u64,
}

impl Keyboard {
    /// Returns strokes for as many of `wanted`, from the first, as can be typed in one batch; at least one.
    ///
    /// Reads the current layout, and binds spare keys as needed.
    pub(super) fn strokes(
        &mut self,
        connection: &RustConnection,
        wanted: &[Wanted],
    ) -> Result<Strokes, XError> {
        if wanted.is_empty() {
            return Ok(Strokes::default());
        }
        self.read_layout(connection)?;
        let (mut strokes, mut bindings) = self.plan(wanted);
        strokes.has_new = !bindings.is_empty();
        if strokes.strokes.is_empty() {
            return Err(XError::Unfit("its keyboard has no spare keys"));
        }
        bindings.sort_unstable();
        // Adjacent keys share a request, since every request makes every program read the layout again.
        for run in bindings.chunk_by(|(before, _), (code, _)| before + 1 == *code) {
            let keysyms: Vec<u32> = run.iter().flat_map(|(_, Keysym(k))| [*k, *k]).collect();
            let (first, _) = run[0];
            let count = u8::try_from(run.len()).unwrap_or(u8::MAX);
            // Both columns get the keysym, so that neither Shift nor a letter's case changes the meaning.
            connection.change_keyboard_mapping(count, first, 2, &keysyms)?;
        }
        Ok(strokes)
    }

    /// Returns the key for Shift, if the layout has one.
    pub(super) fn shift_code(&self) -> Option<u8> {
        self.layout.get(&Keysym::SHIFT).map(|stroke| stroke.code)
    }

    fn read_layout(&mut self, connection: &RustConnection) -> Result<(), XError> {
        let setup = connection.setup();
        let first = setup.min_keycode;
        let n_codes = setup.max_keycode - first + 1;
        let reply = connection.get_keyboard_mapping(first, n_codes)?.reply()?;
        let rows = reply
            .keysyms
            .chunks_exact(usize::from(reply.keysyms_per_keycode).max(1));
        self.take_layout((first..=u8::MAX).zip(rows));
        Ok(())
    }

    /// Replaces the layout. Each row lists the keysyms of a key: the first is plain, the second is with Shift.
    fn take_layout<'a>(&mut self, rows: impl Iterator<Item = (u8, &'a [u32])>) {
        let before = std::mem::take(&mut self.spares);
        self.layout.clear();
        for (code, row) in rows {
            let plain = Keysym(row.first().copied().unwrap_or_default());
            let ours = before.iter().find(|spare| spare.code == code);
            if let Some(spare) = ours.filter(|spare| spare.bound == plain) {
                self.spares.push(*spare);
            } else if row.iter().all(|keysym| *keysym == Keysym::NONE.0) {
                self.spares.push(Spare {
                    code,
                    bound: Keysym::NONE,
                    used: 0,
                });
            } else {
                self.take_key(code, plain, row.get(1).copied().map(Keysym));
            }
        }
        if self.shift_code().is_none() {
            self.layout.retain(|_, stroke| !stroke.shift);
        }
    }

    fn take_key(&mut self, code: u8, plain: Keysym, shifted: Option<Keysym>) {
        // The first key wins, since the main block has the low codes.
        for (keysym, shift) in [(Some(plain), false), (shifted, true)] {
            if let Some(keysym) = keysym.filter(|keysym| *keysym != Keysym::NONE) {
                let stroke = Stroke { code, shift };
                self.layout.entry(keysym.canonical()).or_insert(stroke);
            }
        }
    }

    /// Chooses keys, and returns the bindings of spare keys that must be made first.
    fn plan(&mut self, wanted: &[Wanted]) -> (Strokes, Vec<(u8, Keysym)>) {
        self.n_plans += 1;
        let mut planned = Strokes {
            strokes: Vec::with_capacity(wanted.len().min(MAX_STROKES)),
            has_spares: false,
            has_new: false,
        };
        let mut bindings = Vec::new();
        for wanted in wanted.iter().take(MAX_STROKES) {
            let keysym = wanted.keysym.canonical();
            let on_layout = self.layout.get(&keysym).copied();
            if let Some(stroke) = on_layout.filter(|stroke| !(wanted.plain && stroke.shift)) {
                planned.strokes.push(stroke);
                continue;
            }
            let Some(spare) = self.spare_for(keysym) else {
                break;
            };
            if spare.bound != keysym {
                spare.bound = keysym;
                bindings.push((spare.code, keysym));
            }
            let code = spare.code;
            planned.strokes.push(Stroke { code, shift: false });
            planned.has_spares = true;
        }
        (planned, bindings)
    }

    /// Returns the spare key with this meaning, or else the least recently used one.
    ///
    /// Never returns a key that has another meaning in this plan.
    fn spare_for(&mut self, keysym: Keysym) -> Option<&mut Spare> {
        let now = self.n_plans;
        let index = self
            .spares
            .iter()
            .position(|spare| spare.bound == keysym)
            .or_else(|| {
                let idle = self.spares.iter().enumerate();
                idle.filter(|(_, spare)| spare.used < now)
                    .min_by_key(|(_, spare)| spare.used)
                    .map(|(index, _)| index)
            })?;
        let spare = self.spares.get_mut(index)?;
        spare.used = now;
        Some(spare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layout with Shift on 50, `a A` on 38, `1 !` on 10, and spare keys at 100 to 103.
    const ROWS: &[(u8, &[u32])] = &[
        (10, &[0x26, 0x31]),
        (38, &[0x61, 0x41]),
        (50, &[Keysym::SHIFT.0, 0]),
        (61, &[0x6c0, 0x6e0]),
        (100, &[0, 0]),
        (101, &[0, 0]),
        (102, &[0, 0]),
        (103, &[0, 0]),
    ];

    fn keyboard() -> Keyboard {
        let mut keyboard = Keyboard::default();
        keyboard.take_layout(ROWS.iter().copied());
        keyboard
    }

    fn wanted(text: &str) -> Vec<Wanted> {
        text.chars()
            .map(|character| Wanted {
                keysym: Keysym::of_char(character).unwrap(),
                plain: false,
            })
            .collect()
    }

    fn codes(planned: &Strokes) -> Vec<(u8, bool)> {
        let strokes = planned.strokes.iter();
        strokes.map(|stroke| (stroke.code, stroke.shift)).collect()
    }

    #[test]
    fn what_the_layout_has_is_typed_with_its_keys() {
        let (planned, bindings) = keyboard().plan(&wanted("aA&1юЮ"));
        assert_eq!(
            codes(&planned),
            [
                (38, false),
                (38, true),
                (10, false),
                (10, true),
                (61, false),
                (61, true)
            ]
        );
        assert!(bindings.is_empty() && !planned.has_spares);
    }

    #[test]
    fn what_it_lacks_is_typed_with_spare_keys_bound_once() {
        let mut keyboard = keyboard();
        let (planned, bindings) = keyboard.plan(&wanted("ñ漢ñ"));
        assert_eq!(codes(&planned), [(100, false), (101, false), (100, false)]);
        assert_eq!(bindings, [(100, Keysym(0xf1)), (101, Keysym(0x0100_6f22))]);
        let (planned, bindings) = keyboard.plan(&wanted("漢"));
        assert_eq!(codes(&planned), [(101, false)]);
        assert!(bindings.is_empty() && planned.has_spares);
    }

    #[test]
    fn a_key_never_has_two_meanings_in_one_plan() {
        let mut keyboard = keyboard();
        let text = wanted("αβγδεζ");
        let (first, _) = keyboard.plan(&text);
        assert_eq!(first.strokes.len(), 4);
        let (second, bindings) = keyboard.plan(&text[4..]);
        assert_eq!(second.strokes.len(), 2);
        assert_eq!(bindings.len(), 2);
    }

    #[test]
    fn a_digit_that_must_be_plain_does_not_bring_shift() {
        let digit = Wanted {
            keysym: Keysym(0x31),
            plain: true,
        };
        let (planned, _) = keyboard().plan(&[digit]);
        assert_eq!(codes(&planned), [(100, false)]);
    }

    #[test]
    fn a_new_layout_forgets_the_bindings_it_undid() {
        let mut keyboard = keyboard();
        keyboard.plan(&wanted("ñ"));
        keyboard.take_layout(ROWS.iter().copied());
        let (_, bindings) = keyboard.plan(&wanted("ñ"));
        assert_eq!(bindings.len(), 1);
    }
}
