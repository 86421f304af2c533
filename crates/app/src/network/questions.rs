//! Questions to people that programs of one session are waiting for. Programs that need the same answer share one.

use std::{collections::HashMap, hash::Hash};

use deskhand_core::id::{DecisionId, TurnId};

/// The maximum number of open questions of one kind.
const MOST_OPEN: usize = 8;
/// The maximum number of answers that are remembered.
const MOST_ANSWERED: usize = 1000;

/// The questions of one kind in one turn: those that are open, and those that were answered.
#[derive(Debug)]
pub(crate) struct Questions<Q, R> {
    open: HashMap<Q, DecisionId>,
    answered: HashMap<Q, Result<(), R>>,
    turn: Option<TurnId>,
}

/// The state of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asking<R> {
    /// The caller has to ask it, with this id.
    New(DecisionId),
    Asked(DecisionId),
    Answered(Result<(), R>),
    /// Too many are open.
    Full,
}

impl<Q, R> Default for Questions<Q, R> {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            answered: HashMap::new(),
            turn: None,
        }
    }
}

impl<Q: Clone + Eq + Hash, R: Copy> Questions<Q, R> {
    /// Returns the state of a question in this turn, and reserves an id if it is new.
    pub(crate) fn asking(&mut self, question: &Q, turn: TurnId) -> Asking<R> {
        if self.turn != Some(turn) {
            // Open questions were withdrawn when their turn ended.
            self.open.clear();
            self.answered.clear();
            self.turn = Some(turn);
        }
        if let Some(answer) = self.answered.get(question) {
            return Asking::Answered(*answer);
        }
        if let Some(id) = self.open.get(question) {
            return Asking::Asked(*id);
        }
        if self.open.len() >= MOST_OPEN || self.answered.len() >= MOST_ANSWERED {
            return Asking::Full;
        }
        let id = DecisionId::new();
        self.open.insert(question.clone(), id);
        Asking::New(id)
    }

    /// Returns true if this question is still open.
    pub(crate) fn is_asked(&self, question: &Q, id: DecisionId) -> bool {
        self.open.get(question) == Some(&id)
    }

    /// Closes a question. Its answer, if any, is remembered until the turn ends.
    pub(crate) fn settled(&mut self, question: &Q, id: DecisionId, answer: Option<Result<(), R>>) {
        // Another waiter may have settled it, or its turn may have ended.
        if !self.is_asked(question, id) {
            return;
        }
        self.open.remove(question);
        if let Some(answer) = answer {
            self.answered.insert(question.clone(), answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_until_the_turn_ends() {
        let mut questions = Questions::<&str, u8>::default();
        let turn = TurnId::new();
        let Asking::New(id) = questions.asking(&"a", turn) else {
            panic!("it was not asked before");
        };
        assert_eq!(questions.asking(&"a", turn), Asking::Asked(id));
        assert!(questions.is_asked(&"a", id));
        questions.settled(&"a", id, Some(Err(7)));
        assert_eq!(questions.asking(&"a", turn), Asking::Answered(Err(7)));
        let Asking::New(id) = questions.asking(&"b", turn) else {
            panic!("it was not asked before");
        };
        let next = TurnId::new();
        assert!(matches!(questions.asking(&"a", next), Asking::New(_)));
        assert!(matches!(questions.asking(&"b", next), Asking::New(newer) if newer != id));
    }

    #[test]
    fn an_answer_from_an_earlier_turn_does_not_count() {
        let mut questions = Questions::<&str, u8>::default();
        let (first, second) = (TurnId::new(), TurnId::new());
        let Asking::New(id) = questions.asking(&"a", first) else {
            panic!("it was not asked before");
        };
        assert!(matches!(questions.asking(&"b", second), Asking::New(_)));
        questions.settled(&"a", id, Some(Err(7)));
        assert!(matches!(questions.asking(&"a", second), Asking::New(_)));
    }

    #[test]
    fn only_so_many_are_open_at_a_time() {
        let mut questions = Questions::<usize, u8>::default();
        let turn = TurnId::new();
        for number in 0..MOST_OPEN {
            assert!(matches!(questions.asking(&number, turn), Asking::New(_)));
        }
        assert_eq!(questions.asking(&MOST_OPEN, turn), Asking::Full);
    }
}
