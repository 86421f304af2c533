//! The secrets for HTTP APIs of one sandbox: their stand-ins, and the approvals and revealed values since it started.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    id::{DecisionId, SecretId, TurnId},
    network::stand_in::{StandIns, UseRefusal},
    secret::Secret,
    vault::{Origin, SecretName},
};
use jiff::Timestamp;

use super::secrets::TypedSecrets;
use crate::network::questions::{Asking, Questions};

/// The minimum interval at which the use of the same secret is stored.
const NOTE_EVERY: Duration = Duration::from_mins(1);

/// A secret at one of its sites.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SecretAtSite {
    pub(crate) name: SecretName,
    pub(crate) origin: Origin,
}

/// The secrets for HTTP APIs of one sandbox.
#[derive(Debug)]
pub(crate) struct SandboxSecrets {
    pub(crate) stand_ins: Arc<StandIns>,
    /// Redacts the values from results too, in case a host sends one in a form that the proxy does not recognize.
    typed: Arc<TypedSecrets>,
    state: Mutex<SecretState>,
}

#[derive(Debug, Default)]
struct SecretState {
    /// The uses that the owner approved.
    approved: HashSet<SecretAtSite>,
    questions: Questions<SecretAtSite, UseRefusal>,
    /// The values that were revealed.
    revealed: Vec<(SecretName, Secret)>,
    noted_at: HashMap<SecretId, Timestamp>,
}

impl SandboxSecrets {
    pub(super) fn new(stand_ins: StandIns, typed: Arc<TypedSecrets>) -> Self {
        Self {
            stand_ins: Arc::new(stand_ins),
            typed,
            state: Mutex::default(),
        }
    }

    /// Returns the environment variables in which programs find the stand-ins.
    pub(super) fn variables(&self) -> BTreeMap<String, Secret> {
        let all = self.stand_ins.all().iter();
        all.map(|one| (one.http.env.to_string(), Secret::new(&*one.text)))
            .collect()
    }

    pub(crate) fn is_approved(&self, at: &SecretAtSite) -> bool {
        self.state().approved.contains(at)
    }

    pub(crate) fn approve(&self, at: &SecretAtSite) {
        self.state().approved.insert(at.clone());
    }

    /// Returns the state of the question to the owner in this turn, and reserves an id if it is new.
    pub(crate) fn asking(&self, at: &SecretAtSite, turn: TurnId) -> Asking<UseRefusal> {
        self.state().questions.asking(at, turn)
    }

    /// Returns true if this question to the owner is still open.
    pub(crate) fn is_asked(&self, at: &SecretAtSite, id: DecisionId) -> bool {
        self.state().questions.is_asked(at, id)
    }

    /// Closes a question. A refusal is remembered until the turn ends.
    pub(crate) fn settled(
        &self,
        at: &SecretAtSite,
        id: DecisionId,
        answer: Option<Result<(), UseRefusal>>,
    ) {
        self.state().questions.settled(at, id, answer);
    }

    /// Records that a value is about to be revealed.
    pub(crate) fn note_revealed(&self, name: &SecretName, value: &Secret) {
        self.typed.remember(name, value);
        let mut state = self.state();
        if !state.revealed.iter().any(|(_, known)| known == value) {
            state.revealed.push((name.clone(), value.clone()));
        }
    }

    /// Returns the values that were revealed, each with its stand-in.
    pub(crate) fn revealed(&self) -> Vec<(String, Secret)> {
        let state = self.state();
        let revealed = state.revealed.iter().filter_map(|(name, value)| {
            let mut all = self.stand_ins.all().iter();
            let stand_in = all.find(|one| one.name == *name)?;
            Some((stand_in.text.clone(), value.clone()))
        });
        revealed.collect()
    }

    /// Returns true if the use of a secret has to be stored, because the last time was long enough ago.
    pub(crate) fn is_use_due(&self, secret: SecretId, now: Timestamp) -> bool {
        let mut state = self.state();
        let noted_at = state.noted_at.get(&secret);
        let is_due = noted_at.is_none_or(|noted_at| now >= *noted_at + NOTE_EVERY);
        if is_due {
            state.noted_at.insert(secret, now);
        }
        is_due
    }

    fn state(&self) -> MutexGuard<'_, SecretState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
