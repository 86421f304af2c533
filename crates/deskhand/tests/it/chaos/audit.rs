//! A session's log read as a story, which must make sense at any moment.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What the log tells.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// People's messages, id and content, as they came.
    pub(crate) messages: Vec<(String, String)>,
    /// Messages that wait in line, by id.
    queued: Vec<String>,
    /// Which turn took which message.
    taken: BTreeMap<String, String>,
    /// How each turn ended.
    ends: BTreeMap<String, String>,
    /// The turn that is under way.
    turn: Option<String>,
    /// Calls by id.
    calls: BTreeMap<String, Call>,
}

#[derive(Debug)]
struct Call {
    turn: Option<String>,
    /// The mark that it leaves when it is carried out.
    mark: Option<String>,
    fate: Option<Fate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    NotDone,
    Unknown,
}

impl Story {
    pub(crate) fn read(log: &[Value]) -> Self {
        let mut story = Self::default();
        for (event, number) in log.iter().zip(1_u64..) {
            assert_eq!(event["seq"], number, "{event}");
            story.add(event);
        }
        story
    }

    fn add(&mut self, event: &Value) {
        let data = &event["data"];
        let text = |name: &str| data[name].as_str().map(str::to_owned);
        match event["type"].as_str().unwrap() {
            "message" if data["role"] == "user" => {
                let id = text("id").unwrap();
                if data["delivery"].as_str().is_none_or(|way| way == "queue") {
                    self.queued.push(id.clone());
                }
                self.messages.push((id, text("content").unwrap()));
            }
            "status" => {
                if let (Some(turn), Some(message)) = (text("turn"), text("prompt")) {
                    self.take(turn, &message);
                }
            }
            "tool_use" => {
                let call = Call {
                    turn: text("turn"),
                    mark: mark(&data["input"]),
                    fate: None,
                };
                let begun = self.calls.insert(text("call").unwrap(), call);
                assert!(begun.is_none(), "begun twice: {event}");
            }
            "tool_result" if data["partial"] != true => {
                let call = self.calls.get_mut(&text("call").unwrap()).unwrap();
                assert_eq!(call.turn, text("turn"), "{event}");
                assert!(call.fate.is_none(), "a second result: {event}");
                call.fate = Some(fate(data));
            }
            "complete" | "error" => {
                if let Some(turn) = text("turn") {
                    assert_eq!(self.turn.take(), Some(turn.clone()), "{event}");
                    let how = text("outcome").or(text("code")).unwrap();
                    self.ends.insert(turn, how);
                }
            }
            _ => {}
        }
    }

    /// A turn begins with a message, or takes one more in.
    fn take(&mut self, turn: String, message: &str) {
        assert!(!self.ends.contains_key(&turn), "{turn} ended before");
        let open = self.turn.get_or_insert_with(|| turn.clone());
        assert_eq!(*open, turn, "a turn begins in another");
        if let Some(place) = self.queued.iter().position(|id| id == message) {
            assert_eq!(place, 0, "{message} was taken before those ahead of it");
            self.queued.remove(place);
        }
        let twice = self.taken.insert(message.to_owned(), turn);
        assert!(twice.is_none(), "{message} was taken twice");
    }

    /// How many messages have no answer and no reason yet.
    pub(crate) fn n_unanswered(&self) -> usize {
        let is_over = |id: &String| {
            let turn = self.taken.get(id);
            turn.is_some_and(|turn| self.ends.contains_key(turn))
        };
        let unanswered = self.messages.iter().filter(|(id, _)| !is_over(id));
        unanswered.count()
    }

    /// How turns ended.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &str> {
        self.ends.values().map(String::as_str)
    }

    /// Holds the marks that were found after the log was read against what it says was done.
    pub(crate) fn check_marks(&self, found: &[String]) {
        let mut once = BTreeSet::new();
        for mark in found {
            assert!(once.insert(mark), "{mark} was carried out twice");
        }
        for (mark, fate) in self.marks() {
            match fate {
                Some(Fate::Done) => assert!(once.contains(mark), "{mark} is said to be done"),
                Some(Fate::NotDone) => assert!(!once.contains(mark), "{mark} is said not to be"),
                Some(Fate::Unknown) | None => {}
            }
        }
    }

    /// Holds the marks that were found before the log was read against what it says was begun.
    pub(crate) fn check_known(&self, found: &[String]) {
        let known: BTreeSet<_> = self.marks().map(|(mark, _)| mark).collect();
        let strange: Vec<_> = found.iter().filter(|mark| !known.contains(mark)).collect();
        assert!(strange.is_empty(), "done without being told: {strange:?}");
    }

    fn marks(&self) -> impl Iterator<Item = (&String, Option<Fate>)> {
        let calls = self.calls.values();
        calls.filter_map(|call| Some((call.mark.as_ref()?, call.fate)))
    }

    /// What must be so when nothing is under way.
    pub(crate) fn check_rest(&self) {
        assert_eq!(self.turn, None, "a turn without an end");
        assert_eq!(self.n_unanswered(), 0);
        for (id, call) in &self.calls {
            let how = call.turn.as_ref().map(|turn| self.ends[turn].as_str());
            // What cannot be written is not in the log.
            let excused = how == Some("storage_failed");
            assert!(call.fate.is_some() || excused, "{id} has no result");
        }
    }
}

/// The mark in a call's input.
fn mark(input: &Value) -> Option<String> {
    let texts = input.as_object()?.values().filter_map(Value::as_str);
    texts.flat_map(marks).next()
}

/// The marks in a text: our scenarios write them in brackets. One may have several lines, since a model
/// is shown what people said in a row, and how the turn before failed, as one message.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split('⟦').skip(1);
    let whole = parts.filter_map(|part| part.split_once('⟧'));
    whole.map(|(mark, _)| mark.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn fate(result: &Value) -> Fate {
    let text = result["text"].as_str().unwrap();
    if result["is_error"] == false {
        Fate::Done
    } else if text.starts_with("Not executed") {
        Fate::NotDone
    } else {
        Fate::Unknown
    }
}
