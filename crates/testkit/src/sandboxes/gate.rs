//! A gate at which changes of control wait, while a test looks at what happens meanwhile.

use tokio::sync::watch;

/// Open at first.
#[derive(Debug, Default)]
pub(super) struct Gate(watch::Sender<GateState>);

#[derive(Debug, Default)]
struct GateState {
    is_shut: bool,
    n_waiting: usize,
}

impl Gate {
    pub(super) fn set_shut(&self, is_shut: bool) {
        self.0.send_modify(|state| state.is_shut = is_shut);
    }

    /// Waits until the gate is open.
    pub(super) async fn pass(&self) {
        self.0.send_modify(|state| state.n_waiting += 1);
        let mut state = self.0.subscribe();
        let passed = state.wait_for(|state| !state.is_shut).await.map(drop);
        passed.expect("the sender is part of this");
        self.0.send_modify(|state| state.n_waiting -= 1);
    }

    /// Waits until somebody waits.
    pub(super) async fn has_one(&self) {
        let mut state = self.0.subscribe();
        let waits = state.wait_for(|state| state.is_shut && state.n_waiting > 0);
        waits.await.expect("the sender is part of this");
    }
}
