//! Keysyms, the numbers that X11 uses for the symbols on keys, for key names and characters.

use deskhand_core::browser::plain_key_name;

use super::keyboard::Wanted;

/// The symbol of a key, independent of the current layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Keysym(pub(crate) u32);

impl Keysym {
    /// No symbol, as on an unbound spare key.
    pub(super) const NONE: Self = Self(0);
    pub(super) const TAB: Self = Self(0xff09);
    pub(super) const RETURN: Self = Self(0xff0d);
    pub(super) const SHIFT: Self = Self(0xffe1);
    pub(super) const SHIFT_RIGHT: Self = Self(0xffe2);
    pub(super) const CONTROL: Self = Self(0xffe3);

    /// Returns the keysym of a character, or `None` for control characters that have no key.
    pub(super) fn of_char(character: char) -> Option<Self> {
        match character {
            '\n' | '\r' => Some(Self::RETURN),
            '\t' => Some(Self::TAB),
            '\u{8}' => Some(Self(0xff08)),
            '\u{1b}' => Some(Self(0xff1b)),
            '\u{7f}' => Some(Self(0xffff)),
            ' '..='~' | '\u{a0}'..='\u{ff}' => Some(Self(character.into())),
            control if control.is_control() => None,
            other => Some(Self(0x0100_0000 | u32::from(other))),
        }
    }

    /// Returns the same keysym for all that mean the same character.
    ///
    /// Layouts name Cyrillic and Greek letters by numbers from before Unicode. Those of other scripts are not
    /// listed: their characters are typed with spare keys, which works as well.
    pub(super) fn canonical(self) -> Self {
        const CYRILLIC: &str = "юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ";
        const GREEK_CAPITALS: &str = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ\0ΤΥΦΧΨΩ";
        const GREEK: &str = "αβγδεζηθικλμνξοπρσςτυφχψω";
        let (letters, first) = match self.0 {
            0x6c0..=0x6ff => (CYRILLIC, 0x6c0),
            0x7c1..=0x7d9 => (GREEK_CAPITALS, 0x7c1),
            0x7e1..=0x7f9 => (GREEK, 0x7e1),
            _ => return self,
        };
        let index = usize::try_from(self.0 - first).unwrap_or(usize::MAX);
        letters
            .chars()
            .nth(index)
            .and_then(Self::of_char)
            .unwrap_or(self)
    }

    fn is_digit(self) -> bool {
        (0x30..=0x39).contains(&self.0)
    }

    fn is_shift(self) -> bool {
        matches!(self, Self::SHIFT | Self::SHIFT_RIGHT)
    }
}

/// Keys that are pressed together in order, and released in reverse order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chord(pub(crate) Vec<Keysym>);

/// The error for a name that no key has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key called {0:?}: use names such as Return, ctrl+s or F5")]
pub struct UnknownKey(pub String);

impl Chord {
    /// Parses chords separated by spaces, such as `ctrl+a Delete`.
    pub(crate) fn parse_sequence(text: &str) -> Result<Vec<Self>, UnknownKey> {
        if text.trim().is_empty() {
            return match text {
                " " => Ok(vec![Self(vec![Keysym(0x20)])]),
                _ => Err(UnknownKey(text.to_owned())),
            };
        }
        text.split_whitespace().map(Self::parse).collect()
    }

    /// Parses one chord, such as `ctrl+shift+t` or `ctrl++`.
    pub(crate) fn parse(text: &str) -> Result<Self, UnknownKey> {
        let mut names: Vec<&str> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // A plus that begins a name is the key itself. Any other plus separates names.
            let end = rest
                .char_indices()
                .skip(1)
                .find_map(|(index, character)| (character == '+').then_some(index))
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            names.push(name);
            match after.strip_prefix('+') {
                Some("") => return Err(UnknownKey(text.to_owned())),
                Some(after) => rest = after,
                None => rest = "",
            }
        }
        let keys: Vec<Keysym> = names
            .iter()
            .map(|name| keysym_of(name).ok_or_else(|| UnknownKey((*name).to_owned())))
            .collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(UnknownKey(text.to_owned()));
        }
        let is_chord = keys.len() > 1;
        Ok(Self(
            keys.into_iter()
                .map(|key| if is_chord { lower_letter(key) } else { key })
                .collect(),
        ))
    }

    /// Returns the keysyms to request from the keyboard.
    ///
    /// A digit in `ctrl+1` means the shortcut, even on layouts where digits are typed with Shift.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let is_shortcut = self.0.len() > 1 && !self.has_shift();
        let keys = self.0.iter();
        keys.map(|key| Wanted {
            keysym: *key,
            plain: is_shortcut && key.is_digit(),
        })
        .collect()
    }

    pub(super) fn has_shift(&self) -> bool {
        self.0.iter().any(|key| key.is_shift())
    }
}

