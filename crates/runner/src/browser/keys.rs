//! The keyboard of the agent in a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::{BrowseError, HeldKeys, tab::Tab};
use crate::desktop::{
    UnknownKey,
    keysyms::{Chord, Keysym},
};

const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Keys without a character: keysym, name and Windows key code.
const NAMED: &[(u32, &str, u32)] = &[
    (0xff0d, "Enter", 13),
    (0xff8d, "Enter", 13),
    (0xff1b, "Escape", 27),
    (0xff09, "Tab", 9),
    (0xff08, "Backspace", 8),
    (0xffff, "Delete", 46),
    (0xff63, "Insert", 45),
    (0xff50, "Home", 36),
    (0xff57, "End", 35),
    (0xff55, "PageUp", 33),
    (0xff56, "PageDown", 34),
    (0xff51, "ArrowLeft", 37),
    (0xff52, "ArrowUp", 38),
    (0xff53, "ArrowRight", 39),
    (0xff54, "ArrowDown", 40),
    (0xffe1, "Shift", 16),
    (0xffe2, "Shift", 16),
    (0xffe3, "Control", 17),
    (0xffe4, "Control", 17),
    (0xffe9, "Alt", 18),
    (0xffea, "Alt", 18),
    (0xffeb, "Meta", 91),
    (0xffec, "Meta", 91),
    (0xff67, "ContextMenu", 93),
];

/// Characters of the US layout: without and with Shift, the key's code and its Windows key code.
const PUNCTUATION: &[(char, char, &str, u32)] = &[
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// A key as pages know it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PageKey {
    key: String,
    code: String,
    windows_code: u32,
    text: Option<String>,
    /// The bit that it adds to the modifiers of other keys.
    modifier: u8,
}

impl PageKey {
    fn of(keysym: Keysym) -> Result<Self, UnknownKey> {
        if let Some((_, name, windows_code)) = NAMED.iter().find(|named| named.0 == keysym.0) {
            return Ok(Self::named(name, *windows_code));
        }
        if (0xffbe..=0xffd5).contains(&keysym.0) {
            let number = keysym.0 - 0xffbe;
            return Ok(Self::named(&format!("F{}", number + 1), 112 + number));
        }
        let unknown = || UnknownKey(format!("keysym {:#x}", keysym.0));
        let code_point = match keysym.0 {
            0xffb0..=0xffb9 => keysym.0 - 0xffb0 + u32::from(b'0'),
            0x0100_0000.. => keysym.0 - 0x0100_0000,
            other => other,
        };
        let character = char::from_u32(code_point).ok_or_else(unknown)?;
        if character.is_control() || (0xfe00..0x1_0000).contains(&keysym.0) && keysym.0 < 0xffb0 {
            return Err(unknown());
        }
        Ok(Self::character(character))
    }

    fn named(name: &str, windows_code: u32) -> Self {
        let (code, modifier) = match name {
            "Shift" => ("ShiftLeft", SHIFT),
            "Control" => ("ControlLeft", CONTROL),
            "Alt" => ("AltLeft", ALT),
            "Meta" => ("MetaLeft", META),
            name => (name, 0),
        };
        Self {
            key: name.to_owned(),
            code: code.to_owned(),
            windows_code,
            text: (name == "Enter").then(|| "\r".to_owned()),
            modifier,
        }
    }

    fn character(character: char) -> Self {
        let upper = character.to_ascii_uppercase();
        let (code, windows_code) = match upper {
            'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
            '0'..='9' => (format!("Digit{upper}"), u32::from(upper)),
            ' ' => ("Space".to_owned(), 32),
            other => PUNCTUATION
                .iter()
                .find(|(plain, shifted, ..)| *plain == other || *shifted == other)
                .map(|(_, _, code, number)| ((*code).to_owned(), *number))
                .unwrap_or_default(),
        };
        Self {
            key: character.to_string(),
            code,
            windows_code,
            text: Some(character.to_string()),
            modifier: 0,
        }
    }

    /// Returns the key as it is with Shift.
    fn shifted(mut self) -> Self {
        let mut characters = self.key.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            let found = PUNCTUATION.iter().find(|(plain, ..)| *plain == character);
            let shifted = found.map_or(character.to_ascii_uppercase(), |(_, shifted, ..)| *shifted);
            self.key = shifted.to_string();
            self.text = Some(self.key.clone());
        }
        self
    }

    fn event(&self, kind: &str, modifiers: u8) -> Value {
        let mut event = json!({
            "type": kind,
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.windows_code,
            "modifiers": modifiers,
        });
        // A shortcut types nothing.
        let is_typed = modifiers & (ALT | CONTROL | META) == 0;
        match &self.text {
            Some(text) if kind == "keyDown" && is_typed => event["text"] = json!(text),
            _ if kind == "keyDown" => event["type"] = json!("rawKeyDown"),
            _ => {}
        }
        event
    }
}

