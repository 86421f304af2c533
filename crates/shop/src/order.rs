//! Orders: the rules a form must meet, and the file that keeps them.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

/// The number of the first order.
const FIRST_NUMBER: u64 = 1001;

/// The goods on sale.
pub(crate) const GOODS: [Good; 4] = [
    Good {
        key: "boston-fern",
        name: "Boston fern",
        price: 18,
    },
    Good {
        key: "copper-kettle",
        name: "Copper kettle",
        price: 64,
    },
    Good {
        key: "green-tea",
        name: "Green tea",
        price: 12,
    },
    Good {
        key: "chamomile",
        name: "Chamomile",
        price: 9,
    },
];

#[derive(Debug)]
pub(crate) struct Good {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    /// The price in whole euros.
    pub(crate) price: u64,
}

/// The form as the browser sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) item: String,
    pub(crate) quantity: String,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) note: String,
}

/// Mistakes in a form, by field. An empty text means that the field is fine.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaints {
    pub(crate) item: &'static str,
    pub(crate) quantity: &'static str,
    pub(crate) name: &'static str,
    pub(crate) email: &'static str,
    pub(crate) note: &'static str,
}

/// A stored order, which is one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) number: u64,
    pub(crate) item: String,
    pub(crate) quantity: u64,
    /// The total in whole euros.
    pub(crate) total: u64,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) note: String,
}

/// All orders so far.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    orders: Vec<Order>,
}

impl Form {
    /// Parses `application/x-www-form-urlencoded`, and ignores unknown fields.
    pub(crate) fn parse(body: &[u8]) -> Self {
        let mut form = Self::default();
        for pair in body.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = halves.next().unwrap_or_default();
            let value = decoded(halves.next().unwrap_or_default());
            match name {
                b"item" => form.item = value,
                b"quantity" => form.quantity = value,
                b"name" => form.name = value,
                b"email" => form.email = value,
                b"note" => form.note = value.replace("\r\n", "\n"),
                _ => {}
            }
        }
        form
    }

    /// Returns the order that this form asks for. Its number is 0 until [`Book::add`] assigns one.
    pub(crate) fn check(&self) -> Result<Order, Complaints> {
        let good = GOODS.iter().find(|good| good.key == self.item);
        let name = self.name.trim();
        let email = self.email.trim();
        let quantity = self
            .quantity
            .trim()
            .parse()
            .ok()
            .filter(|n| (1..=99).contains(n));
        let complaints = Complaints {
            item: if good.is_none() {
                "Please choose one"
            } else {
                ""
            },
            quantity: if quantity.is_none() {
                "A number from 1 to 99"
            } else {
                ""
            },
            name: match name.chars().count() {
                0 => "Please tell us your name",
                1..=100 => "",
                _ => "At most 100 characters",
            },
            email: if is_email(email) {
                ""
            } else {
                "Not an e-mail address"
            },
            note: if self.note.chars().count() > 500 {
                "At most 500 characters"
            } else {
                ""
            },
        };
        let (Some(good), Some(quantity), true) =
            (good, quantity, complaints == Complaints::default())
        else {
            return Err(complaints);
        };
        Ok(Order {
            number: 0,
            item: good.name.to_owned(),
            quantity,
            total: quantity * good.price,
            name: name.to_owned(),
            email: email.to_owned(),
            note: self.note.trim().to_owned(),
        })
    }
}

impl Book {
    /// Opens the book and reads the orders already in it.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        // The agent can write to this file too: skip lines that are not orders.
        let orders = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Ok(Self { path, orders })
    }

    /// Assigns the next number to an order and appends it to the file.
    pub(crate) fn add(&mut self, order: Order) -> io::Result<u64> {
        let last = self.orders.iter().map(|order| order.number).max();
        let number = last.map_or(FIRST_NUMBER, |last| last + 1);
        let order = Order { number, ..order };
        let mut line = serde_json::to_string(&order)?;
        line.push('\n');
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        file.write_all(line.as_bytes())?;
        self.orders.push(order);
        Ok(number)
    }

    pub(crate) fn order(&self, number: u64) -> Option<&Order> {
        self.orders.iter().find(|order| order.number == number)
    }
}

fn is_email(text: &str) -> bool {
    let shaped = text.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && host.contains('.') && !host.starts_with('.') && !host.ends_with('.')
    });
    shaped
        && text.len() <= 200
        && text.matches('@').count() == 1
        && !text.contains(char::is_whitespace)
}

/// Decodes the text of a form field. Broken escapes are kept as they are.
fn decoded(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => match tail.first_chunk::<2>().and_then(hex_byte) {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &tail[2..];
                }
                None => bytes.push(b'%'),
            },
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_byte(digits: &[u8; 2]) -> Option<u8> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    Some(digit(digits[0])? * 16 + digit(digits[1])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_decoded() {
        let form = Form::parse(
            b"item=green-tea&quantity=+2&name=J%C3%BCrgen+%26+co&email=a%40b.c&note=%zz%4&x=y",
        );
        let expected = Form {
            item: "green-tea".to_owned(),
            quantity: " 2".to_owned(),
            name: "Jürgen & co".to_owned(),
            email: "a@b.c".to_owned(),
            note: "%zz%4".to_owned(),
        };
        assert_eq!(form, expected);
    }

    #[test]
    fn each_field_has_its_own_complaint() {
        let form = Form {
            quantity: "0".to_owned(),
            email: "a@b".to_owned(),
            ..Form::default()
        };
        let complaints = form.check().unwrap_err();
        assert_eq!(complaints.quantity, "A number from 1 to 99");
        assert_eq!(complaints.email, "Not an e-mail address");
        assert_eq!(complaints.name, "Please tell us your name");
        assert_eq!(complaints.item, "Please choose one");
        assert_eq!(complaints.note, "");
    }
}