/// Maps `S` in a chord to `s`, since models write `CTRL+S` for `ctrl+s` and do not mean Shift.
fn lower_letter(key: Keysym) -> Keysym {
    match key.0 {
        0x41..=0x5a => Keysym(key.0 + 0x20),
        _ => key,
    }
}

fn keysym_of(name: &str) -> Option<Keysym> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return Keysym::of_char(character);
    }
    let plain = plain_key_name(name);
    if let Some(number) = plain.strip_prefix('f').and_then(|n| n.parse::<u32>().ok()) {
        return (1..=24).contains(&number).then(|| Keysym(0xffbd + number));
    }
    let keypad = plain.strip_prefix("kp").or(plain.strip_prefix("numpad"));
    if let Some(digit) = keypad.and_then(|digit| digit.parse::<u32>().ok()) {
        return (digit <= 9).then(|| Keysym(0xffb0 + digit));
    }
    NAMES
        .iter()
        .find(|(names, _)| names.split(' ').any(|name| name == plain))
        .map(|(_, keysym)| Keysym(*keysym))
}

/// Names in lower case without `_` and `-`, and their keysyms.
const NAMES: &[(&str, u32)] = &[
    ("enter return", 0xff0d),
    ("esc escape", 0xff1b),
    ("tab", 0xff09),
    ("isolefttab backtab", 0xfe20),
    ("space spacebar", 0x20),
    ("backspace", 0xff08),
    ("delete del", 0xffff),
    ("insert ins", 0xff63),
    ("home", 0xff50),
    ("end", 0xff57),
    ("pageup prior pgup", 0xff55),
    ("pagedown next pgdn pgdown", 0xff56),
    ("left arrowleft leftarrow", 0xff51),
    ("up arrowup uparrow", 0xff52),
    ("right arrowright rightarrow", 0xff53),
    ("down arrowdown downarrow", 0xff54),
    ("ctrl control controll ctrll controlleft", 0xffe3),
    ("controlr ctrlr controlright", 0xffe4),
    ("shift shiftl shiftleft", 0xffe1),
    ("shiftr shiftright", 0xffe2),
    ("alt option altl altleft optionleft", 0xffe9),
    ("altr altright optionright", 0xffea),
    ("altgr altgraph isolevel3shift", 0xfe03),
    (
        "meta cmd command super win windows superl metal cmdl metaleft os",
        0xffeb,
    ),
    ("superr metar cmdr metaright", 0xffec),
    ("hyper hyperl", 0xffed),
    ("capslock caps", 0xffe5),
    ("numlock", 0xff7f),
    ("scrolllock", 0xff14),
    ("printscreen print prtsc prtscn", 0xff61),
    ("sysreq sysrq", 0xff15),
    ("pause", 0xff13),
    ("break", 0xff6b),
    ("menu contextmenu apps", 0xff67),
    ("help", 0xff6a),
    ("undo", 0xff65),
    ("redo", 0xff66),
    ("find", 0xff68),
    ("cancel", 0xff69),
    ("kpenter numpadenter", 0xff8d),
    ("kpadd kpplus numpadadd", 0xffab),
    ("kpsubtract kpminus numpadsubtract", 0xffad),
    ("kpmultiply numpadmultiply", 0xffaa),
    ("kpdivide numpaddivide", 0xffaf),
    ("kpdecimal numpaddecimal", 0xffae),
    ("kpseparator numpadcomma", 0xffac),
    ("kpequal numpadequal", 0xffbd),
    ("kphome", 0xff95),
    ("kpleft", 0xff96),
    ("kpup", 0xff97),
    ("kpright", 0xff98),
    ("kpdown", 0xff99),
    ("kpprior kppageup", 0xff9a),
    ("kpnext kppagedown", 0xff9b),
    ("kpend", 0xff9c),
    ("kpbegin", 0xff9d),
    ("kpinsert", 0xff9e),
    ("kpdelete", 0xff9f),
    ("exclam exclamation", 0x21),
    ("quotedbl doublequote", 0x22),
    ("numbersign hash", 0x23),
    ("dollar", 0x24),
    ("percent", 0x25),
    ("ampersand", 0x26),
    ("apostrophe quote singlequote", 0x27),
    ("parenleft leftparen", 0x28),
    ("parenright rightparen", 0x29),
    ("asterisk", 0x2a),
    ("plus", 0x2b),
    ("comma", 0x2c),
    ("minus dash hyphen", 0x2d),
    ("period dot", 0x2e),
    ("slash", 0x2f),
    ("colon", 0x3a),
    ("semicolon", 0x3b),
    ("less", 0x3c),
    ("equal equals", 0x3d),
    ("greater", 0x3e),
    ("question", 0x3f),
    ("at", 0x40),
    ("bracketleft leftbracket", 0x5b),
    ("backslash", 0x5c),
    ("bracketright rightbracket", 0x5d),
    ("asciicircum caret", 0x5e),
    ("underscore", 0x5f),
    ("grave backtick backquote", 0x60),
    ("braceleft leftbrace", 0x7b),
    ("bar pipe", 0x7c),
    ("braceright rightbrace", 0x7d),
    ("asciitilde tilde", 0x7e),
    ("browserback xf86back", 0x1008_ff26),
    ("browserforward xf86forward", 0x1008_ff27),
    ("browserstop xf86stop", 0x1008_ff28),
    ("browserrefresh xf86refresh xf86reload", 0x1008_ff29),
    ("browserhome xf86homepage", 0x1008_ff18),
    ("browsersearch xf86search", 0x1008_ff1b),
    ("browserfavorites xf86favorites", 0x1008_ff30),
    (
        "volumedown audiovolumedown xf86audiolowervolume",
        0x1008_ff11,
    ),
    ("volumemute audiovolumemute xf86audiomute", 0x1008_ff12),
    ("volumeup audiovolumeup xf86audioraisevolume", 0x1008_ff13),
    ("mediaplaypause xf86audioplay", 0x1008_ff14),
    ("mediastop xf86audiostop", 0x1008_ff15),
    ("mediatrackprevious xf86audioprev", 0x1008_ff16),
    ("mediatracknext xf86audionext", 0x1008_ff17),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Vec<u32> {
        let Chord(keys) = Chord::parse(text).unwrap();
        keys.into_iter().map(|key| key.0).collect()
    }

    #[test]
    fn names_are_read_in_any_case_and_spelling() {
        for name in ["Return", "ENTER", "enter"] {
            assert_eq!(chord(name), [0xff0d], "{name}");
        }
        for name in ["Page_Down", "pagedown", "PgDn", "Next", "page-down"] {
            assert_eq!(chord(name), [0xff56], "{name}");
        }
        assert_eq!(chord("F1"), [0xffbe]);
        assert_eq!(chord("f24"), [0xffd5]);
        assert_eq!(chord("KP_7"), [0xffb7]);
        assert_eq!(chord("ArrowLeft"), [0xff51]);
        assert_eq!(chord("XF86Back"), chord("BrowserBack"));
    }

    #[test]
    fn a_plus_separates_keys_or_is_one() {
        assert_eq!(chord("+"), [0x2b]);
        assert_eq!(chord("ctrl++"), [0xffe3, 0x2b]);
        assert_eq!(chord("ctrl+plus"), [0xffe3, 0x2b]);
        assert_eq!(chord("ctrl+shift+t"), [0xffe3, 0xffe1, 0x74]);
    }

    #[test]
    fn a_letter_of_a_chord_is_the_key_and_alone_it_is_the_letter() {
        assert_eq!(chord("CTRL+S"), [0xffe3, 0x73]);
        assert_eq!(chord("S"), [0x53]);
        assert_eq!(chord("é"), [0xe9]);
        assert_eq!(chord("ж"), [0x0100_0436]);
    }

    #[test]
    fn spaces_separate_chords_and_a_space_alone_is_the_space_bar() {
        assert_eq!(Chord::parse_sequence("ctrl+a Delete").unwrap().len(), 2);
        assert_eq!(
            Chord::parse_sequence(" ").unwrap(),
            [Chord(vec![Keysym(0x20)])]
        );
    }

    #[test]
    fn an_unknown_key_is_named() {
        for (text, name) in [
            ("ctrl+frob", "frob"),
            ("Hyperspace", "Hyperspace"),
            ("ctrl+", "ctrl+"),
            ("F25", "F25"),
            ("", ""),
        ] {
            assert_eq!(
                Chord::parse_sequence(text),
                Err(UnknownKey(name.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn letters_of_old_layouts_are_the_letters_of_unicode() {
        for (keysym, letter) in [
            (0x6c0, 'ю'),
            (0x6df, 'ъ'),
            (0x6e0, 'Ю'),
            (0x6ff, 'Ъ'),
            (0x7c1, 'Α'),
            (0x7d2, 'Σ'),
            (0x7d4, 'Τ'),
            (0x7d9, 'Ω'),
            (0x7e1, 'α'),
            (0x7f3, 'ς'),
            (0x7f9, 'ω'),
        ] {
            assert_eq!(
                Some(Keysym(keysym).canonical()),
                Keysym::of_char(letter),
                "{letter}"
            );
        }
    }

    #[test]
    fn control_characters_without_a_key_have_no_keysym() {
        assert_eq!(Keysym::of_char('\0'), None);
        assert_eq!(Keysym::of_char('\u{85}'), None);
        assert_eq!(Keysym::of_char('\n'), Some(Keysym::RETURN));
    }
}
