//! The shop's pages.

use crate::order::{Complaints, Form, GOODS, Order};

const FRAME: &str = include_str!("frame.html");
const STYLE: &str = include_str!("style.css");
const ORDER: &str = include_str!("order.html");
const THANKS: &str = include_str!("thanks.html");
const MISSING: &str = include_str!("missing.html");

/// Renders the form with the values sent so far and the mistake beside each field.
pub(crate) fn order(form: &Form, complaints: &Complaints) -> String {
    let is_known = GOODS.iter().any(|good| good.key == form.item);
    let chosen = if is_known {
        form.item.as_str()
    } else {
        GOODS[0].key
    };
    let mut values: Vec<(String, String)> = GOODS
        .iter()
        .map(|good| {
            let checked = if good.key == chosen { " checked" } else { "" };
            (good.key.to_owned(), checked.to_owned())
        })
        .collect();
    values.push(("item-error".to_owned(), escaped(complaints.item)));
    for (field, value, complaint) in [
        ("name", &form.name, complaints.name),
        ("email", &form.email, complaints.email),
        ("quantity", &form.quantity, complaints.quantity),
        ("note", &form.note, complaints.note),
    ] {
        let class = if complaint.is_empty() {
            ""
        } else {
            " class=\"wrong\""
        };
        values.push((field.to_owned(), escaped(value)));
        values.push((format!("{field}-error"), escaped(complaint)));
        values.push((format!("{field}-class"), class.to_owned()));
    }
    framed("Fern & Kettle", &filled(ORDER, &values))
}

/// Renders the confirmation of an order.
pub(crate) fn thanks(order: &Order) -> String {
    let note = if order.note.is_empty() {
        "–"
    } else {
        &order.note
    };
    let values = [
        ("number", order.number.to_string()),
        ("item", escaped(&order.item)),
        ("quantity", order.quantity.to_string()),
        ("total", order.total.to_string()),
        ("name", escaped(&order.name)),
        ("email", escaped(&order.email)),
        ("note", escaped(note)),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    framed(
        &format!("Order {} – Fern & Kettle", order.number),
        &filled(THANKS, &values),
    )
}

pub(crate) fn missing() -> String {
    framed("Not here – Fern & Kettle", MISSING)
}

fn framed(title: &str, main: &str) -> String {
    let values = [
        ("title".to_owned(), escaped(title)),
        ("style".to_owned(), STYLE.to_owned()),
        ("main".to_owned(), main.to_owned()),
    ];
    filled(FRAME, &values)
}

/// Replaces each `{{name}}` of the template in one pass, so that values are never read as templates.
fn filled(template: &str, values: &[(String, String)]) -> String {
    let mut page = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, tail)| Some((before, tail.split_once("}}")?)))
    {
        page.push_str(before);
        if let Some((_, value)) = values.iter().find(|(known, _)| known == name) {
            page.push_str(value);
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_escaped_and_never_read_as_a_template() {
        let form = Form {
            name: "\"><b>{{note}}".to_owned(),
            ..Form::default()
        };
        let page = order(&form, &Complaints::default());
        assert!(page.contains("value=\"&quot;&gt;&lt;b&gt;{{note}}\""));
    }

    #[test]
    fn each_controls_colour_stands_for_nothing_else() {
        for (control, colour) in [
            ("#name", "#fffdf3"),
            ("#email", "#f3fffd"),
            ("#quantity", "#fdf3ff"),
            ("#note", "#f3f8ff"),
            ("button", "#1f7a4d"),
            (".banner", "#e3f6e8"),
        ] {
            let uses = [FRAME, STYLE, ORDER, THANKS, MISSING].join("\n");
            for line in uses.lines().filter(|line| line.contains(colour)) {
                assert!(line.starts_with(control), "{line}");
            }
        }
    }
}
