//! Elements in the text of a page, as a reading of the page writes them: `[button Buy e8]`.

use std::ops::Range;

use super::ElementRef;

/// An element in a text. Both ranges are of bytes of that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageElement {
    pub reference: ElementRef,
    /// The place of the reference.
    pub at: Range<usize>,
    /// The place of the whole element, with its brackets.
    pub place: Range<usize>,
}

/// Returns the elements in a text, in their order.
///
/// Names and values with brackets or with something like a reference are in quotes, so the last reference outside of
/// quotes is the element's own.
pub fn page_elements(text: &str) -> Vec<PageElement> {
    let mut elements = Vec::new();
    let mut start = 0;
    while let Some(open) = text[start..].find('[') {
        let open = start + open;
        let element = element_at(text, open);
        start = element.as_ref().map_or(open + 1, |found| found.place.end);
        elements.extend(element);
    }
    elements
}

/// Reads the element whose bracket is at `open`. Brackets of the page's own text contain no reference.
fn element_at(text: &str, open: usize) -> Option<PageElement> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut word_start = open + 1;
    let mut found = None;
    for (index, character) in text[open + 1..].char_indices() {
        let index = open + 1 + index;
        match character {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' => return None,
            ' ' | ']' => {
                let at = word_start..index;
                found = reference(&text[at.clone()])
                    .map(|reference| (reference, at))
                    .or(found);
                word_start = index + 1;
            }
            _ => {}
        }
        if character == ']' && !is_quoted {
            let (reference, at) = found?;
            let place = open..index + 1;
            return Some(PageElement {
                reference,
                at,
                place,
            });
        }
    }
    None
}

/// Returns a word as a reference if it is spelled exactly like one.
fn reference(word: &str) -> Option<ElementRef> {
    let reference: ElementRef = word.parse().ok()?;
    (reference.to_string() == word).then_some(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, &str)> {
        let elements = page_elements(text).into_iter();
        elements
            .map(|one| (one.reference.to_string(), &text[one.place]))
            .collect()
    }

    #[test]
    fn elements_are_found_in_a_line() {
        assert_eq!(
            found("1.50 € [button Buy e8] and [Tea f2e9 focused], [a note]"),
            [
                ("e8".to_owned(), "[button Buy e8]"),
                ("f2e9".to_owned(), "[Tea f2e9 focused]"),
            ]
        );
    }

    #[test]
    fn quoted_names_and_values_contain_no_reference() {
        assert_eq!(
            found(r#"[button "Pay \" e5" e9 ="e1" required] [[x] [Buy e2]"#),
            [
                ("e9".to_owned(), r#"[button "Pay \" e5" e9 ="e1" required]"#),
                ("e2".to_owned(), "[Buy e2]"),
            ]
        );
        assert_eq!(found("[button \"unclosed e4]\n[e] vitamin e3"), []);
    }
}
