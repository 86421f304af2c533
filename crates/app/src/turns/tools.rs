//! The tools of a turn: ours, and those of the session's MCP servers.

use deskhand_agent::{
    Briefing, ServerNote, TurnEnd,
    tools::{self, MOST_TOOLS_OF_SERVER, RemoteOffer, ToolSet, remote_offers},
};
use deskhand_core::{
    event::{EventBody, Failure},
    plain::visible,
    session::Session,
};
use deskhand_store::Transition;

use super::{TurnOrder, TurnParts, Turns};
use crate::tool_servers::{FoundServer, TurnServers};

/// The code of the event about an MCP server that cannot be used.
const SERVER_FAILED: &str = "mcp_server";
/// The longest reason that people are told, in characters. It may quote the server.
const LONGEST_REASON: usize = 400;

/// The tools of a turn.
#[derive(Debug)]
pub(super) struct TurnTools {
    pub(super) tools: ToolSet,
    pub(super) servers: TurnServers,
    /// The notes for the model, in the first turn of the session.
    pub(super) notes: Vec<ServerNote>,
}

impl Turns {
    /// Returns the tools of a turn. The first turn of a session connects to its MCP servers; later ones have the same
    /// tools, and connect when one is called.
    pub(super) async fn tools(
        &self,
        order: &TurnOrder,
        session: &Session,
    ) -> Result<TurnTools, TurnEnd> {
        let TurnParts {
            store,
            tool_servers,
            ..
        } = &*self.0;
        let servers = TurnServers {
            servers: order.servers.clone(),
            given: tool_servers.all_of(session),
        };
        let stored = order.read(|| store.briefing(session.id)).await?;
        let stored = stored.and_then(|text| serde_json::from_str::<Briefing>(&text).ok());
        if let Some(briefing) = stored {
            let is_given = |offer: &RemoteOffer| {
                let mut given = servers.given.iter();
                given.any(|given| given.spec.name == offer.link.server)
            };
            let offers = briefing.remote_offers().into_iter().filter(is_given);
            return Ok(TurnTools {
                tools: self.own_tools(session).with_remote(offers.collect()),
                servers,
                notes: Vec::new(),
            });
        }
        let discovering = servers.servers.discover(&servers.given);
        let found = order.stop.run_until_cancelled(discovering).await;
        let found = found.ok_or(TurnEnd::Stopped)?;
        let listed: Vec<_> = found
            .iter()
            .filter_map(|one| one.tools.as_ref().ok())
            .collect();
        let listed: Vec<_> = listed.into_iter().cloned().collect();
        let offers = remote_offers(&listed);
        let problems = found
            .iter()
            .filter_map(|one| problem(one, &offers))
            .collect();
        self.tell_problems(order, problems).await?;
        Ok(TurnTools {
            notes: found.iter().map(|one| note(one, &offers)).collect(),
            tools: self.own_tools(session).with_remote(offers),
            servers,
        })
    }

    /// Returns the tools of Deskhand that the session offers.
    fn own_tools(&self, session: &Session) -> ToolSet {
        let scripts = self.0.settings.browser_scripts;
        tools::offered(&session.tools).with_browser_scripts(scripts)
    }

    /// Tells people about servers that cannot be used.
    async fn tell_problems(
        &self,
        order: &TurnOrder,
        problems: Vec<EventBody>,
    ) -> Result<(), Failure> {
        if problems.is_empty() {
            return Ok(());
        }
        let tell = || async {
            let transition = Transition {
                events: problems.clone(),
                ..Transition::default()
            };
            // A session that has ended needs no tools.
            let _ = self.0.log.commit(order.session, transition).await?;
            Ok(())
        };
        order.read(tell).await
    }
}

fn n_offered(found: &FoundServer, offers: &[RemoteOffer]) -> usize {
    let offers = offers.iter();
    offers
        .filter(|offer| offer.link.server == found.name)
        .count()
}

fn note(found: &FoundServer, offers: &[RemoteOffer]) -> ServerNote {
    let n_tools = found.tools.is_ok().then(|| n_offered(found, offers));
    ServerNote {
        name: found.name.clone(),
        n_tools,
    }
}

/// Returns the event for people about a server that is not or not wholly there.
fn problem(found: &FoundServer, offers: &[RemoteOffer]) -> Option<EventBody> {
    let name = &found.name;
    let message = match &found.tools {
        Err(error) => {
            let reason = error.to_string();
            let reason: String = visible(&reason).chars().take(LONGEST_REASON).collect();
            format!("The MCP server {name} cannot be used in this session: {reason}.")
        }
        Ok(listed) => {
            let (n_tools, n_offered) = (listed.tools.len(), n_offered(found, offers));
            if n_tools == n_offered {
                return None;
            }
            format!(
                "The MCP server {name} has {n_tools} tools, of which {n_offered} can be used in this session. At most \
                 {MOST_TOOLS_OF_SERVER} of one server are offered, each under a name of its own."
            )
        }
    };
    Some(EventBody::Error(Failure {
        turn: None,
        code: SERVER_FAILED.to_owned(),
        message,
    }))
}
