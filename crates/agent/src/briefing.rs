//! The briefing: the system text and the tools of a session, fixed when its first turn begins.
//!
//! Vendors cache a conversation from its beginning, and some bind a model's thinking to everything before it: after a
//! change of the system text they refuse the whole conversation. So changes are told in the conversation, in a note.

use deskhand_core::{
    action::ScreenSize,
    event::{EventBody, ToldFacts},
    tool::{NativeTool, ToolSpec, ToolSpecs},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    system_prompt::{SystemPrompt, secrets},
    tools::{RemoteLink, RemoteOffer, ToolSet, filled},
};

/// The size of the pictures in a note, which models with pictures of different sizes read.
const KNOWN_SIZE: &str = "the size that you know";

/// The beginning of all requests of a session. It is stored with the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Briefing {
    /// The system text, cut where the size of the pictures belongs.
    system: Vec<String>,
    /// The tools, with a placeholder for the size of the pictures.
    tools: Vec<ToolSpec>,
    /// The facts that the system text and the tools tell.
    facts: ToldFacts,
    /// The tools of MCP servers among the tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remote: Vec<RemoteLink>,
}

impl Briefing {
    /// Writes the briefing of a session whose first turn begins at `now`.
    pub fn new(prompt: &SystemPrompt, tools: &ToolSet, now: Timestamp) -> Self {
        Self {
            system: prompt.pieces(now),
            tools: tools.offers(),
            facts: facts(prompt, tools, now),
            remote: tools.remote_links(),
        }
    }

    /// Returns the offers of tools of MCP servers, as the session has them from its first turn on.
    pub fn remote_offers(&self) -> Vec<RemoteOffer> {
        let offer = |link: &RemoteLink| {
            let spec = self.tools.iter().find(|offer| offer.name == link.name)?;
            Some(RemoteOffer {
                link: link.clone(),
                spec: spec.clone(),
            })
        };
        self.remote.iter().filter_map(offer).collect()
    }

    /// Returns the system text for a model that is shown pictures of this size.
    pub(crate) fn system(&self, shown: ScreenSize) -> String {
        self.system.join(&shown.to_string())
    }

    /// Returns the tools for a model that is shown pictures of this size.
    pub(crate) fn tools(&self, shown: ScreenSize) -> ToolSpecs {
        filled(&self.tools, shown)
    }

    /// Returns true if the model is offered the screen.
    pub(crate) fn has_screen(&self) -> bool {
        let mut tools = self.tools.iter();
        tools.any(|tool| tool.native == Some(NativeTool::Computer))
    }

    /// Returns the facts that the model knows after this log.
    pub(crate) fn known<'a>(&'a self, log: &'a [EventBody]) -> &'a ToldFacts {
        let told = log.iter().rev().find_map(|body| {
            let EventBody::Told(told) = body else {
                return None;
            };
            Some(&told.facts)
        });
        told.unwrap_or(&self.facts)
    }

    /// Returns a note about everything that has changed since the model knew these facts, and the facts that it knows
    /// after reading it.
    pub(crate) fn news(
        &self,
        known: &ToldFacts,
        prompt: &SystemPrompt,
        tools: &ToolSet,
        now: Timestamp,
    ) -> Option<(String, ToldFacts)> {
        let current = facts(prompt, tools, now);
        let mut notes = Vec::new();
        if current.prompt != known.prompt {
            let text = prompt.told(now, KNOWN_SIZE);
            notes.push(format!(
                "[The text that you were given before this conversation has changed. This applies in place of it; \
                 the instructions of the people in this conversation stay in force:]\n\n{}",
                text.trim()
            ));
        } else if current.day != known.day {
            notes.push(format!("[Today is {}.]", current.day));
        }
        if current.instructions != known.instructions {
            notes.push(match prompt.instructions.trim() {
                "" => "[The people in this conversation have withdrawn their instructions.]".to_owned(),
                wanted => format!(
                    "[The people in this conversation have changed their instructions. Follow these in place of the \
                     earlier ones:]\n\n{wanted}"
                ),
            });
        }
        if let Some(surroundings) = &prompt.surroundings
            && current.surroundings != known.surroundings
        {
            notes.push(surroundings.note());
        }
        if current.secrets != known.secrets {
            notes.push(secrets::note(&prompt.secrets));
        }
        notes.extend(self.tool_news(known, &current, tools));
        (!notes.is_empty()).then(|| (notes.join("\n\n"), current))
    }

    /// Returns a note for each tool of the session that has changed. A new tool is not offered in this session.
    fn tool_news(&self, known: &ToldFacts, current: &ToldFacts, tools: &ToolSet) -> Vec<String> {
        let offers = tools.offers();
        let note = |name: &String| {
            let (before, now) = (known.tools.get(name), current.tools.get(name));
            if before == now {
                return None;
            }
            let Some(offer) = offers.iter().find(|offer| offer.name == *name) else {
                return Some(format!("[The tool `{name}` can no longer be used.]"));
            };
            let description = offer.description.replace("{{screen}}", KNOWN_SIZE);
            Some(format!(
                "[The tool `{name}` has changed: {description} The schema of its input is now {}]",
                offer.parameters
            ))
        };
        let names = self.tools.iter().map(|offer| &offer.name);
        names.filter_map(note).collect()
    }
}

/// Returns the facts that a model would be told now.
fn facts(prompt: &SystemPrompt, tools: &ToolSet, now: Timestamp) -> ToldFacts {
    let tool = |offer: ToolSpec| {
        let text = format!("{}\n{}", offer.description, offer.parameters);
        (offer.name, fingerprint(&text))
    };
    let secrets = match secrets::lines(&prompt.secrets) {
        none if none.is_empty() => none,
        lines => fingerprint(&lines),
    };
    let surroundings = prompt
        .surroundings
        .as_ref()
        .map(|surroundings| fingerprint(&surroundings.lines()));
    ToldFacts {
        secrets,
        surroundings: surroundings.unwrap_or_default(),
        day: SystemPrompt::day(now),
        prompt: fingerprint(prompt.template.text()),
        instructions: fingerprint(prompt.instructions.trim()),
        tools: tools.offers().into_iter().map(tool).collect(),
    }
}

/// Returns a short text that is the same for the same input in every version of this program (64-bit FNV-1a).
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
#[path = "briefing_tests.rs"]
mod tests;
