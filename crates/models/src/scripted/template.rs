//! Fills in `{{ name }}` in a scenario's texts.
//!
//! Only braces around a name count, such as `{{ prompt }}` or `{{ result.2 }}`. Everything else stays as it is, so
//! shell text with braces needs no quoting.

/// A part of a text.
enum TextPart<'a> {
    Plain(&'a str),
    Placeholder(&'a str),
}

/// Returns the names that a text refers to.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        TextPart::Placeholder(name) => Some(name),
        TextPart::Plain(_) => None,
    })
}

/// Fills in the values. `value` returns an error if it has none.
pub(super) fn fill<E>(
    text: &str,
    mut value: impl FnMut(&str) -> Result<String, E>,
) -> Result<String, E> {
    let mut filled = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            TextPart::Plain(plain) => filled.push_str(plain),
            TextPart::Placeholder(name) => filled.push_str(&value(name)?),
        }
    }
    Ok(filled)
}

/// Returns true if every scenario has a value with this name, at least once results are shown.
pub(super) fn is_given(name: &str) -> bool {
    matches!(name, "prompt" | "steering" | "handed_back" | "last_result")
        || result_number(name).is_some()
}

/// Returns the `N` of `result.N`, counted from 1.
pub(super) fn result_number(name: &str) -> Option<usize> {
    name.strip_prefix("result.")?
        .parse()
        .ok()
        .filter(|number| *number > 0)
}

/// Returns true if a captured part may have this name.
pub(super) fn is_free_name(name: &str) -> bool {
    is_name(name) && !name.contains('.') && !is_given(name)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'))
}

fn parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut plain = 0;
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|offset| from + offset) {
        let inside = open + 2;
        let name = text[inside..]
            .find("}}")
            .map(|length| (text[inside..inside + length].trim(), inside + length + 2))
            .filter(|(name, _)| is_name(name));
        let Some((name, end)) = name else {
            // The next opening may share a brace with this one, as in `{{{ prompt }}`.
            from = open + 1;
            continue;
        };
        parts.push(TextPart::Plain(&text[plain..open]));
        parts.push(TextPart::Placeholder(name));
        plain = end;
        from = end;
    }
    parts.push(TextPart::Plain(&text[plain..]));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        fill(text, |name| Ok(format!("<{name}>")))
    }

    #[test]
    fn names_in_braces_are_replaced_and_nothing_else_is() {
        for (text, expected) in [
            ("", ""),
            ("a {{ prompt }} b {{result.2}}", "a <prompt> b <result.2>"),
            ("{{{ prompt }}}", "{<prompt>}"),
            ("{{ {{ prompt }} }}", "{{ <prompt> }}"),
            (
                "echo {{a,b},c} ${x} {{.Name}} {{",
                "echo {{a,b},c} ${x} {{.Name}} {{",
            ),
            ("ü{{ order }}谢", "ü<order>谢"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn given_names_cannot_be_taken() {
        assert!(is_free_name("order_2"));
        for name in ["prompt", "last_result", "result.1", "a.b", "2a", "", "Ä"] {
            assert!(!is_free_name(name), "{name}");
        }
    }
}
