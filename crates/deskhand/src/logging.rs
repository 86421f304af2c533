//! Log lines on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// Begins to log what `config` asks for. `usual_level` holds when nobody chose a level.
pub(crate) fn start(config: &LogConfig, usual_level: &str) {
    let level = if config.level_is_chosen {
        &config.level
    } else {
        usual_level
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Text => {
            let in_colour = std::io::stderr().is_terminal() && console::colors_enabled_stderr();
            log.with_ansi(in_colour).init();
        }
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
