//! Log lines on standard error, without secrets.

mod redact;

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::config::{LogConfig, LogFormat};

/// Starts logging as `config` asks. `usual_level` applies if the settings do not choose a level.
pub(crate) fn start(config: &LogConfig, usual_level: &str) {
    let level = if config.level_is_chosen {
        &config.level
    } else {
        usual_level
    };
    // The settings have been checked, so this is a filter.
    let filter: Targets = level.parse().unwrap_or_default();
    // The MCP library writes lines for every request, and what clients send at its lower levels.
    let filter = filter.with_target("rmcp", LevelFilter::ERROR);
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(|| Redacted(io::stderr()));
    match config.format {
        LogFormat::Text => {
            let in_colour = std::io::stderr().is_terminal() && console::colors_enabled_stderr();
            log.with_ansi(in_colour).finish().with(filter).init();
        }
        LogFormat::Json => log.json().flatten_event(true).finish().with(filter).init(),
    }
}

/// Writes lines with the secrets removed. Each call to `write` must carry one whole line.
struct Redacted<W>(W);

impl<W: Write> Write for Redacted<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.0.write_all(redact::redact(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
