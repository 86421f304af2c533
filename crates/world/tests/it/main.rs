//! Rules of the server, through its API, in one process with the test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod approvals;
mod apps;
mod attachments;
mod audit;
mod briefing;
mod browser_wires;
mod clipboard;
mod computers;
mod decisions;
mod effort;
mod evals;
mod files;
mod fuzz;
mod gateway;
mod handover;
mod http_secrets;
mod layout;
mod lease;
mod life;
mod limits;
mod links;
mod mcp;
mod model_check;
mod network;
mod owners_secrets;
mod port;
mod presence;
mod properties;
mod retention;
mod secrets;
mod sign_ins;
mod site;
mod sound;
mod stop;
mod streams;
mod terminals;
mod tokens;
mod tool_servers;
mod video;
mod watch;
