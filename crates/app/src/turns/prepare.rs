//! Prepares the inputs of a turn.

use std::{future::Future, sync::Arc};

use deskhand_agent::{
    Briefing, ChosenModel, Surroundings, SystemPrompt, Turn, TurnEnd, UsableSecret, tools::ToolSet,
};
use deskhand_core::{
    event::Failure,
    model::{Effort, RequestOptions},
    session::Session,
    viewer::Viewer,
};
use deskhand_store::{FixBriefing, StoreError};

use super::{
    TurnOrder, TurnParts, Turns, budgets::TurnBudgets, decisions::TurnDecisions, history,
    tools::TurnTools, turn_log::SessionLog,
};
use crate::{database_retry::until_answered, live::desk::TurnDesk};

impl Turns {
    /// Returns the inputs of a turn, or its end if it cannot begin.
    pub(super) async fn prepare(&self, order: TurnOrder) -> Result<Turn, TurnEnd> {
        let TurnParts { store, catalog, .. } = &*self.0;
        let session_id = order.session;
        let session = order
            .read(|| store.session(Viewer::System, session_id))
            .await?
            .ok_or_else(|| order.fail("no_session", "The session no longer exists.".to_owned()))?;
        let (model, effort) = self.choice_for(&order, &session).await?;
        // This comes before the log is read, since it may write to it.
        let TurnTools {
            tools,
            servers,
            notes,
        } = self.tools(&order, &session).await?;
        let history = order.read(|| history::read(store, session_id)).await?;
        let originals = order.read(|| store.answers(session_id)).await?;
        let originals = originals
            .into_iter()
            .map(|(turn, step, original)| ((turn, step), original))
            .collect();
        let last_seq = history.iter().map(|event| event.seq).max().unwrap_or(0);
        let parts = &self.0;
        let prompt = SystemPrompt {
            template: parts.settings.prompt.for_tools(&session.tools),
            instructions: session.instructions.clone(),
            surroundings: Some(self.surroundings(&order, &session).await?),
            secrets: self.usable_secrets(&order).await?,
            servers: notes,
        };
        let briefing = self.briefing(&order, &prompt, &tools).await?;
        Ok(Turn {
            id: order.turn,
            fallback: catalog.fallback(&model.name),
            model,
            tools,
            log: Arc::new(SessionLog::new(parts, session_id, order.turn, last_seq)),
            decisions: Arc::new(TurnDecisions::new(parts, session_id, order.turn)),
            budgets: Arc::new(TurnBudgets::new(parts, &session)),
            remote: Arc::new(servers),
            desk: Arc::new(TurnDesk {
                desk: order.desk,
                blobs: Arc::clone(&parts.blobs),
            }),
            blobs: Arc::clone(&parts.blobs),
            history,
            originals,
            briefing,
            prompt,
            screen: parts.settings.size_of(session.computer),
            options: RequestOptions {
                cache_key: Some(session_id.to_string()),
                effort,
            },
            limits: parts.settings.turn.clone(),
            clock: Arc::clone(&parts.clock),
            stop: order.stop,
            parking: parts.parking.clone(),
        })
    }

    /// Returns the briefing of the session. A session without one gets it now.
    async fn briefing(
        &self,
        order: &TurnOrder,
        prompt: &SystemPrompt,
        tools: &ToolSet,
    ) -> Result<Briefing, Failure> {
        let TurnParts { log, clock, .. } = &*self.0;
        let new = Briefing::new(prompt, tools, clock.now());
        let text = serde_json::to_string(&new).map_err(|error| {
            let problem = format!("The beginning of the conversation cannot be stored: {error}");
            order.fail("storage_failed", problem)
        })?;
        let fix = || async {
            let fixed = log.commit(order.session, FixBriefing { briefing: &text });
            Ok(fixed.await?.ok())
        };
        // A session that is gone has no turn to brief.
        let Some(fixed) = order.read(fix).await? else {
            return Ok(new);
        };
        Ok(serde_json::from_str(&fixed).unwrap_or_else(|error| {
            tracing::warn!(session.id = %order.session, %error, "cannot read the stored system text of a session, so it gets a new one");
            new
        }))
    }

    /// Returns the facts about the session's computer that the model is told.
    async fn surroundings(
        &self,
        order: &TurnOrder,
        session: &Session,
    ) -> Result<Surroundings, Failure> {
        let TurnParts {
            store, computers, ..
        } = &*self.0;
        let secrets = order.read(|| store.secret_names(order.session)).await?;
        Ok(Surroundings {
            network: computers.network_mode(session.network.mode),
            secrets,
        })
    }

    /// Returns the secrets that programs of the session can use. A running sandbox only has those that were stored before
    /// it started.
    async fn usable_secrets(&self, order: &TurnOrder) -> Result<Vec<UsableSecret>, Failure> {
        let computers = &self.0.computers;
        let stored = order
            .read(|| computers.usable_secrets(order.session))
            .await?;
        let running = order.desk.running();
        let running = running.map(|computer| computer.http_secrets());
        let is_there = |secret: &UsableSecret| {
            let Some(sandbox) = &running else {
                return true;
            };
            let mut stand_ins = sandbox.iter().flat_map(|secrets| secrets.stand_ins.all());
            stand_ins.any(|one| one.name == secret.name && one.http == secret.http)
        };
        let usable = stored.into_iter().filter_map(|secret| {
            Some(UsableSecret {
                name: secret.name,
                origins: secret.origins,
                http: secret.http?,
            })
        });
        Ok(usable.filter(is_there).collect())
    }

    /// Returns the model and the effort of the prompt, or else the session's. The server's settings decide the effort
    /// if nobody chose one.
    async fn choice_for(
        &self,
        order: &TurnOrder,
        session: &Session,
    ) -> Result<(ChosenModel, Option<Effort>), Failure> {
        let wanted = order.read(|| self.0.store.choice_for(order.prompt)).await?;
        let name = wanted.model.as_ref().unwrap_or(&session.model);
        let model = self.0.catalog.chosen(name).map_err(|error| {
            order.fail("model_failed", format!("The model cannot be used: {error}"))
        })?;
        let chosen = wanted.effort.or(session.effort);
        Ok((model, chosen.or(self.0.settings.effort)))
    }
}

impl TurnOrder {
    /// Reads from the store, and retries while it is unreachable.
    pub(super) async fn read<T, F>(&self, attempt: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let read = until_answered(&self.ending, attempt).await;
        read.map_err(|error| {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "could not \
                                                                                                   read the \
                                                                                                   session");
            let message = "The session could not be read from the database.";
            self.fail("storage_failed", message.to_owned())
        })
    }

    fn fail(&self, code: &str, message: String) -> Failure {
        Failure {
            turn: Some(self.turn),
            code: code.to_owned(),
            message,
        }
    }
}