/// Returns the modifiers of these keys, such as `ctrl`.
pub(super) fn modifier_bits(names: &[String]) -> Result<u8, UnknownKey> {
    let mut bits = 0;
    for name in names {
        for keysym in Chord::parse(name)?.0 {
            match PageKey::of(keysym)?.modifier {
                0 => return Err(UnknownKey(name.clone())),
                bit => bits |= bit,
            }
        }
    }
    Ok(bits)
}

/// Returns the events that release keys, in the opposite order.
fn releases(pressed: &[PageKey]) -> Vec<Value> {
    let mut modifiers = pressed.iter().fold(0, |bits, key| bits | key.modifier);
    let release = |key: &PageKey| {
        modifiers &= !key.modifier;
        key.event("keyUp", modifiers)
    };
    pressed.iter().rev().map(release).collect()
}

impl Tab {
    /// Presses chords, separated by spaces.
    pub(super) async fn press(&self, keys: &str, repeat: u8) -> Result<(), BrowseError> {
        let chords = Chord::parse_sequence(keys)?;
        for _ in 0..repeat {
            for chord in &chords {
                self.strike(chord).await?;
            }
        }
        Ok(())
    }

    async fn strike(&self, chord: &Chord) -> Result<(), BrowseError> {
        let pressed = self.key_down(chord).await?;
        self.key_up(&pressed).await
    }

    /// Holds a chord for a time.
    pub(super) async fn hold_key(&self, keys: &str, time: Duration) -> Result<(), BrowseError> {
        let pressed = self.key_down(&Chord::parse(keys)?).await?;
        // A verb that is cut short leaves nothing pressed.
        *self.browser.held_keys() = Some(HeldKeys {
            page: self.page.clone(),
            releases: releases(&pressed),
        });
        tokio::time::sleep(time).await;
        self.browser.held_keys().take();
        self.key_up(&pressed).await
    }

    /// Presses the keys of a chord, and returns them.
    async fn key_down(&self, chord: &Chord) -> Result<Vec<PageKey>, BrowseError> {
        let keys = chord.0.iter().map(|keysym| PageKey::of(*keysym));
        let keys: Vec<PageKey> = keys.collect::<Result<_, _>>()?;
        let mut modifiers = 0;
        let mut pressed = Vec::new();
        for key in keys {
            let key = if modifiers & SHIFT == 0 {
                key
            } else {
                key.shifted()
            };
            modifiers |= key.modifier;
            let event = key.event("keyDown", modifiers);
            pressed.push(key);
            self.input("Input.dispatchKeyEvent", event).await?;
        }
        Ok(pressed)
    }

    /// Releases keys in the opposite order.
    async fn key_up(&self, pressed: &[PageKey]) -> Result<(), BrowseError> {
        for event in releases(pressed) {
            self.input("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }

    /// Inserts text at the caret, as pasting would.
    pub(super) async fn insert(&self, text: &str) -> Result<(), BrowseError> {
        self.input("Input.insertText", json!({"text": text})).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<PageKey> {
        let chord = Chord::parse(text).unwrap();
        chord
            .0
            .iter()
            .map(|key| PageKey::of(*key).unwrap())
            .collect()
    }

    #[test]
    fn keys_have_the_names_that_pages_know() {
        let names = |text| {
            keys(text)
                .into_iter()
                .map(|key| key.code)
                .collect::<Vec<_>>()
        };
        assert_eq!(names("ctrl+shift+a"), ["ControlLeft", "ShiftLeft", "KeyA"]);
        assert_eq!(names("Return"), ["Enter"]);
        assert_eq!(names("F5"), ["F5"]);
        assert_eq!(names("PageDown"), ["PageDown"]);
        assert_eq!(names("/"), ["Slash"]);
    }

    #[test]
    fn a_shortcut_types_nothing_and_shift_changes_the_character() {
        let a = &keys("a")[0];
        assert_eq!(a.event("keyDown", 0)["text"], "a");
        assert_eq!(a.event("keyDown", CONTROL)["type"], "rawKeyDown");
        assert_eq!(a.clone().shifted().event("keyDown", SHIFT)["text"], "A");
        assert_eq!(keys("ü")[0].event("keyDown", 0)["text"], "ü");
    }

    #[test]
    fn only_modifiers_are_held_during_a_click() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            modifier_bits(&names(&["ctrl", "shift"])),
            Ok(CONTROL | SHIFT)
        );
        assert!(modifier_bits(&names(&["a"])).is_err());
    }
}
