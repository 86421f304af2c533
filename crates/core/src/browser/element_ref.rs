//! References to elements of a page.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A reference to an element, as a reading of the page returned it: `e12`, or `f2e12` in a frame.
///
/// It is good as long as the element is in the document that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ElementRef {
    /// The number of the frame. The page itself is 0.
    pub frame: u32,
    pub element: u32,
}

/// The error for a text that is not a reference.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a reference: read the page, and use one from there, such as e12")]
pub struct BadElementRef(pub String);

impl fmt::Display for ElementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            0 => write!(f, "e{}", self.element),
            frame => write!(f, "f{frame}e{}", self.element),
        }
    }
}

impl FromStr for ElementRef {
    type Err = BadElementRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadElementRef(text.chars().take(40).collect());
        let plain = text.trim().trim_start_matches('[').trim_end_matches(']');
        let plain = plain.strip_prefix("ref=").unwrap_or(plain);
        let (frame, element) = match plain.strip_prefix('f') {
            Some(rest) => rest.split_once('e').ok_or_else(bad)?,
            None => ("0", plain.strip_prefix('e').ok_or_else(bad)?),
        };
        let number = |digits: &str| digits.parse().map_err(|_digits| bad());
        Ok(Self {
            frame: number(frame)?,
            element: number(element)?,
        })
    }
}

impl TryFrom<String> for ElementRef {
    type Error = BadElementRef;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ElementRef> for String {
    fn from(element: ElementRef) -> Self {
        element.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        for text in ["e1", "f3e20"] {
            assert_eq!(text.parse::<ElementRef>().unwrap().to_string(), text);
        }
        assert_eq!("[e7]".parse::<ElementRef>().unwrap().to_string(), "e7");
        for text in ["", "e", "12", "f1", "fe1", "e-1", "button"] {
            assert!(text.parse::<ElementRef>().is_err(), "{text}");
        }
    }
}
