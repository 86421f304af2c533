//! Tells bots about changes of streams: the one in this process through a channel, others through webhooks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::{clock::Clock, tasks::Tasks};
use deskhand_jamie::contract::{StatusUpdate, StreamRequest};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::webhook::Courier;

/// The updates of one stream that may wait for a slow receiver. A stream has six states.
const LONGEST_QUEUE: usize = 16;

/// Tells bots about changes of streams.
#[derive(Debug)]
pub(crate) struct Reports {
    /// The bot in this process.
    bot: Option<mpsc::Sender<StatusUpdate>>,
    courier: Option<Courier>,
    /// The webhooks of streams that have not ended. Each stream's updates are delivered in order.
    routes: Mutex<HashMap<Uuid, mpsc::Sender<StatusUpdate>>>,
    clock: Arc<dyn Clock>,
    tasks: Tasks,
}

impl Reports {
    pub(crate) fn new(
        bot: Option<mpsc::Sender<StatusUpdate>>,
        courier: Option<Courier>,
        clock: Arc<dyn Clock>,
        tasks: Tasks,
    ) -> Self {
        Self {
            bot,
            courier,
            routes: Mutex::default(),
            clock,
            tasks,
        }
    }

    /// Tells the bot in this process. If it does not keep up, it asks for the streams later.
    pub(crate) fn tell_bot(&self, update: StatusUpdate) {
        if let Some(bot) = &self.bot
            && bot.try_send(update).is_err()
        {
            tracing::warn!("the bot was not told about a change of a stream");
        }
    }

    /// Tells everybody about a change of status.
    pub(crate) fn tell(&self, request: &StreamRequest, update: StatusUpdate) {
        if let (Some(courier), Some(url)) = (&self.courier, &request.webhook_url) {
            self.send(courier, url, update.clone());
        }
        self.tell_bot(update);
    }

    fn send(&self, courier: &Courier, url: &str, update: StatusUpdate) {
        let (id, is_last) = (update.session_id, update.status.is_final());
        let mut routes = self.routes();
        let route = routes.entry(id).or_insert_with(|| {
            let (route, updates) = mpsc::channel(LONGEST_QUEUE);
            let delivering = deliver(
                courier.clone(),
                url.to_owned(),
                updates,
                Arc::clone(&self.clock),
            );
            let shutdown = self.tasks.shutdown().clone();
            self.tasks.spawn("stream webhook", async move {
                shutdown.run_until_cancelled(delivering).await;
            });
            route
        });
        if route.try_send(update).is_err() {
            tracing::warn!(stream.id = %id, "a webhook is too slow, so an update was dropped");
        }
        if is_last {
            // The task delivers everything that waits, and ends.
            routes.remove(&id);
        }
    }

    fn routes(&self) -> MutexGuard<'_, HashMap<Uuid, mpsc::Sender<StatusUpdate>>> {
        // Every change is complete, so a panic elsewhere leaves nothing half done.
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn deliver(
    courier: Courier,
    url: String,
    mut updates: mpsc::Receiver<StatusUpdate>,
    clock: Arc<dyn Clock>,
) {
    while let Some(update) = updates.recv().await {
        let success = courier.deliver(&url, &update, || clock.now()).await;
        tracing::info!(
            event = "webhook.sent",
            session_id = %update.session_id,
            status = update.status.name(),
            success,
            "a webhook was sent"
        );
    }
}
