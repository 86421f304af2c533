//! Converts lists of keys from vendors to the chords that the computer accepts.

/// The keys that are held while another key is pressed.
const MODIFIERS: [&str; 14] = [
    "ctrl",
    "control",
    "shift",
    "alt",
    "option",
    "meta",
    "cmd",
    "command",
    "super",
    "win",
    "windows",
    "control_l",
    "shift_l",
    "super_l",
];

/// Joins a list of keys: to one chord if any of them is a modifier, otherwise to a sequence.
pub(crate) fn of_list(keys: &[&str]) -> String {
    let keys: Vec<&str> = keys.iter().flat_map(|key| parts(key)).collect();
    let is_chord = keys.iter().any(|key| is_modifier(key));
    keys.join(if is_chord { "+" } else { " " })
}

fn is_modifier(key: &str) -> bool {
    MODIFIERS
        .iter()
        .any(|modifier| key.eq_ignore_ascii_case(modifier))
}

/// Splits an entry, which may itself be a chord. A plus alone or at the end is the plus key.
fn parts(key: &str) -> Vec<&str> {
    let key = if key == " " { "space" } else { key.trim() };
    let (chord, plus) = match key.strip_suffix('+') {
        Some(chord) => (chord, Some("plus")),
        None => (key, None),
    };
    let parts = chord.split('+').map(str::trim);
    parts.filter(|part| !part.is_empty()).chain(plus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modifier_makes_a_chord() {
        for (keys, expected) in [
            (vec!["CTRL", "L"], "CTRL+L"),
            (vec!["ctrl+shift", "t"], "ctrl+shift+t"),
            (vec!["DOWN", "DOWN"], "DOWN DOWN"),
            (vec!["ENTER"], "ENTER"),
            (vec!["ctrl", "+"], "ctrl+plus"),
            (vec!["ctrl++"], "ctrl+plus"),
            (vec!["+"], "plus"),
            (vec![" "], "space"),
        ] {
            assert_eq!(of_list(&keys), expected);
        }
    }
}
