//! The one way into a session's log: a change is stored, then all followers of the session are notified.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::{clock::Clock, id::SessionId, tasks::Tasks, viewer::Viewer};
use deskhand_store::{Change, Store, StoreError};

use super::{
    bus::Bus,
    hub::{Feed, Hub},
};

/// Stores changes to sessions and publishes their events. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    store: Store,
    hub: Arc<Hub>,
    bus: Arc<Bus>,
    clock: Arc<dyn Clock>,
    /// Sessions with a change that may be stored although the database's response was lost.
    unsure: Arc<Mutex<HashSet<SessionId>>>,
}

impl Log {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, bus: Arc<Bus>, tasks: Tasks) -> Self {
        Self {
            store,
            hub: Arc::new(Hub::new(tasks)),
            bus,
            clock,
            unsure: Arc::default(),
        }
    }

    /// Makes a change to a session, and publishes its events.
    pub(crate) async fn commit<C: Change>(
        &self,
        session: SessionId,
        change: C,
    ) -> Result<Result<C::Output, C::Refusal>, StoreError> {
        let committed = self.store.commit(session, change, &*self.clock).await;
        if let Err(error) = &committed
            && error.is_unreachable()
        {
            self.unsure().insert(session);
        }
        let committed = committed?;
        let is_sure = !self.unsure().remove(&session);
        match committed {
            Ok(committed) => {
                self.hub.publish(session, &committed.events);
                if committed.changes_summary || !is_sure {
                    self.bus.changed(session);
                }
                Ok(Ok(committed.output))
            }
            Err(refused) => {
                // An earlier attempt may have made the change, and no one has been notified yet.
                self.hub.saw(session, refused.last_seq);
                if !is_sure {
                    self.bus.changed(session);
                }
                Ok(Err(refused.refusal))
            }
        }
    }

    /// Publishes events that were stored although the database's response was lost.
    pub(crate) async fn catch_up(&self, session: SessionId) -> Result<(), StoreError> {
        let session = self.store.session(Viewer::System, session).await?;
        if let Some(session) = session {
            self.hub.saw(session.id, session.last_seq);
        }
        Ok(())
    }

    /// Follows a session's events after number `after`.
    pub(crate) async fn follow(&self, session: SessionId, after: u64) -> Result<Feed, StoreError> {
        self.hub.follow(&self.store, session, after).await
    }

    fn unsure(&self) -> std::sync::MutexGuard<'_, HashSet<SessionId>> {
        self.unsure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
